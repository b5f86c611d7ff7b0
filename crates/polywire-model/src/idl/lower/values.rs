//! Values of the syntax tree as nodes.

use std::collections::HashMap;

use super::Lowering;
use crate::diagnostic::Problem;
use crate::idl::syntax::{Name, Value, ValueKind};
use crate::json::drop_repeated_keys;
use crate::node::{Entry, Node, NodeValue, Object};
use crate::rules;
use crate::source::SourceLocation;

impl Lowering<'_> {
    /// A value of the syntax tree as a node.
    pub(super) fn value(&mut self, value: Value) -> Node {
        let location = value.location;
        let value = match value.kind {
            ValueKind::Null => NodeValue::Null,
            ValueKind::Bool(value) => NodeValue::Bool(value),
            ValueKind::Number(number) => NodeValue::Number(number),
            ValueKind::String(text) => NodeValue::String(text),
            ValueKind::ShapeId(text) => NodeValue::String(self.syntactic_id(text, location)),
            ValueKind::Array(items) => {
                NodeValue::Array(items.into_iter().map(|item| self.value(item)).collect())
            }
            ValueKind::Object(entries) => {
                let mut entries: Vec<Entry> = entries
                    .into_iter()
                    .map(|(key, value)| Entry {
                        key: key.text,
                        key_location: key.location,
                        value: self.value(value),
                    })
                    .collect();
                drop_repeated_keys(&mut entries, self.problems);
                NodeValue::Object(Object::from_entries(entries))
            }
        };
        Node::new(value, location)
    }

    /// An unquoted word in a node value is the name of a shape.
    pub(super) fn syntactic_id(&mut self, text: String, location: SourceLocation) -> String {
        let root = text.split('$').next().unwrap_or(&text);
        if let Ok(id) = self.lookup(&text)
            && self.names.contains(id.root_str())
        {
            return id.as_str().to_owned();
        }
        self.problems.push(
            Problem::warning(
                rules::UNRESOLVED_SHAPE_ID,
                location,
                format!("the unquoted word `{root}` is not the name of a shape"),
            )
            .hint(format!("write \"{text}\" for text")),
        );
        text
    }

    /// The first value of each key. Duplicates are reported.
    pub(super) fn distinct(&mut self, entries: Vec<(Name, Value)>) -> Vec<(Name, Value)> {
        let mut seen: HashMap<String, SourceLocation> = HashMap::new();
        let mut kept = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if let Some(first) = seen.get(&key.text) {
                self.problems.push(
                    Problem::error(
                        rules::DUPLICATE_KEY,
                        key.location,
                        format!("the key `{}` occurs twice in this object", key.text),
                    )
                    .related("first", *first),
                );
                continue;
            }
            seen.insert(key.text.clone(), key.location);
            kept.push((key, value));
        }
        kept
    }

    #[cold]
    pub(super) fn wrong_value(&mut self, value: &Value, expected: &str) {
        let found = match value.kind {
            ValueKind::Array(_) => "an array",
            ValueKind::Bool(_) => "a boolean",
            ValueKind::Null => "null",
            ValueKind::Number(_) => "a number",
            ValueKind::Object(_) => "an object",
            ValueKind::ShapeId(_) => "a shape id",
            ValueKind::String(_) => "a string",
        };
        self.problems.push(
            Problem::error(
                rules::WRONG_NODE,
                value.location,
                format!("{found} is not expected here"),
            )
            .expected(expected),
        );
    }
}
