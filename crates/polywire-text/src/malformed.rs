//! The error type of this crate.

use std::fmt;

/// A parse error: an offset, and what was expected there.
///
/// Three words, `Copy`, without an allocation. The offset is in bytes, from the start of the input
/// of the call that failed; it is the length of the input if more was expected. Errors of values
/// that are not text, such as an instant that a format cannot represent, have offset 0.
///
/// ```
/// let error = polywire_text::base64::decode(b"a?==").unwrap_err();
/// assert_eq!(error.to_string(), "expected base64 (A-Z a-z 0-9 + / and = padding) at byte 1");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Malformed {
    /// The offset of the error, in bytes.
    pub offset: usize,
    /// What was expected, as a noun phrase.
    pub expected: &'static str,
}

impl Malformed {
    /// An error at `offset`.
    #[cold]
    #[must_use]
    pub const fn new(offset: usize, expected: &'static str) -> Self {
        Self { offset, expected }
    }

    /// The same error, with an offset that is larger by `skipped`: for callers that passed a part
    /// of their input, which starts there.
    ///
    /// ```
    /// use polywire_text::{Malformed, Timestamp};
    ///
    /// let line = "at 2026-11-21";
    /// let error = Timestamp::parse_date_time(&line[3..]).map_err(|error| error.shifted(3));
    /// assert_eq!(error.unwrap_err().offset, line.len());
    /// ```
    #[cold]
    #[must_use]
    pub const fn shifted(self, skipped: usize) -> Self {
        Self::new(self.offset.saturating_add(skipped), self.expected)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for Malformed {}
