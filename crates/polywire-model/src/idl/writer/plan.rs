//! The order of the shapes in a file, and the structures that are inline in operations.

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::ids;
use crate::model::{Model, neighbors};
use crate::node::Object;
use crate::shape::{Body, Operation, Shape, ShapeType};

/// The number of references to each shape from members, operations, mixins and others.
pub(super) struct References<'m>(HashMap<&'m ShapeId, u32>);

impl<'m> References<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let mut counts = HashMap::new();
        for shape in model.shapes() {
            for (_, reference) in neighbors(shape) {
                *counts.entry(reference.id()).or_default() += 1;
            }
        }
        Self(counts)
    }

    fn is_only_one(&self, id: &ShapeId) -> bool {
        self.0.get(id) == Some(&1)
    }
}

#[derive(Default)]
pub(super) struct Plan<'m> {
    /// In order, without inline structures.
    pub(super) shapes: Vec<&'m Shape>,
    inline: HashSet<&'m ShapeId>,
    pub(super) input_suffix: String,
    pub(super) output_suffix: String,
}

impl<'m> Plan<'m> {
    /// The plan for the shapes of a namespace, which are sorted by name.
    pub(super) fn of(shapes: &[&'m Shape], model: &'m Model, references: &References<'_>) -> Self {
        let candidates = |marker, target: fn(&Operation) -> &ShapeId| -> Vec<Candidate<'m>> {
            let operations = shapes.iter().copied();
            operations
                .filter_map(|shape| Candidate::of(shape, target, marker, model, references))
                .collect()
        };
        let inputs = candidates(ids::INPUT, |operation| operation.input().id());
        let outputs = candidates(ids::OUTPUT, |operation| operation.output().id());
        let (input_suffix, output_suffix) = (suffix(&inputs, "Input"), suffix(&outputs, "Output"));
        let mut inline = HashSet::new();
        let mut companions: HashMap<&ShapeId, Vec<&Shape>> = HashMap::new();
        for (candidates, suffix) in [(inputs, &input_suffix), (outputs, &output_suffix)] {
            for candidate in candidates {
                if candidate.is_marked && candidate.suffix == Some(suffix.as_str()) {
                    inline.insert(candidate.structure.id());
                } else {
                    let near = companions.entry(candidate.operation).or_default();
                    near.push(candidate.structure);
                }
            }
        }
        let mut placed: HashSet<&ShapeId> = inline.clone();
        placed.extend(companions.values().flatten().map(|shape| shape.id()));
        let mut order: Vec<&Shape> = shapes
            .iter()
            .copied()
            .filter(|shape| !placed.contains(shape.id()))
            .collect();
        // The sort is stable: within a group shapes stay sorted by name.
        order.sort_by_key(|shape| group(shape));
        let mut planned = Vec::with_capacity(order.len());
        for shape in order {
            planned.push(shape);
            planned.extend(companions.remove(shape.id()).unwrap_or_default());
        }
        Self {
            shapes: planned,
            inline,
            input_suffix,
            output_suffix,
        }
    }

    pub(super) fn is_inline(&self, id: &ShapeId) -> bool {
        self.inline.contains(id)
    }
}

/// The position of the group of a shape.
fn group(shape: &Shape) -> u32 {
    if shape.traits().is_trait_definition() {
        return 7;
    }
    match shape.shape_type() {
        ShapeType::Service => 0,
        ShapeType::Resource => 1,
        ShapeType::Operation => 2,
        ShapeType::Structure if shape.traits().has(ids::ERROR) => 3,
        ShapeType::Structure | ShapeType::Union => 4,
        ShapeType::List | ShapeType::Map => 5,
        _ => 6,
    }
}

/// The input or output of an operation, if nothing else refers to it. It is written in the
/// operation, or right after it.
struct Candidate<'m> {
    operation: &'m ShapeId,
    structure: &'m Shape,
    /// The name of the structure without that of the operation.
    suffix: Option<&'m str>,
    /// Whether it has `@input` or `@output`, which inline structures always have.
    is_marked: bool,
}

impl<'m> Candidate<'m> {
    fn of(
        shape: &'m Shape,
        target: fn(&Operation) -> &ShapeId,
        marker: &str,
        model: &'m Model,
        references: &References<'_>,
    ) -> Option<Self> {
        let Body::Operation(operation) = shape.own_body() else {
            return None;
        };
        let structure = model.defined(target(operation))?;
        let fits = structure.shape_type() == ShapeType::Structure
            && structure.id().namespace() == shape.id().namespace()
            && references.is_only_one(structure.id());
        if !fits {
            return None;
        }
        let applied = structure.traits().find(marker);
        let is_marked = applied.is_some_and(|applied| {
            !applied.is_inherited() && applied.value().as_object().is_some_and(Object::is_empty)
        });
        let suffix = structure.id().name().strip_prefix(shape.id().name());
        Some(Self {
            operation: shape.id(),
            structure,
            suffix,
            is_marked,
        })
    }
}

/// The suffix with which most structures can be inline. The default if none can.
fn suffix(candidates: &[Candidate<'_>], default: &str) -> String {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let marked = candidates.iter().filter(|candidate| candidate.is_marked);
    for suffix in marked.filter_map(|candidate| candidate.suffix) {
        *counts.entry(suffix).or_default() += 1;
    }
    let best = counts
        .into_iter()
        .max_by_key(|(suffix, count)| (*count, *suffix == default, std::cmp::Reverse(*suffix)));
    best.map_or(default, |(suffix, _)| suffix).to_owned()
}
