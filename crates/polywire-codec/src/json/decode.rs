//! The JSON reader.
//!
//! The input is validated as UTF-8 once, whole; from then on it is a `str` and
//! strings are cut out of it without another look. A structure's members are
//! guessed: after one member the next in the model's order is expected, and
//! its pre-encoded name, quotes and colon included, is compared as one run. A
//! miss reads the key and looks it up. What lies between tokens is mostly
//! nothing, or one space, and is tested before it is skipped.

use polywire_schema::{
    Body, Budget, Error, ErrorKind, LimitKind, Limits, Seq, Text, TokenReader as _,
};
use polywire_text::{Malformed, scan};

use super::JsonProfile;
use crate::checks;
use crate::lengths::Lengths;

/// A reader of one JSON text.
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

/// Where a text begins: a byte order mark is no part of JSON, but some writers
/// add one.
fn start_of(text: &str) -> usize {
    let mark = '\u{feff}';
    if text.starts_with(mark) {
        mark.len_utf8()
    } else {
        0
    }
}

impl<'de> JsonDecoder<'de> {
    /// A reader of a body, whose long strings will share it.
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

    /// A reader of a text, whose long strings will be copied.
    ///
    /// # Errors
    ///
    /// The text is longer than the limit.
    pub fn from_str(text: &'de str, profile: JsonProfile, limits: &Limits) -> Result<Self, Error> {
        checks::message_len(text.len(), limits, "JSON")?;
        Ok(Self {
            text,
            at: start_of(text),
            body: None,
            budget: Budget::new(limits),
            profile,
            lengths: Lengths::default(),
            scratch: Text::default(),
        })
    }

    /// Sees to it that nothing follows the value.
    ///
    /// # Errors
    ///
    /// Something other than white space does.
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

    /// The whole text, what it may still cost, and how it is read: for another
    /// reader that goes on from here.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Limits, JsonProfile) {
        (self.text, self.budget.left(), self.profile)
    }

    /// Goes on behind what another reader has read.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, offset: usize) {
        self.at = offset;
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next byte, or 0 at the end; 0 itself is no token of JSON.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        if self.peek() <= b' ' {
            self.at = self.behind_space(self.at);
        }
    }

    /// Where the white space ends that begins here, if there is any.
    #[inline]
    pub(super) fn behind_space(&self, at: usize) -> usize {
        scan::skip_white_space(self.text.as_bytes(), at)
    }

    /// Where the next token stands, from here on, and its first byte; 0 at the
    /// end.
    #[inline(always)]
    pub(super) fn token_at(&self, at: usize) -> (usize, u8) {
        let bytes = self.text.as_bytes();
        match bytes.get(at) {
            Some(byte) if *byte > b' ' => (at, *byte),
            _ => {
                let at = self.behind_space(at);
                (at, bytes.get(at).copied().unwrap_or(0))
            }
        }
    }

    #[inline]
    pub(super) fn peek_token(&mut self) -> u8 {
        self.skip_space();
        self.peek()
    }

    /// As [`Self::token_at`], behind a colon or brace, where one space is common.
    #[inline(always)]
    pub(super) fn token_behind(&self, at: usize) -> (usize, u8) {
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
            Err(limit) => Err(self.limit(limit)),
        }
    }

    #[inline]
    pub(super) fn enter_skipped(&mut self) -> Result<Seq, Error> {
        self.at += 1;
        match self.budget.enter_uncounted() {
            Ok(()) => Ok(Seq::default()),
            Err(limit) => Err(self.limit(limit)),
        }
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.at += 1;
        self.budget.leave();
    }

    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.budget.count(1).map_err(|limit| self.limit(limit))
    }

    #[inline]
    pub(super) fn check_length(&self, len: usize) -> Result<(), Error> {
        self.budget.string(len).map_err(|limit| self.limit(limit))
    }

    #[cold]
    pub(super) fn limit(&self, limit: LimitKind) -> Error {
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

    /// An error of a primitive that read from `base`.
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

    /// A well-formed value that its type refuses; the reader goes back to it.
    #[cold]
    pub(super) fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }
}
