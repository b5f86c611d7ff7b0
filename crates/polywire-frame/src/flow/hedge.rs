//! Asking a second time before the first answer.

use std::time::Duration;

/// When to ask again: once a call has taken longer than nearly all do.
///
/// A hedge trades a little more load for a shorter tail: at the 95th percentile one call in twenty is
/// sent twice, and the answer that comes first counts. Only for operations that may be carried out
/// twice, and within a [budget](super::RetryBudget) of their own, since what is true of all calls is no
/// tail any more.
///
/// Each call counts, also one that was overtaken by its second: it took so long at least. If it did not
/// count, the longest of those that do would be asked a second time next, and so on.
///
/// Times are kept in a histogram of 8 steps a doubling, from a microsecond to an hour; what is old
/// counts less and less.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::flow::Hedge;
///
/// let mut hedge = Hedge::new(0.95);
/// assert_eq!(hedge.delay(), None);
/// for millis in (0..100).chain(0..100) {
///     hedge.answered(Duration::from_millis(millis));
/// }
/// let delay = hedge.delay().unwrap();
/// assert!((90..105).contains(&delay.as_millis()), "{delay:?}");
/// ```
#[derive(Clone, Debug)]
pub struct Hedge {
    percentile: f64,
    counts: [u32; BUCKETS],
    total: u32,
}

/// Of 32 doublings of a microsecond.
const BUCKETS: usize = 8 * 32;
/// Answers before there is an opinion.
const LEAST: u32 = 100;
/// Answers after which all counts are halved.
const MOST: u32 = 10_000;

impl Hedge {
    /// A hedge at a percentile, such as 0.95.
    #[must_use]
    pub const fn new(percentile: f64) -> Self {
        Self {
            percentile,
            counts: [0; BUCKETS],
            total: 0,
        }
    }

    /// The share of calls that are to be asked a second time.
    ///
    /// ```
    /// use polywire_frame::flow::Hedge;
    ///
    /// assert_eq!(Hedge::new(0.75).share(), 0.25);
    /// ```
    #[must_use]
    pub const fn share(&self) -> f64 {
        (1.0 - self.percentile).clamp(0.0, 1.0)
    }

    /// A call was answered after so long, or would have been later.
    #[inline]
    pub fn answered(&mut self, took: Duration) {
        self.counts[bucket(took)] += 1;
        self.total += 1;
        if self.total >= MOST {
            self.total = 0;
            for count in &mut self.counts {
                *count /= 2;
                self.total += *count;
            }
        }
    }

    /// After how long to ask again; nothing, as long as too little is known.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        if self.total < LEAST {
            return None;
        }
        let wanted = (f64::from(self.total) * self.percentile).ceil() as u32;
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(upper(bucket))
    }
}

/// Where a time is counted: three bits below the highest, in microseconds.
const fn bucket(took: Duration) -> usize {
    let micros = took.as_micros();
    let micros = if micros > u32::MAX as u128 {
        u32::MAX
    } else {
        micros as u32
    };
    if micros < 8 {
        return micros as usize;
    }
    let doublings = 31 - micros.leading_zeros();
    let eighth = micros >> (doublings - 3) & 7;
    (doublings * 8 + eighth - 16) as usize
}

/// The first time that is counted behind a bucket.
const fn upper(bucket: usize) -> Duration {
    let next = bucket as u64 + 1;
    if next <= 8 {
        return Duration::from_micros(next);
    }
    let (doublings, eighth) = ((next + 16) / 8, (next + 16) % 8);
    Duration::from_micros((8 + eighth) << (doublings - 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_an_eighth_wide() {
        let mut last = 0;
        for micros in 0..100_000 {
            let at = bucket(Duration::from_micros(micros));
            assert!(at == last || at == last + 1, "{micros}");
            last = at;
            let upper = upper(at).as_micros() as u64;
            assert!(
                upper > micros && upper <= micros + micros / 8 + 1,
                "{micros}: {upper}"
            );
        }
        assert!(bucket(Duration::MAX) < BUCKETS);
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut hedge = Hedge::new(0.9);
        for _ in 0..50_000 {
            hedge.answered(Duration::from_secs(1));
        }
        for _ in 0..200_000 {
            hedge.answered(Duration::from_millis(1));
        }
        assert!(hedge.delay().unwrap() < Duration::from_millis(2));
    }
}
