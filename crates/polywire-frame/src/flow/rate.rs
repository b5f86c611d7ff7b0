//! A rate of calls that adapts to the server.
//!
//! ```text
//! at the end of each window (20 ms or a round trip, and ten answers, whichever is later):
//!     a call was rejected or late            rate * 0.7
//!     mean round trip > 2 * least + slack,
//!         and not shorter than before        min(rate, answered rate of the window) * 0.9
//!     calls had to wait                      rate * 2 until the first decrease, then
//!                                            rate + max(rate / 20, 1)
//!     else                                   unchanged
//! ```
//!
//! A rate that is too high is noticed late, when there is a queue. The answered rate then shows the capacity of the
//! server. While the queue shrinks, the rate is not lowered further.

use std::time::Duration;

use super::limit::Least;
use super::{Sample, TokenBucket};
use crate::Time;

/// A rate of calls per second within a range, adapted to round trips and rejections.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{AdaptiveRate, Sample};
///
/// let mut rate = AdaptiveRate::new(10.0, 1_000.0);
/// let mut now = Time::ZERO;
/// // A server that always answers within a millisecond.
/// for _ in 0..10_000 {
///     let wait = rate.book(now, Duration::MAX).unwrap();
///     now = now.after(wait);
///     rate.ended(now, Sample::Answered(Duration::from_millis(1)));
/// }
/// assert_eq!(rate.per_second(), 1_000.0);
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    least: f64,
    most: f64,
    bucket: TokenBucket,
    /// Whether the rate was never lowered.
    starting: bool,
    window: Window,
    /// The mean round trip of the previous window.
    before: Duration,
    round_trip: Least,
}

/// Observations since the last decision.
#[derive(Clone, Debug, Default)]
struct Window {
    began: Option<Time>,
    answers: u32,
    /// The sum of their round trips.
    sum: Duration,
    refused: bool,
    /// Whether a call had to wait.
    in_use: bool,
}

const LEAST_WINDOW: Duration = Duration::from_millis(20);
const LEAST_ANSWERS: u32 = 10;
const SLACK: Duration = Duration::from_millis(10);
/// How long the least round trip is kept; it covers up to twice this time.
const TURN: Duration = Duration::from_secs(30);

impl AdaptiveRate {
    /// A rate from `least` to `most` per second, which begins at `least`.
    #[must_use]
    pub fn new(least: f64, most: f64) -> Self {
        let least = least.max(1.0);
        Self {
            least,
            most: most.max(least),
            bucket: TokenBucket::new(least, burst(least)),
            starting: true,
            window: Window::default(),
            before: Duration::ZERO,
            round_trip: Least::default(),
        }
    }

    /// The current rate per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.bucket.rate()
    }

    /// The wait of the next call. `None`, and the call is not counted, if that is more than `most`.
    pub fn book(&mut self, now: Time, most: Duration) -> Option<Duration> {
        let wait = self.bucket.book(now, most);
        self.window.in_use |= wait != Some(Duration::ZERO);
        wait
    }

    /// Records the outcome of a call.
    pub fn ended(&mut self, now: Time, sample: Sample) {
        match sample {
            Sample::Answered(time) => {
                self.window.answers += 1;
                self.window.sum += time;
                self.round_trip.see(time);
            }
            Sample::Refused | Sample::Late => self.window.refused = true,
            Sample::Nothing => {}
        }
        let began = *self.window.began.get_or_insert(now);
        let least = self.round_trip.get().unwrap_or_default();
        let ends = began.after(least.max(LEAST_WINDOW));
        if now >= ends && (self.window.answers >= LEAST_ANSWERS || self.window.refused) {
            self.decide(now, now.since(began), least);
        }
    }

    fn decide(&mut self, now: Time, took: Duration, least: Duration) {
        let window = std::mem::take(&mut self.window);
        self.window.began = Some(now);
        let mean = window.sum / window.answers.max(1);
        let allowed = least.saturating_mul(2).saturating_add(SLACK);
        let rate = self.per_second();
        let next = if window.refused {
            self.starting = false;
            rate * 0.7
        } else if mean > allowed {
            self.starting = false;
            match mean < self.before {
                true => rate,
                false => rate.min(f64::from(window.answers) / took.as_secs_f64()) * 0.9,
            }
        } else if window.in_use {
            rate + match self.starting {
                true => rate,
                false => (rate / 20.0).max(1.0),
            }
        } else {
            rate
        };
        self.before = mean;
        let next = next.clamp(self.least, self.most);
        self.bucket.set_rate(now, next);
        self.bucket.set_burst(burst(next));
        self.round_trip.turn(now, TURN);
    }
}

/// The size of bursts: the calls of 10 ms.
fn burst(per_second: f64) -> u32 {
    (per_second / 100.0).ceil() as u32
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A server with one worker that needs 1 ms per call, and a client that always has calls to make, for a minute.
    #[test]
    fn the_server_is_busy_and_its_queue_short() {
        let mut rate = AdaptiveRate::new(10.0, 100_000.0);
        let work = Duration::from_millis(1);
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        let mut open: VecDeque<(Time, Time)> = VecDeque::new();
        let end = Time::ZERO.after(Duration::from_secs(60));
        let half = Time::ZERO.after(Duration::from_secs(30));
        let (mut answered, mut longest) = (0, Duration::ZERO);
        while now < end {
            let next = now.after(rate.book(now, Duration::MAX).unwrap());
            // Calls that end until then.
            while let Some((began, done)) = open.front().copied()
                && done <= next
            {
                open.pop_front();
                rate.ended(done, Sample::Answered(done.since(began)));
                if done > half {
                    answered += 1;
                    longest = longest.max(done.since(began));
                }
            }
            now = next;
            free = free.max(now).after(work);
            open.push_back((now, free));
        }
        assert!(answered > 30_000 * 8 / 10, "{answered} of 30,000");
        assert!(longest < Duration::from_millis(300), "{longest:?}");
    }

    #[test]
    fn rejected_calls_are_not_counted() {
        let mut rate = AdaptiveRate::new(10.0, 10.0);
        let waits = [(); 3].map(|()| rate.book(Time::ZERO, Duration::from_millis(100)));
        let hundred = Duration::from_millis(100);
        assert_eq!(waits, [Some(Duration::ZERO), Some(hundred), None]);
        assert_eq!(rate.book(Time::ZERO.after(hundred), hundred), Some(hundred));
    }
}
