//! Template strings
//! ([specification](https://smithy.io/2.0/additional-specs/rules-engine/specification.html#template-string)).
//!
//! ```text
//! template  = *( text / "{{" / "}}" / "{" reference "}" )
//! reference = name [ "#" path ]
//! ```

use super::expression::Typed;
use super::{Compiler, Node};
use crate::endpoint::RuleSetError;
use crate::endpoint::program::{Expression, Part};
use crate::endpoint::value::Type;

impl<'j> Compiler<'j> {
    /// A text without references becomes a constant, and a lone reference becomes the reference.
    pub(super) fn template(&self, node: &Node<'j, '_>) -> Result<Typed, RuleSetError> {
        let mut rest = node.text()?;
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut optional = false;
        while let Some(brace) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(brace);
            text.push_str(before);
            if let Some(escaped) = after.strip_prefix("{{") {
                text.push('{');
                rest = escaped;
            } else if let Some(escaped) = after.strip_prefix("}}") {
                text.push('}');
                rest = escaped;
            } else if let Some(inside) = after.strip_prefix('{') {
                let (reference, next) = inside
                    .split_once('}')
                    .ok_or_else(|| node.error("a `{` of the template is not closed"))?;
                let value = self.template_reference(node, reference)?;
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text).into()));
                }
                optional |= value.optional;
                parts.push(Part::Value(value.expression));
                rest = next;
            } else {
                return Err(node.error("a `}` of the template has no `{`"));
            }
        }
        text.push_str(rest);
        let expression = match parts.pop() {
            None => Expression::Text(text.into()),
            Some(Part::Value(value)) if parts.is_empty() && text.is_empty() => value,
            Some(last) => {
                parts.push(last);
                if !text.is_empty() {
                    parts.push(Part::Text(text.into()));
                }
                Expression::Template(parts.into())
            }
        };
        Ok(Typed {
            expression,
            kind: Type::Text,
            optional,
        })
    }

    fn template_reference(&self, node: &Node<'j, '_>, text: &str) -> Result<Typed, RuleSetError> {
        let (name, path) = match text.split_once('#') {
            Some((name, path)) => (name, Some(path)),
            None => (text, None),
        };
        let mut value = self.reference(node, name)?;
        if let Some(path) = path {
            value = self.attribute(node, value, path)?;
        }
        if value.kind != Type::Text {
            return Err(node.error(format!(
                "`{{{text}}}` is of the type {}, expected a string",
                value.kind.name()
            )));
        }
        Ok(value)
    }
}
