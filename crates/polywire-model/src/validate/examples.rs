//! `@examples`: examples must match the shapes of the operation.

use std::collections::HashSet;

use super::index::Index;
use super::values::{Leniency, Subject, Values, beginning};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::node::Node;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::Shape;
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

const RULE: &Rule = rules::EXAMPLES_TRAIT;

/// The maximum number of characters of a title in a message.
const SHOWN: usize = 60;

pub(super) fn check<'m>(
    index: &Index<'m>,
    operation: &'m Shape,
    applied: &'m AppliedTrait,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    let model = index.model;
    let Some(body) = operation.as_operation() else {
        return;
    };
    let errors: HashSet<&str> = body.errors().iter().map(|error| error.as_str()).collect();
    for example in applied.value().as_array().unwrap_or_default() {
        if problems.is_full() {
            return;
        }
        let title = example.get("title").and_then(Node::as_str);
        let title: String = title.unwrap_or_default().chars().take(SHOWN).collect();
        let is_lenient = example.get("allowConstraintErrors").and_then(Node::as_bool);
        let is_lenient = is_lenient.unwrap_or(false);
        let subject = |what| Subject {
            rule: RULE,
            what,
            id: &title,
            at: example.location(),
            leniency: Leniency {
                constraints: is_lenient,
                ..Leniency::default()
            },
        };
        let output = example.get("output");
        let error = example.get("error");
        match (model.get(body.input()), example.get("input")) {
            (Some(input), Some(node)) => {
                values.check(subject("the input of the example"), node, input, problems);
            }
            (Some(input), None) => check_left_out(example, input, &title, problems),
            _ => {}
        }
        if let (true, None) = (is_lenient, error) {
            problems.push_with(Severity::Error, |_| {
                let message =
                    format!("the example `{title}` allows constraint errors, but has no error");
                Problem::error(RULE, example.location(), message)
                    .expected("the error that the operation returns")
                    .hint("`allowConstraintErrors` is for examples with an error")
            });
        }
        match (output, error) {
            (Some(output), Some(error)) => problems.push_with(Severity::Error, |_| {
                let message = format!("the example `{title}` has both output and error");
                Problem::error(RULE, error.location(), message)
                    .expected("one of them")
                    .related("the output", output.location())
            }),
            (Some(node), None) => {
                if let Some(output) = model.get(body.output()) {
                    values.check(subject("the output of the example"), node, output, problems);
                }
            }
            (None, Some(error)) => {
                let Some(structure) = error_of(index, operation, &errors, error, problems) else {
                    continue;
                };
                if let Some(content) = error.get("content") {
                    let subject = subject("the error of the example");
                    values.check(subject, content, structure, problems);
                }
            }
            (None, None) => {}
        }
    }
}

/// An example without an input has an empty one.
fn check_left_out(example: &Node, input: &Shape, title: &str, problems: &mut Problems) {
    let mut required = input.members().iter().filter(|m| m.traits().is_required());
    let Some(first) = required.next() else {
        return;
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!("the example `{title}` lacks `input`");
        Problem::error(RULE, example.location(), message)
            .expected(format!(
                "`input` with `{}`, which is required",
                first.name()
            ))
            .related("the input", input.location())
    });
}

/// The structure of the error of an example, which must be an error of the operation or of a
/// service.
fn error_of<'m>(
    index: &Index<'m>,
    operation: &'m Shape,
    known: &HashSet<&str>,
    error: &Node,
    problems: &mut Problems,
) -> Option<&'m Shape> {
    let node = error.get("shapeId")?;
    let id = node.as_str()?;
    if known.contains(id) || index.common_errors.contains(id) {
        return index.model.get(id);
    }
    // Other shapes are reported as wrong values of the trait.
    let named = index.model.get(id).map(Shape::traits);
    if named.is_some_and(|traits| !traits.has(ids::ERROR)) {
        return None;
    }
    problems.push_with(Severity::Error, |hints| {
        let names = || known.iter().copied();
        let shown = beginning(id);
        let message = format!("`{shown}` is not an error of `{}`", operation.id());
        Problem::error(RULE, node.location(), message)
            .expected("an error that the operation or its service names")
            .maybe_hint(hints.then(|| did_you_mean(id, names())).flatten())
    });
    None
}
