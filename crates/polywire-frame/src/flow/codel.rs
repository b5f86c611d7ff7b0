//! Rejecting calls by their queueing delay.

use std::time::Duration;

use crate::Time;

/// Decides by the queueing delay of each call whether a server accepts it. After CoDel (RFC 8289); rejected calls are
/// answered at once.
///
/// A standing queue adds its length to every call and gains nothing. A queue stands once the delay of every call has
/// exceeded `target` for an `interval`. From then on calls with a longer delay are rejected, until few are. A burst that
/// is processed within an interval is not touched. A call with a delay above `interval` is always rejected. The state is
/// forgotten if no call arrives for an interval.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::CoDel;
///
/// let millis = Duration::from_millis;
/// let at = |time| Time::ZERO.after(millis(time));
/// let mut codel = CoDel::new(millis(5), millis(100));
/// assert!(codel.accepts(at(0), millis(20)));
/// assert!(codel.accepts(at(99), millis(20)));
/// assert!(!codel.accepts(at(100), millis(20)));
/// assert!(codel.accepts(at(101), millis(3)));
/// ```
#[derive(Clone, Debug)]
pub struct CoDel {
    target: Duration,
    interval: Duration,
    /// The shortest delay of this interval, and the end of the interval.
    shortest: Duration,
    end: Time,
    /// Since when every delay has exceeded the target.
    above: Option<Time>,
    /// The queue stands.
    standing: bool,
    /// Calls in this interval, and those of them that were rejected.
    calls: u32,
    rejected: u32,
}

impl CoDel {
    /// `target` is the delay that a standing queue may have, `interval` the time after which a queue stands.
    #[must_use]
    pub const fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            shortest: Duration::MAX,
            end: Time::ZERO,
            above: None,
            standing: false,
            calls: 0,
            rejected: 0,
        }
    }

    /// Whether a call with this queueing delay is accepted.
    #[inline]
    pub fn accepts(&mut self, now: Time, delay: Duration) -> bool {
        if now >= self.end && now.since(self.end) > delay.saturating_add(self.interval) {
            // No call arrived for an interval: what is known is about another queue.
            *self = Self::new(self.target, self.interval);
        }
        if delay <= self.target {
            self.above = None;
        } else if now >= self.above.get_or_insert(now).after(self.interval) {
            self.standing = true;
        }
        if now >= self.end {
            // While long delays are rejected, those that are left are nearly as long as the target. So the queue is gone
            // only if a delay was short, and few calls were rejected.
            let many = u64::from(self.rejected) * 10 > u64::from(self.calls);
            let long = self.shortest > self.target / 2 && self.shortest != Duration::MAX;
            self.standing &= many || long;
            self.shortest = Duration::MAX;
            (self.calls, self.rejected) = (0, 0);
            self.end = now.after(self.interval);
        }
        self.shortest = self.shortest.min(delay);
        self.calls = self.calls.saturating_add(1);
        let accepted = delay <= self.target || !self.standing && delay <= self.interval;
        self.rejected = self.rejected.saturating_add(u32::from(!accepted));
        accepted
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Simulates a worker that takes a millisecond per call, for ten seconds. Calls arrive evenly or in bursts. Returns
    /// the calls that were accepted and rejected, and the longest delay of an accepted call in the second half.
    fn load(per_second: u64, burst: u64) -> (u32, u32, Duration) {
        let mut codel = CoDel::new(millis(5), millis(100));
        let mut queue = VecDeque::new();
        let (mut accepted, mut rejected, mut longest) = (0, 0, Duration::ZERO);
        let mut free = Time::ZERO;
        for micros in 0..10_000_000_u64 {
            let now = Time::from_nanos(micros * 1_000);
            if micros % (1_000_000 * burst / per_second) == 0 {
                queue.extend((0..burst).map(|_| now));
            }
            while free <= now
                && let Some(arrived) = queue.pop_front()
            {
                if !codel.accepts(now, now.since(arrived)) {
                    rejected += 1;
                    continue;
                }
                accepted += 1;
                free = now.after(Duration::from_millis(1));
                if micros > 5_000_000 {
                    longest = longest.max(now.since(arrived));
                }
            }
        }
        (accepted, rejected, longest)
    }

    #[test]
    fn below_capacity_no_call_is_rejected() {
        assert_eq!(load(900, 1).1, 0);
        // Calls of a burst of 50 wait up to 49 ms.
        let (accepted, rejected, longest) = load(500, 50);
        assert_eq!((accepted, rejected), (5_000, 0));
        assert!(longest >= Duration::from_millis(49));
    }

    #[test]
    fn at_five_times_capacity_goodput_is_kept_and_delays_are_short() {
        let (accepted, rejected, longest) = load(5_000, 1);
        assert!(accepted > 9_900, "{accepted} accepted");
        assert!(rejected > 35_000, "{rejected} rejected");
        assert!(longest < Duration::from_millis(10), "{longest:?}");
    }

    /// Rejections start after one interval of long delays, whenever it begins, and not only after a second one.
    #[test]
    fn a_queue_stands_once_every_delay_was_long_for_an_interval() {
        let mut codel = CoDel::new(millis(50), millis(200));
        let accepted = |codel: &mut CoDel, from, delay| {
            let mut accepted = 0;
            for now in from..from + 200 {
                accepted += u32::from(codel.accepts(at(now), millis(delay)));
            }
            accepted
        };
        // A queue does not stand while some delays are short.
        assert_eq!(accepted(&mut codel, 1_000, 60), 200);
        assert!(codel.accepts(at(1_199), millis(40)));
        assert_eq!(accepted(&mut codel, 1_250, 60), 200);
        assert_eq!(accepted(&mut codel, 1_450, 51), 0);
        assert_eq!(accepted(&mut codel, 1_650, 50), 200);
    }

    #[test]
    fn unrelated_calls_are_no_queue() {
        let mut codel = CoDel::new(millis(50), millis(200));
        // Each call arrives an hour after the previous one, while the server is busy with other work.
        for hour in 1..5 {
            assert!(codel.accepts(at(hour * 3_600_000), millis(60)), "{hour}");
        }
        // A standing queue does not continue an hour later.
        for now in 0..400 {
            codel.accepts(at(20_000_000 + now), millis(60));
        }
        assert!(!codel.accepts(at(20_000_400), millis(60)));
        assert!(codel.accepts(at(23_600_400), millis(60)));
        // A call that has waited since the previous call is in the same queue.
        let mut codel = CoDel::new(millis(50), millis(200));
        assert!(codel.accepts(at(1_000), millis(60)));
        assert!(codel.accepts(at(1_190), millis(190)));
        assert!(!codel.accepts(at(1_380), millis(190)));
    }

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(time: u64) -> Time {
        Time::ZERO.after(millis(time))
    }
}
