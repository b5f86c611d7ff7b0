//! The list of failures in the fault for the caller.

use std::fmt::Write as _;

use polywire_schema::{Map, Value};

/// The maximum number of failures in the list.
const MAX_LISTED: usize = 64;

/// The length of the text from which no more failures are listed, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// The failures of an input.
#[derive(Debug, Default)]
pub(super) struct Failures {
    listed: Vec<Failure>,
    /// The length of the listed messages, in bytes.
    text_len: usize,
    /// The number of failures, listed or not.
    count: u64,
}

#[derive(Debug)]
struct Failure {
    path: String,
    message: String,
}

impl Failures {
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a failure. `what` describes the value: "Value", or "Value with length" and a number.
    /// `path` is called only if the failure is listed.
    pub(super) fn add(&mut self, what: &str, path: impl FnOnce() -> String, constraint: &str) {
        self.count += 1;
        if self.listed.len() == MAX_LISTED || self.text_len > MAX_TEXT {
            return;
        }
        let path = path();
        let message = format!("{what} at '{path}' failed to satisfy constraint: {constraint}");
        self.text_len += message.len();
        self.listed.push(Failure { path, message });
    }

    pub(super) fn message(&self) -> String {
        let mut message = match self.count {
            1 => "1 validation error detected. ".to_owned(),
            count => format!("{count} validation errors detected. "),
        };
        for (position, failure) in self.listed.iter().enumerate() {
            if position > 0 {
                message.push_str("; ");
            }
            message.push_str(&failure.message);
        }
        let more = self.count - self.listed.len() as u64;
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = write!(message, "; and {more} more");
        }
        message
    }

    /// Returns the members of `smithy.framework#ValidationException`.
    pub(super) fn details(&self) -> Map {
        let fields = self.listed.iter().map(|failure| {
            Value::from(Map::from_iter([
                ("path", Value::from(failure.path.as_str())),
                ("message", Value::from(failure.message.as_str())),
            ]))
        });
        Map::from_iter([
            ("message", Value::from(self.message())),
            ("fieldList", Value::List(fields.collect())),
        ])
    }
}
