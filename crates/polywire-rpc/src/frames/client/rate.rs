//! The rate limit of a client.

use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{RateError, RateLimiter, Sample};

use crate::error::CallError;

/// A limit of the calls that a client begins per second. Calls wait in order, and so do retries.
///
/// ```
/// use polywire_rpc::frames::{Client, Rate};
///
/// // 1,000 per second on average, and up to 50 at once.
/// let builder = Client::builder().rate(Rate::token_bucket(1_000.0, 50));
/// # drop(builder);
/// ```
#[derive(Clone, Debug)]
pub struct Rate(RateLimiter);

/// The time at which a call may begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reservation {
    After(Duration),
    /// Not within [`AHEAD`]. The rate may have changed by then.
    Unknown,
}

/// An adaptive rate reserves times at most this far ahead. Timers have a resolution of 1 ms.
pub(super) const AHEAD: Duration = Duration::from_millis(5);

impl Rate {
    /// `per_second` on average, and up to `burst` at once after a pause.
    #[must_use]
    pub fn token_bucket(per_second: f64, burst: u32) -> Self {
        Self(RateLimiter::token_bucket(per_second, burst))
    }

    /// `per_second`, evenly spaced. If more than `waiting` calls wait, a call fails at once with [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    #[must_use]
    pub fn leaky_bucket(per_second: f64, waiting: u32) -> Self {
        Self(RateLimiter::leaky_bucket(per_second, waiting))
    }

    /// Between `least` and `most` per second, depending on the latency: the rate grows while calls take as long as the
    /// fastest of the last minute, and shrinks when they take more than twice as long, or the server rejects calls.
    #[must_use]
    pub fn adaptive(least: f64, most: f64) -> Self {
        Self(RateLimiter::adaptive(least, most))
    }

    /// Reserves a time for a call that can wait for `left`.
    pub(super) fn reserve(&mut self, now: Time, left: Duration) -> Result<Reservation, CallError> {
        if self.is_adaptive() {
            let reserved = self.0.reserve(now, left.min(AHEAD));
            return Ok(reserved.map_or(Reservation::Unknown, Reservation::After));
        }
        match self.0.reserve(now, left) {
            Ok(wait) => Ok(Reservation::After(wait)),
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
