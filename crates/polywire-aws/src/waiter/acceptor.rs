//! Acceptors: which results lead to which state.

use std::time::Duration;

use serde_json::{Value, json};

use super::jmespath::Expression;
use super::{Waiter, WaiterError};

/// The delays without `minDelay` and `maxDelay`, in seconds.
const DEFAULT_DELAYS: (u64, u64) = (2, 120);
/// A year; longer delays are mistakes.
const LONGEST_DELAY: u64 = 365 * 24 * 60 * 60;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    Failure,
    Retry,
    Success,
}

#[derive(Clone, Debug)]
pub(super) struct Acceptor {
    state: State,
    matcher: Matcher,
    message: Option<Expression>,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// The name of an error without namespace.
    ErrorType(String),
    InputOutput(PathMatcher),
    Output(PathMatcher),
    Success(bool),
}

#[derive(Clone, Debug)]
struct PathMatcher {
    path: Expression,
    comparator: Comparator,
    expected: String,
}

#[derive(Clone, Copy, Debug)]
enum Comparator {
    AllStrings,
    AnyString,
    Boolean,
    String,
}

impl Acceptor {
    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn matches(&self, input: &Value, result: Result<&Value, &str>) -> bool {
        match (&self.matcher, result) {
            (Matcher::ErrorType(name), Err(error)) => name == without_namespace(error),
            (Matcher::InputOutput(matcher), Ok(output)) => {
                matcher.matches(&json!({ "input": input, "output": output }))
            }
            (Matcher::Output(matcher), Ok(output)) => matcher.matches(output),
            (Matcher::Success(expected), result) => result.is_ok() == *expected,
            _ => false,
        }
    }

    /// What the expression of the message finds in `output`.
    pub(super) fn message(&self, output: &Value) -> Option<String> {
        let found = self.message.as_ref()?.search(output).ok()?;
        match &*found {
            Value::String(text) => Some(text.clone()),
            Value::Array(items) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                (!texts.is_empty()).then(|| texts.join("; "))
            }
            _ => None,
        }
    }
}

impl PathMatcher {
    fn matches(&self, value: &Value) -> bool {
        let Ok(found) = self.path.search(value) else {
            return false;
        };
        let is_expected = |item: &Value| item.as_str() == Some(&self.expected);
        match (self.comparator, &*found) {
            (Comparator::AllStrings, Value::Array(items)) => {
                !items.is_empty() && items.iter().all(is_expected)
            }
            (Comparator::AnyString, Value::Array(items)) => items.iter().any(is_expected),
            (Comparator::Boolean, Value::Bool(found)) => {
                self.expected == if *found { "true" } else { "false" }
            }
            (Comparator::String, found) => is_expected(found),
            _ => false,
        }
    }
}

/// The name of a shape ID, which is what follows the `#`.
fn without_namespace(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(_, name)| name)
}

pub(super) fn waiter(value: &Value, path: &str) -> Result<Waiter, WaiterError> {
    let acceptors = value["acceptors"]
        .as_array()
        .ok_or_else(|| WaiterError::new(path, "the member `acceptors` is not an array"))?;
    let acceptors: Result<Vec<Acceptor>, _> = acceptors
        .iter()
        .enumerate()
        .map(|(index, value)| acceptor(value, &format!("{path}.acceptors[{index}]")))
        .collect();
    let acceptors = acceptors?;
    if !acceptors
        .iter()
        .any(|acceptor| acceptor.state == State::Success)
    {
        return Err(WaiterError::new(
            path,
            "no acceptor has the state `success`",
        ));
    }
    let min = delay(value, path, "minDelay", DEFAULT_DELAYS.0)?;
    let max = delay(value, path, "maxDelay", DEFAULT_DELAYS.1)?;
    if min > max {
        return Err(WaiterError::new(path, "`minDelay` is more than `maxDelay`"));
    }
    Ok(Waiter {
        acceptors,
        min_delay: Duration::from_secs(min),
        max_delay: Duration::from_secs(max),
    })
}

fn delay(value: &Value, path: &str, key: &str, default: u64) -> Result<u64, WaiterError> {
    match &value[key] {
        Value::Null => Ok(default),
        found => found
            .as_u64()
            .filter(|seconds| (1..=LONGEST_DELAY).contains(seconds))
            .ok_or_else(|| {
                let message = format!("expected a number of seconds from 1 to {LONGEST_DELAY}");
                WaiterError::new(format!("{path}.{key}"), message)
            }),
    }
}

fn acceptor(value: &Value, path: &str) -> Result<Acceptor, WaiterError> {
    let state = match value["state"].as_str() {
        Some("failure") => State::Failure,
        Some("retry") => State::Retry,
        Some("success") => State::Success,
        _ => {
            let message = "expected `failure`, `retry` or `success`";
            return Err(WaiterError::new(format!("{path}.state"), message));
        }
    };
    let message = match &value["message"] {
        Value::Null => None,
        found if state == State::Failure => Some(expression(found, &format!("{path}.message"))?),
        _ => {
            let message = "only acceptors with the state `failure` have a message";
            return Err(WaiterError::new(path, message));
        }
    };
    let path = format!("{path}.matcher");
    let members = value["matcher"].as_object();
    let mut members = members.into_iter().flatten();
    let (Some((kind, value)), None) = (members.next(), members.next()) else {
        return Err(WaiterError::new(path, "expected an object with one member"));
    };
    let at = format!("{path}.{kind}");
    let matcher = match kind.as_str() {
        "errorType" => Matcher::ErrorType(without_namespace(text(value, &at)?).to_owned()),
        "inputOutput" => Matcher::InputOutput(path_matcher(value, &at)?),
        "output" => Matcher::Output(path_matcher(value, &at)?),
        "success" => Matcher::Success(
            value
                .as_bool()
                .ok_or_else(|| WaiterError::new(at, "expected a boolean"))?,
        ),
        _ => {
            let message = "expected `errorType`, `inputOutput`, `output` or `success`";
            return Err(WaiterError::new(at, message));
        }
    };
    Ok(Acceptor {
        state,
        matcher,
        message,
    })
}

fn path_matcher(value: &Value, path: &str) -> Result<PathMatcher, WaiterError> {
    let at = format!("{path}.comparator");
    let comparator = match text(&value["comparator"], &at)? {
        "allStringEquals" => Comparator::AllStrings,
        "anyStringEquals" => Comparator::AnyString,
        "booleanEquals" => Comparator::Boolean,
        "stringEquals" => Comparator::String,
        other => {
            let message = format!("there is no comparator `{other}`");
            return Err(WaiterError::new(at, message));
        }
    };
    let expected = text(&value["expected"], &format!("{path}.expected"))?;
    if matches!(comparator, Comparator::Boolean) && !["true", "false"].contains(&expected) {
        let at = format!("{path}.expected");
        return Err(WaiterError::new(at, "expected `true` or `false`"));
    }
    Ok(PathMatcher {
        path: expression(&value["path"], &format!("{path}.path"))?,
        comparator,
        expected: expected.to_owned(),
    })
}

fn expression(value: &Value, path: &str) -> Result<Expression, WaiterError> {
    Expression::parse(text(value, path)?).map_err(|error| WaiterError::new(path, error.to_string()))
}

fn text<'j>(value: &'j Value, path: &str) -> Result<&'j str, WaiterError> {
    value
        .as_str()
        .ok_or_else(|| WaiterError::new(path, "expected a string"))
}
