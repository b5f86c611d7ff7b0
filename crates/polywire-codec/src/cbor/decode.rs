//! The CBOR decoder.
//!
//! The decoder expects the members of a structure in the order of the schema. It compares the
//! input with the encoded name of the next member, including its head. Each text string is
//! validated as UTF-8 on its own, because a CBOR message contains binary data.

use polywire_schema::{Body, Budget, Error, ErrorKind, LimitKind, Limits, Text, TokenReader as _};

use super::head::BREAK;
use super::{CborProfile, locate};
use crate::checks;

/// A decoder of one CBOR data item.
#[derive(Debug)]
pub struct CborDecoder<'de> {
    pub(super) bytes: &'de [u8],
    /// Where the paths of errors begin: the offset and the nesting depth.
    origin: (usize, usize),
    /// `at <= bytes.len()`.
    pub(super) at: usize,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    /// The offset at which the last array or map ended, and the number of items left in the
    /// budget. If both are unchanged when an error occurs, the error is about that container.
    pub(super) last_end: (usize, u32),
    /// How many more elements may be reserved in advance. It starts as the length of the message,
    /// so that nested containers with large lengths cannot reserve more than that together.
    pub(super) reservable: usize,
    pub(super) profile: CborProfile,
    /// The result of a slow function. Returned through memory, it would make the fast path
    /// that calls it go through memory too.
    pub(super) scratch: Text,
}

impl<'de> CborDecoder<'de> {
    /// Creates a decoder of a body. Long strings and blobs share the body.
    ///
    /// # Errors
    ///
    /// The body is longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut decoder = Self::from_slice(body.as_bytes(), profile, limits)?;
        decoder.body = Some(body);
        Ok(decoder)
    }

    /// Creates a decoder of bytes. Long strings and blobs are copied.
    ///
    /// # Errors
    ///
    /// The input is longer than the limit.
    pub fn from_slice(
        bytes: &'de [u8],
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        checks::message_len(bytes.len(), limits, "CBOR")?;
        Ok(Self {
            bytes,
            origin: (0, 0),
            at: 0,
            body: None,
            budget: Budget::new(limits),
            last_end: (usize::MAX, 0),
            reservable: bytes.len(),
            profile,
            scratch: Text::default(),
        })
    }

    /// Checks that nothing follows the data item.
    ///
    /// # Errors
    ///
    /// There is more input.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.at < self.bytes.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the message"));
        }
        Ok(())
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The message, the remaining limits and the profile, for a decoder that continues here.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de [u8], Limits, CborProfile) {
        (self.bytes, self.budget.left(), self.profile)
    }

    /// The major type of the next data item (RFC 8949, section 3.1), such as 3 for text, 4 for an
    /// array, 5 for a map and 6 for a tag. `None` at the end of the input.
    #[must_use]
    pub fn major_type(&self) -> Option<u8> {
        self.bytes.get(self.at).map(|first| first >> 5)
    }

    /// Skips the next data item.
    ///
    /// # Errors
    ///
    /// The item is malformed or exceeds the limits.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_value()
    }

    /// Moves to the data item at an offset of the message, such as one that was skipped. An
    /// offset beyond the end of the message means the end.
    pub fn go_to(&mut self, offset: usize) {
        self.at = offset.min(self.bytes.len());
    }

    /// Moves to the data item at an offset of the message, and makes it the root of error paths.
    /// Offsets in errors remain relative to the message.
    pub fn begin_at(&mut self, offset: usize) {
        self.go_to(offset);
        self.origin = (self.at, self.budget.depth() as usize);
    }

    /// Creates an error at the current offset, with a path that the caller knows.
    ///
    /// `Decoder::error` reads the message again to find the path. Use this method to report many
    /// errors in one message.
    #[cold]
    #[must_use]
    pub fn error_in(
        &self,
        path: impl Into<String>,
        kind: ErrorKind,
        expected: &'static str,
    ) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.bytes.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let error = Error::new(kind)
            .in_format("CBOR")
            .expected(expected)
            .at_offset(self.at)
            .at_path(path);
        match error.is_limit() || kind == ErrorKind::Duplicate {
            true => error,
            false => error.found(locate::describe(self.rest())),
        }
    }

    /// The path of the value at an offset, or, with `ended`, of the container that ended there at
    /// this depth.
    #[cold]
    pub(super) fn path_at(&self, offset: usize, ended: Option<usize>) -> String {
        let (origin, depth) = self.origin;
        let ended = ended.map(|levels| levels.saturating_sub(depth));
        let bytes = self.bytes.get(origin..).unwrap_or_default();
        locate::path(bytes, offset.saturating_sub(origin), ended)
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.bytes[self.at..]
    }

    /// The first byte of the next data item. At the end of the input a break, which starts no
    /// data item.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(BREAK)
    }

    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.count_items(1)
    }

    #[inline]
    pub(super) fn count_items(&mut self, items: u32) -> Result<(), Error> {
        self.budget
            .count(items)
            .map_err(|limit| self.limit_error(limit))
    }

    #[inline]
    pub(super) fn check_length(&self, len: usize) -> Result<(), Error> {
        self.budget
            .string(len)
            .map_err(|limit| self.limit_error(limit))
    }

    #[cold]
    pub(super) fn limit_error(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    pub(super) fn wrong_type(&self, expected: &'static str) -> Error {
        let kind = if self.at < self.bytes.len() {
            ErrorKind::WrongType
        } else {
            ErrorKind::Truncated
        };
        self.error(kind, expected)
    }

    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }
}
