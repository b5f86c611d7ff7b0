//! The values of attributes: of a shape, of its id, of its traits.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use super::graph::{Graph, Node};
use super::syntax::{Path, Segment};
use crate::node::{Node as ModelNode, NodeValue};

/// The shapes in each variable, by its slot.
pub(crate) type Variables = [Option<Rc<[Node]>>];

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Value<'m> {
    Absent,
    Id(&'m str),
    /// A projection: several values of one path.
    Many(Vec<Value<'m>>),
    Node(&'m ModelNode),
    Service(Node),
    Shape(Node),
    Text(Cow<'m, str>),
    Traits(Node),
    Variables,
}

/// The context in which values are computed.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a, 'm> {
    pub(crate) graph: &'a Graph<'m>,
    pub(crate) names: &'a [String],
    pub(crate) variables: &'a Variables,
    pub(crate) budget: &'a Budget,
}

/// The remaining work of an evaluation. Selectors are part of models, and a short one can visit
/// every pair of shapes.
#[derive(Debug)]
pub(crate) struct Budget(Cell<u64>);

impl Budget {
    pub(crate) fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// The total work of all selectors in a model with this number of nodes. It is enough to visit
    /// each shape and its neighbors, and not every pair.
    pub(crate) fn of_model(nodes: usize) -> Self {
        Self::new(2_000_000 + 100 * nodes as u64)
    }

    /// Subtracts steps. Returns whether there were enough.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl<'m> Scope<'_, 'm> {
    pub(crate) fn follow(&self, start: Value<'m>, path: &Path) -> Value<'m> {
        let mut value = start;
        for segment in &path.segments {
            if matches!(value, Value::Absent) {
                break;
            }
            value = self.property(&value, segment);
            let count = if let Value::Many(values) = &value {
                values.len()
            } else {
                1
            };
            if !self.budget.spend(count as u64) {
                return Value::Absent;
            }
        }
        value
    }

    fn property(&self, value: &Value<'m>, segment: &Segment) -> Value<'m> {
        let (name, is_function) = match segment {
            Segment::Function(name) => (name.as_str(), true),
            Segment::Name { text, .. } => (text.as_str(), false),
        };
        match value {
            Value::Many(values) if is_function && name == "first" => {
                first(values).cloned().unwrap_or(Value::Absent)
            }
            // Variables in a projection would be evaluated again for each value, without end.
            Value::Many(_) if segment.is_name("var") => Value::Absent,
            Value::Many(values) => {
                let values = values.iter().map(|value| self.property(value, segment));
                Value::Many(values.filter(Value::exists).collect())
            }
            Value::Shape(node) => match (name, is_function) {
                ("id", false) => Value::Id(self.graph.id(*node)),
                ("service", false) if self.graph.get(*node).0.as_service().is_some() => {
                    Value::Service(*node)
                }
                ("trait", false) => Value::Traits(*node),
                ("var", false) => Value::Variables,
                _ => Value::Absent,
            },
            Value::Service(node) => match (name, is_function) {
                ("id", false) => Value::Id(self.graph.id(*node)),
                ("version", false) => match self.graph.get(*node).0.as_service() {
                    Some(service) => Value::Text(Cow::Borrowed(service.version())),
                    None => Value::Absent,
                },
                _ => Value::Absent,
            },
            Value::Id(id) => part_of_id(id, name, is_function),
            Value::Traits(node) => self.traits(*node, segment),
            Value::Variables => {
                let slot = self.names.iter().position(|known| known == name);
                match slot.and_then(|slot| self.variables.get(slot)?.as_ref()) {
                    Some(nodes) => Value::Many(nodes.iter().map(|n| Value::Shape(*n)).collect()),
                    // Not a value, but the empty set.
                    None => Value::Many(Vec::new()),
                }
            }
            Value::Node(node) => part_of_node(node, name, is_function),
            Value::Text(text) if is_function && name == "length" => length(text.chars().count()),
            Value::Text(_) | Value::Absent => Value::Absent,
        }
    }

    fn traits(&self, node: Node, segment: &Segment) -> Value<'m> {
        let traits = self.graph.traits(node);
        match segment {
            Segment::Function(name) => match name.as_str() {
                "keys" => Value::Many(traits.iter().map(|t| Value::Id(t.id())).collect()),
                "values" => Value::Many(traits.iter().map(|t| Value::Node(t.value())).collect()),
                "length" => length(traits.len()),
                _ => Value::Absent,
            },
            Segment::Name { trait_id, .. } => {
                traits.get(trait_id).map_or(Value::Absent, Value::Node)
            }
        }
    }
}

fn length<'m>(count: usize) -> Value<'m> {
    Value::Text(Cow::Owned(count.to_string()))
}

fn part_of_id<'m>(id: &'m str, name: &str, is_function: bool) -> Value<'m> {
    let (root, member) = match id.split_once('$') {
        Some((root, member)) => (root, Some(member)),
        None => (id, None),
    };
    let (namespace, shape) = root.split_once('#').unwrap_or(("", root));
    let part = match (name, is_function) {
        ("length", true) => return length(id.chars().count()),
        ("member", false) => member,
        ("name", false) => Some(shape),
        ("namespace", false) => Some(namespace),
        _ => None,
    };
    part.map_or(Value::Absent, |part| Value::Text(Cow::Borrowed(part)))
}

fn part_of_node<'m>(node: &'m ModelNode, name: &str, is_function: bool) -> Value<'m> {
    match (node.value(), name, is_function) {
        (NodeValue::Object(object), "keys", true) => {
            let keys = object
                .iter()
                .map(|(key, _)| Value::Text(Cow::Borrowed(key)));
            Value::Many(keys.collect())
        }
        (NodeValue::Object(object), "values", true) => {
            Value::Many(object.iter().map(|(_, value)| Value::Node(value)).collect())
        }
        (NodeValue::Object(object), "length", true) => length(object.len()),
        (NodeValue::Object(object), key, false) => {
            object.get(key).map_or(Value::Absent, Value::Node)
        }
        (NodeValue::Array(items), "values", true) => {
            Value::Many(items.iter().map(Value::Node).collect())
        }
        (NodeValue::Array(items), "length", true) => length(items.len()),
        (NodeValue::String(text), "length", true) => length(text.chars().count()),
        _ => Value::Absent,
    }
}

fn first<'a, 'm>(values: &'a [Value<'m>]) -> Option<&'a Value<'m>> {
    values.iter().find_map(|value| match value {
        Value::Many(values) => first(values),
        value => Some(value),
    })
}

impl<'m> Value<'m> {
    /// Whether there is a value. Null does not count.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Many(values) => !values.is_empty(),
            Self::Node(node) => !node.is_null(),
            _ => true,
        }
    }

    /// Visits each value of a projection, flattened, or the value itself, until `visit` returns
    /// `true`. Returns whether it did.
    pub(crate) fn any(&self, visit: &mut dyn FnMut(&Self) -> bool) -> bool {
        match self {
            Self::Many(values) => values.iter().any(|value| value.any(visit)),
            value => visit(value),
        }
    }

    /// The value as text, for comparisons.
    pub(crate) fn text(&self, graph: &Graph<'m>) -> Cow<'_, str> {
        match self {
            Self::Id(id) => Cow::Borrowed(id),
            Self::Node(node) => match node.value() {
                NodeValue::String(text) => Cow::Borrowed(text),
                NodeValue::Number(number) => Cow::Owned(number.to_string()),
                NodeValue::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
                _ => Cow::Borrowed(""),
            },
            Self::Service(node) | Self::Shape(node) => Cow::Borrowed(graph.id(*node)),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Absent | Self::Many(_) | Self::Traits(_) | Self::Variables => Cow::Borrowed(""),
        }
    }

    /// The value as text, for messages: nodes as JSON, projections as sorted lists.
    pub(crate) fn message(&self, graph: &Graph<'m>) -> String {
        match self {
            Self::Node(node) => node.to_json(),
            Self::Many(_) => {
                let mut texts = Vec::new();
                self.any(&mut |value| {
                    texts.push(value.message(graph));
                    false
                });
                texts.sort();
                format!("[{}]", texts.join(", "))
            }
            value => value.text(graph).into_owned(),
        }
    }
}
