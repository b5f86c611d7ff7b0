//! Which calls a server begins, and which it sheds.

use std::time::Duration;

use crate::Time;

/// Sheds calls that would wait in a standing queue.
///
/// A standing queue delays every call and does not increase throughput. It is detected by queueing delay, as in CoDel
/// (RFC 8289): if the delay of all calls exceeds a target for an interval, calls with a longer delay are shed until few
/// exceed the target. Shed calls are answered at once. A burst that is finished within the interval is not shed; a
/// call that has waited longer than the interval always is. The state is reset if no call arrives for an interval.
///
/// There are also limits on calls in progress and on the load of the system.
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
    /// The shortest delay of this interval, and when the interval ends.
    shortest: Duration,
    ends: Time,
    /// Since when the delay of all calls has exceeded the target.
    above: Option<Time>,
    /// Whether it has for an interval: the queue is standing.
    standing: bool,
    /// Calls of this interval, and those that were shed because of the queue.
    seen: u32,
    shed: u32,
    load: f64,
    most_load: f64,
}

/// Why a call is shed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Shed {
    /// The limit of calls in progress is reached.
    Calls,
    /// The load of the system is above its limit.
    Load,
    /// It has waited in a standing queue.
    Queue,
}

impl Admission {
    /// At most `calls` calls in progress, a target of 5 ms, an interval of 100 ms, and no limit on the load.
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

    /// Sets the target of the queueing delay, and for how long it must be exceeded before calls are shed.
    #[must_use]
    pub const fn with_target(mut self, target: Duration, interval: Duration) -> Self {
        self.target = target;
        self.interval = interval;
        self
    }

    /// Sets the load above which calls are shed: the load average divided by the number of processors.
    #[must_use]
    pub const fn with_load(mut self, most: f64) -> Self {
        self.most_load = most;
        self
    }

    /// Sets the measured load.
    pub const fn set_load(&mut self, load: f64) {
        self.load = load;
    }

    /// The number of calls in progress.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Begins a call that has arrived at `arrived`. Call [`end`](Self::end) when it has ended.
    ///
    /// # Errors
    ///
    /// The call is to be shed.
    #[inline]
    pub fn begin(&mut self, now: Time, arrived: Time) -> Result<(), Shed> {
        self.admit(now, now.since(arrived), self.calls)?;
        self.calls += 1;
        Ok(())
    }

    /// Like [`begin`](Self::begin), for callers that count calls in progress themselves: decides about a call that has
    /// waited for `waited`, with `calls` calls in progress.
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
    /// The call is to be shed.
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
            // While calls are shed, the delays of the others are just below the target. So the queue is gone only if
            // some delays are short and few calls are shed: with many callers some always meet a short queue.
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

    /// Resets the state of the queue, after an interval without calls.
    #[cold]
    const fn forget(&mut self) {
        self.above = None;
        self.standing = false;
        self.shortest = Duration::MAX;
        (self.shed, self.seen) = (0, 0);
    }

    /// A call in progress has ended.
    #[inline]
    pub const fn end(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// How long callers should wait before another attempt.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A server with one worker that needs 1 ms per call, and `per_second` calls for ten seconds, in bursts of `burst`.
    /// Returns the calls begun and shed, and the longest delay of a call begun in the second half.
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
    fn below_capacity_no_call_is_shed() {
        assert_eq!(load(900, 1).1, 0);
        // Bursts of fifty wait up to 49 ms.
        let (begun, shed, longest) = load(500, 50);
        assert_eq!((begun, shed), (5_000, 0));
        assert!(longest >= Duration::from_millis(49));
    }

    #[test]
    fn at_five_times_the_capacity_throughput_is_full_and_delays_are_short() {
        let (begun, shed, longest) = load(5_000, 1);
        assert!(begun > 9_900, "{begun} begun");
        assert!(shed > 35_000, "{shed} shed");
        assert!(longest < Duration::from_millis(10), "{longest:?}");
    }

    /// Independent of when an interval begins.
    #[test]
    fn a_queue_is_standing_when_all_delays_exceed_the_target_for_an_interval() {
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        let at = |at| Time::ZERO.after(millis(at));
        let waits = |admission: &mut Admission, from, wait| {
            let mut begun = 0;
            for now in from..from + 200 {
                begun += u32::from(admission.admit(at(now), millis(wait), 0).is_ok());
            }
            begun
        };
        // A shorter delay ends the standing queue.
        assert_eq!(waits(&mut admission, 1_000, 60), 200);
        assert!(admission.admit(at(1_199), millis(40), 0).is_ok());
        assert_eq!(waits(&mut admission, 1_250, 60), 200);
        assert_eq!(waits(&mut admission, 1_450, 51), 0);
        assert_eq!(waits(&mut admission, 1_650, 50), 200);
    }

    #[test]
    fn unrelated_calls_are_not_a_queue() {
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        let at = |at| Time::ZERO.after(millis(at));
        // One delayed call an hour.
        for hour in 1..5 {
            let now = at(hour * 3_600_000);
            assert_eq!(admission.admit(now, millis(60), 0), Ok(()), "hour {hour}");
        }
        // A standing queue is forgotten after an hour without calls.
        for now in 0..400 {
            let _ = admission.admit(at(20_000_000 + now), millis(60), 0);
        }
        let queue = Err(Shed::Queue);
        assert_eq!(admission.admit(at(20_000_400), millis(60), 0), queue);
        assert_eq!(admission.admit(at(23_600_400), millis(60), 0), Ok(()));
        // A call that has waited since the previous call began is in the same queue.
        let mut admission = Admission::new(9).with_target(millis(50), millis(200));
        assert_eq!(admission.admit(at(1_000), millis(60), 0), Ok(()));
        assert_eq!(admission.admit(at(1_190), millis(190), 0), Ok(()));
        assert_eq!(admission.admit(at(1_380), millis(190), 0), queue);
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn nothing_begins_above_the_limit_of_load() {
        let mut admission = Admission::new(9).with_load(0.9);
        admission.set_load(0.95);
        assert_eq!(admission.begin(Time::ZERO, Time::ZERO), Err(Shed::Load));
        admission.set_load(0.5);
        assert_eq!(admission.begin(Time::ZERO, Time::ZERO), Ok(()));
        assert_eq!(admission.calls(), 1);
    }
}
