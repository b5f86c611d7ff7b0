//! Reasons for which calls are rejected.

use std::time::Duration;

use polywire_protocol::{Fault, FaultKind};

/// Why a call or a connection is rejected, on every wire. The handler has not started, except for [`MemoryUse::Items`] and
/// [`MemoryUse::Replies`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rejection {
    /// The deadline passed before the call could start.
    DeadlineExceeded,
    /// There is no memory left for this.
    NoMemory(MemoryUse),
    /// The load of the system is above its limit.
    SystemLoad,
    /// All threads for blocking work are busy, and so many calls wait for one as may.
    PoolFull,
    /// The queueing delay is too long.
    QueueTooLong,
    /// The caller makes too many requests. Holds the time after which the next one is allowed.
    RateLimited(RateScope, Duration),
    /// The client has as many open calls as [`FrameLimits::calls`](crate::server::FrameLimits::calls) allows.
    ClientCallLimit,
    /// As many handlers wait for something as [`FrameLimits::at_work`](crate::server::FrameLimits::at_work) allows.
    HandlerLimit,
    /// As many calls are in progress as [`ServerBuilder::calls`](crate::ServerBuilder::calls) allows.
    ServerCallLimit(usize),
    /// As many connections are open as [`Firewall::connections`](crate::layers::Firewall::connections) allows.
    TooManyConnections,
    /// As many are open from this address as it allows.
    TooManyConnectionsFromAddress,
    /// The server has stopped.
    Unavailable,
}

/// What memory is used for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MemoryUse {
    Inputs,
    /// Items of streams that handlers have not read.
    Items,
    /// Replies that clients have not read. The handler has run.
    Replies,
}

/// Whose requests a rate limit counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RateScope {
    Address,
    Caller,
}

/// After this time a retry makes sense if the server has too much to do.
const RETRY_AFTER: Duration = Duration::from_millis(200);

impl Rejection {
    /// What the caller is told: the kind of fault, a message, and when to retry.
    #[cold]
    pub(crate) fn fault(self) -> Fault {
        let (message, retry_after) = match self {
            Self::DeadlineExceeded => {
                let message = "the deadline passed before the call started";
                return Fault::new(FaultKind::DeadlineExceeded, message).before_handler();
            }
            Self::ServerCallLimit(limit) => {
                let message = format!("{limit} calls are in progress, try again later");
                let fault = Fault::new(FaultKind::Overloaded, message);
                return fault.with_retry_after(Duration::from_secs(1));
            }
            Self::Unavailable => {
                return Fault::new(FaultKind::Overloaded, "the server has stopped");
            }
            Self::NoMemory(MemoryUse::Inputs) => {
                ("no memory is left for inputs, try again later", RETRY_AFTER)
            }
            Self::NoMemory(MemoryUse::Items) => (
                "no memory is left for items that wait to be read",
                RETRY_AFTER,
            ),
            Self::NoMemory(MemoryUse::Replies) => (
                "no memory is left for replies that wait to be read",
                Duration::from_secs(1),
            ),
            Self::PoolFull => (
                "the threads for such calls are all at work, try again later",
                RETRY_AFTER,
            ),
            Self::SystemLoad => ("the system is overloaded, try again later", RETRY_AFTER),
            Self::QueueTooLong => ("the queue is too long, try again later", RETRY_AFTER),
            Self::RateLimited(RateScope::Address, time) => {
                ("too many requests from this address, try again later", time)
            }
            Self::RateLimited(RateScope::Caller, time) => {
                ("too many requests of this caller, try again later", time)
            }
            Self::TooManyConnections | Self::TooManyConnectionsFromAddress => {
                ("too many connections are open, try again", RETRY_AFTER)
            }
            Self::ClientCallLimit | Self::HandlerLimit => (
                "as many calls are in progress as allowed, try again later",
                RETRY_AFTER,
            ),
        };
        Fault::new(FaultKind::Overloaded, message).with_retry_after(retry_after)
    }
}
