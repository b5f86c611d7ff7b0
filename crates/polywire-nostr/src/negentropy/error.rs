//! Errors.

use std::fmt;

/// The error of answering a message. `E` is the error type of the storage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error<E> {
    /// The peer sent a malformed message.
    Message(InvalidMessage),
    /// The storage failed.
    Storage(E),
    /// The responder does not support version 1. Only an [`Initiator`](super::Initiator) returns
    /// this.
    Version {
        /// The highest version that the responder supports. This module implements version 1.
        highest: u8,
    },
}

impl<E> From<InvalidMessage> for Error<E> {
    fn from(error: InvalidMessage) -> Self {
        Self::Message(error)
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(error) => error.fmt(f),
            Self::Storage(error) => write!(f, "the records could not be read: {error}"),
            Self::Version { highest } => {
                write!(
                    f,
                    "the peer supports version {highest} of negentropy, not 1"
                )
            }
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Error<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Message(error) => Some(error),
            Self::Storage(error) => Some(error),
            Self::Version { .. } => None,
        }
    }
}

/// The error of parsing a message of version 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidMessage {
    /// The byte offset of the invalid element. For a truncated message, its length.
    pub offset: usize,
    /// The reason.
    pub reason: Reason,
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, reason } = self;
        write!(f, "invalid negentropy message at byte {offset}: {reason}")
    }
}

impl std::error::Error for InvalidMessage {}

/// The reason of an [`InvalidMessage`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A bound is below the previous bound.
    BoundOrder,
    /// An infinite bound has an id prefix.
    InfinityWithId,
    /// A mode other than skip (0), fingerprint (1) and list of ids (2).
    Mode(u64),
    /// An id prefix is longer than 32 bytes.
    PrefixLength(u64),
    /// A timestamp is `u64::MAX` or greater. Infinity is encoded as 0.
    TimestampOverflow,
    /// The message ends within a range.
    Truncated,
    /// A varint does not fit in 64 bits.
    VarintOverflow,
    /// A varint starts with a zero digit, so it is not in its shortest form.
    VarintPadding,
    /// The first byte is not a version byte, `0x60` to `0x6f`.
    VersionByte(u8),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoundOrder => f.write_str("the bound is below the previous one"),
            Self::InfinityWithId => f.write_str("an infinite bound has no id"),
            Self::Mode(mode) => write!(f, "unknown mode {mode}"),
            Self::PrefixLength(len) => write!(f, "an id prefix of {len} bytes, maximum 32"),
            Self::TimestampOverflow => f.write_str("the timestamp is too large"),
            Self::Truncated => f.write_str("the message ends early"),
            Self::VarintOverflow => f.write_str("the number does not fit in 64 bits"),
            Self::VarintPadding => f.write_str("the number has leading zeros"),
            Self::VersionByte(byte) => write!(f, "{byte:#04x} is not a protocol version"),
        }
    }
}
