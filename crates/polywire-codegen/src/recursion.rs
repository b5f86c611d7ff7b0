//! Which members need a box: those that close a circle of structures.

use std::collections::{BTreeMap, BTreeSet};

use polywire_model::{Closure, Model, ShapeId, ShapeType};

/// The members of structures and unions that hold, directly or through other
/// structures and unions, their own shape. Lists and maps have their items
/// elsewhere anyway. Of each circle one member is boxed: the last by the order
/// of shapes and members.
pub(crate) fn boxed_members<'m>(model: &'m Model, closure: &Closure<'m>) -> BTreeSet<&'m ShapeId> {
    let mut boxed = BTreeSet::new();
    let mut edges: BTreeMap<&ShapeId, Vec<&ShapeId>> = BTreeMap::new();
    for shape in closure.shapes() {
        let is_direct = |ty: ShapeType| matches!(ty, ShapeType::Structure | ShapeType::Union);
        if !is_direct(shape.shape_type()) {
            continue;
        }
        for member in shape.members() {
            let target = model.target(member);
            let Some(target) = target.filter(|target| is_direct(target.shape_type())) else {
                continue;
            };
            // Whether the target leads back here by what is not boxed so far.
            if reaches(&edges, target.id(), shape.id()) {
                boxed.insert(member.id());
            } else {
                edges.entry(shape.id()).or_default().push(target.id());
            }
        }
    }
    boxed
}

fn reaches(edges: &BTreeMap<&ShapeId, Vec<&ShapeId>>, from: &ShapeId, to: &ShapeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(id) = todo.pop() {
        if id == to {
            return true;
        }
        if seen.insert(id) {
            todo.extend(edges.get(id).into_iter().flatten());
        }
    }
    false
}
