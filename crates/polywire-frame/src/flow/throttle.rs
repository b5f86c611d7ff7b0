//! Client-side throttling of calls to a server that rejects them.

use std::time::Duration;

use super::window::Window;
use crate::Time;

/// The index of requests in the window; the other count is of accepted calls.
const REQUESTS: usize = 0;
/// Rejections that are ignored.
const GRACE: f64 = 10.0;

/// Rejects calls on the client in the proportion in which the server rejects them.
///
/// Rejecting a call costs the server too. So a call is rejected locally with probability
/// `max(0, (requests - 2 * accepts - 10) / (requests + 1))`, over the last two minutes (Google's "Site Reliability
/// Engineering", chapter 21): never while the server accepts at least half. The 10 is an addition, without which the first
/// rejection would cost a client with few calls every second call.
///
/// With this formula alone, a client would need two minutes to recover. So one call per second is always sent, and the
/// window is cleared after two seconds in which the server has accepted calls and rejected none. A server that
/// continuously accepts some calls and rejects others never has such two seconds.
///
/// A call counts when it has ended: if open calls counted as not accepted, a client with a hundred concurrent calls would
/// reject its own. Calls that ended otherwise (deadline, lost connection, cancelled) do not count.
///
/// ```
/// use polywire_frame::Time;
/// use polywire_frame::flow::Throttle;
///
/// let mut throttle = Throttle::new(2.0);
/// let now = Time::ZERO;
/// // The server rejects a hundred calls.
/// for _ in 0..100 {
///     assert!(throttle.admit(now, 0.999));
///     throttle.refused(now);
/// }
/// assert!(!throttle.admit(now, 0.5));
/// assert!(throttle.admit(now, 0.999));
/// ```
#[derive(Clone, Debug)]
pub struct Throttle {
    factor: f64,
    window: Window,
    /// When a probe was last sent.
    sent: Time,
    /// When the last rejected call began.
    refused: Option<Time>,
}

/// Two minutes.
const WINDOW: Window = Window::of_ten(12);
/// The interval of probes.
const PROBE: Duration = Duration::from_secs(1);
/// The time without rejections after which the window is cleared.
const OVER: Duration = Duration::from_secs(2);

impl Throttle {
    /// Lets `factor` times as many calls through as the server accepts. 2 is usual; a lower factor rejects earlier.
    #[must_use]
    pub const fn new(factor: f64) -> Self {
        Self {
            factor,
            window: WINDOW,
            sent: Time::ZERO,
            refused: None,
        }
    }

    /// Whether a call may be sent. `chance` is from 0 to 1.
    #[inline]
    pub fn admit(&mut self, now: Time, chance: f64) -> bool {
        // Fast path.
        let [requests, accepts] = self.window.sums(now);
        if requests <= self.factor * accepts + GRACE {
            return true;
        }
        let admitted = chance >= self.probability(now) || now.since(self.sent) >= PROBE;
        if admitted {
            self.sent = now;
        } else {
            self.window.count(now, REQUESTS);
        }
        admitted
    }

    /// The server has accepted a call that began at `began`: the answer is not `overloaded` or `unavailable`.
    #[inline]
    pub fn accepted(&mut self, began: Time) {
        if let Some(refused) = self.refused
            && began.since(refused) >= OVER
        {
            self.window = WINDOW;
            self.refused = None;
        }
        self.window.count_both(began);
    }

    /// The server has rejected a call that began at `began`.
    pub fn refused(&mut self, began: Time) {
        self.window.count(began, REQUESTS);
        self.refused = self.refused.max(Some(began));
    }

    /// The probability that a call is rejected locally, from 0 to 1.
    pub fn probability(&mut self, now: Time) -> f64 {
        let [requests, accepts] = self.window.sums(now);
        ((requests - self.factor * accepts - GRACE) / (requests + 1.0)).max(0.0)
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::new(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// Reproducible random numbers.
    fn chances() -> impl FnMut() -> f64 {
        let mut random = 1_u64;
        move || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    #[test]
    fn a_server_that_accepts_half_gets_all_calls() {
        let mut throttle = Throttle::default();
        for call in 0..1_000 {
            assert!(throttle.admit(Time::ZERO, 0.0));
            match call % 2 {
                0 => throttle.accepted(Time::ZERO),
                _ => throttle.refused(Time::ZERO),
            }
        }
        assert!(throttle.probability(Time::ZERO) < 0.001);
    }

    #[test]
    fn open_calls_do_not_count() {
        let mut throttle = Throttle::default();
        assert!((0..1_000).all(|_| throttle.admit(Time::ZERO, 0.0)));
        // The first ten rejections are ignored.
        (0..10).for_each(|_| throttle.refused(Time::ZERO));
        assert!(throttle.admit(Time::ZERO, 0.0));
        throttle.refused(Time::ZERO);
        assert!(!throttle.admit(Time::ZERO, 0.0));
    }

    #[test]
    fn rejections_expire_after_two_minutes() {
        let mut throttle = Throttle::default();
        for _ in 0..1_000 {
            throttle.refused(Time::ZERO);
        }
        assert!(throttle.probability(Time::ZERO) > 0.98);
        let later = Time::ZERO.after(Duration::from_secs(121));
        assert_eq!(throttle.probability(later), 0.0);
    }

    /// A client makes 1,000 calls per second, of which the server accepts 100. The throttle sends 200.
    #[test]
    fn calls_settle_at_twice_the_accepted_rate() {
        let mut throttle = Throttle::default();
        let (mut sent, mut accepted, mut chance) = (0, 0, chances());
        for millis in 0..600_000_u64 {
            let now = at(millis);
            if millis % 1_000 == 0 {
                accepted = 0;
            }
            if throttle.admit(now, chance()) {
                sent += u32::from(millis >= 300_000);
                if accepted < 100 {
                    accepted += 1;
                    throttle.accepted(now);
                } else {
                    throttle.refused(now);
                }
            }
        }
        let rate = f64::from(sent) / 300.0;
        assert!((180.0..220.0).contains(&rate), "{rate} a second");
    }

    /// A server rejects all calls for ten minutes, then none. Returns the milliseconds from then until the last local
    /// rejection, with a call every `each` ms.
    fn recovers(each: u64) -> u64 {
        let mut throttle = Throttle::default();
        let mut chance = chances();
        let back = 600_000;
        let mut last = 0;
        for millis in (0..720_000).step_by(each as usize) {
            let now = at(millis);
            match throttle.admit(now, chance()) {
                false => last = millis,
                true if millis < back => throttle.refused(now),
                true => throttle.accepted(now),
            }
        }
        last.saturating_sub(back)
    }

    #[test]
    fn a_recovered_server_gets_all_calls_within_seconds() {
        for each in [1, 10, 100, 1_000, 10_000] {
            let after = recovers(each);
            assert!(after <= 3_000, "a call in {each} ms: {after} ms");
        }
    }

    #[test]
    fn one_call_per_second_is_always_sent() {
        let mut throttle = Throttle::default();
        let sent = (0..60_000).filter(|millis| {
            let sent = throttle.admit(at(*millis), 0.0);
            if sent {
                throttle.refused(at(*millis));
            }
            sent
        });
        // The first ten rejections are ignored.
        assert_eq!(sent.count(), 11 + 59);
    }

    /// Accepted calls that began before the last rejection do not clear the window.
    #[test]
    fn late_answers_do_not_clear_the_window() {
        let mut throttle = Throttle::default();
        (0..100).for_each(|_| throttle.refused(at(10_000)));
        throttle.accepted(at(0));
        throttle.accepted(at(11_000));
        assert!(throttle.probability(at(13_000)) > 0.8);
        throttle.accepted(at(12_000));
        assert_eq!(throttle.probability(at(13_000)), 0.0);
    }
}
