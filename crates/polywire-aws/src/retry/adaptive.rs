//! The rate limiter of the adaptive mode.
//!
//! After the first throttling error, a client limits its own rate, as TCP's CUBIC does:
//!
//! - The *measured rate* is the number of responses per half second, smoothed: 0.8 of the last measurement and 0.2 of
//!   the ones before.
//! - Throttling at the rate `w` sets the limit to `0.7 w`.
//! - A success after `t` seconds sets it to `0.4 (t - k)^3 + w`, where `k = cbrt(0.3 w / 0.4)`: the curve starts at
//!   `0.7 w`, is flat around `w`, and then grows faster and faster.
//! - The limit is at most twice the measured rate, and at least one call in two seconds.
//!
//! A bucket that fills at this rate has a token for each call. It holds the calls of one second, but at least one.

use std::time::Duration;

/// How much of the rate is left after throttling.
const BETA: f64 = 0.7;
/// How fast the curve grows.
const SCALE: f64 = 0.4;
/// The least rate, in calls a second.
const MIN_RATE: f64 = 0.5;
/// The least size of the bucket, in calls.
const MIN_CAPACITY: f64 = 1.0;
/// The share of the last measurement in the measured rate.
const SMOOTHING: f64 = 0.8;
/// The measurements in a second.
const MEASUREMENTS: f64 = 2.0;

/// Limits the rate of a client that a service has throttled, and delays its calls.
///
/// Times are since any fixed moment, and do not go back; earlier times count as the latest.
///
/// ```
/// use std::time::Duration;
/// use polywire_aws::retry::RateLimiter;
///
/// let mut limiter = RateLimiter::new(Duration::ZERO);
/// // Without throttling there is no limit.
/// assert_eq!(limiter.acquire(Duration::ZERO), Ok(()));
/// limiter.responded(Duration::from_millis(100), true);
/// // Now there is: at least one call in two seconds.
/// assert_eq!(limiter.acquire(Duration::from_millis(100)), Ok(()));
/// assert_eq!(limiter.acquire(Duration::from_millis(100)), Err(Duration::from_secs(2)));
/// ```
#[derive(Clone, Debug)]
pub struct RateLimiter {
    /// Whether there was throttling.
    is_limited: bool,
    /// The latest time, in seconds.
    now: f64,
    bucket: Bucket,
    curve: Curve,
    measured: MeasuredRate,
}

impl RateLimiter {
    /// A limiter without a limit.
    #[must_use]
    pub fn new(now: Duration) -> Self {
        let now = now.as_secs_f64();
        Self {
            is_limited: false,
            now,
            bucket: Bucket {
                rate: MIN_RATE,
                capacity: MIN_CAPACITY,
                tokens: MIN_CAPACITY,
                filled: now,
            },
            curve: Curve {
                peak: 0.0,
                throttled: now,
            },
            measured: MeasuredRate {
                rate: 0.0,
                count: 0,
                last: now.floor(),
            },
        }
    }

    /// Takes the token of a call before each attempt.
    ///
    /// # Errors
    ///
    /// The rate is exceeded: how long to wait before asking again. Another call may have taken the token by then.
    pub fn acquire(&mut self, now: Duration) -> Result<(), Duration> {
        if !self.is_limited {
            return Ok(());
        }
        let now = self.advance(now);
        self.bucket.fill(now);
        let missing = 1.0 - self.bucket.tokens;
        // Sums of parts of a token are not exact.
        if missing > 1e-9 {
            return Err(Duration::from_secs_f64(missing / self.bucket.rate));
        }
        self.bucket.tokens = (self.bucket.tokens - 1.0).max(0.0);
        Ok(())
    }

    /// Counts an attempt that has ended, and adapts the rate. `is_throttling` says whether it failed by
    /// [`Failure::Throttling`](super::Failure::Throttling).
    pub fn responded(&mut self, now: Duration, is_throttling: bool) {
        let now = self.advance(now);
        self.measured.count(now);
        let rate = if is_throttling {
            let reached = match self.is_limited {
                true => self.measured.rate.min(self.bucket.rate),
                false => self.measured.rate,
            };
            self.is_limited = true;
            self.curve = Curve {
                peak: reached,
                throttled: now,
            };
            reached * BETA
        } else {
            self.curve.rate(now)
        };
        self.bucket.fill(now);
        self.bucket.set_rate(rate.min(2.0 * self.measured.rate));
    }

    /// The limit in calls a second, or `None` before the first throttling.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.is_limited.then_some(self.bucket.rate)
    }

    /// The measured rate in calls a second.
    #[must_use]
    pub fn measured_rate(&self) -> f64 {
        self.measured.rate
    }

    fn advance(&mut self, now: Duration) -> f64 {
        self.now = self.now.max(now.as_secs_f64());
        self.now
    }
}

#[derive(Clone, Debug)]
struct Bucket {
    /// Tokens a second, from [`MIN_RATE`].
    rate: f64,
    /// The most tokens, from [`MIN_CAPACITY`].
    capacity: f64,
    /// From 0 to `capacity`.
    tokens: f64,
    /// When `tokens` was computed.
    filled: f64,
}

impl Bucket {
    fn fill(&mut self, now: f64) {
        let added = (now - self.filled) * self.rate;
        self.tokens = (self.tokens + added).min(self.capacity);
        self.filled = now;
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.max(MIN_RATE);
        self.capacity = rate.max(MIN_CAPACITY);
        self.tokens = self.tokens.min(self.capacity);
    }
}

#[derive(Clone, Debug)]
struct Curve {
    /// The rate at the last throttling.
    peak: f64,
    /// The time of the last throttling.
    throttled: f64,
}

impl Curve {
    fn rate(&self, now: f64) -> f64 {
        let flat = (self.peak * (1.0 - BETA) / SCALE).cbrt();
        SCALE * (now - self.throttled - flat).powi(3) + self.peak
    }
}

#[derive(Clone, Debug)]
struct MeasuredRate {
    /// Calls a second.
    rate: f64,
    /// Calls since `last`.
    count: u32,
    /// The beginning of the half second of the last measurement.
    last: f64,
}

impl MeasuredRate {
    fn count(&mut self, now: f64) {
        let current = (now * MEASUREMENTS).floor() / MEASUREMENTS;
        self.count = self.count.saturating_add(1);
        if current > self.last {
            let rate = f64::from(self.count) / (current - self.last);
            self.rate = rate * SMOOTHING + self.rate * (1.0 - SMOOTHING);
            self.count = 0;
            self.last = current;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published example: a client throttled at 10 calls a second, at second 5.
    #[test]
    fn the_curve_is_the_published_one() {
        let curve = Curve {
            peak: 10.0,
            throttled: 5.0,
        };
        for (now, rate) in [
            (5.0, 7.0),
            (6.0, 9.648_936),
            (7.0, 10.000_030_8),
            (8.0, 10.453_284_5),
            (9.0, 13.408_697),
            (10.0, 21.266_268_4),
            (11.0, 36.425_998_5),
        ] {
            assert!(
                (curve.rate(now) - rate).abs() < 1e-6,
                "{now}: {}",
                curve.rate(now)
            );
        }
    }

    #[test]
    fn rates_are_measured_in_half_seconds() {
        let new = || MeasuredRate {
            rate: 0.0,
            count: 0,
            last: 0.0,
        };
        let measure = |times: &[f64]| {
            let mut measured = new();
            times.iter().for_each(|time| measured.count(*time));
            measured.rate
        };
        assert_eq!(measure(&[1.0]), 0.8);
        assert_eq!(measure(&[0.1, 0.2, 0.3, 0.4, 0.49]), 0.0);
        assert!((measure(&[0.1, 0.2, 0.3, 0.4, 0.49, 0.5]) - 9.6).abs() < 1e-9);
        let each_second: Vec<f64> = (1..21).map(f64::from).collect();
        assert!((measure(&each_second) - 1.0).abs() < 1e-9);
    }
}
