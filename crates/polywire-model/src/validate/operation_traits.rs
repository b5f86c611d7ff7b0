//! `@requestCompression` and `@idempotent`.

use std::collections::HashSet;

use super::bindings::Messages;
use super::listed;
use super::values::beginning;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::Node;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Shape, UNIT};
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

/// The encodings that Smithy's clients and servers support. Names are case-insensitive.
const ENCODINGS: [&str; 1] = ["gzip"];

pub(super) fn check_compression<'m>(
    model: &'m Model,
    operation: &'m Shape,
    applied: &AppliedTrait,
    messages: &mut Messages<'m>,
    problems: &mut Problems,
) {
    const RULE: &Rule = rules::REQUEST_COMPRESSION_TRAIT;
    let Some(body) = operation.as_operation() else {
        return;
    };
    if *body.input().id() == UNIT {
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` has no input to compress", operation.id());
            Problem::error(RULE, applied.location(), message).expected("an operation with an input")
        });
    }
    let input = model.get(body.input());
    if let Some(member) = input.and_then(|input| messages.sized_stream(model, input)) {
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` requires its length, but is compressed", member.id());
            Problem::error(RULE, applied.location(), message)
                .expected("no stream with @requiresLength in the input")
                .related("the stream", member.location())
        });
    }
    let Some(node) = applied.value().get("encodings") else {
        return;
    };
    let encodings = node.as_array().unwrap_or_default();
    if encodings.is_empty() {
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` has no encoding", operation.id());
            Problem::error(RULE, node.location(), message).expected("`[\"gzip\"]`")
        });
    }
    for (node, name) in encodings.iter().filter_map(|n| Some((n, n.as_str()?))) {
        if ENCODINGS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
        {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!("the encoding `{}` is not supported", beginning(name));
            Problem::error(RULE, node.location(), message).expected(listed(ENCODINGS.into_iter()))
        });
    }
}

pub(super) fn check_idempotent(
    model: &Model,
    operation: &Shape,
    applied: &AppliedTrait,
    problems: &mut Problems,
) {
    const RULE: &Rule = rules::IDEMPOTENT_TRAIT;
    let Some(body) = operation.as_operation() else {
        return;
    };
    let exists = applied.value().get("exists");
    let not_found = applied.value().get("notFound");
    if let (Some(first), Some(second)) = (exists, not_found) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` has errors both for existing and for missing resources",
                operation.id()
            );
            Problem::error(RULE, second.location(), message)
                .expected("one of `exists` and `notFound`")
                .related("the other", first.location())
        });
    }
    let named = [exists, not_found];
    let named = named.into_iter().flatten().filter_map(Node::as_array);
    let mut named = named.flatten().peekable();
    if named.peek().is_none() {
        return;
    }
    let errors: HashSet<&str> = body.errors().iter().map(|error| error.as_str()).collect();
    for node in named {
        let Some(id) = node.as_str().filter(|id| !errors.contains(id)) else {
            continue;
        };
        // Other shapes are reported as wrong values of the trait.
        let named = model.get(id).map(Shape::traits);
        if named.is_some_and(|traits| !traits.has(ids::ERROR)) {
            continue;
        }
        problems.push_with(Severity::Error, |hints| {
            let known = || body.errors().iter().map(|error| error.as_str());
            let message = format!("`{id}` is not an error of `{}`", operation.id());
            Problem::error(RULE, node.location(), message)
                .expected("an error of the operation")
                .maybe_hint(hints.then(|| did_you_mean(id, known())).flatten())
        });
    }
}
