//! `@http`: the pattern must be well formed, and its labels must be members.

use crate::diagnostic::{Problem, Problems, did_you_mean};
use crate::model::Model;
use crate::node::Node;
use crate::shape::Shape;
use crate::uri::UriPattern;

pub(super) fn check(model: &Model, shape: &Shape, problems: &mut Problems) {
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
    for label in pattern.labels() {
        let problem = match input.member(label) {
            Some(member) if !member.traits().is_http_label() => {
                let message = format!(
                    "the label `{{{label}}}` names `{}`, which has no @httpLabel",
                    member.id()
                );
                Problem::error("HttpLabel", location, message)
                    .hint(format!("put @httpLabel on `{label}`"))
                    .related("the member", member.location())
            }
            Some(member) if !member.traits().is_required() => {
                let message = format!("the member `{}` of a label can be absent", member.id());
                Problem::error("HttpLabel", member.location(), message)
                    .expected("a member with @required")
                    .related("the label", location)
            }
            Some(_) => continue,
            None => {
                let members = input.members().iter().map(|member| member.name());
                let message = format!(
                    "the label `{{{label}}}` names no member of `{}`",
                    input.id()
                );
                Problem::error("HttpLabel", location, message)
                    .maybe_hint(did_you_mean(label, members))
                    .related("the input", input.location())
            }
        };
        problems.push(problem);
    }
    for member in input
        .members()
        .iter()
        .filter(|member| member.traits().is_http_label())
    {
        if !pattern.labels().any(|label| label == member.name()) {
            let message = format!(
                "`{}` has @httpLabel, but the uri has no such label",
                member.id()
            );
            problems.push(
                Problem::error("HttpLabel", member.location(), message)
                    .expected(format!("`{{{}}}` in `{uri}`", member.name()))
                    .related("the uri", location),
            );
        }
    }
}

fn is_status(code: &Node) -> bool {
    code.as_i64()
        .is_some_and(|code| (100..=999).contains(&code))
}
