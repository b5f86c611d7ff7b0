//! What fails, as the caller is told it.

use std::fmt::Write as _;

use polywire_schema::{Map, Value};

/// How many failures are listed.
const MAX_LISTED: usize = 64;

/// How long the text may get before no more failures are listed, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// Everything that fails.
#[derive(Debug, Default)]
pub(super) struct Failures {
    listed: Vec<Failure>,
    /// The bytes of what is listed.
    text: usize,
    /// All of them, listed or not.
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

    /// Adds a failure; `what` is "Value", or with its length, and the path is
    /// made only if it is listed.
    pub(super) fn add(&mut self, what: &str, path: impl FnOnce() -> String, constraint: &str) {
        self.count += 1;
        if self.listed.len() == MAX_LISTED || self.text > MAX_TEXT {
            return;
        }
        let path = path();
        let message = format!("{what} at '{path}' failed to satisfy constraint: {constraint}");
        self.text += message.len();
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

    /// The members of `smithy.framework#ValidationException`.
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
