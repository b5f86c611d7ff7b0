//! The JSON decoder. `tokens.rs` implements `TokenReader`, and the loop over members is in
//! `polywire_schema::tokens`; `members.rs` reads keys and separators, `scalars.rs` strings and
//! numbers.
//!
//! The input is validated as UTF-8 once, so that strings are slices of a `str`. The decoder expects
//! the members of a structure in the order of the schema. It compares the input with the encoded
//! name of the next member, including quotes and colon. If they differ, it reads the key and looks
//! it up. Between tokens there is usually nothing or one space, so these cases are tested first.

use polywire_schema::{
    Body, Budget, Error, ErrorKind, LimitKind, Limits, Seq, Text, TokenReader as _,
};
use polywire_text::{Malformed, scan};

use super::JsonProfile;
use crate::checks;
use crate::lengths::Lengths;

/// A decoder of one JSON text.
#[derive(Debug)]
pub struct JsonDecoder<'de> {
    pub(super) text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    pub(super) at: usize,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    pub(super) profile: JsonProfile,
    pub(super) lengths: Lengths,
    /// The result of a slow function. Returned through memory, it would make the fast path
    /// that calls it go through memory too.
    pub(super) scratch: Text,
}

impl<'de> JsonDecoder<'de> {
    /// Creates a decoder of a body. Long strings share the body.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, or longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: JsonProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let text = checks::text(body, limits, "JSON")?;
        let mut decoder = Self::from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok(decoder)
    }

    /// Creates a decoder of a text. Long strings are copied.
    ///
    /// # Errors
    ///
    /// The text is longer than the limit.
    pub fn from_str(text: &'de str, profile: JsonProfile, limits: &Limits) -> Result<Self, Error> {
        checks::message_len(text.len(), limits, "JSON")?;
        Ok(Self {
            text,
            // Skip a byte order mark, which some writers add.
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            body: None,
            budget: Budget::new(limits),
            profile,
            lengths: Lengths::default(),
            scratch: Text::default(),
        })
    }

    /// Checks that nothing but white space follows the value.
    ///
    /// # Errors
    ///
    /// There is more input.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the document"));
        }
        Ok(())
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text, the remaining limits and the profile, for a decoder that continues here.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Limits, JsonProfile) {
        (self.text, self.budget.left(), self.profile)
    }

    /// Continues at an offset, up to which another decoder has read.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, offset: usize) {
        self.at = offset;
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next byte, or 0 at the end. No JSON token begins with 0.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        if self.peek() <= b' ' {
            self.at = self.space_end(self.at);
        }
    }

    /// The end of the white space at an offset.
    #[inline]
    fn space_end(&self, at: usize) -> usize {
        scan::skip_white_space(self.text.as_bytes(), at)
    }

    /// The offset of the next token at or after `at`, and its first byte or 0 at the end.
    #[inline(always)]
    pub(super) fn token_at(&self, at: usize) -> (usize, u8) {
        let bytes = self.text.as_bytes();
        match bytes.get(at) {
            Some(byte) if *byte > b' ' => (at, *byte),
            _ => {
                let at = self.space_end(at);
                (at, bytes.get(at).copied().unwrap_or(0))
            }
        }
    }

    #[inline]
    pub(super) fn peek_token(&mut self) -> u8 {
        self.skip_space();
        self.peek()
    }

    /// Like [`token_at`](Self::token_at), but optimised for one space, as is common after a colon.
    #[inline(always)]
    pub(super) fn token_after_colon(&self, at: usize) -> (usize, u8) {
        match self.text.as_bytes().get(at..) {
            Some([b' ', next, ..]) if *next > b' ' => (at + 1, *next),
            _ => self.token_at(at),
        }
    }

    #[inline(always)]
    pub(super) fn enter(&mut self) -> Result<Seq, Error> {
        self.at += 1;
        match self.budget.enter() {
            Ok(()) => Ok(Seq::default()),
            Err(limit) => Err(self.limit_error(limit)),
        }
    }

    #[inline]
    pub(super) fn enter_skipped(&mut self) -> Result<Seq, Error> {
        self.at += 1;
        match self.budget.enter_uncounted() {
            Ok(()) => Ok(Seq::default()),
            Err(limit) => Err(self.limit_error(limit)),
        }
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.at += 1;
        self.budget.leave();
    }

    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.budget
            .count(1)
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
        match self.peek() {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.error(ErrorKind::WrongType, expected)
            }
            _ => self.error(ErrorKind::Syntax, expected),
        }
    }

    /// Converts an error of a parser that began at `base`.
    #[cold]
    pub(super) fn malformed(&mut self, malformed: Malformed, base: usize) -> Error {
        self.at = base + malformed.offset;
        let kind = if self.at < self.text.len() {
            ErrorKind::Syntax
        } else {
            ErrorKind::Truncated
        };
        self.error(kind, malformed.expected)
    }

    /// An error for a well-formed value at `start` that does not fit its type.
    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }
}
