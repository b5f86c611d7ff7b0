//! Finds the bundled definitions that a model uses.

use std::collections::HashSet;

use crate::ids;
use crate::model::{Model, neighbors};
use crate::node::{Node, NodeValue};
use crate::shape::Shape;

/// The bundled shapes that a model reaches: the definitions of its traits, the targets of its
/// members, and everything that these reach. Without the prelude.
pub(super) fn used(model: &Model) -> Vec<&'static Shape> {
    let mut walk = Walk {
        model,
        seen: HashSet::new(),
        found: Vec::new(),
    };
    for shape in model.shapes() {
        walk.shape(shape);
    }
    let mut next = 0;
    while let Some(&shape) = walk.found.get(next) {
        walk.shape(shape);
        next += 1;
    }
    walk.found
}

struct Walk<'m> {
    model: &'m Model,
    seen: HashSet<&'static str>,
    found: Vec<&'static Shape>,
}

impl Walk<'_> {
    fn shape(&mut self, shape: &Shape) {
        for (_, reference) in neighbors(shape) {
            self.id(reference.as_str());
        }
        let members = shape.members().iter().flat_map(|m| m.traits().iter());
        for applied in shape.traits().iter().chain(members) {
            self.id(applied.id());
            self.value(applied.value());
        }
    }

    /// Finds ids within values: `@authDefinition` and others name traits there.
    fn value(&mut self, node: &Node) {
        match node.value() {
            NodeValue::Array(items) => items.iter().for_each(|item| self.value(item)),
            NodeValue::Object(object) => object.iter().for_each(|(_, value)| self.value(value)),
            NodeValue::String(text) if text.contains('#') => self.id(text),
            _ => {}
        }
    }

    fn id(&mut self, id: &str) {
        let root = id.split('$').next().unwrap_or(id);
        if ids::in_prelude(root).is_some() || self.model.defined(root).is_some() {
            return;
        }
        if let Some(shape) = self.model.bundled().shape(root)
            && self.seen.insert(shape.id().as_str())
        {
            self.found.push(shape);
        }
    }
}
