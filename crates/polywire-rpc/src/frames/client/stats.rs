//! What a client counts.

use polywire_frame::FaultCode;

use crate::error::{CallError, CallErrorKind};

/// What a client has done and is doing, for metrics and tests.
///
/// Each call that has ended is in exactly one of `replies`, `faults`, `deadlines`, `cancelled`,
/// `overloaded` and `disconnected`; those that have not are `pending`. Calls with streams and
/// subscriptions are in one of them if they could not be opened, and in `opened` otherwise; calls that
/// nobody answers are in `sent`. All but the last six are
/// sums since the client was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that ended in a reply, also one that the caller could not read.
    pub replies: u64,
    /// Calls that ended in another fault than those below, or that could not be written.
    pub faults: u64,
    /// Calls whose time was over.
    pub deadlines: u64,
    /// Calls whose future was dropped before their end.
    pub cancelled: u64,
    /// Calls that were turned away: by the server as overloaded or unavailable, or here, because
    /// as much waits as may, or by [throttling](super::ClientBuilder::throttle).
    pub overloaded: u64,
    /// Calls that a connection's end has ended, or for which there was none.
    pub disconnected: u64,
    /// Calls with streams, and subscriptions, that were opened.
    pub opened: u64,
    /// Calls without an answer that are on their way.
    pub sent: u64,
    /// What was handed to connections: calls, and their further tries.
    pub tries: u64,
    /// Further tries of calls that the server had turned away, or that were repeated because
    /// that is safe.
    pub retries: u64,
    /// Further tries that were due and for which the budget had nothing left.
    pub over_budget: u64,
    /// Calls that throttling turned away.
    pub throttled: u64,
    /// Connections that were made after one had ended or could not be made.
    pub reconnects: u64,
    /// Calls that have begun and not ended.
    pub pending: usize,
    /// Calls that are open on connections, those that were cancelled and not yet answered too.
    pub in_flight: usize,
    /// Calls that wait for room, for a connection, or for their turn.
    pub waiting: usize,
    /// Bytes of their input.
    pub waiting_bytes: usize,
    /// Connections that can be used.
    pub connections: usize,
    /// How many calls may be in flight now, on all of them together.
    pub limit: usize,
}

/// What calls end in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Cancelled,
    Deadline,
    Disconnected,
    Fault,
    Opened,
    Overloaded,
    Reply,
    Sent,
}

impl Outcome {
    pub(super) fn of(error: &CallError) -> Self {
        match error.kind() {
            CallErrorKind::Deadline => Self::Deadline,
            CallErrorKind::Connect | CallErrorKind::Disconnected => Self::Disconnected,
            CallErrorKind::Decode => Self::Reply,
            CallErrorKind::QueueFull | CallErrorKind::Throttled => Self::Overloaded,
            _ => match error.frame_code() {
                Some(FaultCode::DEADLINE) => Self::Deadline,
                Some(FaultCode::OVERLOADED | FaultCode::UNAVAILABLE) => Self::Overloaded,
                _ => Self::Fault,
            },
        }
    }
}

/// The sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    outcomes: [u64; 8],
    pub(super) tries: u64,
    pub(super) retries: u64,
    pub(super) over_budget: u64,
    pub(super) throttled: u64,
    pub(super) reconnects: u64,
}

impl Counts {
    pub(super) const fn ended(&mut self, outcome: Outcome) {
        self.outcomes[outcome as usize] += 1;
    }

    const fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            replies: self.of(Outcome::Reply),
            faults: self.of(Outcome::Fault),
            deadlines: self.of(Outcome::Deadline),
            cancelled: self.of(Outcome::Cancelled),
            overloaded: self.of(Outcome::Overloaded),
            disconnected: self.of(Outcome::Disconnected),
            opened: self.of(Outcome::Opened),
            sent: self.of(Outcome::Sent),
            tries: self.tries,
            retries: self.retries,
            over_budget: self.over_budget,
            throttled: self.throttled,
            reconnects: self.reconnects,
            ..Stats::default()
        }
    }
}
