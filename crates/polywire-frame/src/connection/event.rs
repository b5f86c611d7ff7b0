//! What a connection reports to its owner.

use crate::{CallId, Extension, FaultCode, Reason, Time};

/// The result of reading from the front of the input.
#[derive(Debug, PartialEq)]
pub enum Step<'a, O, T> {
    /// This many bytes were consumed, with this event, if any.
    Consumed(usize, Option<Event<'a, O, T>>),
    /// No complete frame. The input must have at least this many bytes.
    NeedMore(usize),
}

/// Something that the peer has sent.
///
/// `O` is what a name of an operation stands for, `T` what is stored with a call, `I` how calls are identified.
/// Clients have no operations, so their `O` is [`Infallible`](std::convert::Infallible).
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a, O, T, I = CallId> {
    // Of both roles.
    /// The peer ends the connection: a server takes no more calls, a client makes no more.
    GoAway {
        /// Why.
        reason: Reason,
        /// From a server: the milliseconds until it closes at the latest.
        within: u32,
        /// The reason for people.
        message: &'a str,
    },
    /// The peer's settings have arrived, with its metadata.
    Hello(Extension<'a>),
    /// An item of a stream, or a message of a topic.
    Item {
        /// The call or subscription.
        id: I,
        /// From a server: the number of messages that were left out before this one.
        missed: u32,
        /// The credit that it uses, for [`consumed`](super::Connection::consumed).
        cost: u32,
        /// The item.
        payload: &'a [u8],
    },
    /// The answer to a ping.
    Pong {
        /// As in the ping.
        id: u32,
        /// As in the ping.
        value: u32,
    },
    /// There is credit again: of the stream of this call, or of the connection.
    Writable(Option<I>),

    // Of clients.
    /// The server has accepted a subscription.
    Accepted(I),
    /// A call has failed.
    Fault {
        /// The call.
        id: I,
        /// What was stored with it.
        context: T,
        /// Why.
        code: FaultCode,
        /// Milliseconds to wait before another attempt; 0 if unknown.
        retry_after: u32,
        /// Whether no part of it was executed.
        unstarted: bool,
        /// The details.
        payload: &'a [u8],
    },
    /// A cancelled call has been answered: its slot is free. Not over datagrams.
    Freed(I),
    /// The server's limits have changed.
    Limits,
    /// A call has succeeded.
    Reply {
        /// The call.
        id: I,
        /// What was stored with it.
        context: T,
        /// Microseconds that the server needed.
        took: u32,
        /// The output.
        payload: &'a [u8],
    },

    // Of servers.
    /// A call, to be answered.
    Call {
        /// The call.
        id: I,
        /// The operation.
        operation: O,
        /// The caller's deadline.
        deadline: Time,
        /// Whether the client sends a stream of items.
        open: bool,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call was cancelled, and has been answered. What was stored with it.
    Cancelled(I, Option<T>),
    /// The client's stream of a call has ended.
    End(I),
    /// A call without an answer. Over datagrams it may arrive twice.
    OneWay {
        /// The operation.
        operation: O,
        /// The caller's deadline.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A message for a topic, to be answered like a call.
    Publish {
        /// The call.
        id: I,
        /// The caller's deadline.
        deadline: Time,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The message.
        payload: &'a [u8],
    },
    /// A subscription, to be accepted or rejected.
    Subscribe {
        /// The subscription.
        id: I,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
    },
    /// A call of an unknown operation, to be answered.
    Unknown {
        /// The call.
        id: I,
        /// The operation's name, unless the call has only a number without a name.
        name: Option<&'a str>,
    },
    /// The client ends a subscription, which is to be answered.
    Unsubscribe(I),
}
