//! What a client has said.

use crate::{CallId, Extension, Reason, Time};

/// What one look at what has come brought.
#[derive(Debug)]
pub enum Step<'a, O, T> {
    /// So many bytes were consumed, and meant this, if anything.
    Took(usize, Option<Event<'a, O, T>>),
    /// Nothing: this many bytes, from the same beginning, are wanted at least.
    Wants(usize),
}

/// What a client has said.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a, O, T> {
    /// A call, which is to be answered.
    Call {
        /// Its id.
        id: CallId,
        /// The operation.
        operation: O,
        /// When its caller waits no more.
        deadline: Time,
        /// Whether items follow.
        open: bool,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call was cancelled, and that has been answered. What the server kept of it.
    Cancelled(CallId, Option<T>),
    /// The stream of a call has ended.
    End(CallId),
    /// The client makes no more calls.
    GoAway {
        /// Why.
        reason: Reason,
        /// The same for people.
        words: &'a str,
    },
    /// The client's settings are known, and who it says to be.
    Hello(Extension<'a>),
    /// An item of a call's stream.
    Item {
        /// The call.
        id: CallId,
        /// What it is to be told as when it is [consumed](super::Connection::consumed).
        cost: u32,
        /// The item.
        payload: &'a [u8],
    },
    /// A call that nobody wants an answer to.
    OneWay {
        /// The operation.
        operation: O,
        /// When it makes no more sense.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// An answer to a ping.
    Pong {
        /// As in the ping.
        id: u32,
        /// As in the ping.
        value: u32,
    },
    /// A message for a topic, to be answered like a call.
    Publish {
        /// The id of the call.
        id: CallId,
        /// When its sender waits no more.
        deadline: Time,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The message.
        payload: &'a [u8],
    },
    /// A subscription, to be accepted or refused.
    Subscribe {
        /// The id of the call.
        id: CallId,
        /// The topic.
        topic: &'a str,
        /// Metadata and trace context.
        extension: Extension<'a>,
    },
    /// A call of an operation that there is not; to be answered.
    Unknown {
        /// The id of the call.
        id: CallId,
        /// The operation's name, unless only a number came, which had none.
        name: Option<&'a str>,
    },
    /// The subscription is not wanted any more; its last answer is to be sent.
    Unsubscribe(CallId),
    /// More items may be sent: on this stream, or on all that have credit of their own.
    Writable(Option<CallId>),
}
