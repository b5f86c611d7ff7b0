//! What a client has said.

use crate::{CallId, Extension, Time};

/// A call of one of the clients.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Call {
    pub(super) place: u32,
    pub(super) generation: u32,
    pub(super) id: CallId,
}

impl Call {
    /// Its id among those of its client.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }
}

/// What a client has said.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a, O, T> {
    /// A call, which is to be answered.
    Call {
        /// The call.
        call: Call,
        /// The operation.
        operation: O,
        /// When its caller waits no more.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call was cancelled, and that has been answered. What the server kept of it.
    Cancelled(Call, Option<T>),
    /// A call that nobody wants an answer to. It may come twice.
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
    /// A call of an operation that there is not; to be answered.
    Unknown {
        /// The call.
        call: Call,
        /// The operation's name, unless only a number came, which had none.
        name: Option<&'a str>,
    },
}
