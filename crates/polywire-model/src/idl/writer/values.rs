//! Writes node values: on one line if they fit and contain no other array or object, else one item
//! on each line. Lines need no commas.

use super::text;
use super::value_shape::ValueShape;
use super::{Writer, text::quote};
use crate::node::{Node, NodeValue, Object};

/// The context of a value.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum ValueContext {
    /// After `=`, or in the parentheses of a trait.
    Alone,
    /// An item of an array.
    Item,
    /// Under a key.
    Key,
}

impl<'m> Writer<'m> {
    /// Writes a value on a line that is indented by `indent` levels.
    pub(super) fn value(
        &mut self,
        node: &'m Node,
        indent: usize,
        place: ValueContext,
        typed: ValueShape<'m>,
    ) {
        match node.value() {
            NodeValue::String(text) if is_block(node, typed) => {
                let indent = indent + usize::from(place == ValueContext::Key);
                text::block(&mut self.out, text, indent);
            }
            NodeValue::Array(items) => self.array(items, indent, typed),
            // In an array, short objects have several lines, too.
            NodeValue::Object(object) => {
                let is_broken = place == ValueContext::Item && !object.is_empty();
                if is_broken || !self.try_flat_object(object, typed) {
                    self.out.push('{');
                    self.entries(object, indent + 1, typed);
                    self.line(indent);
                    self.out.push('}');
                }
            }
            _ => self.scalar(node, typed),
        }
    }

    fn array(&mut self, items: &'m [Node], indent: usize, typed: ValueShape<'m>) {
        let typed = typed.item(self.model);
        let start = self.out.len();
        self.out.push('[');
        if !items.iter().any(|item| is_long(item, typed)) {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    self.out.push_str(", ");
                }
                self.scalar(item, typed);
            }
            self.out.push(']');
            if items.is_empty() || self.fits(start) {
                return;
            }
            self.out.truncate(start + 1);
        }
        for item in items {
            self.line(indent + 1);
            self.value(item, indent + 1, ValueContext::Item, typed);
        }
        self.line(indent);
        self.out.push(']');
    }

    /// Writes `{ a: 1, b: 2 }`, if possible.
    fn try_flat_object(&mut self, object: &'m Object, typed: ValueShape<'m>) -> bool {
        if object.is_empty() {
            self.out.push_str("{}");
            return true;
        }
        let start = self.out.len();
        self.out.push_str("{ ");
        let fits = self.flat_entries(object, typed) && {
            self.out.push_str(" }");
            self.fits(start)
        };
        if !fits {
            self.out.truncate(start);
        }
        fits
    }

    /// Writes `a: 1, b: 2`. Returns `false` if a value needs several lines.
    pub(super) fn flat_entries(&mut self, object: &'m Object, typed: ValueShape<'m>) -> bool {
        for (at, (key, value)) in object.iter().enumerate() {
            let typed = typed.entry(key, self.model);
            if is_long(value, typed) {
                return false;
            }
            if at > 0 {
                self.out.push_str(", ");
            }
            self.key(key);
            self.out.push_str(": ");
            self.scalar(value, typed);
        }
        true
    }

    /// Each entry on a line of its own.
    pub(super) fn entries(&mut self, object: &'m Object, indent: usize, typed: ValueShape<'m>) {
        for (key, value) in object.iter() {
            self.line(indent);
            self.key(key);
            self.out.push_str(": ");
            let typed = typed.entry(key, self.model);
            self.value(value, indent, ValueContext::Key, typed);
        }
    }

    /// Writes a value of one line. Arrays and objects are empty here.
    fn scalar(&mut self, node: &'m Node, typed: ValueShape<'m>) {
        match node.value() {
            NodeValue::Null => self.out.push_str("null"),
            NodeValue::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            NodeValue::Number(number) => self.out.push_str(&number.to_string()),
            NodeValue::String(text) => match typed.is_reference && self.is_id(text) {
                true => {
                    let id = self.names.spell(text);
                    self.out.push_str(id);
                }
                false => quote(&mut self.out, text),
            },
            NodeValue::Array(_) => self.out.push_str("[]"),
            NodeValue::Object(_) => self.out.push_str("{}"),
        }
    }

    /// Whether a text is the id of a shape in the model, so that the meaning is the same without
    /// quotes.
    fn is_id(&self, text: &str) -> bool {
        let root = text.split('$').next().unwrap_or(text);
        self.model.get(root).is_some() && polywire_schema::ShapeId::parse(text).is_ok()
    }

    /// A key, in quotes where it is not an identifier.
    pub(super) fn key(&mut self, key: &str) {
        if polywire_schema::is_identifier(key) {
            self.out.push_str(key);
        } else {
            quote(&mut self.out, key);
        }
    }

    /// Whether the text since an offset fits on its line. Text that is not longer than a word is
    /// never broken.
    pub(super) fn fits(&self, start: usize) -> bool {
        const WORD: usize = 16;
        self.column() <= self.width || self.out.len() - start <= WORD
    }
}

/// Whether the container of a value needs several lines.
pub(super) fn is_long(node: &Node, typed: ValueShape<'_>) -> bool {
    matches!(node.value(), NodeValue::Array(_) | NodeValue::Object(_)) || is_block(node, typed)
}

/// Whether a value is written as a text block.
pub(super) fn is_block(node: &Node, typed: ValueShape<'_>) -> bool {
    !typed.is_reference && node.as_str().is_some_and(text::wants_block)
}
