//! Which calls a server begins, and which it turns away.

use std::time::Duration;

use crate::Time;

/// Turns calls away before they wait in vain.
///
/// A queue that stands costs every caller its length and wins nobody anything. A server notices it by
/// how long calls have waited when their turn comes: once all have waited for longer than a target for the time of an
/// interval, it turns away those that have, until few do (after CoDel, RFC 8289, with the shed calls answered at
/// once). A burst that is worked off within the interval is left in peace; a
/// call that has waited for longer than that is turned away in any case. Where nobody comes for an interval, what was
/// known of the queue is forgotten.
/// Beside it there are a limit on calls in progress and one on the system's load.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{Admission, Shed};
///
/// let mut admission = Admission::new(2);
/// let at = |millis| Time::ZERO.after(Duration::from_millis(millis));
/// assert_eq!(admission.begin(at(0), at(0)), Ok(()));
/// assert_eq!(admission.begin(at(0), at(0)), Ok(()));
/// assert_eq!(admission.begin(at(0), at(0)), Err(Shed::Calls));
/// admission.end();
/// assert_eq!(admission.begin(at(3), at(2)), Ok(()));
/// ```
#[derive(Clone, Debug)]
pub struct Admission {
    calls: u32,
    most: u32,
    target: Duration,
    interval: Duration,
    /// The shortest wait of this interval, and when it ends.
    shortest: Duration,
    ends: Time,
    /// Since when all calls have had to wait for longer than the target.
    above: Option<Time>,
    /// Whether they have for an interval, and it is not over.
    standing: bool,
    /// Calls of this interval, and those of them that were turned away for the queue's length.
    seen: u32,
    shed: u32,
    load: f64,
    most_load: f64,
}

/// Why a call is turned away.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Shed {
    /// As many are in progress as may be.
    Calls,
    /// The system has more to do than it should.
    Load,
    /// It has waited in a queue that does not get shorter.
    Queue,
}

impl Admission {
    /// At most so many calls in progress; a target of 5 ms and an interval of 100 ms, and no limit on
    /// the load.
    #[must_use]
    pub const fn new(calls: u32) -> Self {
        Self {
            calls: 0,
            most: calls,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            shortest: Duration::MAX,
            ends: Time::ZERO,
            above: None,
            standing: false,
            seen: 0,
            shed: 0,
            load: 0.0,
            most_load: f64::INFINITY,
        }
    }

    /// Sets how long calls may wait, and for how long they must have had to wait longer before the queue stands.
    #[must_use]
    pub const fn with_target(mut self, target: Duration, interval: Duration) -> Self {
        self.target = target;
        self.interval = interval;
        self
    }

    /// Sets the load from which on calls are turned away: that of the system by its processors, where 1 is
    /// as much as they can do.
    #[must_use]
    pub const fn with_load(mut self, most: f64) -> Self {
        self.most_load = most;
        self
    }

    /// The load was measured.
    pub const fn set_load(&mut self, load: f64) {
        self.load = load;
    }

    /// Calls in progress.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Whether a call that arrived then is begun now. If so, [`end`](Self::end) is to be told.
    ///
    /// # Errors
    ///
    /// It is to be turned away.
    #[inline]
    pub fn begin(&mut self, now: Time, arrived: Time) -> Result<(), Shed> {
        self.admit(now, now.since(arrived), self.calls)?;
        self.calls += 1;
        Ok(())
    }

    /// The same for who counts calls in progress elsewhere, such as for all connections together: whether
    /// a call that has waited so long is begun beside so many.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_frame::Time;
    /// use polywire_frame::flow::{Admission, Shed};
    ///
    /// let mut admission = Admission::new(2);
    /// assert_eq!(admission.admit(Time::ZERO, Duration::ZERO, 1), Ok(()));
    /// assert_eq!(admission.admit(Time::ZERO, Duration::ZERO, 2), Err(Shed::Calls));
    /// ```
    ///
    /// # Errors
    ///
    /// It is to be turned away.
    #[inline]
    pub fn admit(&mut self, now: Time, waited: Duration, calls: u32) -> Result<(), Shed> {
        if now >= self.ends && now.since(self.ends) > waited.saturating_add(self.interval) {
            self.forget();
        }
        if waited <= self.target {
            self.above = None;
        } else if now >= self.above.get_or_insert(now).after(self.interval) {
            self.standing = true;
        }
        if now >= self.ends {
            // Where the long waits are turned away, those that are left wait for nearly as long as
            // they may: the queue has gone only if some hardly had to. Nor has it gone while many are turned away:
            // some always come just when it is short.
            let many = u64::from(self.shed) * 10 > u64::from(self.seen);
            let long = self.shortest > self.target / 2 && self.shortest != Duration::MAX;
            self.standing &= many || long;
            self.shortest = Duration::MAX;
            (self.shed, self.seen) = (0, 0);
            self.ends = now.after(self.interval);
        }
        self.shortest = self.shortest.min(waited);
        if calls >= self.most {
            return Err(Shed::Calls);
        }
        if self.load > self.most_load {
            return Err(Shed::Load);
        }
        self.seen = self.seen.saturating_add(1);
        if self.standing && waited > self.target || waited > self.interval {
            self.shed = self.shed.saturating_add(1);
            return Err(Shed::Queue);
        }
        Ok(())
    }

    /// Nobody has come for an interval before the one who is here: what was known of the queue is of another one.
    #[cold]
    const fn forget(&mut self) {
        self.above = None;
        self.standing = false;
        self.shortest = Duration::MAX;
        (self.shed, self.seen) = (0, 0);
    }

    /// A call that was begun has ended.
    #[inline]
    pub const fn end(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// When it makes sense to try again.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A server of one worker that takes a millisecond a call, and so many calls a second for ten
    /// seconds, evenly or in bursts of so many. Calls begun and turned away, and the longest wait of
    /// one that was begun in the second half.
    fn load(per_second: u64, burst: u64) -> (u32, u32, Duration) {
        let mut admission = Admission::new(u32::MAX);
        let mut queue = VecDeque::new();
        let (mut begun, mut shed, mut longest) = (0, 0, Duration::ZERO);
        let mut free = Time::ZERO;
        for micros in 0..10_000_000_u64 {
            let now = Time::from_nanos(micros * 1_000);
            if micros % (1_000_000 * burst / per_second) == 0 {
                queue.extend((0..burst).map(|_| now));
            }
            while free <= now
                && let Some(arrived) = queue.pop_front()
            {
                if admission.begin(now, arrived).is_err() {
                    shed += 1;
                    continue;
                }
                begun += 1;
                admission.end();
                free = now.after(Duration::from_millis(1));
                if micros > 5_000_000 {
                    longest = longest.max(now.since(arrived));
                }
            }
        }
        (begun, shed, longest)
    }

    #[test]
    fn below_its_capacity_nobody_is_turned_away() {
        assert_eq!(load(900, 1).1, 0);
        // Fifty at once wait up to 49 ms, and are worked off.
        let (begun, shed, longest) = load(500, 50);
        assert_eq!((begun, shed), (5_000, 0));
        assert!(longest >= Duration::from_millis(49));
    }

    #[test]
    fn at_five_times_its_capacity_it_does_all_it_can_and_nobody_waits_long() {
        let (begun, shed, longest) = load(5_000, 1);
        assert!(begun > 9_900, "{begun} begun");
        assert!(shed > 35_000, "{shed} turned away");
        assert!(longest < Duration::from_millis(10), "{longest:?}");
    }

    /// Wherever the time of an interval begins, and not at the end of the second one.
    #[test]
    fn a_queue_stands_as_soon_as_all_have_waited_for_an_interval() {
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        let at = |at| Time::ZERO.after(millis(at));
        let waits = |admission: &mut Admission, from, wait| {
            let mut begun = 0;
            for now in from..from + 200 {
                begun += u32::from(admission.admit(at(now), millis(wait), 0).is_ok());
            }
            begun
        };
        // As long as some wait less, it is a queue like others.
        assert_eq!(waits(&mut admission, 1_000, 60), 200);
        assert!(admission.admit(at(1_199), millis(40), 0).is_ok());
        assert_eq!(waits(&mut admission, 1_250, 60), 200);
        assert_eq!(waits(&mut admission, 1_450, 51), 0);
        assert_eq!(waits(&mut admission, 1_650, 50), 200);
    }

    #[test]
    fn calls_that_have_nothing_to_do_with_each_other_are_no_queue() {
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        let at = |at| Time::ZERO.after(millis(at));
        // Each came when something else kept the server, an hour after the one before.
        for hour in 1..5 {
            let now = at(hour * 3_600_000);
            assert_eq!(admission.admit(now, millis(60), 0), Ok(()), "hour {hour}");
        }
        // A queue that stood when somebody came last is another one than that of the next hour.
        for now in 0..400 {
            let _ = admission.admit(at(20_000_000 + now), millis(60), 0);
        }
        let queue = Err(Shed::Queue);
        assert_eq!(admission.admit(at(20_000_400), millis(60), 0), queue);
        assert_eq!(admission.admit(at(23_600_400), millis(60), 0), Ok(()));
        // One that has waited since the last was begun waits in the same queue.
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        assert_eq!(admission.admit(at(1_000), millis(60), 0), Ok(()));
        assert_eq!(admission.admit(at(1_190), millis(190), 0), Ok(()));
        assert_eq!(admission.admit(at(1_380), millis(190), 0), queue);
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_system_with_too_much_to_do_begins_nothing() {
        let mut admission = Admission::new(9).with_load(0.9);
        admission.set_load(0.95);
        assert_eq!(admission.begin(Time::ZERO, Time::ZERO), Err(Shed::Load));
        admission.set_load(0.5);
        assert_eq!(admission.begin(Time::ZERO, Time::ZERO), Ok(()));
        assert_eq!(admission.calls(), 1);
    }
}
