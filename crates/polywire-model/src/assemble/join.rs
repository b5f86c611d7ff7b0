//! The definitions of all files as one list: each shape once, metadata merged.

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::bundled::Bundled;
use crate::diagnostic::{Problem, Problems};
use crate::fragment::Apply;
use crate::node::{Entry, Node, NodeValue, Object};
use crate::shape::Shape;

/// Arrays under the same key are joined; other values must agree.
pub(super) fn merge_metadata(entries: Vec<Entry>, problems: &mut Problems) -> Object {
    let mut merged: Vec<Entry> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for entry in entries {
        let Some(&at) = index.get(&entry.key) else {
            index.insert(entry.key.clone(), merged.len());
            merged.push(entry);
            continue;
        };
        let old = &mut merged[at];
        let conflict = Problem::error(
            "MetadataConflict",
            entry.key_location,
            format!("the metadata `{}` has another value elsewhere", entry.key),
        )
        .expected("the same value, or arrays, which are joined")
        .related("first", old.key_location);
        if let Err(_conflicting) = merge_values(&mut old.value, entry.value) {
            problems.push(conflict);
        }
    }
    Object::from_entries(merged)
}

/// Joins arrays, lets equal values be, and gives back a value that conflicts.
pub(super) fn merge_values(old: &mut Node, new: Node) -> Result<(), Node> {
    if *old == new {
        return Ok(());
    }
    let location = new.location();
    match (old.value_mut(), new.into_value()) {
        (NodeValue::Array(items), NodeValue::Array(mut more)) => {
            items.append(&mut more);
            Ok(())
        }
        (_, value) => Err(Node::new(value, location)),
    }
}

/// Each shape once. The same definition in two files is one definition.
pub(super) fn join(
    drafts: Vec<Shape>,
    bundled: Option<&Bundled>,
    problems: &mut Problems,
) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::with_capacity(drafts.len());
    let mut index: HashMap<ShapeId, usize> = HashMap::with_capacity(drafts.len());
    for draft in drafts {
        if let Some(&at) = index.get(&draft.id) {
            let first: &Shape = &shapes[at];
            if *first != draft {
                problems.push(
                    Problem::error(
                        "DuplicateShape",
                        draft.location,
                        format!("`{}` is defined twice", draft.id),
                    )
                    .hint("give one of them another name, or keep only one")
                    .related("first", first.location),
                );
            }
            continue;
        }
        if draft.id.namespace() == "smithy.api" {
            let known = bundled.and_then(|bundled| bundled.shape(&draft.id));
            if known.is_some_and(|known| known.shape_type != draft.shape_type) {
                problems.push(
                    Problem::error(
                        "DuplicateShape",
                        draft.location,
                        format!("`{}` is part of Smithy itself, as another type", draft.id),
                    )
                    .hint("namespaces below `smithy` are Smithy's own: choose another"),
                );
                continue;
            }
        }
        index.insert(draft.id.clone(), shapes.len());
        shapes.push(draft);
    }
    shapes
}

/// A bundled definition that the model applies traits to becomes its own.
pub(super) fn adopt_bundled_targets(
    shapes: &mut Vec<Shape>,
    applies: &[Apply],
    bundled: Option<&Bundled>,
) {
    let Some(bundled) = bundled else { return };
    let mut wanted: Vec<&str> = applies
        .iter()
        .map(|apply| apply.target.root_str())
        .filter(|id| bundled.shape(id).is_some())
        .collect();
    if wanted.is_empty() {
        return;
    }
    wanted.sort_unstable();
    wanted.dedup();
    let defined: HashSet<ShapeId> = shapes.iter().map(|shape| shape.id.clone()).collect();
    let adopted = wanted.into_iter().filter(|id| !defined.contains(*id));
    shapes.extend(adopted.filter_map(|id| bundled.shape(id).cloned()));
}
