//! The error that ends a connection.

use std::borrow::Cow;
use std::fmt;

use crate::draft::bare;
use crate::header::header;
use crate::{Header, Kind, Output, Reason};

/// What the other side did wrong, and where.
///
/// ```
/// use polywire_frame::{Frames, Settings};
///
/// let mut frames = Frames::of_client(&Settings::DEFAULT);
/// let broken = frames.next(b"GET / HTTP/1.1\r\n").unwrap_err();
/// assert_eq!(
///     broken.to_string(),
///     "frames: expected the preface f7 50 57, found 47, at byte 0",
/// );
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct Broken(Box<Inner>);

#[derive(Clone, Eq, PartialEq)]
struct Inner {
    reason: Reason,
    offset: u64,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
}

impl Broken {
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

    /// The reason that the farewell bears.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// At which byte of what came on this connection: where the frame begins that is wrong, or the
    /// part of it.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Broken {
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

impl std::error::Error for Broken {}

/// The input ended at this byte, within a frame.
#[cold]
pub(crate) fn cut(offset: u64) -> Broken {
    Broken::new(offset, "the rest of a frame").found("the end")
}

/// Appends the frame that tells the other side what it did wrong.
#[cold]
pub(crate) fn farewell(output: &mut Output, broken: &Broken) {
    let words = broken.to_string();
    let header = Header {
        length: words.len() as u32,
        code: broken.reason().0,
        ..header(Kind::GOAWAY, 0)
    };
    bare(output, &header);
    output.bytes.extend_from_slice(words.as_bytes());
}
