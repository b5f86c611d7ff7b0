//! A limit of calls in flight that adapts to the server.
//!
//! With too few calls in flight the connection idles. With too many, calls wait in the server's queue, where shedding them
//! is expensive and deadlines pass. The right number is unknown and changes, so it is searched for, as in congestion
//! control:
//!
//! ```text
//! at the end of each window (10 ms or a round trip, and ten answers, whichever is later):
//!     a call was rejected or late            limit * 0.7
//!     mean round trip > 2 * least + slack    limit * 0.9
//!     the limit was reached                  limit * 2 until the first decrease, then
//!                                            limit + max(limit / 10, 1)
//!     else                                   unchanged
//! ```
//!
//! The slack (10 ms) allows for batches: with a hundred calls in flight on a fast connection the round trip is ten times
//! the least, and so is the throughput. A standing queue of a few milliseconds does no harm.
//!
//! The least round trip is that of the last minute. It would be too long if a full queue had delayed all calls of that
//! minute. So twice a minute, at a random time, the limit is halved for a window: the queue drains, and the next round
//! trips are measured without it.

use std::time::Duration;

use crate::Time;

/// A limit of calls in flight within a range, adapted to round trips and rejections.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{AdaptiveLimit, Sample};
///
/// let mut limit = AdaptiveLimit::default();
/// let mut now = Time::ZERO;
/// // A server that always answers within a millisecond.
/// for _ in 0..10_000 {
///     let in_flight = limit.current();
///     limit.started(in_flight - 1);
///     now = now.after(Duration::from_millis(1));
///     limit.ended(now, Sample::Answered(Duration::from_millis(1)), 0.5);
/// }
/// assert_eq!(limit.current(), 1_000);
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveLimit {
    floor: f64,
    ceiling: f64,
    burst: u32,
    slack: Duration,
    limit: f64,
    /// Whether the limit was never lowered.
    starting: bool,
    window: Window,
    least: Least,
}

/// Observations since the last decision.
#[derive(Clone, Debug, Default)]
struct Window {
    began: Option<Time>,
    answers: u32,
    /// The sum of their round trips.
    sum: Duration,
    refused: bool,
    /// The most calls in flight.
    peak: u32,
    /// Calls begun above the limit.
    beyond: u32,
    /// Whether the limit is halved, to measure the least round trip.
    probes: bool,
}

/// The least round trips of the current and of the previous period.
#[derive(Clone, Debug)]
pub(super) struct Least {
    now: Duration,
    before: Duration,
    /// When the next period begins.
    turn: Time,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sample {
    /// An answer, with its round trip, without the server's time for the call if that is known.
    Answered(Duration),
    /// No answer before the deadline.
    Late,
    /// Nothing about the server: cancelled, disconnected, another fault.
    Nothing,
    /// The server has rejected the call.
    Refused,
}

const LEAST_WINDOW: Duration = Duration::from_millis(10);
const LEAST_ANSWERS: u32 = 10;
const TURN: Duration = Duration::from_secs(30);

impl AdaptiveLimit {
    /// A limit from `floor` to `ceiling`, which begins at a tenth of the range.
    #[must_use]
    pub fn new(floor: u32, ceiling: u32) -> Self {
        let floor = f64::from(floor.max(1));
        let ceiling = f64::from(ceiling).max(floor);
        Self {
            floor,
            ceiling,
            burst: 10,
            slack: Duration::from_millis(10),
            limit: floor + (ceiling - floor) / 10.0,
            starting: true,
            window: Window::default(),
            least: Least::default(),
        }
    }

    /// A limit that does not change.
    #[must_use]
    pub fn fixed(limit: u32) -> Self {
        Self::new(limit, limit).with_burst(0)
    }

    /// Sets how many calls a window may begin above the limit, for bursts. Default: 10.
    #[must_use]
    pub const fn with_burst(mut self, burst: u32) -> Self {
        self.burst = burst;
        self
    }

    /// Sets how much longer than twice the least a mean round trip may be. Default: 10 ms.
    #[must_use]
    pub const fn with_slack(mut self, slack: Duration) -> Self {
        self.slack = slack;
        self
    }

    /// The upper end of the range.
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.ceiling as u32
    }

    /// The current limit.
    #[inline]
    #[must_use]
    pub const fn current(&self) -> u32 {
        self.limit as u32
    }

    /// Whether a call may begin while `in_flight` calls are in flight.
    #[inline]
    #[must_use]
    pub fn admits(&self, in_flight: u32) -> bool {
        in_flight < self.current()
            || self.window.beyond < self.burst && in_flight < self.current() + self.burst
    }

    /// A call begins while `in_flight` other calls are in flight.
    #[inline]
    pub fn started(&mut self, in_flight: u32) {
        self.window.peak = self.window.peak.max(in_flight + 1);
        self.window.beyond += u32::from(in_flight >= self.current());
    }

    /// Records the outcome of a call. `chance`, from 0 to 1, decides when the least round trip is measured again.
    #[inline]
    pub fn ended(&mut self, now: Time, sample: Sample, chance: f64) {
        match sample {
            Sample::Answered(time) => {
                self.window.answers += 1;
                self.window.sum += time;
                self.least.see(time);
            }
            Sample::Refused | Sample::Late => self.window.refused = true,
            Sample::Nothing => {}
        }
        let began = *self.window.began.get_or_insert(now);
        if self.window.answers >= LEAST_ANSWERS || self.window.refused {
            // Also before the first answer.
            let length = self
                .least_round_trip()
                .unwrap_or_default()
                .max(LEAST_WINDOW);
            if now.since(began) >= length {
                self.decide(now, chance);
            }
        }
    }

    #[inline(never)]
    fn decide(&mut self, now: Time, chance: f64) {
        if self.floor >= self.ceiling {
            // The limit is fixed.
            self.window = Window::default();
            return;
        }
        let window = std::mem::take(&mut self.window);
        self.window.began = Some(now);
        if window.probes {
            // It was halved only for the measurement.
            self.limit = (self.limit * 2.0).min(self.ceiling);
        }
        let in_use = f64::from(window.peak) >= self.limit * 0.8;
        let answers = window.answers.max(1);
        let mean = window.sum / answers;
        let least = self.least_round_trip().unwrap_or(Duration::MAX);
        let allowed = least.saturating_mul(2).saturating_add(self.slack);
        if window.refused {
            self.lower(0.7);
        } else if window.answers > 0 && mean > allowed {
            self.lower(0.9);
        } else if in_use && !window.probes {
            self.limit += match self.starting {
                true => self.limit,
                false => (self.limit / 10.0).max(1.0),
            };
        }
        let turns = self.least.turn != Time::ZERO;
        let turn = TURN.mul_f64(0.5 + chance.clamp(0.0, 1.0));
        if self.least.turn(now, turn) && turns && in_use {
            self.window.probes = true;
            self.limit /= 2.0;
        }
        let probes = if self.window.probes { 0.5 } else { 1.0 };
        let (floor, ceiling) = (self.floor.min(self.limit.max(1.0)), self.ceiling * probes);
        let floor = if self.window.probes {
            floor
        } else {
            self.floor
        };
        self.limit = self.limit.clamp(floor.min(ceiling), ceiling);
    }

    fn lower(&mut self, factor: f64) {
        self.limit *= factor;
        self.starting = false;
    }

    /// The least round trip; `None` before the first answer.
    #[must_use]
    pub fn least_round_trip(&self) -> Option<Duration> {
        self.least.get()
    }
}

impl Least {
    pub(super) fn get(&self) -> Option<Duration> {
        let least = self.now.min(self.before);
        (least != Duration::MAX).then_some(least)
    }

    #[inline]
    pub(super) fn see(&mut self, time: Duration) {
        self.now = self.now.min(time);
    }

    /// Begins a new period of length `next` if the current one is over. Returns whether it did.
    pub(super) fn turn(&mut self, now: Time, next: Duration) -> bool {
        let turns = now >= self.turn;
        if turns {
            self.before = std::mem::replace(&mut self.now, Duration::MAX);
            self.turn = now.after(next);
        }
        turns
    }
}

impl Default for Least {
    fn default() -> Self {
        Self {
            now: Duration::MAX,
            before: Duration::MAX,
            turn: Time::ZERO,
        }
    }
}

impl Default for AdaptiveLimit {
    /// 10 to 1,000.
    fn default() -> Self {
        Self::new(10, 1_000)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Measurements of the second half of a run: mean calls in flight, the longest round trip, and the number of
    /// answers.
    struct Found {
        in_flight: f64,
        longest: Duration,
        answered: u32,
    }

    /// Runs a limit against a queue and this many workers, which need `work` per call. The client always has calls to
    /// make.
    fn against(workers: usize, work: Duration, seconds: u64, limit: &mut AdaptiveLimit) -> Found {
        // The time at which each worker is free, and the start and end of each call in flight. All calls take the same
        // time, so the first call ends first.
        let mut free = VecDeque::from(vec![Time::ZERO; workers]);
        let mut calls: VecDeque<(Time, Time)> = VecDeque::new();
        let end = Time::ZERO.after(Duration::from_secs(seconds));
        let half = Time::ZERO.after(Duration::from_secs(seconds / 2));
        let mut found = Found {
            in_flight: 0.0,
            longest: Duration::ZERO,
            answered: 0,
        };
        let mut now = Time::ZERO;
        let mut chance = 0.0;
        while now < end {
            while limit.admits(calls.len() as u32) {
                limit.started(calls.len() as u32);
                let done = free.pop_front().unwrap().max(now).after(work);
                free.push_back(done);
                calls.push_back((now, done));
            }
            let (began, done) = calls.pop_front().unwrap();
            now = done;
            chance = (chance + 0.381_966) % 1.0;
            limit.ended(now, Sample::Answered(now.since(began)), chance);
            if now > half {
                found.answered += 1;
                found.in_flight += calls.len() as f64 + 1.0;
                found.longest = found.longest.max(now.since(began));
            }
        }
        found.in_flight /= f64::from(found.answered);
        found
    }

    #[test]
    fn workers_are_busy_and_the_queue_is_short() {
        for (workers, millis) in [(20, 50), (100, 5), (4, 100)] {
            let work = Duration::from_millis(millis);
            let mut limit = AdaptiveLimit::default();
            let found = against(workers, work, 80, &mut limit);
            let most = f64::from(found.answered) / (40.0 / work.as_secs_f64() * workers as f64);
            assert!(most > 0.95, "{workers} workers: {most} of what they can do");
            // The bound is 3.5 times the work, a queue of 20 calls, and 30 ms.
            let least_queue = 20.0 / workers as f64;
            let bound = work.mul_f64(3.5 + least_queue) + Duration::from_millis(30);
            let longest = found.longest;
            assert!(
                longest < bound,
                "{workers} workers: waited {longest:?}, {bound:?} allowed"
            );
        }
    }

    #[test]
    fn the_limit_follows_a_slower_server() {
        let mut limit = AdaptiveLimit::default();
        let fast = against(50, Duration::from_millis(5), 60, &mut limit);
        assert!(fast.in_flight > 100.0, "{}", fast.in_flight);
        let slow = against(2, Duration::from_millis(5), 200, &mut limit.clone());
        assert!(slow.in_flight < fast.in_flight / 2.0, "{}", slow.in_flight);
    }

    #[test]
    fn rejections_lower_the_limit_to_the_floor() {
        let mut limit = AdaptiveLimit::new(10, 1_000);
        let mut now = Time::ZERO;
        let mut seen = Vec::new();
        for _ in 0..100 {
            now = now.after(Duration::from_millis(20));
            limit.started(0);
            limit.ended(now, Sample::Answered(Duration::from_millis(1)), 0.5);
            limit.ended(now, Sample::Refused, 0.5);
            seen.push(limit.current());
        }
        assert!(seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
        assert_eq!(limit.current(), 10);
    }

    #[test]
    fn an_unused_limit_does_not_grow() {
        let mut limit = AdaptiveLimit::new(10, 1_000);
        let mut now = Time::ZERO;
        let before = limit.current();
        for _ in 0..10_000 {
            now = now.after(Duration::from_millis(1));
            limit.started(3);
            limit.ended(now, Sample::Answered(Duration::from_millis(1)), 0.5);
        }
        assert_eq!(limit.current(), before);
    }

    #[test]
    fn a_fixed_limit_does_not_change() {
        let mut limit = AdaptiveLimit::fixed(7);
        let mut now = Time::ZERO;
        for round in 0..10_000 {
            now = now.after(Duration::from_millis(10));
            limit.started(6);
            let sample = match round % 3 {
                0 => Sample::Refused,
                1 => Sample::Nothing,
                _ => Sample::Answered(Duration::from_secs(1)),
            };
            limit.ended(now, sample, 0.5);
            assert!(limit.current() == 7 && !limit.admits(7), "{round}");
        }
    }

    #[test]
    fn a_server_that_only_rejects_or_is_silent_lowers_the_limit() {
        for sample in [Sample::Refused, Sample::Late] {
            let mut limit = AdaptiveLimit::default();
            let mut now = Time::ZERO;
            for _ in 0..200 {
                now = now.after(Duration::from_millis(5));
                limit.started(0);
                limit.ended(now, sample, 0.5);
            }
            assert_eq!(limit.current(), 10);
        }
    }

    #[test]
    fn bursts_exceed_the_limit() {
        let limit = AdaptiveLimit::fixed(100).with_burst(5);
        assert!(limit.admits(104) && !limit.admits(105));
        let mut limit = limit;
        for in_flight in 100..105 {
            limit.started(in_flight);
        }
        assert!(!limit.admits(100) && limit.admits(99));
    }
}
