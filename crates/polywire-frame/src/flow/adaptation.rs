//! How a rate of calls adapts to the server.
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
use super::{Rate, Sample};
use crate::Time;

/// The state of a rate that adapts.
#[derive(Clone, Debug)]
pub(super) struct Adaptation {
    least: f64,
    most: f64,
    /// Whether it has not gone down yet.
    starting: bool,
    window: Window,
    /// The mean round trip of the window before.
    before: Duration,
    round_trip: Least,
}

/// What has been recorded since the last decision.
#[derive(Clone, Debug, Default)]
struct Window {
    began: Option<Time>,
    answers: u32,
    /// The sum of their round trips.
    sum: Duration,
    refused: bool,
    /// Whether a request had to wait.
    in_use: bool,
}

const LEAST_WINDOW: Duration = Duration::from_millis(20);
const LEAST_ANSWERS: u32 = 10;
const SLACK: Duration = Duration::from_millis(10);
/// How long the least round trip holds; it is kept for twice as long.
const TURN: Duration = Duration::from_secs(30);

impl Adaptation {
    pub(super) fn new(least: f64, most: f64) -> Self {
        let least = least.max(1.0);
        Self {
            least,
            most: most.max(least),
            starting: true,
            window: Window::default(),
            before: Duration::ZERO,
            round_trip: Least::default(),
        }
    }

    pub(super) fn first_rate(&self) -> Rate {
        Rate::new(self.least, burst(self.least))
    }

    /// A request was admitted, after a wait or not, or rejected.
    pub(super) fn reserved(&mut self, reserved: Result<Duration, Duration>) {
        self.window.in_use |= reserved != Ok(Duration::ZERO);
    }

    /// Takes note of the result of a request. Returns the next rate and burst at the end of a window.
    pub(super) fn record(&mut self, now: Time, sample: Sample, rate: f64) -> Option<(f64, u32)> {
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
        let is_enough = self.window.answers >= LEAST_ANSWERS || self.window.refused;
        (now >= ends && is_enough).then(|| self.decide(now, now.since(began), least, rate))
    }

    fn decide(&mut self, now: Time, took: Duration, least: Duration, rate: f64) -> (f64, u32) {
        let window = std::mem::take(&mut self.window);
        self.window.began = Some(now);
        let mean = window.sum / window.answers.max(1);
        let allowed = least.saturating_mul(2).saturating_add(SLACK);
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
        self.round_trip.turn(now, TURN);
        (next, burst(next))
    }
}

/// What may come at once: what the rate allows in a hundredth of a second.
fn burst(per_second: f64) -> u32 {
    (per_second / 100.0).ceil() as u32
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::{RateError, RateLimiter};
    use super::*;

    /// The server executes one call at a time, in 1 ms each. The client always has calls to make. The test checks the
    /// calls per second and the longest wait in the second half of a minute.
    #[test]
    fn an_adaptive_rate_keeps_the_server_busy_and_its_queue_short() {
        let mut rate = RateLimiter::adaptive(10.0, 100_000.0);
        let work = Duration::from_millis(1);
        let (mut now, mut free) = (Time::ZERO, Time::ZERO);
        let mut open: VecDeque<(Time, Time)> = VecDeque::new();
        let end = Time::ZERO.after(Duration::from_secs(60));
        let half = Time::ZERO.after(Duration::from_secs(30));
        let (mut answered, mut longest) = (0, Duration::ZERO);
        while now < end {
            let next = now.after(rate.reserve(now, Duration::MAX).unwrap());
            // Records the calls that end before `next`.
            while let Some((began, done)) = open.front().copied()
                && done <= next
            {
                open.pop_front();
                rate.record(done, Sample::Answered(done.since(began)));
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
    fn requests_that_would_wait_too_long_are_not_counted() {
        let mut rate = RateLimiter::adaptive(10.0, 10.0);
        let waits = [(); 3].map(|()| rate.reserve(Time::ZERO, Duration::from_millis(100)));
        let hundred = Duration::from_millis(100);
        assert_eq!(
            waits,
            [Ok(Duration::ZERO), Ok(hundred), Err(RateError::TooLate)]
        );
        assert_eq!(
            rate.reserve(Time::ZERO.after(hundred), hundred),
            Ok(hundred)
        );
    }
}
