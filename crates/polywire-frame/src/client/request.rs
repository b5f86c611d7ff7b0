//! What is asked, and why it cannot be.

use crate::datagram::TooLong;
use crate::{Time, TooLarge, Trace};

/// An operation: its name, and the number that this client has for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Operation<'a> {
    /// From 1 on, the same for each call and another for each name; 0 for names that are used
    /// once. Where the server takes fewer numbers the name travels.
    pub number: u16,
    /// The name, 1 to 255 bytes without control characters.
    pub name: &'a str,
}

/// What is asked, but for the payload.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub(crate) operation: Operation<'a>,
    pub(crate) deadline: Time,
    pub(crate) open: bool,
    pub(crate) metadata: &'a [(&'a str, &'a [u8])],
    pub(crate) trace: Option<Trace>,
}

impl<'a> Request<'a> {
    /// A call of an operation, without a deadline.
    #[inline]
    #[must_use]
    pub const fn new(operation: Operation<'a>) -> Self {
        Self {
            operation,
            deadline: Time::NEVER,
            open: false,
            metadata: &[],
            trace: None,
        }
    }

    /// When the caller waits no more.
    #[inline]
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Items follow: the operation has a stream as its input.
    #[must_use]
    pub const fn with_items(mut self) -> Self {
        self.open = true;
        self
    }

    /// Pairs of metadata. Keys are lower-case letters, digits and `-_.`.
    #[must_use]
    pub const fn with_metadata(mut self, metadata: &'a [(&'a str, &'a [u8])]) -> Self {
        self.metadata = metadata;
        self
    }

    /// What the call is part of.
    #[must_use]
    pub const fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }
}

/// Why a call could not be made.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// The connection ends or has ended: another one is needed.
    Ending,
    /// As much is open as may be: some of it has to end first.
    Full,
    /// The name, metadata or topic is none: what is wrong with it.
    Invalid(&'static str),
    /// The server takes no such frame.
    TooLarge(TooLarge),
    /// No such datagram is sent. Over a stream there is more room.
    TooLong(TooLong),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ending => f.write_str("the connection is ending"),
            Self::Full => f.write_str("as many calls or bytes are open as may be"),
            Self::Invalid(expected) => write!(f, "expected {expected}"),
            Self::TooLarge(too_large) => too_large.fmt(f),
            Self::TooLong(too_long) => too_long.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}
