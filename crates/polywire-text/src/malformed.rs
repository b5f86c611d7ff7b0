//! The error of the ground floor.

use std::fmt;

/// Input that a primitive could not read: where, and what it expected there.
///
/// It is three words and `Copy`, made on the spot and cheap to pass up; nothing
/// is allocated for it. The offset counts bytes from the start of the input of
/// the call that failed, up to its length where more should have come. Values
/// that do not come from text, such as an instant that a form has no year for,
/// have offset 0.
///
/// ```
/// let error = polywire_text::base64::decode(b"a?==").unwrap_err();
/// assert_eq!(error.to_string(), "expected base64 (A-Z a-z 0-9 + / and = padding) at byte 1");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Malformed {
    /// The offset in bytes at which the input stopped making sense.
    pub offset: usize,
    /// What was expected there, as a noun phrase.
    pub expected: &'static str,
}

impl Malformed {
    /// An error at `offset`, where `expected` was expected.
    #[cold]
    #[must_use]
    pub const fn new(offset: usize, expected: &'static str) -> Self {
        Self { offset, expected }
    }

    /// The same error in an input that begins `skipped` bytes before the one
    /// that was read: for those who read a part of something.
    ///
    /// ```
    /// use polywire_text::{Malformed, Timestamp};
    ///
    /// let line = "at 2026-11-21";
    /// let error = Timestamp::parse_date_time(&line[3..]).map_err(|error| error.behind(3));
    /// assert_eq!(error.unwrap_err().offset, line.len());
    /// ```
    #[cold]
    #[must_use]
    pub const fn behind(self, skipped: usize) -> Self {
        Self::new(self.offset.saturating_add(skipped), self.expected)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for Malformed {}
