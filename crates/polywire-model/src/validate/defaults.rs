//! `@default`: the value must match the shape.
//!
//! Smithy 2.0, "default trait", "Default value constraints": null removes a default, lists and maps
//! can only be empty, structures and unions have none. A member repeats the default of its target,
//! or has the default null, so that readers of the structure need not look up the target.

use polywire_text::base64;

use super::values::{Leniency, Subject, Values, shown};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::{Node, NodeValue};
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::AppliedTrait;

const RULE: &Rule = rules::DEFAULT_TRAIT;

pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    // Inherited from a mixin, where it was checked.
    let default = shape.traits().find(ids::DEFAULT);
    if let Some(applied) = default.filter(|applied| !applied.is_inherited()) {
        let value = applied.value();
        if value.is_null() {
            problems.push(
                Problem::error(
                    RULE,
                    applied.location(),
                    format!("the default of `{}` is null", shape.id()),
                )
                .expected("a value: only members can have the default null"),
            );
        } else if can_have_default(shape, shape.id(), value, problems) {
            let subject = subject(shape.id(), applied.location());
            values.check(subject, value, shape, problems);
        }
    }
    for member in shape.members() {
        let Some(target) = model.target(member) else {
            continue;
        };
        let default = member.traits().find(ids::DEFAULT);
        // With constraints of the member itself, an inherited default may no longer be valid.
        let is_changed = || member.traits().iter().any(|t| !t.is_inherited());
        if let Some(applied) = default.filter(|d| !d.is_inherited() || is_changed()) {
            let value = applied.value();
            if !value.is_null() && can_have_default(target, member.id(), value, problems) {
                let subject = subject(member.id(), applied.location());
                values.check_member(subject, value, member, problems);
            }
        }
        if shape.shape_type() == ShapeType::Structure {
            check_agreement(member, default, target, problems);
        }
    }
}

fn subject(owner: &str, at: SourceLocation) -> Subject<'_> {
    Subject {
        rule: RULE,
        what: "the default of",
        id: owner,
        at,
        leniency: Leniency {
            zeros: true,
            ..Leniency::default()
        },
    }
}

/// Whether a shape of this type can have such a default.
fn can_have_default(shape: &Shape, owner: &str, value: &Node, problems: &mut Problems) -> bool {
    let expected = match (shape.shape_type(), value.value()) {
        (ShapeType::Structure, _) => "no default, or null: structures cannot have defaults",
        (ShapeType::Union, _) => "no default, or null: unions cannot have defaults",
        (ShapeType::List, NodeValue::Array(items)) if items.is_empty() => return true,
        (ShapeType::List, _) => "`[]`",
        (ShapeType::Map, NodeValue::Object(object)) if object.is_empty() => return true,
        (ShapeType::Map, _) => "`{}`",
        (ShapeType::Document, NodeValue::Array(items)) if !items.is_empty() => "`[]`",
        (ShapeType::Document, NodeValue::Object(object)) if !object.is_empty() => "`{}`",
        (ShapeType::Blob, NodeValue::String(text)) => {
            if base64::decode(text.as_bytes()).is_err() {
                problems.push_with(Severity::Warning, |_| {
                    let message = format!("the default of `{owner}` is {}", shown(value));
                    Problem::warning(RULE, value.location(), message).expected("base64")
                });
            }
            return true;
        }
        _ => return true,
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!("the default of `{owner}` is {}", shown(value));
        Problem::error(RULE, value.location(), message)
            .expected(expected)
            .related("its shape", shape.location())
    });
    false
}

/// A member of a structure repeats the default of its target, or has the default null.
fn check_agreement(
    member: &Member,
    default: Option<&AppliedTrait>,
    target: &Shape,
    problems: &mut Problems,
) {
    let Some(wanted) = target
        .traits()
        .default_value()
        .filter(|value| !value.is_null())
    else {
        return;
    };
    let (location, what) = match default {
        // In 1.0, boxed shapes have no default.
        None if member.traits().has(ids::BOX) => return,
        Some(applied) if applied.value().is_null() || applied.value() == wanted => return,
        Some(applied) if !applied.is_inherited() => (
            applied.value().location(),
            format!("is {}", shown(applied.value())),
        ),
        None if !member.is_inherited() => (member.target().location(), "is missing".to_owned()),
        // Inherited from a mixin, where it was checked.
        _ => return,
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!("the default of `{}` {what}", member.id());
        Problem::error(RULE, location, message)
            .expected(format!(
                "{}, the default of its target `{}`, or null",
                shown(wanted),
                target.id()
            ))
            .related("the target", target.location())
    });
}
