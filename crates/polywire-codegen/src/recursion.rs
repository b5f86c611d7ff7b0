//! Finds the members that need a `Box` because their type is recursive.

use std::collections::{BTreeMap, BTreeSet};

use polywire_model::{Closure, Model, ShapeId, ShapeType};

/// Returns the members that must be boxed so that no structure or union contains itself. Lists and
/// maps allocate their items, so they break a cycle by themselves. One member per cycle is boxed:
/// the last one in the order of shapes and members.
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
            // Whether the target contains this shape again through members that are not boxed yet.
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
    let mut pending = vec![from];
    while let Some(id) = pending.pop() {
        if id == to {
            return true;
        }
        if seen.insert(id) {
            pending.extend(edges.get(id).into_iter().flatten());
        }
    }
    false
}
