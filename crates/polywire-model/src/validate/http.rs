//! `@http`: the pattern must be well formed, and its labels must be members. And
//! a message has one body, so a structure has one `@httpPayload`.

use std::collections::HashSet;

use super::lookup::Lookups;
use crate::diagnostic::{Problem, Problems, Severity, did_you_mean};
use crate::model::Model;
use crate::node::Node;
use crate::shape::{Member, Shape, ShapeType};
use crate::traits::AppliedTrait;
use crate::uri::UriPattern;

pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    if shape.shape_type() == ShapeType::Structure {
        check_payloads(shape, problems);
    }
    let Some(operation) = shape.as_operation() else {
        return;
    };
    let Some(http) = shape.traits().find("smithy.api#http") else {
        return;
    };
    let value = http.value();
    let uri = value
        .get("uri")
        .and_then(|node| Some((node.as_str()?, node.location())));
    // A missing uri or one that is no string is reported as a wrong trait value.
    let Some((uri, location)) = uri else { return };
    let pattern = match UriPattern::parse(uri) {
        Ok(pattern) => pattern,
        Err(flaw) => {
            let message = format!("the uri of `{}` {flaw}", shape.id());
            problems.push(
                Problem::error("HttpUri", location, message)
                    .expected("a pattern such as `/cities/{name}`"),
            );
            return;
        }
    };
    if let Some(code) = value.get("code").filter(|code| !is_status(code)) {
        let message = format!("the status of `{}` is out of range", shape.id());
        problems.push(
            Problem::error("HttpCode", code.location(), message)
                .expected("a number from 100 to 999"),
        );
    }
    let Some(input) = model.get(operation.input()) else {
        return;
    };
    let known = lookups.of(input);
    for label in pattern.labels() {
        let member = known.members.get(label).copied();
        if member.is_some_and(|m| m.traits().is_http_label() && m.traits().is_required()) {
            continue;
        }
        problems.push_with(Severity::Error, |hints| match member {
            Some(member) if !member.traits().is_http_label() => {
                let message = format!(
                    "the label `{{{label}}}` names `{}`, which has no @httpLabel",
                    member.id()
                );
                Problem::error("HttpLabel", location, message)
                    .hint(format!("put @httpLabel on `{label}`"))
                    .related("the member", member.location())
            }
            Some(member) => {
                let message = format!("the member `{}` of a label can be absent", member.id());
                Problem::error("HttpLabel", member.location(), message)
                    .expected("a member with @required")
                    .related("the label", location)
            }
            None => {
                let names = || input.members().iter().map(|member| member.name());
                let message = format!(
                    "the label `{{{label}}}` names no member of `{}`",
                    input.id()
                );
                Problem::error("HttpLabel", location, message)
                    .maybe_hint(hints.then(|| did_you_mean(label, names())).flatten())
                    .related("the input", input.location())
            }
        });
    }
    let labels: HashSet<&str> = pattern.labels().collect();
    let unbound = known.labels.iter();
    for member in unbound.filter(|member| !labels.contains(member.name())) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` has @httpLabel, but the uri has no such label",
                member.id()
            );
            Problem::error("HttpLabel", member.location(), message)
                .expected(format!("`{{{}}}` in `{uri}`", member.name()))
                .related("the uri", location)
        });
    }
}

fn check_payloads(shape: &Shape, problems: &mut Problems) {
    let is_inherited = |member: &Member| {
        let applied = member.traits().find("smithy.api#httpPayload");
        applied.is_some_and(AppliedTrait::is_inherited)
    };
    let payloads = shape.members().iter();
    let mut payloads = payloads.filter(|member| member.traits().is_http_payload());
    let Some(first) = payloads.next() else {
        return;
    };
    for second in payloads {
        // What one mixin gives is reported on the mixin.
        let by_mixin = second.is_inherited() && first.origin() == second.origin();
        if by_mixin && is_inherited(first) && is_inherited(second) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` and `{}` of `{}` both have @httpPayload",
                first.name(),
                second.name(),
                shape.id()
            );
            Problem::error("HttpPayload", second.location(), message)
                .expected("one member as the body of the message")
                .related("the other", first.location())
        });
    }
}

fn is_status(code: &Node) -> bool {
    code.as_i64()
        .is_some_and(|code| (100..=999).contains(&code))
}
