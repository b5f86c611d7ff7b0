//! Writes traits: documentation as comments, each other trait on a line.

use super::Writer;
use super::text;
use super::value_shape::ValueShape;
use super::values::{ValueContext, is_block};
use crate::ids;
use crate::node::NodeValue;
use crate::shape::ShapeType;
use crate::traits::{AppliedTrait, Traits};
use crate::upgrade::BOX;

/// The traits of the shape or member itself, without inherited ones and those for which there is
/// syntax.
pub(super) fn own<'m>(traits: &'m Traits, implied: &[&str]) -> Vec<&'m AppliedTrait> {
    traits
        .iter()
        .filter(|applied| {
            let id = applied.id().as_str();
            // Smithy 2.0 has no @box. @default has its meaning.
            !applied.is_inherited() && id != BOX && !implied.contains(&id)
        })
        .collect()
}

impl<'m> Writer<'m> {
    /// Writes docs and traits before a shape or member, each with the line break
    /// after it.
    pub(super) fn traits_before(&mut self, traits: &[&'m AppliedTrait], indent: usize) {
        // A doc comment comes before all traits.
        let docs = traits.iter().find_map(|applied| docs(applied));
        if let Some(docs) = docs {
            for line in docs.split('\n') {
                self.out
                    .push_str(if line.is_empty() { "///" } else { "/// " });
                self.out.push_str(line);
                self.line(indent);
            }
        }
        for applied in traits {
            if self::docs(applied).is_none() {
                self.applied(applied, indent);
                self.line(indent);
            }
        }
    }

    /// Writes `@trait(value)`.
    pub(super) fn applied(&mut self, applied: &'m AppliedTrait, indent: usize) {
        let definition = self.model.get(applied.id());
        let typed = ValueShape::of(definition);
        self.out.push('@');
        let id = self.names.spell(applied.id().as_str());
        self.out.push_str(id);
        match applied.value().value() {
            NodeValue::Object(object) if object.is_empty() => {
                let is_annotation =
                    definition.is_none_or(|shape| shape.shape_type() == ShapeType::Structure);
                if !is_annotation {
                    self.out.push_str("({})");
                }
            }
            NodeValue::Object(object) => {
                let start = self.out.len();
                self.out.push('(');
                if !(self.flat_entries(object, typed) && self.fits(start)) {
                    self.out.truncate(start + 1);
                    self.entries(object, indent + 1, typed);
                    self.line(indent);
                }
                self.out.push(')');
            }
            _ if is_block(applied.value(), typed) => {
                self.out.push('(');
                self.line(indent + 1);
                self.value(applied.value(), indent + 1, ValueContext::Item, typed);
                self.line(indent);
                self.out.push(')');
            }
            _ => {
                self.out.push('(');
                self.value(applied.value(), indent, ValueContext::Alone, typed);
                self.out.push(')');
            }
        }
    }

    /// Writes an `apply` statement.
    pub(super) fn apply(&mut self, target: &'m str, traits: &[&'m AppliedTrait]) {
        self.out.push_str("apply ");
        let id = self.names.spell(target);
        self.out.push_str(id);
        self.out.push(' ');
        if let [single] = traits {
            self.applied(single, 0);
            return;
        }
        self.out.push('{');
        for applied in traits {
            self.line(1);
            self.applied(applied, 1);
        }
        self.line(0);
        self.out.push('}');
    }
}

/// The text of `@documentation`, when a doc comment can say it.
fn docs(applied: &AppliedTrait) -> Option<&str> {
    let is_documentation = *applied.id() == ids::DOCUMENTATION;
    let text = applied.value().as_str().filter(|_| is_documentation)?;
    text::fits_docs(text).then_some(text)
}
