//! The counters of a client.

use polywire_frame::FaultCode;

use crate::error::{CallError, CallErrorKind};

/// The counters of a client, for metrics and tests.
///
/// Each call that has ended is counted in exactly one of `replies`, `faults`, `deadlines`, `cancelled`, `overloaded` and
/// `disconnected`; the others are `pending`. Calls with streams and subscriptions are counted in `opened`, or in one of
/// these if they could not be opened. One-way calls are counted in `sent`. All but the last six are totals since the
/// client was created.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that ended with a reply, even if the caller could not decode it.
    pub replies: u64,
    /// Calls that ended with another fault than those below, or that could not be encoded.
    pub faults: u64,
    /// Calls whose deadline has passed.
    pub deadlines: u64,
    /// Calls whose future was dropped before their end.
    pub cancelled: u64,
    /// Calls that were rejected: by the server as overloaded or unavailable, or by the client, because the queue is full
    /// or because of [throttling](super::ClientBuilder::throttle).
    pub overloaded: u64,
    /// Calls that were lost with their connection, or for which there was no connection.
    pub disconnected: u64,
    /// Calls with streams, and subscriptions, that were opened.
    pub opened: u64,
    /// One-way calls that were sent.
    pub sent: u64,
    /// Attempts: calls that were passed to connections, and their retries.
    pub tries: u64,
    /// Retries of calls.
    pub retries: u64,
    /// Retries that the retry budget did not allow.
    pub over_budget: u64,
    /// Calls that throttling has rejected.
    pub throttled: u64,
    /// Connections that replaced one that had ended or failed.
    pub reconnects: u64,
    /// Calls that have begun and not ended.
    pub pending: usize,
    /// Calls that are open on connections, including cancelled ones that the server has not answered yet.
    pub in_flight: usize,
    /// Calls that wait for capacity, for a connection, or for the rate limit.
    pub waiting: usize,
    /// The bytes of the inputs of waiting calls.
    pub waiting_bytes: usize,
    /// Usable connections.
    pub connections: usize,
    /// The current limit of calls in flight, over all connections.
    pub limit: usize,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CallOutcome {
    Cancelled,
    Deadline,
    Disconnected,
    Fault,
    Opened,
    Overloaded,
    Reply,
    Sent,
}

impl CallOutcome {
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

/// The totals.
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
    pub(super) const fn ended(&mut self, outcome: CallOutcome) {
        self.outcomes[outcome as usize] += 1;
    }

    const fn of(&self, outcome: CallOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            replies: self.of(CallOutcome::Reply),
            faults: self.of(CallOutcome::Fault),
            deadlines: self.of(CallOutcome::Deadline),
            cancelled: self.of(CallOutcome::Cancelled),
            overloaded: self.of(CallOutcome::Overloaded),
            disconnected: self.of(CallOutcome::Disconnected),
            opened: self.of(CallOutcome::Opened),
            sent: self.of(CallOutcome::Sent),
            tries: self.tries,
            retries: self.retries,
            over_budget: self.over_budget,
            throttled: self.throttled,
            reconnects: self.reconnects,
            ..Stats::default()
        }
    }
}
