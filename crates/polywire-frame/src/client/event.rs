//! What a server has said.

use crate::{CallId, FaultCode, Reason};

/// What one look at what has come brought.
#[derive(Debug, PartialEq)]
pub enum Step<'a, T> {
    /// So many bytes were consumed, and meant this, if anything.
    Took(usize, Option<Event<'a, T>>),
    /// Nothing: this many bytes, from the same beginning, are wanted at least.
    Wants(usize),
}

/// What a server has said.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a, T> {
    /// What is published to the topic comes from now on.
    Accepted(CallId),
    /// A call failed.
    Fault {
        /// The call.
        id: CallId,
        /// What its caller gave.
        context: T,
        /// Why.
        code: FaultCode,
        /// Milliseconds to wait before another try; 0 if nothing is known.
        retry_after: u32,
        /// Whether nothing of it was carried out.
        unstarted: bool,
        /// The details.
        payload: &'a [u8],
    },
    /// A call that nobody waits for any more has been answered: its slot is free. Over datagrams it is by itself.
    Freed(CallId),
    /// The server will end the connection.
    GoAway {
        /// Why.
        reason: Reason,
        /// In how many milliseconds at the latest.
        within: u32,
        /// The same for people.
        words: &'a str,
    },
    /// The server's settings are known.
    Hello,
    /// An item of a stream, or a message of a topic.
    Item {
        /// The call or subscription.
        id: CallId,
        /// Messages that were left out before this one.
        missed: u32,
        /// What it is to be told as when it is [consumed](super::Connection::consumed).
        cost: u32,
        /// The item.
        payload: &'a [u8],
    },
    /// Other limits hold: calls may be possible that were not, or the other way round.
    Limits,
    /// An answer to a ping.
    Pong {
        /// As in the ping.
        id: u32,
        /// As in the ping.
        value: u32,
    },
    /// The answer to a call.
    Reply {
        /// The call.
        id: CallId,
        /// What its caller gave.
        context: T,
        /// Microseconds that the server took.
        took: u32,
        /// The answer.
        payload: &'a [u8],
    },
    /// More items may be sent: on this stream, or on all that have credit of their own.
    Writable(Option<CallId>),
}

/// A call that the connection's end has ended.
#[derive(Debug, PartialEq)]
pub struct Lost<T> {
    /// What its caller gave.
    pub context: T,
    /// Whether some of it may have reached the server. If not, to repeat it is safe.
    pub sent: bool,
}
