//! Retries as AWS specifies them for its SDKs ([retry
//! behavior](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html)): the standard mode, and
//! the rate limiter that the adaptive mode adds.
//!
//! A client has one [`RetryQuota`] and, in adaptive mode, one [`RateLimiter`]. Each call has an [`Attempts`]. After a
//! failed attempt the client classifies the failure ([`Outcome::classify`]) and asks for a [`Decision`]. Times and
//! random numbers are arguments.
//!
//! ```
//! use std::time::Duration;
//! use polywire_aws::retry::{Attempts, Decision, Outcome, RetryQuota, RetrySettings};
//!
//! let settings = RetrySettings::STANDARD;
//! let mut quota = RetryQuota::new(&settings);
//! let mut attempts = Attempts::new();
//!
//! // The service has answered with the status 503.
//! let failure = Outcome { status: Some(503), ..Outcome::default() }.classify();
//! let decision = attempts.failed(&settings, &mut quota, failure, None, 0.5);
//! // Half of the second that is the longest first delay.
//! assert_eq!(decision, Decision::Retry { delay: Duration::from_millis(500) });
//! assert_eq!(quota.available(), 495);
//! // The second attempt succeeds, which returns the tokens.
//! attempts.succeeded(&settings, &mut quota);
//! assert_eq!(quota.available(), 500);
//! ```
//!
//! # Relation to `polywire_frame::flow`
//!
//! Clients of frames have types with similar purposes. They do other things: `Backoff` draws from the upper half of
//! the delay and adds the time that a server asks for, `RetryBudget` is a share of the calls of the last ten seconds,
//! and `Throttle` rejects calls instead of delaying them. AWS specifies the full range of jitter, a bucket that
//! depends on the kind of failure, and rates that grow along a cubic curve. Hence this module shares no code with
//! them, and this crate does not depend on the frame protocol. `Fault::retry` of `polywire-protocol` knows the errors
//! of a model; its result is the input [`Outcome::modelled`].

mod adaptive;
mod attempts;
mod classify;
mod quota;

pub use adaptive::RateLimiter;
pub use attempts::{Attempts, Decision, Stop, retry_after};
pub use classify::{Failure, Modelled, Outcome, TransportError};
pub use quota::RetryQuota;

use std::time::Duration;

/// The numbers of the standard mode.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetrySettings {
    /// The most attempts of a call, with the first. 0 means 1.
    pub max_attempts: u32,
    /// The tokens of a full [`RetryQuota`].
    pub capacity: u32,
    /// The tokens of a retry after a failure that is neither throttling nor a timeout.
    pub transient_cost: u32,
    /// The tokens of a retry after throttling.
    pub throttling_cost: u32,
    /// The tokens of a retry after a timeout.
    pub timeout_cost: u32,
    /// The tokens that a call without retries adds when it succeeds.
    pub success_increment: u32,
    /// The longest first delay after a failure that is not throttling. It doubles with each retry.
    pub transient_base: Duration,
    /// The longest first delay after throttling. It doubles with each retry.
    pub throttling_base: Duration,
    /// The longest delay.
    pub longest_delay: Duration,
    /// How far the time that a service asks for can exceed the computed delay.
    pub longest_extension: Duration,
}

impl RetrySettings {
    /// The standard mode as published until 2025: three attempts, 500 tokens, 5 of which a retry costs, and 10 after a
    /// timeout; delays up to 1, 2, 4, ... 20 seconds.
    pub const STANDARD: Self = Self {
        max_attempts: 3,
        capacity: 500,
        transient_cost: 5,
        throttling_cost: 5,
        timeout_cost: 10,
        success_increment: 1,
        transient_base: Duration::from_secs(1),
        throttling_base: Duration::from_secs(1),
        longest_delay: Duration::from_secs(20),
        longest_extension: Duration::from_secs(5),
    };

    /// The standard mode as published in 2026: transient failures are retried sooner, after up to 50 ms, and cost 14
    /// tokens.
    pub const STANDARD_2026: Self = Self {
        transient_cost: 14,
        timeout_cost: 14,
        transient_base: Duration::from_millis(50),
        ..Self::STANDARD
    };

    /// [`Self::STANDARD_2026`] for DynamoDB and its streams: four attempts, the first delay up to 25 ms.
    pub const DYNAMODB_2026: Self = Self {
        max_attempts: 4,
        transient_base: Duration::from_millis(25),
        ..Self::STANDARD_2026
    };

    fn cost(&self, failure: Failure) -> u32 {
        match failure {
            Failure::Permanent => 0,
            Failure::Throttling => self.throttling_cost,
            Failure::Timeout => self.timeout_cost,
            Failure::Transient => self.transient_cost,
        }
    }

    /// The delay before the retry number `retry`, which is 1 for the first: a random part, from 0 to 1, of
    /// `base * 2^(retry - 1)`, which is at most [`Self::longest_delay`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_aws::retry::{Failure, RetrySettings};
    ///
    /// let settings = RetrySettings::STANDARD;
    /// assert_eq!(settings.delay(Failure::Transient, 3, 1.0), Duration::from_secs(4));
    /// assert_eq!(settings.delay(Failure::Transient, 3, 0.25), Duration::from_secs(1));
    /// assert_eq!(settings.delay(Failure::Transient, 9, 1.0), Duration::from_secs(20));
    /// ```
    #[must_use]
    pub fn delay(&self, failure: Failure, retry: u32, random: f64) -> Duration {
        let base = match failure {
            Failure::Throttling => self.throttling_base,
            _ => self.transient_base,
        };
        let doublings = retry.saturating_sub(1).min(31);
        let longest = base.saturating_mul(1 << doublings).min(self.longest_delay);
        // A random number that is not a number means the longest delay.
        let part = if random.is_nan() { 1.0 } else { random };
        longest.mul_f64(part.clamp(0.0, 1.0))
    }
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self::STANDARD
    }
}
