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

    /// It has looked at all that came.
    pub(super) const fn is_dry(&mut self) {
        self.stopped = false;
    }
}
