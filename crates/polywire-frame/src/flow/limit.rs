//! How many calls to have in flight.
//!
//! Too few, and the wire is idle; too many, and they wait in the server's queue, where nobody can shed
//! them cheaply and everybody's deadline passes. The right number is nowhere written and changes, so
//! it is looked for, as congestion control does:
//!
//! ```text
//! at the end of each window (10 ms or a round trip, and ten answers, whichever is later):
//!     a call was turned away or late         limit * 0.7
//!     mean round trip > 2 * least + slack    limit * 0.9
//!     the limit was in use                   limit * 2, until it first went down; then
//!                                            limit + a tenth, at least 1
//!     else                                   as it was
//! ```
//!
//! The slack (10 ms) is there because answers on fast wires come in batches: at a hundred in flight
//! the round trip is ten times the least, and so is the throughput. A standing queue of a few
//! milliseconds hurts nobody.
//!
//! The least round trip is that of the last minute. Since it would be wrong if all of those had waited
//! in a queue that this side keeps full, the limit is halved for a window twice a minute, at a time
//! that chance decides: the queue runs dry, and the next answers tell the truth.

use std::time::Duration;

use crate::Time;

/// A limit that looks for itself, between a floor and a ceiling.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{AdaptiveLimit, Sample};
///
/// let mut limit = AdaptiveLimit::default();
/// let mut now = Time::ZERO;
/// // A server that answers within a millisecond, whatever it is asked.
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
    /// Whether it has not gone down yet.
    starting: bool,
    window: Window,
    least: Least,
}

/// What has been seen since the last decision.
#[derive(Clone, Debug, Default)]
struct Window {
    began: Option<Time>,
    answers: u32,
    /// Of their round trips.
    sum: Duration,
    refused: bool,
    /// The most calls in flight.
    peak: u32,
    /// Calls begun beyond the limit.
    beyond: u32,
    /// Whether the limit is halved in it, to find out the least round trip.
    probes: bool,
}

/// The least round trip of now and of half a minute ago.
#[derive(Clone, Debug)]
pub(super) struct Least {
    now: Duration,
    before: Duration,
    /// When the next half minute begins.
    turn: Time,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sample {
    /// An answer: how long it took beyond what the server needed for it, where that is known.
    Answered(Duration),
    /// No answer in its time.
    Late,
    /// Nothing that tells about the server: cancelled, disconnected, a fault.
    Nothing,
    /// The server has turned it away.
    Refused,
}

const LEAST_WINDOW: Duration = Duration::from_millis(10);
const LEAST_ANSWERS: u32 = 10;
const TURN: Duration = Duration::from_secs(30);

impl AdaptiveLimit {
    /// A limit from `floor` to `ceiling`, which begins at a tenth of the way.
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

    /// A limit that stays as it is.
    #[must_use]
    pub fn fixed(limit: u32) -> Self {
        Self::new(limit, limit).with_burst(0)
    }

    /// Sets how many calls a window may begin beyond the limit, for traffic that comes in spikes; 10
    /// unless this says other.
    #[must_use]
    pub const fn with_burst(mut self, burst: u32) -> Self {
        self.burst = burst;
        self
    }

    /// Sets how much longer than twice the least a round trip may be; 10 ms unless this says other.
    #[must_use]
    pub const fn with_slack(mut self, slack: Duration) -> Self {
        self.slack = slack;
        self
    }

    /// How many calls there are in flight at most, whatever is found out.
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.ceiling as u32
    }

    /// How many calls to have in flight.
    #[inline]
    #[must_use]
    pub const fn current(&self) -> u32 {
        self.limit as u32
    }

    /// Whether a call may begin while so many are in flight.
    #[inline]
    #[must_use]
    pub fn admits(&self, in_flight: u32) -> bool {
        in_flight < self.current()
            || self.window.beyond < self.burst && in_flight < self.current() + self.burst
    }

    /// A call begins while so many are in flight.
    #[inline]
    pub fn started(&mut self, in_flight: u32) {
        self.window.peak = self.window.peak.max(in_flight + 1);
        self.window.beyond += u32::from(in_flight >= self.current());
    }

    /// A call has ended. `chance`, from 0 to 1, says where in the half minute the least round trip is
    /// looked for anew.
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
            // A server that has answered nothing yet is no reason to wait for ever.
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
            // It was fixed.
            self.window = Window::default();
            return;
        }
        let window = std::mem::take(&mut self.window);
        self.window.began = Some(now);
        if window.probes {
            // It was halved only to look.
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

    /// The least round trip that is known; nothing, before any.
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

    /// Whether another half minute, or how long it is to be, begins.
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
    /// From 10 to 1,000.
    fn default() -> Self {
        Self::new(10, 1_000)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A server of so many workers that take so long a call, with a queue in front of them, and a
    /// client that always has something to ask. Calls in flight, and the longest wait, in the
    /// second half of so many seconds.
    struct Found {
        in_flight: f64,
        longest: Duration,
        answered: u32,
    }

    fn against(workers: usize, work: Duration, seconds: u64, limit: &mut AdaptiveLimit) -> Found {
        // When each worker is free, and when each call in flight began and ends. All take as long, so
        // that the first is always the next.
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
            // Three times the work and the slack, and the ten of a burst.
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
    fn it_finds_less_when_the_server_slows_down() {
        let mut limit = AdaptiveLimit::default();
        let fast = against(50, Duration::from_millis(5), 60, &mut limit);
        assert!(fast.in_flight > 100.0, "{}", fast.in_flight);
        let slow = against(2, Duration::from_millis(5), 200, &mut limit.clone());
        assert!(slow.in_flight < fast.in_flight / 2.0, "{}", slow.in_flight);
    }

    #[test]
    fn refusals_lower_it_down_to_the_floor_and_no_further() {
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
    fn what_is_not_used_does_not_grow() {
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
    fn a_fixed_one_is_fixed() {
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
    fn a_server_that_only_refuses_or_is_silent_lowers_it() {
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
    fn bursts_go_beyond_it_for_a_moment() {
        let limit = AdaptiveLimit::fixed(100).with_burst(5);
        assert!(limit.admits(104) && !limit.admits(105));
        let mut limit = limit;
        for in_flight in 100..105 {
            limit.started(in_flight);
        }
        assert!(!limit.admits(100) && limit.admits(99));
    }
}
