//! Not asking a server that refuses.

use std::time::Duration;

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
/// while the server takes at least half, and ever more when it takes less.
///
/// By that formula alone a client that was refused for two minutes would need as long to believe that it
/// is over. So one call a second goes through in any case, and two seconds in which the server has
/// accepted calls and refused none end the past: what it refused before counts no more. A
/// server that takes some and refuses some all the time never has such two seconds.
///
/// A call counts when it has ended. Those that are open say nothing yet, and counted as not
/// accepted they would have a client that makes a hundred calls at once refuse itself. Nor does a call
/// count that ended in neither: whose time was over, whose connection was lost, or that was given up.
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
    /// When one was last let through.
    sent: Time,
    /// When the last began that was refused; what was accepted since began later.
    refused: Option<Time>,
}

/// Two minutes.
const WINDOW: Window = Window::of_ten(12);
/// One call goes through after so long.
const PROBE: Duration = Duration::from_secs(1);
/// How long the server must refuse nothing for the past to be over.
const OVER: Duration = Duration::from_secs(2);

impl Throttle {
    /// One that lets `factor` times as many through as the server accepts. The usual is 2; less turns
    /// away sooner.
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
        // What holds at nearly all times is looked for first.
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

    /// The server has accepted a call that began then: answered it by anything but `overloaded` or
    /// `unavailable`.
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

    /// The server has turned a call away that began then.
    pub fn refused(&mut self, began: Time) {
        self.window.count(began, REQUESTS);
        self.refused = self.refused.max(Some(began));
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
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// Chance that anybody can repeat.
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

    /// A server that refuses all for ten minutes, and is then as good as ever: from how many calls a
    /// second on none is turned away here any more, in milliseconds.
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
    fn a_server_that_is_back_has_all_calls_within_seconds() {
        for each in [1, 10, 100, 1_000, 10_000] {
            let after = recovers(each);
            assert!(after <= 3_000, "a call in {each} ms: {after} ms");
        }
    }

    #[test]
    fn one_a_second_goes_through_whatever_chance_says() {
        let mut throttle = Throttle::default();
        let sent = (0..60_000).filter(|millis| {
            let sent = throttle.admit(at(*millis), 0.0);
            if sent {
                throttle.refused(at(*millis));
            }
            sent
        });
        // The first ten are no sign of anything.
        assert_eq!(sent.count(), 11 + 59);
    }

    /// What is accepted of calls that began before the last refusal says nothing of the time behind it.
    #[test]
    fn late_answers_to_old_calls_do_not_end_the_past() {
        let mut throttle = Throttle::default();
        (0..100).for_each(|_| throttle.refused(at(10_000)));
        throttle.accepted(at(0));
        throttle.accepted(at(11_000));
        assert!(throttle.probability(at(13_000)) > 0.8);
        throttle.accepted(at(12_000));
        assert_eq!(throttle.probability(at(13_000)), 0.0);
    }
}
