//! How many calls a client may have open.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::Time;

/// A client's limit of open calls, lowered while the server sheds calls and raised afterwards.
///
/// Under pressure it is set to half of the open calls, then halved at most once per interval. After five intervals without
/// pressure it grows by half per interval. So the client gets few updates, and the limit does not oscillate. Time without
/// calls of [`update`](Self::update) counts, so idle connections need no timer.
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
    /// The time of the last pressure.
    pressed: Time,
    /// The time of the last change.
    changed: Time,
}

/// Intervals without pressure before the limit is raised.
const QUIET: u32 = 5;

impl Allowance {
    /// Begins at the upper end of `range`. The limit changes at most once per interval.
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

    /// The current limit.
    #[must_use]
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Updates the limit. `pressure`: whether calls were shed since the last update; `open`: the number of open calls.
    /// Returns the new limit if it has changed.
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
            // After a long time without updates the limit is restored at once.
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
    fn without_pressure_the_limit_does_not_change() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        assert!((0..10_000).all(|millis| allowance.update(at(millis), false, 1_000).is_none()));
    }

    #[test]
    fn the_limit_falls_quickly_and_rises_slowly_in_few_steps() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        let mut updates = Vec::new();
        for millis in 100..1_100 {
            updates.extend(allowance.update(at(millis), true, allowance.now().min(400)));
        }
        assert_eq!(updates, [200, 100, 50, 25, 12, 6, 4]);
        updates.clear();
        let mut first = None;
        for millis in 1_100..6_000 {
            let change = allowance.update(at(millis), false, 4);
            first = first.or(change.map(|_| millis));
            updates.extend(change);
        }
        // The limit first rises half a second after the last pressure.
        assert_eq!(first, Some(1_599));
        assert!(updates.is_sorted() && updates.len() < 20, "{updates:?}");
        assert_eq!(updates.last(), Some(&1_024));
    }

    #[test]
    fn after_a_long_pause_the_limit_is_restored() {
        let mut allowance = Allowance::new(4..=1_024, Duration::from_millis(100));
        assert_eq!(allowance.update(at(100), true, 64), Some(32));
        assert_eq!(allowance.update(at(20_000), false, 1), Some(1_024));
    }
}
