//! Metadata that a shape with `@metadata` describes.

use std::collections::HashMap;

use super::values::{Leniency, Subject, Values};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::Shape;

/// The keys that Smithy itself uses.
const RESERVED: [&str; 3] = ["severityOverrides", "suppressions", "validators"];

pub(super) fn check<'m>(model: &'m Model, values: &mut Values<'m>, problems: &mut Problems) {
    let mut by_key: HashMap<&str, &Shape> = HashMap::new();
    for shape in model.shapes() {
        let Some(applied) = shape.traits().find(ids::METADATA) else {
            continue;
        };
        let Some(node) = applied.value().get("key") else {
            continue;
        };
        let Some(key) = node.as_str() else { continue };
        if RESERVED.contains(&key) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("`{}` describes the metadata `{key}`", shape.id());
                Problem::error(rules::METADATA_TRAIT, node.location(), message)
                    .expected("another key: this one is reserved")
            });
            continue;
        }
        let first = *by_key.entry(key).or_insert(shape);
        if !std::ptr::eq(first, shape) {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{}` and `{}` both describe the metadata `{key}`",
                    first.id(),
                    shape.id()
                );
                Problem::error(rules::METADATA_TRAIT, node.location(), message)
                    .expected("one shape for each key")
                    .related("the other", first.location())
            });
        }
    }
    if by_key.is_empty() {
        return;
    }
    for entry in model.metadata().entries() {
        if let Some(shape) = by_key.get(entry.key.as_str()) {
            let subject = Subject {
                rule: rules::TYPED_METADATA,
                what: "the metadata",
                id: &entry.key,
                at: entry.key_location,
                leniency: Leniency::default(),
            };
            let node: &Node = &entry.value;
            values.check(subject, node, shape, problems);
        }
    }
}
