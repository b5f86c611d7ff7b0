//! Reads nodes as ids, references and objects, and reports errors.

use polywire_schema::ShapeId;

use super::Reader;
use crate::diagnostic::Problem;
use crate::json::MAX_DEPTH;
use crate::node::{Entry, Node, NodeValue, Object};
use crate::rules;
use crate::shape::ShapeRef;
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;

impl Reader<'_> {
    /// `{"target": "namespace#Name"}`
    pub(super) fn reference(&mut self, node: Node) -> Option<ShapeRef> {
        let location = node.location();
        let object = self.object(node, "an object with the key `target`")?;
        let mut target = None;
        let mut found = false;
        for Entry {
            key,
            key_location,
            value,
        } in object.into_entries()
        {
            if key == "target" {
                found = true;
                target = self
                    .id_of(&value)
                    .map(|id| ShapeRef::new(id, value.location()));
            } else {
                self.unknown_property(&key, key_location, &["target"]);
            }
        }
        if !found {
            self.problems.push(
                Problem::error(
                    rules::MISSING_PROPERTY,
                    location,
                    "this reference has no target",
                )
                .expected("an object with the key `target`"),
            );
        }
        target
    }

    pub(super) fn references(&mut self, node: Node) -> Vec<ShapeRef> {
        match node.into_array() {
            Ok(items) => items
                .into_iter()
                .filter_map(|item| self.reference(item))
                .collect(),
            Err(node) => {
                self.wrong_kind(&node, "an array of references");
                Vec::new()
            }
        }
    }

    pub(super) fn named_references(&mut self, node: Node) -> Vec<(String, ShapeRef)> {
        let Some(object) = self.object(node, "an object of references") else {
            return Vec::new();
        };
        object
            .into_entries()
            .into_iter()
            .filter_map(|entry| Some((entry.key, self.reference(entry.value)?)))
            .collect()
    }

    pub(super) fn id_of(&mut self, node: &Node) -> Option<ShapeId> {
        match node.as_str() {
            Some(text) => self.id(text, node.location()),
            None => {
                self.wrong_kind(node, "a string with a shape id");
                None
            }
        }
    }

    pub(super) fn id(&mut self, text: &str, location: SourceLocation) -> Option<ShapeId> {
        if let Some(id) = self.ids.get(text) {
            return Some(id.clone());
        }
        match ShapeId::parse(text) {
            Ok(id) => {
                self.ids.insert(text.to_owned(), id.clone());
                Some(id)
            }
            Err(error) => {
                self.problems.push(
                    Problem::error(rules::SHAPE_ID, location, error.to_string())
                        .expected("an absolute shape id"),
                );
                None
            }
        }
    }

    pub(super) fn object(&mut self, node: Node, expected: &str) -> Option<Object> {
        match node.into_object() {
            Ok(object) => Some(object),
            Err(node) => {
                self.wrong_kind(&node, expected);
                None
            }
        }
    }

    /// Values can be nested as deep as in the IDL, so that each format can be converted into the
    /// other. Only documents that are deeply nested as a whole need this check.
    pub(super) fn check_depth(&mut self, value: &Node) {
        if self.is_deep && !nests_within(value, MAX_DEPTH) {
            let message = format!("values are nested deeper than {MAX_DEPTH} levels");
            self.problems
                .push(Problem::error(rules::TOO_DEEP, value.location(), message));
        }
    }

    #[cold]
    pub(super) fn wrong_kind(&mut self, node: &Node, expected: &str) {
        let message = format!("{} is not expected here", node.kind());
        self.problems
            .push(Problem::error(rules::WRONG_NODE, node.location(), message).expected(expected));
    }

    #[cold]
    pub(super) fn unknown_property(&mut self, key: &str, location: SourceLocation, known: &[&str]) {
        self.problems.push(
            Problem::warning(
                rules::UNKNOWN_PROPERTY,
                location,
                format!("`{key}` is not a property here"),
            )
            .expected(format!("one of `{}`", known.join("`, `")))
            .maybe_hint(did_you_mean(key, known.iter().copied())),
        );
    }
}

impl Node {
    /// The items, or the unchanged node.
    fn into_array(self) -> Result<Vec<Self>, Self> {
        let location = self.location();
        match self.into_value() {
            NodeValue::Array(items) => Ok(items),
            other => Err(Self::new(other, location)),
        }
    }

    /// The entries, or the unchanged node.
    pub(crate) fn into_object(self) -> Result<Object, Self> {
        let location = self.location();
        match self.into_value() {
            NodeValue::Object(object) => Ok(object),
            other => Err(Self::new(other, location)),
        }
    }
}

/// Whether a value has at most this many levels below it. The recursion is bounded, because the
/// reader limits the depth.
fn nests_within(value: &Node, levels: usize) -> bool {
    let fits = |value: &Node| levels > 0 && nests_within(value, levels - 1);
    match value.value() {
        NodeValue::Array(items) => items.iter().all(fits),
        NodeValue::Object(object) => object.iter().all(|(_, value)| fits(value)),
        _ => true,
    }
}
