//! How many calls a server lets a client have open.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::Time;

/// A number that goes down while calls have to be turned away, and up again when that is over.
///
/// It goes down at once to half of what was open, and then to half at most once an interval. It
/// goes up by half an interval, but only once five have passed without pressure: so a client is told seldom, and
/// not up and down. Time that passes unasked counts, so nothing has to ask while nothing happens.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::Allowance;
///
/// let mut allowance = Allowance::new(4..=1_000, Duration::from_millis(100));
/// let at = |millis| Time::ZERO.after(Duration::from_millis(millis));
/// assert_eq!(allowance.update(at(100), false, 80), None);
/// assert_eq!(allowance.update(at(200), true, 80), Some(40));
/// assert_eq!(allowance.update(at(210), true, 80), None);
/// assert_eq!(allowance.update(at(700), false, 40), None);
/// assert_eq!(allowance.update(at(800), false, 40), Some(60));
/// assert_eq!(allowance.now(), 60);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    least: u32,
    most: u32,
    now: u32,
    interval: Duration,
    /// When it was last under pressure.
    pressed: Time,
    /// When it last changed.
    changed: Time,
}

/// Intervals without pressure before it goes up.
const QUIET: u32 = 5;

impl Allowance {
    /// Begins with the most. It changes at most once an interval.
    #[must_use]
    pub fn new(range: RangeInclusive<u32>, interval: Duration) -> Self {
        let (least, most) = range.into_inner();
        Self {
            least: least.min(most),
            most,
            now: most,
            interval,
            pressed: Time::ZERO,
            changed: Time::ZERO,
        }
    }

    /// What it is.
    #[must_use]
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Whether there was `pressure` since this was last called, while `open` calls were open. What the client
    /// is to be told, if that is to change.
    pub fn update(&mut self, now: Time, pressure: bool, open: u32) -> Option<u32> {
        if pressure {
            self.pressed = now;
        } else if self.now == self.most {
            return None;
        }
        if self.now < self.most && now.since(self.changed) < self.interval {
            return None;
        }
        let next = if pressure {
            (self.now.min(open) / 2).max(self.least).min(self.now)
        } else if now.since(self.pressed) < self.interval * QUIET {
            self.now
        } else {
            // A long silence is forgiven at once.
            let passed = now.since(self.changed).as_nanos() / self.interval.as_nanos().max(1);
            match passed > 100 {
                true => self.most,
                false => (self.now + (self.now / 2).max(1)).min(self.most),
            }
        };
        if next == self.now {
            return None;
        }
        self.now = next;
        self.changed = now;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO.after(Duration::from_millis(millis))
    }

    #[test]
    fn nobody_is_told_anything_without_pressure() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        assert!((0..10_000).all(|millis| allowance.update(at(millis), false, 1_000).is_none()));
    }

    #[test]
    fn it_goes_down_quickly_up_slowly_and_says_so_seldom() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        let mut told = Vec::new();
        for millis in 100..1_100 {
            told.extend(allowance.update(at(millis), true, allowance.now().min(400)));
        }
        assert_eq!(told, [200, 100, 50, 25, 12, 6, 4]);
        told.clear();
        let mut first = None;
        for millis in 1_100..6_000 {
            let change = allowance.update(at(millis), false, 4);
            first = first.or(change.map(|_| millis));
            told.extend(change);
        }
        // Half a second behind the last pressure.
        assert_eq!(first, Some(1_599));
        assert!(told.is_sorted() && told.len() < 20, "{told:?}");
        assert_eq!(told.last(), Some(&1_024));
    }

    #[test]
    fn who_was_silent_for_long_has_all_of_it_again() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        assert_eq!(allowance.update(at(100), true, 64), Some(32));
        assert_eq!(allowance.update(at(20_000), false, 1), Some(1_024));
    }
}
