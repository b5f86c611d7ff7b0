//! Rates: one limiter for firewalls, limits per caller and the pace of clients.
//!
//! The algorithm is GCRA: a token bucket that is stored as one number, the time until which requests have been admitted
//! at the rate. [`Rate`] is the setting, [`RateState`] that number, so that a table of many callers holds 8 bytes each.
//! [`RateLimiter`] is both, with a way to space requests evenly and one to adapt the rate.

use std::time::Duration;

use super::Sample;
use super::adaptation::Adaptation;
use crate::Time;

/// A number of requests a second in the long run, and a number of requests at once after a pause.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{Rate, RateState};
///
/// let rate = Rate::new(10.0, 2);
/// let mut state = RateState::default();
/// let waits = [(); 3].map(|()| rate.reserve(&mut state, Time::ZERO, Duration::ZERO));
/// assert_eq!(waits, [Ok(Duration::ZERO), Ok(Duration::ZERO), Err(Duration::from_millis(100))]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Nanoseconds between two requests.
    interval: f64,
    /// How far the admitted requests may be ahead of the time, in nanoseconds.
    burst: f64,
}

/// The time until which requests have been admitted at a [`Rate`], in nanoseconds. A new state has the whole burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct RateState(f64);

impl RateState {
    /// Compares how far two states are ahead.
    #[must_use]
    pub fn total_cmp(self, other: Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }

    /// Whether the whole burst is available, so that a new state is the same.
    #[must_use]
    pub fn is_idle(self, now: Time) -> bool {
        self.0 <= now.as_nanos() as f64
    }
}

impl Rate {
    /// A rate of `per_second`, and `burst` requests at once, at least 1.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        let interval = 1e9 / per_second.max(1e-9);
        Self {
            interval,
            burst: interval * f64::from(burst.max(1)),
        }
    }

    /// Requests a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        1e9 / self.interval
    }

    /// Admits a request and returns how long it has to wait.
    ///
    /// # Errors
    ///
    /// How long it would have to wait, if that is longer than `max_wait`. It is not counted.
    #[inline]
    pub fn reserve(
        &self,
        state: &mut RateState,
        now: Time,
        max_wait: Duration,
    ) -> Result<Duration, Duration> {
        let now = now.as_nanos() as f64;
        let until = state.0.max(now) + self.interval;
        let early = until - self.burst - now;
        // Less than a nanosecond is what floating-point arithmetic leaves over.
        let early = if early < 1.0 { 0.0 } else { early };
        let wait = Duration::from_nanos(early.ceil() as u64);
        if wait > max_wait {
            return Err(wait);
        }
        state.0 = until;
        Ok(wait)
    }

    /// Changes the rate. Requests that have been admitted take the time of the new rate.
    pub(super) fn change(&mut self, state: &mut RateState, now: Time, per_second: f64, burst: u32) {
        let now = now.as_nanos() as f64;
        let ahead = (state.0 - now).max(0.0) / self.interval;
        *self = Self::new(per_second, burst);
        state.0 = now + ahead * self.interval;
    }
}

/// A rate with its state, in one of three modes.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    rate: Rate,
    state: RateState,
    mode: Mode,
}

#[derive(Clone, Debug)]
enum Mode {
    TokenBucket,
    LeakyBucket { max_wait: Duration },
    Adaptive(Adaptation),
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateError {
    /// As many requests wait as may.
    Full,
    /// The wait would be longer than the request can wait.
    TooLate,
}

impl RateLimiter {
    /// `per_second` in the long run, and up to `burst` at once after a pause.
    #[must_use]
    pub fn token_bucket(per_second: f64, burst: u32) -> Self {
        Self::of(Rate::new(per_second, burst), Mode::TokenBucket)
    }

    /// `per_second`, evenly spaced. No more than `waiting` requests wait.
    #[must_use]
    pub fn leaky_bucket(per_second: f64, waiting: u32) -> Self {
        let rate = Rate::new(per_second, 1);
        // One more nanosecond for what floating-point arithmetic leaves over.
        let max_wait = rate.interval * f64::from(waiting) + 1.0;
        let max_wait = Duration::from_nanos(max_wait as u64);
        Self::of(rate, Mode::LeakyBucket { max_wait })
    }

    /// Between `least` and `most` a second, at least 1: see [`Self::record`]. It begins at the least.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_frame::Time;
    /// use polywire_frame::flow::{RateLimiter, Sample};
    ///
    /// let mut rate = RateLimiter::adaptive(10.0, 1_000.0);
    /// let mut now = Time::ZERO;
    /// // A server that answers within a millisecond, whatever the rate.
    /// for _ in 0..10_000 {
    ///     let wait = rate.reserve(now, Duration::MAX).unwrap();
    ///     now = now.after(wait);
    ///     rate.record(now, Sample::Answered(Duration::from_millis(1)));
    /// }
    /// assert_eq!(rate.per_second(), 1_000.0);
    /// ```
    #[must_use]
    pub fn adaptive(least: f64, most: f64) -> Self {
        let adaptation = Adaptation::new(least, most);
        Self::of(adaptation.first_rate(), Mode::Adaptive(adaptation))
    }

    fn of(rate: Rate, mode: Mode) -> Self {
        Self {
            rate,
            state: RateState::default(),
            mode,
        }
    }

    /// The rate.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.rate.per_second()
    }

    /// Whether the results of requests change the rate.
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        matches!(self.mode, Mode::Adaptive(_))
    }

    /// Admits a request and returns how long it has to wait.
    ///
    /// # Errors
    ///
    /// It is not admitted, and not counted.
    #[inline]
    pub fn reserve(&mut self, now: Time, max_wait: Duration) -> Result<Duration, RateError> {
        let waits = match self.mode {
            Mode::LeakyBucket { max_wait: own } => own,
            _ => Duration::MAX,
        };
        let reserved = self.rate.reserve(&mut self.state, now, max_wait.min(waits));
        if let Mode::Adaptive(adaptation) = &mut self.mode {
            adaptation.reserved(reserved);
        }
        reserved.map_err(|wait| match wait > waits {
            true => RateError::Full,
            false => RateError::TooLate,
        })
    }

    /// Takes note of the result of a request, for a rate that adapts.
    pub fn record(&mut self, now: Time, sample: Sample) {
        if let Mode::Adaptive(adaptation) = &mut self.mode
            && let Some((per_second, burst)) =
                adaptation.record(now, sample, self.rate.per_second())
        {
            self.rate.change(&mut self.state, now, per_second, burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a million requests, one per microsecond. Returns how many are admitted.
    fn through(mut limiter: RateLimiter, max_wait: Duration) -> usize {
        (0..1_000_000)
            .filter(|micros| {
                let now = Time::from_nanos(micros * 1_000);
                limiter.reserve(now, max_wait).is_ok()
            })
            .count()
    }

    #[test]
    fn requests_that_do_not_wait_take_no_time_from_others() {
        let mut leaky = RateLimiter::leaky_bucket(10.0, 100);
        assert_eq!(leaky.reserve(Time::ZERO, Duration::MAX), Ok(Duration::ZERO));
        for _ in 0..50 {
            let reserved = leaky.reserve(Time::ZERO, Duration::from_millis(99));
            assert_eq!(reserved, Err(RateError::TooLate));
        }
        let next = leaky.reserve(Time::ZERO, Duration::from_millis(100));
        assert_eq!(next, Ok(Duration::from_millis(100)));
    }

    #[test]
    fn waiting_requests_are_bounded() {
        let mut leaky = RateLimiter::leaky_bucket(10.0, 3);
        let waits = [(); 6].map(|()| leaky.reserve(Time::ZERO, Duration::MAX));
        let millis = |millis| Ok(Duration::from_millis(millis));
        let full = Err(RateError::Full);
        assert_eq!(
            waits,
            [millis(0), millis(100), millis(200), millis(300), full, full]
        );
    }

    #[test]
    fn the_rate_holds_in_the_long_run() {
        let tokens = RateLimiter::token_bucket(1_000.0, 50);
        assert_eq!(through(tokens, Duration::ZERO), 1_000 + 49);
        let leaky = RateLimiter::leaky_bucket(1_000.0, 0);
        assert_eq!(through(leaky, Duration::MAX), 1_000);
    }

    #[test]
    fn unused_requests_are_not_saved_beyond_the_burst() {
        let mut rate = Rate::new(10.0, 5);
        let mut state = RateState::default();
        let count = |rate: &Rate, state: &mut RateState, now| {
            let take = |_: &u32| rate.reserve(state, now, Duration::ZERO).is_ok();
            (0..100).filter(take).count()
        };
        let later = Time::ZERO.after(Duration::from_secs(100));
        assert_eq!(count(&rate, &mut state, later), 5);
        rate.change(&mut state, later, 1_000.0, 5);
        assert!((rate.per_second() - 1_000.0).abs() < 1e-6);
        assert_eq!(count(&rate, &mut state, later), 0);
        let moment = later.after(Duration::from_millis(5));
        assert_eq!(count(&rate, &mut state, moment), 5);
    }

    /// Intervals that are not a whole number of nanoseconds do not shorten the burst.
    #[test]
    fn the_whole_burst_is_admitted_at_any_time() {
        for (per_second, burst) in [(3.0, 3), (7.0, 10), (60.0, 60), (300.0, 50)] {
            let rate = Rate::new(per_second, burst);
            for second in 0..2_000 {
                let now = Time::from_nanos(second * 1_234_567_891);
                let mut state = RateState::default();
                let mut take = || rate.reserve(&mut state, now, Duration::ZERO).is_ok();
                let taken = (0..2 * burst).filter(|_| take()).count();
                assert_eq!(taken, burst as usize, "{per_second} {second}");
            }
        }
    }

    #[test]
    fn a_rate_of_nothing_admits_the_burst() {
        let mut limiter = RateLimiter::token_bucket(0.0, 0);
        assert!(limiter.reserve(Time::ZERO, Duration::ZERO).is_ok());
        let later = Time::ZERO.after(Duration::from_secs(1 << 20));
        assert!(limiter.reserve(later, Duration::ZERO).is_err());
    }
}
