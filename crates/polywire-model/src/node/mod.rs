//! Node values: the data model of metadata and traits.
//!
//! A node is a JSON value with a location in a file. Numbers are exact, because a model can have a
//! big decimal that `f64` cannot represent. Objects keep their entries in the order of the source.
//! Equality ignores this order and the locations, as in the Smithy specification.

mod number;

use std::collections::HashMap;

use crate::source::SourceLocation;

pub use number::Number;

/// A value of the node data model, with its location.
///
/// # Examples
///
/// ```
/// use polywire_model::Node;
///
/// let node = Node::parse_json(r#"{"method": "GET", "code": 200}"#).unwrap();
/// assert_eq!(node.get("method").and_then(Node::as_str), Some("GET"));
/// assert_eq!(node.get("code").and_then(Node::as_i64), Some(200));
/// assert_eq!(node.to_json(), r#"{"method":"GET","code":200}"#);
/// ```
#[derive(Clone, Debug)]
pub struct Node {
    value: NodeValue,
    location: SourceLocation,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number of any size.
    Number(Number),
    /// Text. Shape ids in node values are text too, in absolute form.
    String(String),
    /// Values in order.
    Array(Vec<Node>),
    /// Named values in the order of the source.
    Object(Object),
}

impl Node {
    /// A node with a location. Use `From` for nodes without one.
    #[must_use]
    pub fn new(value: NodeValue, location: SourceLocation) -> Self {
        Self { value, location }
    }

    /// The null node.
    #[must_use]
    pub fn null() -> Self {
        Self::new(NodeValue::Null, SourceLocation::NONE)
    }

    /// An empty object: the value of most annotation traits.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::new(NodeValue::Object(Object::default()), SourceLocation::NONE)
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &NodeValue {
        &self.value
    }

    /// The value, mutable.
    pub fn value_mut(&mut self) -> &mut NodeValue {
        &mut self.value
    }

    /// The value, by move.
    #[must_use]
    pub fn into_value(self) -> NodeValue {
        self.value
    }

    /// Where the node was written.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            NodeValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        match &self.value {
            NodeValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The value of a number, if it is an integer that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The nearest `f64` of a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// The items of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            NodeValue::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match &self.value {
            NodeValue::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value under a key, if the node is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Whether the node is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.value, NodeValue::Null)
    }

    /// The type of the node, for messages: "a string", "an object".
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "a string",
            NodeValue::Array(_) => "an array",
            NodeValue::Object(_) => "an object",
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::new(NodeValue::Bool(value), SourceLocation::NONE)
    }
}

impl From<i64> for Node {
    fn from(value: i64) -> Self {
        Self::new(NodeValue::Number(Number::from(value)), SourceLocation::NONE)
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::new(NodeValue::String(text), SourceLocation::NONE)
    }
}

impl From<Vec<Node>> for Node {
    fn from(items: Vec<Self>) -> Self {
        Self::new(NodeValue::Array(items), SourceLocation::NONE)
    }
}

impl From<Object> for Node {
    fn from(object: Object) -> Self {
        Self::new(NodeValue::Object(object), SourceLocation::NONE)
    }
}

/// The entries of an object node, in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct Object {
    entries: Vec<Entry>,
}

/// A key, where it was written, and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub key_location: SourceLocation,
    /// The value.
    pub value: Node,
}

impl Object {
    /// An object without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn from_entries(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// The value under a key. This is a linear search, because objects in models are short.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|entry| entry.key == key)
            .map(|entry| &mut entry.value)
    }

    /// Sets the value under a key: replaces it, or appends an entry.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Node>) {
        let key = key.into();
        let value = value.into();
        match self.get_mut(&key) {
            Some(old) => *old = value,
            None => self.push(key, value),
        }
    }

    /// Appends a value under a new key. Takes constant time, whereas [`insert`](Self::insert)
    /// searches for the key. If the key exists already, [`get`](Self::get) finds the first value.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::{Node, Object};
    ///
    /// let mut object = Object::new();
    /// for number in 0..3 {
    ///     object.push(format!("n{number}"), number);
    /// }
    /// assert_eq!(object.get("n1").and_then(Node::as_i64), Some(1));
    /// ```
    pub fn push(&mut self, key: impl Into<String>, value: impl Into<Node>) {
        let (key, value) = (key.into(), value.into());
        self.entries.push(Entry {
            key,
            key_location: value.location(),
            value,
        });
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Node)> {
        self.entries
            .iter()
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// The entries in order, with the locations of their keys.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn sort_by_key(&mut self) {
        self.entries.sort_by(|left, right| left.key.cmp(&right.key));
    }
}

impl PartialEq for Object {
    /// Equal keys and values, in any order.
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let same_order = |(left, right): (&Entry, &Entry)| left.key == right.key;
        if self.entries.iter().zip(&other.entries).all(same_order) {
            return self
                .entries
                .iter()
                .zip(&other.entries)
                .all(|(l, r)| l.value == r.value);
        }
        let index: HashMap<&str, &Node> = other.iter().collect();
        self.iter()
            .all(|(key, value)| index.get(key).is_some_and(|found| *found == value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_equal_in_any_order() {
        let left = Node::parse_json(r#"{"a": 1, "b": [true, null]}"#).unwrap();
        let right = Node::parse_json(r#"{"b": [true, null], "a": 1.0}"#).unwrap();
        assert_eq!(left, right);
        assert_ne!(
            left,
            Node::parse_json(r#"{"a": 1, "c": [true, null]}"#).unwrap()
        );
    }
}
