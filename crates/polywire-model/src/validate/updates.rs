//! Update operations with defaults in their input: a server cannot distinguish an omitted member
//! from one that was set.

use std::collections::BTreeSet;

use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Lifecycle, Member, ShapeType};

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let resources = model.shapes_of(ShapeType::Resource);
    let by_lifecycle = resources
        .filter_map(|shape| shape.as_resource()?.lifecycle(Lifecycle::Update))
        .map(|reference| reference.as_str());
    let by_name = model
        .shapes_of(ShapeType::Operation)
        .filter(|shape| {
            let name = shape.id().name().as_bytes();
            let starts_with = |word: &[u8]| {
                name.get(..word.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(word))
            };
            starts_with(b"update") || starts_with(b"patch")
        })
        .map(|shape| shape.id().as_str());
    // Sorted, without duplicates.
    let updates: BTreeSet<&str> = by_lifecycle.chain(by_name).collect();
    for id in updates {
        let Some(shape) = model.defined(id) else {
            continue;
        };
        let input = shape.as_operation().and_then(|o| model.get(o.input()));
        let members = input.map_or(&[][..], |input| input.members());
        let mut defaults = members.iter().filter(|member| {
            let traits = member.traits();
            traits.has(ids::DEFAULT)
        });
        let Some(first) = defaults.next() else {
            continue;
        };
        let names = [first].into_iter().chain(defaults).map(Member::name);
        let names: Vec<&str> = names.take(20).collect();
        problems.push_with(Severity::Warning, |_| {
            let message = format!(
                "the update `{id}` has defaults in its input: `{}`",
                names.join("`, `")
            );
            Problem::warning(rules::DEFAULT_VALUE_IN_UPDATE, shape.location(), message)
                .hint("without a default, an omitted member can keep its value")
                .related("the first", first.location())
        });
    }
}
