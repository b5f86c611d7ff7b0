//! Joins the definitions of all files: each shape once, metadata merged.

use std::collections::{HashMap, HashSet};

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::fragment::Apply;
use crate::ids;
use crate::node::{Entry, Node, NodeValue, Object};
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Body, Shape};
use crate::shape_table::ShapeTable;
use crate::source::SourceLocation;
use crate::traits::Traits;

use super::traits::MANY;

/// Arrays under the same key are joined in the order of the files. Other values must be equal.
pub(super) fn merge_metadata(mut entries: Vec<Entry>, problems: &mut Problems) -> Object {
    // JSON files are read before IDL. Within a file the order is correct already.
    entries.sort_by_key(|entry| entry.key_location.file);
    let mut merged: Vec<Entry> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for entry in entries {
        let Some(&at) = index.get(&entry.key) else {
            index.insert(entry.key.clone(), merged.len());
            merged.push(entry);
            continue;
        };
        let old = &mut merged[at];
        if merge_values(&mut old.value, entry.value).is_err() {
            let first = old.key_location;
            problems.push_with(Severity::Error, |_| {
                let message = format!("the metadata `{}` has two different values", entry.key);
                Problem::error(rules::METADATA_CONFLICT, entry.key_location, message)
                    .expected("the same value, or arrays, which are joined")
                    .related("first", first)
            });
        }
    }
    Object::from_entries(merged)
}

/// Two values that conflict.
pub(super) struct Conflict;

/// Joins arrays, also equal ones. Other values must be equal.
pub(super) fn merge_values(old: &mut Node, new: Node) -> Result<(), Conflict> {
    if old.as_array().is_none() || new.as_array().is_none() {
        return if *old == new { Ok(()) } else { Err(Conflict) };
    }
    if let (NodeValue::Array(items), NodeValue::Array(mut more)) =
        (old.value_mut(), new.into_value())
    {
        items.append(&mut more);
    }
    Ok(())
}

/// Joins definitions, so that each shape exists once. Equal definitions in two files are one
/// definition: traits that only one of them has are added, and traits of both are merged as those
/// of `apply`.
///
/// Smithy's own tools also join the lists in traits of equal definitions, so that each tag occurs
/// twice. This crate does not, so that reading a model twice gives the same model.
pub(super) fn join(
    drafts: Vec<Shape>,
    bundled: Option<&ShapeTable>,
    problems: &mut Problems,
) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::with_capacity(drafts.len());
    let mut index: HashMap<ShapeId, usize> = HashMap::with_capacity(drafts.len());
    for draft in drafts {
        if let Some(&at) = index.get(&draft.id) {
            let first = &mut shapes[at];
            match difference(first, &draft) {
                None => merge_equal(first, draft),
                Some((difference, place)) => problems.push_with(Severity::Error, |_| {
                    let message = format!("`{}` is defined twice, {difference}", draft.id);
                    Problem::error(rules::DUPLICATE_SHAPE, place, message)
                        .hint("rename one of them, or keep only one")
                        .related("first", first.location)
                }),
            }
            continue;
        }
        if draft.id.namespace() == ids::PRELUDE {
            let known = bundled.and_then(|bundled| bundled.shape(&draft.id));
            if known.is_some_and(|known| known.shape_type != draft.shape_type) {
                problems.push(
                    Problem::error(
                        rules::DUPLICATE_SHAPE,
                        draft.location,
                        format!("`{}` is part of the prelude, with another type", draft.id),
                    )
                    .hint("namespaces below `smithy` are reserved: choose another"),
                );
                continue;
            }
        }
        index.insert(draft.id.clone(), shapes.len());
        shapes.push(draft);
    }
    shapes
}

/// The difference of a second definition from the first, and its location. Traits are not compared.
fn difference(first: &Shape, second: &Shape) -> Option<(String, SourceLocation)> {
    let here = |text: String| Some((text, second.location));
    let (left, right) = (first.shape_type, second.shape_type);
    if left != right {
        let (left, right) = (left.with_article(), right.with_article());
        return here(format!("as {left} and as {right}"));
    }
    if first.mixins != second.mixins {
        return here("with different mixins".to_owned());
    }
    // The AST has no `for`: elided members have their targets there.
    if first.for_resource.is_some()
        && second.for_resource.is_some()
        && first.for_resource != second.for_resource
    {
        return here("`for` different resources".to_owned());
    }
    for (left, right) in first.members.iter().zip(&second.members) {
        if left.name() != right.name() {
            let (left, right) = (left.name(), right.name());
            return here(format!(
                "with `{left}` and with `{right}` at the same position"
            ));
        }
        if left.target != right.target && !left.elided && !right.elided {
            let text = format!(
                "with the targets `{}` and `{}`",
                left.target.id(),
                right.target.id()
            );
            return Some((text, right.target.location()));
        }
    }
    let (left, right) = (&first.members, &second.members);
    if let Some(member) = right.get(left.len()) {
        let text = format!("without and with the member `{}`", member.name());
        return Some((text, member.location));
    }
    if let Some(member) = left.get(right.len()) {
        return here(format!("with and without the member `{}`", member.name()));
    }
    let property = property(&first.body, &second.body)?;
    here(format!("with different `{property}`"))
}

/// The first property that two bodies differ in.
fn property(left: &Body, right: &Body) -> Option<&'static str> {
    let differences: &[(&str, bool)] = match (left, right) {
        (Body::Operation(left), Body::Operation(right)) => &[
            ("input", left.input != right.input),
            ("output", left.output != right.output),
            ("errors", left.errors != right.errors),
        ],
        (Body::Resource(left), Body::Resource(right)) => &[
            ("identifiers", left.identifiers != right.identifiers),
            ("properties", left.properties != right.properties),
            ("lifecycle", left.lifecycle != right.lifecycle),
            ("operations", left.operations != right.operations),
            (
                "collectionOperations",
                left.collection_operations != right.collection_operations,
            ),
            ("resources", left.resources != right.resources),
        ],
        (Body::Service(left), Body::Service(right)) => &[
            ("version", left.version != right.version),
            ("operations", left.operations != right.operations),
            ("resources", left.resources != right.resources),
            ("errors", left.errors != right.errors),
            ("rename", left.rename != right.rename),
        ],
        _ => &[],
    };
    let mut differing = differences.iter().filter(|(_, differs)| *differs);
    differing.next().map(|(property, _)| *property)
}

/// Adds the traits of a second definition, which is otherwise equal.
fn merge_equal(first: &mut Shape, second: Shape) {
    let adds_traits = !has_same_traits(first, &second);
    let members = first.members.iter_mut().zip(second.members);
    for (member, other) in members {
        if member.elided && !other.elided {
            member.target = other.target;
            member.elided = false;
        }
        if adds_traits {
            member.traits.append(other.traits);
        }
    }
    // Traits are merged with those of `apply` later.
    if adds_traits {
        first.traits.append(second.traits);
    }
}

/// Whether two definitions have the same traits. May return `false` for equal traits, to stay
/// cheap.
fn has_same_traits(first: &Shape, second: &Shape) -> bool {
    let same = |left: &Traits, right: &Traits| left.len() <= MANY && left == right;
    let mut members = first.members.iter().zip(&second.members);
    same(&first.traits, &second.traits)
        && members.all(|(left, right)| same(&left.traits, &right.traits))
}

/// A bundled definition becomes a shape of the model if the model applies traits to it. Shapes of
/// the prelude are excluded: they are the same for every model.
pub(super) fn adopt_bundled_targets(
    shapes: &mut Vec<Shape>,
    applies: &mut Vec<Apply>,
    bundled: Option<&ShapeTable>,
    problems: &mut Problems,
) {
    let Some(bundled) = bundled else { return };
    applies.retain(|apply| {
        let is_prelude = apply.target.namespace() == ids::PRELUDE
            && bundled.shape(apply.target.root_str()).is_some();
        if is_prelude {
            problems.push_with(Severity::Error, |_| {
                let id = apply.target.root_str();
                let message =
                    format!("`{id}` is part of the prelude, to which no traits can be applied");
                Problem::error(rules::PRELUDE_SHAPE, apply.target.location(), message)
                    .hint("define a shape of your own, and apply the trait to it")
            });
        }
        !is_prelude
    });
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
