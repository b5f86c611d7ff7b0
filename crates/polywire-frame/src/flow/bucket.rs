//! Rates: token buckets and leaky buckets.

use std::time::Duration;

use crate::Time;

/// A rate with bursts: so many a second in the long run, and up to so many at once.
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
    /// Nanoseconds that one takes.
    each: f64,
    /// How far ahead of the time it may be, in nanoseconds.
    ahead: f64,
    /// The time at which all that was taken would have been taken one by one.
    taken: f64,
}

impl TokenBucket {
    /// So many a second, and up to `burst` at once; at least one.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        let each = nanos_each(per_second);
        Self {
            each,
            ahead: each * f64::from(burst.max(1)),
            taken: 0.0,
        }
    }

    /// Takes one, if there is one.
    ///
    /// # Errors
    ///
    /// There is none yet: how long it takes until there is.
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

    /// Takes one that may not be there yet: how long it takes until it is. Nothing, and none is taken,
    /// if that is longer than `most`.
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

    /// Sets how many a second, from now on. Of a burst as much is left as before.
    pub fn set_rate(&mut self, now: Time, per_second: f64) {
        let now = now.as_nanos() as f64;
        let burst = self.ahead / self.each;
        let owed = (self.taken - now).max(0.0) / self.each;
        self.each = nanos_each(per_second);
        self.ahead = self.each * burst;
        self.taken = now + owed * self.each;
    }

    /// Sets how many may be taken at once, at least one, from now on.
    pub fn set_burst(&mut self, burst: u32) {
        self.ahead = self.each * f64::from(burst.max(1));
    }

    /// How many a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        1e9 / self.each
    }
}

/// Nanoseconds of each of so many a second. Never more than thirty years, which is a number still that
/// can be calculated with.
fn nanos_each(per_second: f64) -> f64 {
    1e9 / per_second.max(1e-9)
}

/// An even rate: each has a time of its own, none of which is earlier than the rate allows. Who comes
/// early waits, but no more than so many at once.
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
    /// When the next has its time.
    next: f64,
}

impl LeakyBucket {
    /// So many a second, and up to `waiting` of them waiting.
    #[must_use]
    pub fn new(per_second: f64, waiting: u32) -> Self {
        let each = nanos_each(per_second);
        Self {
            each,
            waiting: each * f64::from(waiting),
            next: 0.0,
        }
    }

    /// How long the next has to wait; nothing, if too many wait already, or it would have to wait longer than
    /// `most`. Then its turn is not taken.
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

    /// Whether too many wait already.
    #[inline]
    #[must_use]
    pub fn is_full(&self, now: Time) -> bool {
        // What floating-point arithmetic leaves over is less than a nanosecond.
        self.next - now.as_nanos() as f64 > self.waiting + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of those that come each microsecond for a second are let through.
    fn through(mut take: impl FnMut(Time) -> bool) -> usize {
        (0..1_000_000)
            .filter(|micros| take(Time::from_nanos(micros * 1_000)))
            .count()
    }

    /// Who would wait for too long takes nobody's turn.
    #[test]
    fn turns_that_nobody_takes_are_free() {
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
    fn what_was_not_taken_is_not_saved_beyond_the_burst() {
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
    fn rates_of_nothing_let_the_burst_through_and_end() {
        let mut bucket = TokenBucket::new(0.0, 0);
        assert!(bucket.take(Time::ZERO).is_ok());
        assert!(
            bucket
                .take(Time::ZERO.after(Duration::from_secs(1 << 20)))
                .is_err()
        );
    }
}
