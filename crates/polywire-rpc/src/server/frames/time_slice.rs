//! How long a connection runs before other tasks do, and the queueing delay of what it has read.

use std::time::Duration;

use polywire_frame::Time;

use crate::frames::Clock;

/// How long one connection runs before it yields: a few slow calls, or some thousand quick ones.
const CONNECTION_SLICE: Duration = Duration::from_millis(1);

/// Number of quick calls between two readings of the clock.
const CLOCK_INTERVAL: u32 = 8;

/// The time slice of a connection.
#[derive(Debug)]
pub(super) struct TimeSlice {
    /// The last reading of the clock.
    now: Time,
    /// Calls since then.
    calls: u32,
    /// The clock is read before the next call.
    is_stale: bool,
    /// The end of the slice. It begins with its first call.
    end: Time,
    is_over: bool,
    /// A part of the input is left for the next slice.
    has_input: bool,
    /// It is left because output waits to be written. A client that does not read causes no queueing delay.
    is_blocked: bool,
    /// Since when the input waits.
    arrival: Time,
}

impl TimeSlice {
    pub(super) const fn new() -> Self {
        Self {
            now: Time::ZERO,
            calls: 0,
            is_stale: false,
            end: Time::NEVER,
            is_over: false,
            has_input: false,
            is_blocked: false,
            arrival: Time::ZERO,
        }
    }

    /// A slice begins.
    pub(super) const fn begin(&mut self) {
        self.end = Time::NEVER;
    }

    /// Input that was read at `arrival` is processed.
    pub(super) fn process(&mut self, arrival: Time, clock: Clock) {
        if !self.has_input {
            self.arrival = arrival;
        } else if self.is_blocked {
            self.arrival = clock.now();
        }
        self.now = arrival;
        self.calls = 0;
        self.is_stale = self.has_input;
        self.is_over = false;
    }

    /// A call starts.
    #[inline]
    pub(super) fn begin_call(&mut self, clock: Clock) {
        if self.is_stale || self.calls >= CLOCK_INTERVAL {
            self.now = clock.now();
            self.calls = 0;
        }
        self.calls += 1;
        if self.end == Time::NEVER {
            self.end = self.now.after(CONNECTION_SLICE);
        }
    }

    /// The call ended, or waits for something. `is_watched` tells that it may have been long.
    #[inline]
    pub(super) const fn end_call(&mut self, is_watched: bool) {
        self.is_stale = is_watched;
    }

    /// The start of the current call, to within a few quick calls.
    #[inline]
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    /// Time since the input of the current call was read.
    #[inline]
    pub(super) fn queueing_delay(&self) -> Duration {
        self.now.since(self.arrival)
    }

    /// Whether the slice is over, checked anew.
    #[inline]
    pub(super) fn check_end(&mut self) -> bool {
        self.is_over = self.now >= self.end;
        self.is_over
    }

    /// Whether the slice was over at the last check.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Processing stops, because the slice is over or else output waits to be written. `has_input` tells whether input is
    /// left.
    pub(super) const fn pause(&mut self, has_input: bool) {
        self.has_input = has_input;
        self.is_blocked = !self.is_over;
    }

    /// The input that is left waits for output to be written.
    pub(super) const fn block(&mut self) {
        self.is_blocked = true;
    }

    /// All input was processed.
    pub(super) const fn finish(&mut self) {
        self.has_input = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queueing delay of the next call, in milliseconds.
    fn delay(slice: &mut TimeSlice, clock: Clock) -> u128 {
        slice.begin_call(clock);
        slice.queueing_delay().as_millis()
    }

    async fn advance(millis: u64) {
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_queueing_delay_of_unprocessed_input_starts_when_it_is_read() {
        let (clock, mut slice) = (Clock::new(), TimeSlice::new());
        slice.begin();
        let arrival = clock.now();
        slice.process(arrival, clock);
        assert_eq!(delay(&mut slice, clock), 0);
        slice.end_call(true);
        advance(2).await;
        assert_eq!(delay(&mut slice, clock), 2);
        assert!(slice.check_end());
        slice.pause(true);
        advance(20).await;
        slice.begin();
        slice.process(arrival, clock);
        assert_eq!(delay(&mut slice, clock), 22);
        slice.finish();
        slice.process(clock.now(), clock);
        assert_eq!(delay(&mut slice, clock), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_causes_no_delay() {
        let (clock, mut slice) = (Clock::new(), TimeSlice::new());
        slice.begin();
        let arrival = clock.now();
        slice.process(arrival, clock);
        slice.begin_call(clock);
        slice.end_call(true);
        advance(2).await;
        slice.begin_call(clock);
        assert!(slice.check_end());
        slice.pause(true);
        // The connection continues, and pauses because its output is blocked.
        slice.begin();
        slice.process(arrival, clock);
        slice.begin_call(clock);
        assert!(!slice.check_end());
        slice.pause(true);
        advance(3_000).await;
        slice.begin();
        slice.process(arrival, clock);
        assert_eq!(delay(&mut slice, clock), 0);
        // The delay is also 0 if the slice had ended.
        slice.end_call(true);
        advance(2).await;
        slice.begin_call(clock);
        assert!(slice.check_end());
        slice.pause(true);
        slice.block();
        advance(3_000).await;
        slice.begin();
        slice.process(arrival, clock);
        assert_eq!(delay(&mut slice, clock), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_is_read_once_for_several_quick_calls() {
        let (clock, mut slice) = (Clock::new(), TimeSlice::new());
        slice.begin();
        slice.process(clock.now(), clock);
        for _ in 0..CLOCK_INTERVAL {
            slice.begin_call(clock);
            slice.end_call(false);
            advance(1).await;
        }
        assert_eq!(slice.queueing_delay(), Duration::ZERO);
        slice.begin_call(clock);
        let delay = Duration::from_millis(CLOCK_INTERVAL.into());
        assert_eq!(slice.queueing_delay(), delay);
        assert!(slice.check_end());
    }
}
