//! `waiters-2.json`: waiters.

use std::collections::HashMap;

use polywire_model::{ErrorKind, Node, Object, ids};

use super::Context;
use super::entries::{flag, object};

/// The minimum time that a waiter polls, in seconds. Smithy leaves it to the caller, and botocore
/// counts attempts.
const PATIENCE: i64 = 300;

pub(super) fn waiters(context: &mut Context<'_>) -> Node {
    let mut all: Vec<(&str, Object)> = Vec::new();
    let errors = errors(context);
    for (operation, shape) in context.operations() {
        let waiters = shape.traits().get(ids::WAITABLE);
        let Some(waiters) = waiters.and_then(Node::as_object) else {
            continue;
        };
        let http = shape.traits().http();
        let is_head = context.protocol.is_rest() && http.is_some_and(|http| http.method == "HEAD");
        for (name, waiter) in waiters.iter() {
            match of(&errors, operation, is_head, waiter) {
                Ok(entry) => all.push((name, entry)),
                Err(reason) => context
                    .notes
                    .push(format!("the waiter `{name}` is omitted: {reason}")),
            }
        }
    }
    all.sort_by_key(|(name, _)| *name);
    let mut waiters = Object::new();
    for (name, entry) in all {
        waiters.push(name, entry);
    }
    object([
        ("version", Some(2.into())),
        ("waiters", Some(waiters.into())),
    ])
    .into()
}

fn of(
    errors: &Errors<'_>,
    operation: &str,
    is_head: bool,
    waiter: &Node,
) -> Result<Object, &'static str> {
    let delay = waiter.get("minDelay").and_then(Node::as_i64);
    let delay = delay.unwrap_or(2).max(1);
    let acceptors = waiter.get("acceptors").and_then(Node::as_array);
    let acceptors = acceptors.unwrap_or_default().iter();
    let acceptors: Vec<Node> = acceptors
        .map(|acceptor| of_acceptor(errors, is_head, acceptor))
        .collect::<Result<_, _>>()?;
    let documentation = waiter.get("documentation").and_then(Node::as_str);
    let is_deprecated = waiter.get("deprecated").and_then(Node::as_bool);
    Ok(object([
        ("operation", Some(operation.into())),
        ("delay", Some(delay.into())),
        (
            "maxAttempts",
            Some((PATIENCE / delay).clamp(20, PATIENCE).into()),
        ),
        ("description", documentation.map(Node::from)),
        ("deprecated", flag(is_deprecated == Some(true))),
        ("acceptors", Some(acceptors.into())),
    ]))
}

fn of_acceptor(errors: &Errors<'_>, is_head: bool, acceptor: &Node) -> Result<Node, &'static str> {
    let matcher = acceptor.get("matcher").and_then(Node::as_object);
    let (kind, value) = matcher
        .and_then(|matcher| matcher.iter().next())
        .ok_or("an acceptor has no matcher")?;
    let (matcher, argument, expected) = match kind {
        // botocore has the matcher `error` for both: whether there was an error.
        "success" => {
            let success = value.as_bool().ok_or("`success` is not a boolean")?;
            ("error", None, Node::from(!success))
        }
        "errorType" => {
            let error = value.as_str().ok_or("`errorType` is not a string")?;
            let name = error.split_once('#').map_or(error, |(_, name)| name);
            match errors.get(name) {
                // Without a body, botocore only knows the status.
                Some(error) if is_head => ("status", None, Node::from(error.status)),
                Some(error) => ("error", None, Node::from(error.code)),
                None => ("error", None, Node::from(name)),
            }
        }
        "output" => {
            let text = |key| value.get(key).and_then(Node::as_str);
            let expected = text("expected").ok_or("`expected` is not a string")?;
            let (matcher, expected) = match text("comparator") {
                Some("allStringEquals") => ("pathAll", expected.into()),
                Some("anyStringEquals") => ("pathAny", expected.into()),
                Some("booleanEquals") => ("path", Node::from(expected == "true")),
                Some("stringEquals") => ("path", expected.into()),
                _ => return Err("a comparator is unknown"),
            };
            (
                matcher,
                Some(text("path").ok_or("`path` is not a string")?),
                expected,
            )
        }
        _ => return Err("botocore's waiters cannot read the input, which `inputOutput` compares"),
    };
    let state = acceptor.get("state").cloned();
    Ok(object([
        ("matcher", Some(matcher.into())),
        ("argument", argument.map(Node::from)),
        ("expected", Some(expected)),
        ("state", state),
    ])
    .into())
}

/// The code and status of an error in botocore.
struct Error<'m> {
    code: &'m str,
    status: i64,
}

/// Errors by the names of their shapes, which Smithy's waiters use.
type Errors<'m> = HashMap<&'m str, Error<'m>>;

fn errors<'m>(context: &Context<'m>) -> Errors<'m> {
    let mut errors = HashMap::new();
    for shape in context.closure.shapes() {
        let Some(kind) = shape.traits().error() else {
            continue;
        };
        let name = shape.id().name();
        let query = shape.traits().aws_query_error();
        let query = query.filter(|_| context.has_query_codes());
        let status = shape.traits().http_error().map(i64::from);
        let error = Error {
            code: query.map_or(context.closure.name(shape.id()), |query| query.code),
            // Responses of S3 to `HEAD` have a status that its model lacks.
            status: status.unwrap_or(match kind {
                _ if name == "NotFound" => 404,
                ErrorKind::Client => 400,
                ErrorKind::Server => 500,
            }),
        };
        errors.insert(name, error);
    }
    errors
}
