//! Stubs: answers that a test has chosen for the calls that it expects.

mod matcher;
mod read;
mod reply;

use std::fmt;
use std::time::{Duration, Instant};

use polywire_schema::{Operation, Value};

pub(crate) use self::matcher::{Matcher, below};
pub(crate) use self::reply::Reply;

/// Why stubs could not be read: where, and what was expected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StubError {
    /// The path in the document, such as `[2].responses[0].output`.
    path: String,
    /// What is wrong.
    reason: String,
}

impl StubError {
    pub(crate) fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for StubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.path, self.reason),
        }
    }
}

impl std::error::Error for StubError {}

/// A stub.
#[derive(Debug)]
pub(crate) struct Stub {
    /// The index of the operation.
    operation: u32,
    matcher: Matcher,
    /// In the order of the calls. The last one is repeated.
    replies: Vec<(Reply, Duration)>,
    delay: Duration,
    /// How many more calls the stub applies to.
    left: Option<u64>,
    rate: Option<Rate>,
    /// How many calls it has applied to.
    calls: u64,
    /// As it was read, for the page of stubs.
    source: Value,
}

/// Calls per second, with as many at once.
#[derive(Debug)]
struct Rate {
    per_second: f64,
    available: f64,
    /// The time of `available`. `None` before the first call.
    at: Option<Instant>,
    /// For calls that are too many.
    throttle: Reply,
}

impl Rate {
    fn takes(&mut self, now: Instant) -> bool {
        if let Some(at) = self.at {
            let passed = now.saturating_duration_since(at).as_secs_f64();
            let most = self.per_second.max(1.0);
            self.available = (self.available + passed * self.per_second).min(most);
        }
        self.at = Some(now);
        if self.available < 1.0 {
            return false;
        }
        self.available -= 1.0;
        true
    }
}

/// What a stub has for a call.
#[derive(Clone, Debug)]
pub(crate) struct StubReply {
    pub(crate) delay: Duration,
    /// `None`: what would answer without the stub.
    pub(crate) reply: Option<Reply>,
}

/// The stubs of a service, the first that matches a call counts.
#[derive(Debug, Default)]
pub(crate) struct Stubs(Vec<Stub>);

/// How many stubs there are at most, so that a test in a loop cannot fill the memory.
const MOST: usize = 10_000;

impl Stubs {
    /// The reply to a call. `None`: no stub matches.
    pub(crate) fn reply(
        &mut self,
        operation: Operation<'_>,
        input: &Value,
        now: Instant,
    ) -> Option<StubReply> {
        let mut stubs = self.0.iter_mut();
        let stub = stubs.find(|stub| {
            stub.operation == operation.index()
                && stub.left != Some(0)
                && stub.matcher.accepts(Some(input))
        })?;
        if let Some(rate) = &mut stub.rate
            && !rate.takes(now)
        {
            return Some(StubReply {
                delay: Duration::ZERO,
                reply: Some(rate.throttle.clone()),
            });
        }
        stub.left = stub.left.map(|left| left - 1);
        let at = usize::try_from(stub.calls).unwrap_or(usize::MAX);
        stub.calls += 1;
        let reply = stub.replies.get(at).or(stub.replies.last());
        let (reply, own) = match reply {
            Some((reply, own)) => (Some(reply.clone()), *own),
            None => (None, Duration::ZERO),
        };
        Some(StubReply {
            delay: stub.delay + own,
            reply,
        })
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that there is room for more stubs.
    pub(crate) fn check(&self, more: usize) -> Result<(), StubError> {
        match self.0.len() + more <= MOST {
            true => Ok(()),
            false => Err(StubError::new("", format!("expected at most {MOST} stubs"))),
        }
    }

    /// Adds stubs before the others, so that a test can override those of a file.
    pub(crate) fn add(&mut self, stubs: Vec<Stub>) {
        self.0.splice(0..0, stubs);
    }

    /// Removes all stubs.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The stubs as they were read, each with the number of its calls.
    pub(crate) fn list(&self) -> Vec<Value> {
        let stubs = self.0.iter().map(|stub| {
            let mut source = stub.source.clone();
            if let Value::Map(map) = &mut source {
                map.insert("calls", i64::try_from(stub.calls).unwrap_or(i64::MAX));
            }
            source
        });
        stubs.collect()
    }
}
