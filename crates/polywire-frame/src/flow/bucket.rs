//! Rates: token buckets and leaky buckets.

use std::time::Duration;

use crate::Time;

/// A token bucket: a rate per second in the long run, and bursts.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::TokenBucket;
///
/// let mut bucket = TokenBucket::new(10.0, 2);
/// let start = Time::ZERO;
/// assert_eq!([(); 3].map(|()| bucket.take(start)), [
///     Ok(()),
///     Ok(()),
///     Err(Duration::from_millis(100)),
/// ]);
/// assert_eq!(bucket.take(start.after(Duration::from_millis(100))), Ok(()));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    /// Nanoseconds per token.
    each: f64,
    /// The size of a burst, in nanoseconds.
    ahead: f64,
    /// When all tokens taken so far would have been available one by one.
    taken: f64,
}

impl TokenBucket {
    /// `per_second` tokens per second, and bursts of `burst`, at least 1.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        let each = nanos_each(per_second);
        Self {
            each,
            ahead: each * f64::from(burst.max(1)),
            taken: 0.0,
        }
    }

    /// Takes a token.
    ///
    /// # Errors
    ///
    /// The time until a token is available.
    #[inline]
    pub fn take(&mut self, now: Time) -> Result<(), Duration> {
        let now = now.as_nanos() as f64;
        let taken = self.taken.max(now) + self.each;
        let early = taken - self.ahead - now;
        if early > 0.0 {
            return Err(Duration::from_nanos(early.ceil() as u64));
        }
        self.taken = taken;
        Ok(())
    }

    /// Takes a token in advance, and returns the time until it is available. `None`, and no token is taken, if that is more
    /// than `most`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_frame::Time;
    /// use polywire_frame::flow::TokenBucket;
    ///
    /// let mut bucket = TokenBucket::new(10.0, 2);
    /// let waits = [(); 5].map(|()| bucket.book(Time::ZERO, Duration::from_millis(200)));
    /// let ms = |millis| Some(Duration::from_millis(millis));
    /// assert_eq!(waits, [ms(0), ms(0), ms(100), ms(200), None]);
    /// ```
    #[inline]
    pub fn book(&mut self, now: Time, most: Duration) -> Option<Duration> {
        let now = now.as_nanos() as f64;
        let taken = self.taken.max(now) + self.each;
        let early = (taken - self.ahead - now).max(0.0);
        let wait = Duration::from_nanos(early.ceil() as u64);
        if wait > most {
            return None;
        }
        self.taken = taken;
        Some(wait)
    }

    /// Sets the rate. The number of available tokens does not change.
    pub fn set_rate(&mut self, now: Time, per_second: f64) {
        let now = now.as_nanos() as f64;
        let burst = self.ahead / self.each;
        let owed = (self.taken - now).max(0.0) / self.each;
        self.each = nanos_each(per_second);
        self.ahead = self.each * burst;
        self.taken = now + owed * self.each;
    }

    /// Sets the size of bursts, at least 1.
    pub fn set_burst(&mut self, burst: u32) {
        self.ahead = self.each * f64::from(burst.max(1));
    }

    /// Tokens per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        1e9 / self.each
    }
}

/// Nanoseconds per token; at most thirty years, to keep the arithmetic finite.
fn nanos_each(per_second: f64) -> f64 {
    1e9 / per_second.max(1e-9)
}

/// A leaky bucket: an even rate without bursts. Early calls wait, up to a number of them.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::LeakyBucket;
///
/// let mut bucket = LeakyBucket::new(10.0, 2);
/// let waits = [(); 4].map(|()| bucket.book(Time::ZERO, Duration::MAX));
/// assert_eq!(waits, [
///     Some(Duration::ZERO),
///     Some(Duration::from_millis(100)),
///     Some(Duration::from_millis(200)),
///     None,
/// ]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LeakyBucket {
    each: f64,
    waiting: f64,
    /// The time of the next call.
    next: f64,
}

impl LeakyBucket {
    /// `per_second` calls per second, of which up to `waiting` wait.
    #[must_use]
    pub fn new(per_second: f64, waiting: u32) -> Self {
        let each = nanos_each(per_second);
        Self {
            each,
            waiting: each * f64::from(waiting),
            next: 0.0,
        }
    }

    /// Reserves the time of the next call, and returns the wait until then. `None`, and nothing is reserved, if too many
    /// calls wait or the wait is more than `most`.
    #[inline]
    pub fn book(&mut self, now: Time, most: Duration) -> Option<Duration> {
        if self.is_full(now) {
            return None;
        }
        let now = now.as_nanos() as f64;
        let at = self.next.max(now);
        let wait = Duration::from_nanos((at - now).round() as u64);
        if wait > most {
            return None;
        }
        self.next = at + self.each;
        Some(wait)
    }

    /// Whether too many calls wait.
    #[inline]
    #[must_use]
    pub fn is_full(&self, now: Time) -> bool {
        // Rounding errors are below a nanosecond.
        self.next - now.as_nanos() as f64 > self.waiting + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of one call per microsecond pass in a second.
    fn through(mut take: impl FnMut(Time) -> bool) -> usize {
        (0..1_000_000)
            .filter(|micros| take(Time::from_nanos(micros * 1_000)))
            .count()
    }

    /// A call that would wait too long reserves nothing.
    #[test]
    fn rejected_calls_reserve_nothing() {
        let mut leaky = LeakyBucket::new(10.0, 100);
        assert_eq!(leaky.book(Time::ZERO, Duration::MAX), Some(Duration::ZERO));
        for _ in 0..50 {
            assert_eq!(leaky.book(Time::ZERO, Duration::from_millis(99)), None);
        }
        let next = leaky.book(Time::ZERO, Duration::from_millis(100));
        assert_eq!(next, Some(Duration::from_millis(100)));
    }

    #[test]
    fn the_rate_holds_in_the_long_run() {
        let mut tokens = TokenBucket::new(1_000.0, 50);
        assert_eq!(through(|now| tokens.take(now).is_ok()), 1_000 + 49);
        let mut leaky = LeakyBucket::new(1_000.0, 0);
        assert_eq!(
            through(|now| leaky.book(now, Duration::MAX).is_some()),
            1_000
        );
    }

    #[test]
    fn unused_tokens_are_bounded_by_the_burst() {
        let mut bucket = TokenBucket::new(10.0, 5);
        let later = Time::ZERO.after(Duration::from_secs(100));
        let taken = (0..100).filter(|_| bucket.take(later).is_ok()).count();
        assert_eq!(taken, 5);
        bucket.set_rate(later, 1_000.0);
        assert!((bucket.rate() - 1_000.0).abs() < 1e-6);
        assert!(bucket.take(later).is_err());
        let moment = later.after(Duration::from_millis(5));
        assert_eq!((0..100).filter(|_| bucket.take(moment).is_ok()).count(), 5);
    }

    #[test]
    fn a_rate_of_zero_allows_one_burst() {
        let mut bucket = TokenBucket::new(0.0, 0);
        assert!(bucket.take(Time::ZERO).is_ok());
        assert!(
            bucket
                .take(Time::ZERO.after(Duration::from_secs(1 << 20)))
                .is_err()
        );
    }
}
