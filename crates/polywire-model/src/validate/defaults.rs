//! `@default`: the value must be one that the shape can have.
//!
//! Smithy 2.0, "default trait", "Default value constraints": null takes a default
//! away, lists and maps can only be empty, structures and unions have none. And a
//! member says again what its target's default is, or that it has none: who reads
//! the structure need not look at the target.

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
    // What a mixin gave was checked on the mixin.
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
                .expected("a value: only members can do without their target's default"),
            );
        } else if is_fit(shape, shape.id(), value, problems) {
            let subject = subject(shape.id(), applied.location());
            values.check(subject, value, shape, problems);
        }
    }
    for member in shape.members() {
        let Some(target) = model.target(member) else {
            continue;
        };
        let default = member.traits().find(ids::DEFAULT);
        // With a constraint of its own, what a mixin gave may fit no more.
        let is_changed = || member.traits().iter().any(|t| !t.is_inherited());
        if let Some(applied) = default.filter(|d| !d.is_inherited() || is_changed()) {
            let value = applied.value();
            if !value.is_null() && is_fit(target, member.id(), value, problems) {
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

/// Whether the shape can have such a default at all.
fn is_fit(shape: &Shape, owner: &str, value: &Node, problems: &mut Problems) -> bool {
    let expected = match (shape.shape_type(), value.value()) {
        (ShapeType::Structure, _) => "no default, or null: a structure can't have one",
        (ShapeType::Union, _) => "no default, or null: a union can't have one",
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

/// A structure's member repeats the default of its target, or says null.
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
        // In 1.0, what is boxed has no default.
        None if member.traits().has(ids::BOX) => return,
        Some(applied) if applied.value().is_null() || applied.value() == wanted => return,
        Some(applied) if !applied.is_inherited() => (
            applied.value().location(),
            format!("is {}", shown(applied.value())),
        ),
        None if !member.is_inherited() => (member.target().location(), "is missing".to_owned()),
        // What a mixin gave was checked on the mixin.
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
