//! How long a connection may keep its thread, and how long what it has read has waited.

use std::time::Duration;

use polywire_frame::Time;

use crate::frames::Clock;

/// How long one connection may keep a thread: a few slow calls, or some thousand quick ones.
const SLICE: Duration = Duration::from_millis(1);

/// Short calls that have their turns together, before anybody looks what time it is.
const LOOK: u32 = 8;

/// What such a call may take, until they are measured one by one.
const SUSPECT: Duration = Duration::from_micros(25);

/// The time that a connection has for what has come.
#[derive(Debug)]
pub(super) struct Slice {
    /// When the call that is looked at has its turn, to within a few short ones.
    now: Time,
    /// Calls since that was looked for.
    calls: u32,
    /// Whether it is to be looked for again in any case.
    looks: bool,
    /// When the time of the connection ends, once something was done in it.
    ends: Time,
    is_over: bool,
    /// It has stopped in front of what has come, since there is much to write or its time was over.
    stopped: bool,
    /// Because there was much to write: that the client does not read what it asked for is no queue of the server's.
    held_up: bool,
    /// Since when what is looked at waits for its turn.
    since: Time,
    /// When that came which was read last, and whether it took several turns.
    read: Time,
    long: bool,
    /// How long what is looked at has presumably waited before it was read.
    unread: Duration,
}

impl Slice {
    pub(super) const fn new() -> Self {
        Self {
            now: Time::ZERO,
            calls: 0,
            looks: false,
            ends: Time::NEVER,
            is_over: false,
            stopped: false,
            held_up: false,
            since: Time::ZERO,
            read: Time::ZERO,
            long: false,
            unread: Duration::ZERO,
        }
    }

    /// The connection has its turn.
    pub(super) const fn begin(&mut self) {
        self.ends = Time::NEVER;
    }

    /// It looks at what came then. After such a pause it had nothing to do.
    pub(super) fn take(&mut self, came: Time, pause: Duration, clock: Clock) {
        // What was left lying has its turn later than it came.
        if !self.stopped {
            // What came while there was more to do than there is time for did so in the middle of that, by
            // and large; unless there was a pause.
            let pause = came.since(self.now) > pause;
            self.unread = match self.long && !pause {
                true => came.since(self.read) / 2,
                false => Duration::ZERO,
            };
            (self.read, self.long) = (came, false);
            self.since = came;
        } else if self.held_up {
            self.since = clock.now();
            // What comes next did not wait for what was held up.
            (self.read, self.long) = (self.since, false);
        }
        self.now = came;
        self.calls = 0;
        self.looks = self.stopped;
        self.is_over = false;
    }

    /// The next call has its turn. Whether those since the clock was looked at took longer than short ones do.
    #[inline]
    pub(super) fn next(&mut self, clock: Clock) -> bool {
        let mut suspect = false;
        // Those before it may have taken their time.
        if self.looks || self.calls >= LOOK {
            let now = clock.now();
            suspect = self.calls > 0 && now.since(self.now) > SUSPECT * self.calls;
            (self.now, self.calls) = (now, 0);
        }
        self.calls += 1;
        if self.ends == Time::NEVER {
            self.ends = self.now.after(SLICE);
        }
        suspect
    }

    /// That call has had its turn, and may have been long.
    #[inline]
    pub(super) const fn had(&mut self, may_be_long: bool) {
        self.looks = may_be_long;
    }

    /// When the call that is looked at has its turn.
    #[inline]
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    /// How long that call has waited since it was read, and presumably before.
    #[inline]
    pub(super) fn waited(&self) -> (Duration, Duration) {
        (self.now.since(self.since), self.unread)
    }

    /// Whether others are to have their turn now.
    #[inline]
    pub(super) fn ends(&mut self) -> bool {
        self.is_over = self.now >= self.ends;
        self.long |= self.is_over;
        self.is_over
    }

    /// Whether others are to have their turn before it looks at the rest.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// It stops, and leaves something lying or not: because its time is over, or else as there is much to write.
    pub(super) const fn stop(&mut self, leaves: bool) {
        self.stopped = leaves;
        self.held_up = !self.is_over;
    }

    /// What is left lying waits until what is there was written.
    pub(super) const fn is_held_up(&mut self) {
        self.held_up = true;
    }

    /// It has looked at all that came.
    pub(super) const fn is_dry(&mut self) {
        self.stopped = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(10);

    /// Milliseconds that the next call has waited since it was read, and presumably before.
    fn waited(slice: &mut Slice, clock: Clock) -> (u128, u128) {
        slice.next(clock);
        let (read, unread) = slice.waited();
        (read.as_millis(), unread.as_millis())
    }

    async fn advance(millis: u64) {
        tokio::time::advance(Duration::from_millis(millis)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_lying_waits_since_it_came() {
        let (clock, mut slice) = (Clock::new(), Slice::new());
        slice.begin();
        let came = clock.now();
        slice.take(came, PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 0));
        slice.had(true);
        advance(2).await;
        assert_eq!(waited(&mut slice, clock), (2, 0));
        assert!(slice.ends());
        slice.stop(true);
        advance(20).await;
        slice.begin();
        slice.take(came, PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (22, 0));
        slice.is_dry();
        // What comes next came while that was looked at, half of the time ago.
        slice.take(clock.now(), PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 11));
        slice.is_dry();
        // It was not long.
        advance(5).await;
        slice.take(clock.now(), PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_has_not_waited() {
        let (clock, mut slice) = (Clock::new(), Slice::new());
        slice.begin();
        let came = clock.now();
        slice.take(came, PAUSE, clock);
        slice.next(clock);
        slice.had(true);
        advance(2).await;
        slice.next(clock);
        assert!(slice.ends());
        slice.stop(true);
        // It goes on, and stops since there is much to write.
        slice.begin();
        slice.take(came, PAUSE, clock);
        slice.next(clock);
        assert!(!slice.ends());
        slice.stop(true);
        advance(3_000).await;
        slice.begin();
        slice.take(came, PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 0));
        // Whyever it has stopped.
        slice.had(true);
        advance(2).await;
        slice.next(clock);
        assert!(slice.ends());
        slice.stop(true);
        slice.is_held_up();
        advance(3_000).await;
        slice.begin();
        slice.take(came, PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 0));
        slice.is_dry();
        // Nor has what came meanwhile.
        slice.take(clock.now(), PAUSE, clock);
        assert_eq!(waited(&mut slice, clock), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn short_calls_have_their_turns_together_and_long_ones_are_suspected() {
        let (clock, mut slice) = (Clock::new(), Slice::new());
        slice.begin();
        slice.take(clock.now(), PAUSE, clock);
        for _ in 0..LOOK {
            assert!(!slice.next(clock));
            slice.had(false);
            advance(1).await;
        }
        assert_eq!(slice.waited().0, Duration::ZERO);
        assert!(slice.next(clock));
        assert_eq!(slice.waited().0, Duration::from_millis(LOOK.into()));
        assert!(slice.ends());
    }
}
