//! Waiters: poll an operation until a resource has a state
//! ([specification](https://smithy.io/2.0/additional-specs/waiters.html)).
//!
//! [`Waiter`] reads an entry of the trait `smithy.waiters#waitable`. [`Waiting`] is one use of it, a state machine
//! without a clock: it gets the result of each call with the elapsed time and a random number, and returns what to do
//! next.
//!
//! ```
//! use std::time::Duration;
//! use polywire_aws::waiter::{Step, Waiter};
//! use serde_json::json;
//!
//! let waiter = Waiter::from_json(&json!({
//!     "acceptors": [
//!         { "state": "success", "matcher": { "output": { "path": "State", "expected": "Active", "comparator": "stringEquals" } } },
//!         { "state": "retry", "matcher": { "errorType": "ResourceNotFoundException" } },
//!     ],
//!     "minDelay": 1,
//! }))?;
//! let input = json!({});
//! let mut waiting = waiter.start(Duration::from_secs(60));
//! // The first call fails, because the resource does not exist yet.
//! let step = waiting.responded(Duration::ZERO, &input, Err("ResourceNotFoundException"), 0.5);
//! assert_eq!(step, Step::Wait(Duration::from_secs(1)));
//! let step = waiting.responded(Duration::from_secs(1), &input, Ok(&json!({ "State": "Active" })), 0.5);
//! assert_eq!(step, Step::Succeeded);
//! # Ok::<(), polywire_aws::waiter::WaiterError>(())
//! ```
//!
//! Inputs and outputs are JSON in the data model of the specification: members by the names of the model, timestamps
//! as numbers of seconds, blobs in base64. An expression that fails for an output, such as the length of a null, does
//! not match.

mod acceptor;
pub mod jmespath;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use acceptor::{Acceptor, State};

/// A waiter of a model.
#[derive(Clone, Debug)]
pub struct Waiter {
    acceptors: Vec<Acceptor>,
    /// From one second to `max_delay`.
    min_delay: Duration,
    max_delay: Duration,
}

impl Waiter {
    /// Reads a waiter: the value of one name in the trait.
    ///
    /// # Errors
    ///
    /// A member is missing or has a wrong type or value, an expression is not valid, or no acceptor leads to success.
    pub fn from_json(value: &Value) -> Result<Self, WaiterError> {
        acceptor::waiter(value, "$")
    }

    /// Reads all waiters of the value of the trait, with their names.
    ///
    /// # Errors
    ///
    /// As [`Self::from_json`].
    pub fn all_from_json(value: &Value) -> Result<Vec<(String, Self)>, WaiterError> {
        let waiters = value
            .as_object()
            .ok_or_else(|| WaiterError::new("$", "expected an object"))?;
        waiters
            .iter()
            .map(|(name, value)| Ok((name.clone(), acceptor::waiter(value, &format!("$.{name}"))?)))
            .collect()
    }

    /// The shortest delay between calls.
    #[must_use]
    pub fn min_delay(&self) -> Duration {
        self.min_delay
    }

    /// The longest delay between calls.
    #[must_use]
    pub fn max_delay(&self) -> Duration {
        self.max_delay
    }

    /// Begins to wait, at most as long as `max_wait`. The first call is made at once.
    #[must_use]
    pub fn start(&self, max_wait: Duration) -> Waiting<'_> {
        Waiting {
            waiter: self,
            max_wait,
            retries: 0,
        }
    }
}

/// What to do after a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// Wait as long, then call again.
    Wait(Duration),
    /// The resource has the state.
    Succeeded,
    /// The waiter has ended without success.
    Failed(WaitFailure),
}

/// Why a waiter has failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WaitFailure {
    /// An acceptor says that the resource cannot reach the state.
    Rejected {
        /// What the expression `message` of the acceptor finds in the output; several messages are joined by `; `.
        message: Option<String>,
    },
    /// A call failed with an error that no acceptor expects.
    UnexpectedError,
    /// The time is over.
    TimedOut,
}

impl fmt::Display for WaitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { message: None } => f.write_str("the resource cannot reach the state"),
            Self::Rejected {
                message: Some(message),
            } => write!(f, "the resource cannot reach the state: {message}"),
            Self::UnexpectedError => f.write_str("the waiter does not expect this error"),
            Self::TimedOut => f.write_str("the resource did not reach the state in time"),
        }
    }
}

impl Error for WaitFailure {}

/// One use of a waiter.
#[derive(Clone, Debug)]
pub struct Waiting<'w> {
    waiter: &'w Waiter,
    max_wait: Duration,
    retries: u32,
}

impl Waiting<'_> {
    /// Decides after a call. `elapsed` is the time since the start, `result` the output or the name of the error,
    /// with or without namespace, and `random` a number from 0 to 1.
    ///
    /// The last call is made when the time ends. Its result counts, although it arrives later.
    pub fn responded(
        &mut self,
        elapsed: Duration,
        input: &Value,
        result: Result<&Value, &str>,
        random: f64,
    ) -> Step {
        let matching = self
            .waiter
            .acceptors
            .iter()
            .find(|acceptor| acceptor.matches(input, result));
        match (matching.map(Acceptor::state), result) {
            (Some(State::Success), _) => Step::Succeeded,
            (Some(State::Failure), _) => Step::Failed(WaitFailure::Rejected {
                message: matching.and_then(|acceptor| acceptor.message(result.ok()?)),
            }),
            (None, Err(_)) => Step::Failed(WaitFailure::UnexpectedError),
            (Some(State::Retry), _) | (None, Ok(_)) => self.retry(elapsed, random),
        }
    }

    fn retry(&mut self, elapsed: Duration, random: f64) -> Step {
        let remaining = self.max_wait.saturating_sub(elapsed);
        if remaining.is_zero() {
            return Step::Failed(WaitFailure::TimedOut);
        }
        self.retries = self.retries.saturating_add(1);
        let (min, max) = (self.waiter.min_delay, self.waiter.max_delay);
        let doublings = (self.retries - 1).min(31);
        let longest = min.saturating_mul(1 << doublings).min(max);
        // A random number that is not a number means the longest delay.
        let part = if random.is_nan() { 1.0 } else { random };
        let delay = min + (longest - min).mul_f64(part.clamp(0.0, 1.0));
        // Rather one last call at the end than a delay that ends shortly before it.
        match remaining.saturating_sub(delay) <= min {
            true => Step::Wait(remaining),
            false => Step::Wait(delay),
        }
    }
}

/// A waiter of a model that is not valid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaiterError {
    path: String,
    message: String,
}

impl WaiterError {
    #[cold]
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The place in the JSON document; `$` is the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for WaiterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Error for WaiterError {}
