//! How many calls a client begins a second.

use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{RateError, RateLimiter, Sample};

use crate::error::CallError;

/// How many calls a client begins a second. Calls wait in the order in which they came, and so do retries.
///
/// ```
/// use polywire_rpc::frames::{Client, Rate};
///
/// // A thousand a second in the long run, and up to fifty at once.
/// let builder = Client::builder().rate(Rate::token_bucket(1_000.0, 50));
/// # drop(builder);
/// ```
#[derive(Clone, Debug)]
pub struct Rate(RateLimiter);

/// When a call may begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    After(Duration),
    /// Not within [`AHEAD`]. The rate may have changed by then.
    Unknown,
}

/// How far ahead calls of an adaptive rate are booked: enough for timers, which have a resolution of a millisecond.
pub(super) const AHEAD: Duration = Duration::from_millis(5);

impl Rate {
    /// `per_second` in the long run, and up to `burst` at once after a pause.
    #[must_use]
    pub fn token_bucket(per_second: f64, burst: u32) -> Self {
        Self(RateLimiter::token_bucket(per_second, burst))
    }

    /// `per_second`, evenly spaced. If more than `waiting` calls wait, a call fails at once with [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    #[must_use]
    pub fn leaky_bucket(per_second: f64, waiting: u32) -> Self {
        Self(RateLimiter::leaky_bucket(per_second, waiting))
    }

    /// Between `least` and `most` a second, by the time that answers take: more while they take as long as the fastest
    /// of the last minute, fewer when they take longer than twice that, or when the server rejects calls.
    #[must_use]
    pub fn adaptive(least: f64, most: f64) -> Self {
        Self(RateLimiter::adaptive(least, most))
    }

    /// Reserves the time of a call that can wait for `left`.
    pub(super) fn reserve(&mut self, now: Time, left: Duration) -> Result<Turn, CallError> {
        if self.is_adaptive() {
            let reserved = self.0.reserve(now, left.min(AHEAD));
            return Ok(reserved.map_or(Turn::Unknown, Turn::After));
        }
        match self.0.reserve(now, left) {
            Ok(wait) => Ok(Turn::After(wait)),
            Err(RateError::Full) => Err(CallError::queue_full()),
            Err(RateError::TooLate) => Err(CallError::deadline(None)),
        }
    }

    /// Whether the results of calls change the rate.
    pub(super) const fn is_adaptive(&self) -> bool {
        self.0.is_adaptive()
    }

    /// Takes note of the result of a call.
    pub(super) fn record(&mut self, now: Time, sample: Sample) {
        self.0.record(now, sample);
    }
}
