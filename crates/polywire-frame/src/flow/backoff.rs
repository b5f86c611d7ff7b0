//! How long to wait before a retry.

use std::time::Duration;

/// Exponential back-off with jitter, so that callers that failed at the same time do not retry at the same time.
///
/// The wait before the n-th retry is a random part, at least half, of `base * 2^(n-1)`, and at most `most`.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::flow::Backoff;
///
/// let backoff = Backoff::DEFAULT;
/// // The shortest and the longest third wait.
/// assert_eq!(backoff.wait(3, 0.0), Duration::from_millis(20));
/// assert_eq!(backoff.wait(3, 1.0), Duration::from_millis(40));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Backoff {
    base: Duration,
    most: Duration,
}

impl Backoff {
    /// 10 ms to 1 s: a restarted server is called again within a second.
    pub const DEFAULT: Self = Self::new(Duration::from_millis(10), Duration::from_secs(1));

    /// Waits from `base` to `most`.
    #[must_use]
    pub const fn new(base: Duration, most: Duration) -> Self {
        Self { base, most }
    }

    /// The longest wait.
    #[must_use]
    pub const fn most(&self) -> Duration {
        self.most
    }

    /// The wait before a retry; the first has `attempt` 1. `chance` is from 0 to 1.
    #[must_use]
    pub fn wait(&self, attempt: u32, chance: f64) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        let whole = self.base.saturating_mul(1 << doublings).min(self.most);
        whole.mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0))
    }

    /// The time `asked` that the server has requested, and [`Self::wait`] in addition.
    #[must_use]
    pub fn wait_after(&self, attempt: u32, chance: f64, asked: Duration) -> Duration {
        // Jitter on top, so that callers with the same requested time do not retry together.
        asked + self.wait(attempt, chance)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_maximum() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(3));
        let waits: Vec<_> = (0..9)
            .map(|attempt| backoff.wait(attempt, 1.0).as_millis())
            .collect();
        assert_eq!(waits, [100, 100, 200, 400, 800, 1600, 3000, 3000, 3000]);
        assert_eq!(backoff.wait(u32::MAX, 7.0), Duration::from_secs(3));
        let asked = Duration::from_secs(9);
        assert_eq!(
            backoff.wait_after(1, 0.0, asked),
            asked + Duration::from_millis(50)
        );
    }
}
