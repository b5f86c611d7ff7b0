//! The error of the ground floor.

use std::fmt;

/// Input that a primitive could not read: where, and what it expected there.
///
/// It is two words and `Copy`, made on the spot and cheap to pass up. The
/// offset counts bytes from the start of the input of the call that failed.
///
/// ```
/// let error = polywire_text::base64::decode(b"a?==").unwrap_err();
/// assert_eq!(error.to_string(), "expected base64 (A-Z a-z 0-9 + / and = padding) at byte 1");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for Malformed {}
