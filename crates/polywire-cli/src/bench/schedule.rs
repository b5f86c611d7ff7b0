//! Computes when the calls of an open loop are due. Does not use a clock.
//!
//! A schedule is a rate over time. Call `k` is due when the integral of the rate reaches `k`, so
//! the first call is due immediately. The number of due calls at any time is deterministic.

use std::time::Duration;

/// When each call is due, relative to the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schedule(Segments);

#[derive(Clone, Debug, PartialEq)]
enum Segments {
    /// Consecutive segments with a linear rate. The last one has no end.
    Linear(Vec<Line>),
    /// `size` calls at once, at intervals such that the mean rate is `rate` calls per second.
    Bursts { rate: f64, size: u64 },
}

/// A segment in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    /// In seconds, relative to the start of the run.
    start: f64,
    /// The number of calls before this segment.
    before: f64,
    from: f64,
    to: f64,
    /// In seconds. Segments without end have a constant rate.
    length: f64,
}

impl Line {
    /// Returns the number of calls in the first `seconds` of this segment.
    fn calls(&self, seconds: f64) -> f64 {
        let bend = match self.length.is_finite() {
            true => (self.to - self.from) / (2.0 * self.length),
            false => 0.0,
        };
        seconds * (self.from + bend * seconds)
    }

    /// Returns the time in seconds after which this number of calls is reached.
    fn seconds(&self, calls: f64) -> f64 {
        let slope = match self.length.is_finite() {
            true => (self.to - self.from) / self.length,
            false => 0.0,
        };
        // Solves calls = from * t + slope / 2 * t^2, in the form without cancellation.
        let under = (self.from * self.from + 2.0 * slope * calls).max(0.0);
        let below = self.from + under.sqrt();
        if calls <= 0.0 {
            0.0
        } else {
            2.0 * calls / below
        }
    }
}

impl Schedule {
    /// A constant rate, in calls per second.
    pub(super) fn constant(rate: f64) -> Self {
        Self::lines(&[(rate, rate, f64::INFINITY)])
    }

    /// `from` during the warm-up, and then a linear change to `to`.
    pub(super) fn ramp(from: f64, to: f64, warm_up: Duration, duration: Duration) -> Self {
        Self::lines(&[
            (from, from, warm_up.as_secs_f64()),
            (from, to, duration.as_secs_f64()),
            (to, to, f64::INFINITY),
        ])
    }

    /// `from` during the warm-up, and then steps of equal length from `from` to `to`.
    pub(super) fn steps(
        (from, to): (f64, f64),
        count: u32,
        warm_up: Duration,
        duration: Duration,
    ) -> Self {
        let mut lines = vec![(from, from, warm_up.as_secs_f64())];
        let length = duration.as_secs_f64() / f64::from(count.max(1));
        let last = f64::from(count.max(2) - 1);
        lines.extend((0..count).map(|step| {
            let rate = from + (to - from) * f64::from(step) / last;
            (rate, rate, length)
        }));
        lines.push((to, to, f64::INFINITY));
        Self::lines(&lines)
    }

    /// `size` calls at once, with a mean rate of `rate` calls per second.
    pub(super) const fn bursts(rate: f64, size: u64) -> Self {
        Self(Segments::Bursts { rate, size })
    }

    fn lines(parts: &[(f64, f64, f64)]) -> Self {
        let (mut start, mut before) = (0.0, 0.0);
        let mut lines = Vec::with_capacity(parts.len());
        // Skip empty segments.
        let parts = parts.iter().filter(|(_, _, length)| *length > 0.0);
        for &(from, to, length) in parts {
            let line = Line {
                start,
                before,
                from,
                to,
                length,
            };
            if length.is_finite() {
                before += line.calls(length);
                start += length;
            }
            lines.push(line);
        }
        Self(Segments::Linear(lines))
    }

    /// Returns when a call is due. The first call has number 0.
    pub(super) fn time_of(&self, call: u64) -> Duration {
        let seconds = match &self.0 {
            Segments::Bursts { rate, size } => (call / size * size) as f64 / rate,
            Segments::Linear(lines) => {
                let call = call as f64;
                // The first segment starts at 0 calls.
                let next = lines.partition_point(|line| line.before <= call).max(1);
                let line = &lines[next - 1];
                line.start + line.seconds(call - line.before)
            }
        };
        // Times beyond the range of `Duration` are never reached.
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Returns the number of calls that are due at a time.
    pub(super) fn due_by(&self, elapsed: Duration) -> u64 {
        let seconds = elapsed.as_secs_f64();
        let calls = match &self.0 {
            Segments::Bursts { rate, size } => {
                ((seconds * rate / *size as f64) as u64).saturating_add(1) * size
            }
            Segments::Linear(lines) => {
                let next = lines.partition_point(|line| line.start <= seconds).max(1);
                let line = &lines[next - 1];
                (line.before + line.calls(seconds - line.start)) as u64 + 1
            }
        };
        // Make the result consistent with `time_of` in spite of rounding.
        let mut due = calls;
        while due > 0 && self.time_of(due - 1) > elapsed {
            due -= 1;
        }
        while self.time_of(due) <= elapsed {
            due += 1;
        }
        due
    }

    /// Returns the mean rate in a part of the run, in calls per second.
    pub(super) fn mean_rate(&self, from: Duration, to: Duration) -> f64 {
        let seconds = to.saturating_sub(from).as_secs_f64();
        if seconds <= 0.0 {
            return 0.0;
        }
        match &self.0 {
            Segments::Bursts { rate, .. } => *rate,
            Segments::Linear(lines) => (calls_by(lines, to) - calls_by(lines, from)) / seconds,
        }
    }
}

fn calls_by(lines: &[Line], elapsed: Duration) -> f64 {
    let seconds = elapsed.as_secs_f64();
    let next = lines.partition_point(|line| line.start <= seconds).max(1);
    let line = &lines[next - 1];
    line.before + line.calls(seconds - line.start)
}

/// The calls of one thread: calls are distributed round-robin.
#[derive(Clone, Debug)]
pub(super) struct Share {
    schedule: Schedule,
    thread: u64,
    threads: u64,
}

impl Share {
    pub(super) const fn new(schedule: Schedule, thread: u64, threads: u64) -> Self {
        Self {
            schedule,
            thread,
            threads,
        }
    }

    /// Returns when a call of the thread is due.
    pub(super) fn time_of(&self, call: u64) -> Duration {
        let number = call.saturating_mul(self.threads);
        self.schedule.time_of(number.saturating_add(self.thread))
    }

    /// Returns how many calls of the thread are due at a time.
    pub(super) fn due_by(&self, elapsed: Duration) -> u64 {
        let due = self.schedule.due_by(elapsed);
        due.saturating_sub(self.thread).div_ceil(self.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn constant_rate_is_even() {
        let schedule = Schedule::constant(1_000.0);
        for call in [0, 1, 7, 1_000, 86_400_000] {
            assert_eq!(schedule.time_of(call), millis(call));
        }
        assert_eq!(schedule.due_by(Duration::ZERO), 1);
        assert_eq!(schedule.due_by(Duration::from_micros(999)), 1);
        assert_eq!(schedule.due_by(SECOND), 1_001);
        assert_eq!(schedule.mean_rate(SECOND, 3 * SECOND), 1_000.0);
    }

    #[test]
    fn ramp_has_expected_calls() {
        // 100 per second for one second, then from 100 to 300 within four seconds: a mean of 200.
        let schedule = Schedule::ramp(100.0, 300.0, SECOND, 4 * SECOND);
        assert_eq!(schedule.due_by(SECOND), 101);
        assert_eq!(schedule.due_by(5 * SECOND), 901);
        // Half of the ramp's time has less than half of its calls: 100 + 2 * 150.
        assert_eq!(schedule.due_by(3 * SECOND), 401);
        assert_eq!(schedule.due_by(6 * SECOND), 1_201);
        assert_eq!(schedule.mean_rate(SECOND, 5 * SECOND), 200.0);
        let down = Schedule::ramp(300.0, 100.0, Duration::ZERO, 4 * SECOND);
        assert_eq!(down.due_by(2 * SECOND), 501);
        assert_eq!(down.due_by(4 * SECOND), 801);
    }

    #[test]
    fn steps_begin_and_end_where_they_are_told() {
        let schedule = Schedule::steps((100.0, 500.0), 5, SECOND, 5 * SECOND);
        let mut due = vec![0];
        due.extend((1..=7).map(|second| schedule.due_by(second * SECOND) - 1));
        let each: Vec<u64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(each, [100, 100, 200, 300, 400, 500, 500]);
        let one = Schedule::steps((100.0, 500.0), 1, Duration::ZERO, SECOND);
        assert_eq!(one.due_by(SECOND) - 1, 100);
    }

    #[test]
    fn bursts_come_at_once() {
        let schedule = Schedule::bursts(1_000.0, 100);
        assert_eq!(schedule.time_of(99), Duration::ZERO);
        assert_eq!(schedule.time_of(100), millis(100));
        assert_eq!(schedule.due_by(Duration::ZERO), 100);
        assert_eq!(schedule.due_by(millis(99)), 100);
        assert_eq!(schedule.due_by(SECOND), 1_100);
    }

    /// `due_by` at the time of a call includes it, and just before that time it does not.
    #[test]
    fn times_and_counts_agree() {
        for schedule in [
            Schedule::constant(3.0),
            Schedule::constant(123_456.789),
            Schedule::ramp(7.0, 1e6, millis(300), millis(2_700)),
            Schedule::ramp(1e5, 1.0, millis(1), millis(1_234)),
            Schedule::steps((1.0, 77_777.0), 9, millis(10), SECOND),
            Schedule::bursts(777.0, 13),
        ] {
            let mut last = Duration::ZERO;
            for call in (0..200_000).step_by(97) {
                let time = schedule.time_of(call);
                assert!(time >= last, "{schedule:?}, {call}");
                last = time;
                assert!(schedule.due_by(time) > call, "{schedule:?}, {call}");
                if let Some(before) = time.checked_sub(Duration::from_nanos(1)) {
                    assert!(schedule.due_by(before) <= call, "{schedule:?}, {call}");
                }
            }
        }
    }

    #[test]
    fn threads_share_the_calls() {
        for threads in [1, 2, 3, 7] {
            let schedule = Schedule::constant(1_000.0);
            let shares: Vec<Share> = (0..threads)
                .map(|thread| Share::new(schedule.clone(), thread, threads))
                .collect();
            for elapsed in [0, 1, 2, 5, 99, 1_000] {
                let all: u64 = shares
                    .iter()
                    .map(|share| share.due_by(millis(elapsed)))
                    .sum();
                assert_eq!(all, elapsed + 1, "{threads} threads, {elapsed} ms");
            }
            assert_eq!(shares[threads as usize - 1].time_of(0), millis(threads - 1));
        }
    }
}
