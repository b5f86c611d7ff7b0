//! The error that ends a connection.

use std::borrow::Cow;
use std::fmt;

use super::{Header, Kind, Output, Reason};

/// A violation of the protocol by the peer: what was expected, what was found, and where.
///
/// ```
/// use polywire_frame::{FrameReader, Settings};
///
/// let mut frames = FrameReader::of_client(&Settings::DEFAULT);
/// let error = frames.next(b"GET / HTTP/1.1\r\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "frames: expected the preface f7 50 57, found 47, at byte 0",
/// );
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct ProtocolError(Box<Inner>);

#[derive(Clone, Eq, PartialEq)]
struct Inner {
    reason: Reason,
    offset: u64,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
}

impl ProtocolError {
    #[cold]
    pub(crate) fn new(offset: u64, expected: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            reason: Reason::PROTOCOL,
            offset,
            expected: expected.into(),
            found: Cow::Borrowed(""),
        }))
    }

    #[cold]
    pub(crate) fn found(mut self, found: impl Into<Cow<'static, str>>) -> Self {
        self.0.found = found.into();
        self
    }

    #[cold]
    pub(crate) fn because(mut self, reason: Reason) -> Self {
        self.0.reason = reason;
        self
    }

    /// The input ended at this byte, within a frame.
    #[cold]
    pub(crate) fn end_of_input(offset: u64) -> Self {
        Self::new(offset, "the rest of a frame").found("the end")
    }

    /// The code of the `GOAWAY` that reports the error.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The position in all bytes received on this connection: of the frame, or of the part of it that is wrong.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Appends the `GOAWAY` that reports the error to the peer.
    #[cold]
    pub(crate) fn append_to(&self, output: &mut Output) {
        let message = self.to_string();
        let header = Header {
            length: message.len() as u32,
            code: self.reason().0,
            ..Header::new(Kind::GOAWAY, 0)
        };
        header.append_to(&mut output.bytes);
        output.bytes.extend_from_slice(message.as_bytes());
    }
}

impl fmt::Debug for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            offset,
            expected,
            found,
            ..
        } = &*self.0;
        write!(f, "frames: expected {expected}")?;
        if !found.is_empty() {
            write!(f, ", found {found}")?;
        }
        write!(f, ", at byte {offset}")
    }
}

impl std::error::Error for ProtocolError {}
