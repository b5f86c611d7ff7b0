//! Not asking a server that refuses.

use super::window::Window;
use crate::Time;

/// Of the window; the other count is of those that were accepted.
const REQUESTS: usize = 0;
/// Refusals that are no sign of anything yet.
const GRACE: f64 = 10.0;

/// Turns calls away before they are sent, in the share in which the server turns them away.
///
/// To refuse costs a server something too. With probability
/// `max(0, (requests - 2 * accepts - 10) / (requests + 1))` over the last two minutes a call is not
/// sent at all (Google's "Site Reliability Engineering", chapter 21, but for the ten, without which
/// the first refusal that a client of few calls ever sees would cost it every second call): nothing
/// while the server takes at least half, and ever more when it takes less. Some always go through,
/// which find out when it is better.
///
/// A call counts when it has ended. Those that are open say nothing yet, and counted as not
/// accepted they would have a client that makes a hundred calls at once refuse itself.
///
/// ```
/// use polywire_frame::Time;
/// use polywire_frame::flow::Throttle;
///
/// let mut throttle = Throttle::new(2.0);
/// let now = Time::ZERO;
/// // The server refuses all of a hundred.
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
}

impl Throttle {
    /// One that lets `factor` times as many through as the server accepts. The usual is 2; less turns
    /// away sooner.
    #[must_use]
    pub const fn new(factor: f64) -> Self {
        Self {
            factor,
            // Two minutes.
            window: Window::of_ten(12),
        }
    }

    /// Whether a call may be sent. `chance` is from 0 to 1.
    #[inline]
    pub fn admit(&mut self, now: Time, chance: f64) -> bool {
        // What holds at nearly all times is looked for first.
        let [requests, accepts] = self.window.sums(now);
        if requests <= self.factor * accepts + GRACE {
            return true;
        }
        let admitted = chance >= self.probability(now);
        if !admitted {
            self.window.count(now, REQUESTS);
        }
        admitted
    }

    /// The server has accepted a call: answered it by anything but `overloaded` or `unavailable`.
    #[inline]
    pub fn accepted(&mut self, now: Time) {
        self.window.count_both(now);
    }

    /// The server has turned a call away.
    pub fn refused(&mut self, now: Time) {
        self.window.count(now, REQUESTS);
    }

    /// The share of calls that are not sent, from 0 to 1.
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_that_takes_half_is_sent_all() {
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
    fn calls_that_are_open_are_no_refusals() {
        let mut throttle = Throttle::default();
        assert!((0..1_000).all(|_| throttle.admit(Time::ZERO, 0.0)));
        // Nor are the first few.
        (0..10).for_each(|_| throttle.refused(Time::ZERO));
        assert!(throttle.admit(Time::ZERO, 0.0));
        throttle.refused(Time::ZERO);
        assert!(!throttle.admit(Time::ZERO, 0.0));
    }

    #[test]
    fn after_two_minutes_all_is_forgotten() {
        let mut throttle = Throttle::default();
        for _ in 0..1_000 {
            throttle.refused(Time::ZERO);
        }
        assert!(throttle.probability(Time::ZERO) > 0.98);
        let later = Time::ZERO.after(Duration::from_secs(121));
        assert_eq!(throttle.probability(later), 0.0);
    }

    /// A server that takes a hundred a second of the thousand that are wanted: it is sent twice what it
    /// takes.
    #[test]
    fn it_settles_at_twice_what_is_accepted() {
        let mut throttle = Throttle::default();
        let (mut sent, mut accepted, mut random) = (0, 0, 1_u64);
        for millis in 0..600_000_u64 {
            let now = Time::from_nanos(millis * 1_000_000);
            if millis % 1_000 == 0 {
                accepted = 0;
            }
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let chance = (random >> 11) as f64 / (1_u64 << 53) as f64;
            if throttle.admit(now, chance) {
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
}
