//! Checks replies.

use std::sync::OnceLock;

use polywire::prelude::*;
use polywire::schema::{Decode, Member};

use super::recording::{CallFailure, Outcome};
use crate::{Failure, print};
use polywire::codec::json::{JsonDecoder, JsonProfile};

/// The expected replies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expectation<'a> {
    /// Any valid reply.
    Any,
    /// Replies equal to the first one.
    First,
    /// Replies equal to this JSON.
    Json(&'a str),
}

/// Compares replies with the expected one. Shared by all clients.
#[derive(Debug)]
pub(super) struct ReplyChecker {
    any: bool,
    value: OnceLock<Value>,
}

impl ReplyChecker {
    /// `member` is the member of the model that contains the reply.
    pub(super) fn new(expectation: Expectation<'_>, member: Member<'_>) -> Result<Self, Failure> {
        let value = OnceLock::new();
        if let Expectation::Json(text) = expectation {
            let read = || {
                let mut decoder =
                    JsonDecoder::from_str(text, JsonProfile::HUMAN, &Limits::DEFAULT)?;
                let value = Value::decode(member, &mut decoder)?;
                decoder.finish()?;
                Ok(value)
            };
            let expected = read().map_err(|error: polywire::schema::Error| {
                Failure::usage(format!("--expect: {error}"))
            })?;
            let _ = value.set(expected);
        }
        let any = matches!(expectation, Expectation::Any);
        Ok(Self { any, value })
    }

    pub(super) fn check(&self, reply: &Value) -> Outcome {
        if self.any {
            return Ok(());
        }
        // Avoid a copy except for the first reply.
        let expected = match self.value.get() {
            Some(expected) => expected,
            None => self.value.get_or_init(|| reply.clone()),
        };
        match expected == reply {
            true => Ok(()),
            false => Err(different(expected, reply)),
        }
    }
}

#[cold]
fn different(expected: &Value, reply: &Value) -> CallFailure {
    let shown = |value: &Value| {
        let json = print::json(value).unwrap_or_else(|_| format!("{value:?}"));
        match json.char_indices().nth(150) {
            Some((end, _)) => format!("{}...", &json[..end]),
            None => json,
        }
    };
    let why = format!("expected {}, got {}", shown(expected), shown(reply));
    CallFailure::new("different", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(expectation: Expectation<'_>) -> ReplyChecker {
        ReplyChecker::new(expectation, Member::DOCUMENT).unwrap()
    }

    #[test]
    fn compares_with_the_first_reply() {
        let first = expected(Expectation::First);
        assert!(first.check(&Value::from(3)).is_ok());
        assert!(first.check(&Value::from(3)).is_ok());
        let wrong = first.check(&Value::from(4)).unwrap_err();
        assert_eq!(wrong.kind, "different");
        assert_eq!(wrong.why.to_string(), "expected 3, got 4");
    }

    #[test]
    fn compares_with_the_given_reply() {
        let this = expected(Expectation::Json("[1, \"x\"]"));
        let list = |number| Value::List(vec![Value::from(number), Value::from("x")]);
        assert!(this.check(&list(2)).is_err());
        assert!(this.check(&list(1)).is_ok());
        assert!(ReplyChecker::new(Expectation::Json("{"), Member::DOCUMENT).is_err());
        let any = expected(Expectation::Any);
        assert!(any.check(&Value::from(1)).is_ok() && any.check(&Value::from(2)).is_ok());
    }
}
