//! References must be to existing shapes of the right type, which are not private.

use super::{access, everything, lifecycle};
use crate::assemble::suggest_shape;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::{Model, Relation, neighbors};
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeRef, ShapeType, UNIT};

pub(super) fn check(model: &Model, shape: &Shape, problems: &mut Problems) {
    for member in shape.members() {
        check_member(model, shape, member, problems);
    }
    for (relation, reference) in neighbors(shape) {
        if relation == Relation::MemberTarget {
            continue;
        }
        let what = describe(relation);
        let Some(target) = model.get(reference) else {
            // Mixins are resolved when they are flattened.
            if relation != Relation::Mixin {
                unresolved(model, what, shape.id(), reference, problems);
            }
            continue;
        };
        let (owner, location) = (shape.id(), reference.location());
        access::check_target(what, owner, owner.namespace(), location, target, problems);
        lifecycle::check_target(what, relation, owner, reference, target, problems);
        if let Some((rule, expected, hint)) = mismatch(relation, target) {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "the {what} `{}` of `{owner}` is {}",
                    reference.id(),
                    what_it_is(target)
                );
                Problem::error(rule, location, message)
                    .expected(expected)
                    .maybe_hint(hint.map(str::to_owned))
                    .related("defined", target.location())
            });
        }
    }
    if let Some(service) = shape.as_service() {
        for (id, name) in service.rename() {
            if model.get(id).is_none() {
                unresolved(model, "renamed shape", shape.id(), id, problems);
            }
            if !polywire_schema::is_identifier(name) {
                problems.push_with(Severity::Error, |_| {
                    let message = format!("`{}` cannot be renamed to `{name}`", id.id());
                    Problem::error(rules::RENAME, id.location(), message)
                        .expected("a name of letters, digits and underscores")
                });
            }
        }
    }
}

fn check_member(model: &Model, shape: &Shape, member: &Member, problems: &mut Problems) {
    let reference = member.target();
    let Some(target) = model.get(reference) else {
        // Reported where the mixin defines the member.
        if !member.is_inherited() {
            unresolved(model, "target", member.id(), reference, problems);
        }
        return;
    };
    // Private targets are checked for inherited members, too.
    let location = match member.is_inherited() {
        true => member.location(),
        false => reference.location(),
    };
    let namespace = member.id().namespace();
    access::check_target("target", member.id(), namespace, location, target, problems);
    if !member.is_inherited() {
        let (owner, relation) = (member.id(), Relation::MemberTarget);
        lifecycle::check_target("target", relation, owner, reference, target, problems);
    }
    let is_key = shape.shape_type() == ShapeType::Map && member.name() == "key";
    let unit_fits = matches!(
        shape.shape_type(),
        ShapeType::Enum | ShapeType::IntEnum | ShapeType::Union
    );
    let (rule, expected) = if target.shape_type().is_service_type() {
        (
            rules::TARGET,
            "a data shape: not a service, resource or operation",
        )
    } else if target.traits().is_trait_definition() {
        (rules::TARGET, "a shape that is not a trait")
    } else if target.traits().is_mixin() {
        (rules::TARGET, "a shape that is not a mixin")
    } else if is_key && !matches!(target.shape_type(), ShapeType::String | ShapeType::Enum) {
        (rules::TARGET, "a string or an enum, as the key of a map")
    } else if *target.id() == UNIT && !unit_fits {
        (
            rules::UNIT_TYPE,
            "a data shape: only members of unions can target `Unit`",
        )
    } else {
        return;
    };
    if member.is_inherited() {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "the target `{}` of the member `{}` is {}",
            reference.id(),
            member.id(),
            what_it_is(target)
        );
        Problem::error(rule, reference.location(), message)
            .expected(expected)
            .related("defined", target.location())
    });
}

/// The reason why a shape cannot have a relation to another: the rule, what was expected, a hint.
fn mismatch(
    relation: Relation,
    target: &Shape,
) -> Option<(&'static Rule, &'static str, Option<&'static str>)> {
    let shape_type = target.shape_type();
    let (fits, expected) = match relation {
        Relation::Input | Relation::Output => (shape_type == ShapeType::Structure, "a structure"),
        Relation::Error => (
            shape_type == ShapeType::Structure,
            "a structure with @error",
        ),
        Relation::Operation | Relation::CollectionOperation | Relation::LifecycleOperation => {
            (shape_type == ShapeType::Operation, "an operation")
        }
        Relation::Resource => (shape_type == ShapeType::Resource, "a resource"),
        Relation::Identifier => (
            matches!(shape_type, ShapeType::String | ShapeType::Enum),
            "a string",
        ),
        Relation::Property => (!shape_type.is_service_type(), "a data shape"),
        Relation::MemberTarget | Relation::Mixin => (true, ""),
    };
    if !fits {
        return Some((rules::TARGET, expected, None));
    }
    if relation == Relation::Mixin {
        return None;
    }
    if target.traits().is_trait_definition() {
        return Some((rules::TARGET, "a shape that is not a trait", None));
    }
    if target.traits().is_mixin() {
        return Some((rules::TARGET, "a shape that is not a mixin", None));
    }
    let is_input = matches!(relation, Relation::Input | Relation::Output);
    if *target.id() == UNIT && !is_input && relation != Relation::Error {
        return Some((rules::UNIT_TYPE, "a data shape other than `Unit`", None));
    }
    let has_error = target.traits().has(ids::ERROR);
    match relation {
        Relation::Error if !has_error => {
            let hint = "apply @error(\"client\") or @error(\"server\") to the structure";
            Some((rules::TARGET, expected, Some(hint)))
        }
        Relation::Input | Relation::Output if has_error => {
            Some((rules::TARGET, "a structure without @error", None))
        }
        _ => None,
    }
}

fn describe(relation: Relation) -> &'static str {
    match relation {
        Relation::CollectionOperation => "collection operation",
        Relation::Error => "error",
        Relation::Identifier => "identifier",
        Relation::Input => "input",
        Relation::LifecycleOperation => "lifecycle operation",
        Relation::MemberTarget => "target",
        Relation::Mixin => "mixin",
        Relation::Operation => "operation",
        Relation::Output => "output",
        Relation::Property => "property",
        Relation::Resource => "resource",
    }
}

fn what_it_is(shape: &Shape) -> String {
    if shape.traits().is_trait_definition() {
        format!("{} and a trait", shape.shape_type().with_article())
    } else if shape.traits().is_mixin() {
        format!("{} and a mixin", shape.shape_type().with_article())
    } else if *shape.id() == UNIT {
        "empty".to_owned()
    } else if shape.shape_type() == ShapeType::Structure && !shape.traits().has(ids::ERROR) {
        "a structure without @error".to_owned()
    } else {
        shape.shape_type().with_article()
    }
}

#[cold]
fn unresolved(
    model: &Model,
    what: &str,
    owner: &str,
    reference: &ShapeRef,
    problems: &mut Problems,
) {
    problems.push_with(Severity::Error, |hints| {
        let suggest = || suggest_shape(reference.root_str(), everything(model));
        let message = format!(
            "the {what} `{}` of `{owner}` is not defined",
            reference.id()
        );
        Problem::error(
            rules::TARGET_UNRESOLVED_SHAPE,
            reference.location(),
            message,
        )
        .expected("the name of a shape")
        .maybe_hint(hints.then(suggest).flatten())
    });
}
