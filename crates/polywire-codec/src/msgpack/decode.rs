//! The MessagePack decoder.

use std::borrow::Cow;

use polywire_schema::{
    Body, Budget, Error, ErrorKind, LimitKind, Limits, Member, Seq, Text, TokenReader as _,
};
use polywire_text::{Malformed, utf8};

use super::MsgPackProfile;
use super::head::Head;
use crate::checks;

/// A decoder of one MessagePack value.
#[derive(Debug)]
pub struct MsgPackDecoder<'de> {
    pub(super) bytes: &'de [u8],
    /// `at <= bytes.len()`.
    pub(super) at: usize,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    pub(super) profile: MsgPackProfile,
    /// The last key.
    pub(super) scratch: Text,
}

impl<'de> MsgPackDecoder<'de> {
    /// Creates a decoder of a body. Long strings and blobs share the body.
    ///
    /// # Errors
    ///
    /// The body is longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: MsgPackProfile,
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
        profile: MsgPackProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        checks::message_len(bytes.len(), limits, "MessagePack")?;
        Ok(Self {
            bytes,
            at: 0,
            body: None,
            budget: Budget::new(limits),
            profile,
            scratch: Text::default(),
        })
    }

    /// Checks that nothing follows the value.
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
    pub const fn offset(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.bytes[self.at..]
    }

    /// The first byte of the next value. At the end of the input 0xc1, which starts no value.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0xc1)
    }

    /// Begins a list or map of any length.
    #[inline(never)]
    pub(super) fn slow_begin(&mut self, is_map: bool, at: Member<'_>) -> Result<Seq, Error> {
        let start = self.at;
        match self.head()? {
            Head::Array(len) if !is_map => self.enter(len, is_map, start),
            Head::Map(len) if is_map => self.enter(len, is_map, start),
            _ => Err(self.wrong_type(start, at.kind().describe())),
        }
    }

    /// The integer at the current offset and the length of its encoding. `None` for another type,
    /// for more than 63 bits, and possibly at the end of the input.
    #[inline(always)]
    pub(super) fn quick_integer(&self) -> Option<(i64, usize)> {
        let rest = self.rest();
        match *rest.first()? {
            first @ (0x00..=0x7f | 0xe0..=0xff) => Some((i8::from_be_bytes([first]).into(), 1)),
            // 1, 2, 4 or 8 bytes in big-endian order: first unsigned, then signed.
            first @ 0xcc..=0xd3 => {
                let window = u64::from_be_bytes(*rest[1..].first_chunk()?);
                let len = 1 << (first & 3);
                let shift = 64 - 8 * len;
                let value = match first {
                    0xcc..=0xcf => i64::try_from(window >> shift).ok()?,
                    _ => window.cast_signed() >> shift,
                };
                Some((value, 1 + len))
            }
            _ => None,
        }
    }

    /// Enters a list or map of `len` elements, whose head began at `start`.
    #[inline]
    pub(super) fn enter(&mut self, len: u32, is_map: bool, start: usize) -> Result<Seq, Error> {
        self.budget
            .enter()
            .map_err(|limit| self.limit_error(limit))?;
        // An item has at least one byte, and an entry two.
        let min_len = u64::from(len) * if is_map { 2 } else { 1 };
        if min_len > self.rest().len() as u64 {
            return Err(self.too_long(start));
        }
        Ok(Seq {
            left: len.into(),
            ..Seq::default()
        })
    }

    #[cold]
    fn too_long(&mut self, start: usize) -> Error {
        self.at = start;
        self.error(ErrorKind::Truncated, "a length that fits the message")
    }

    /// Moves to the next element. Returns `false` at the end.
    #[inline]
    pub(super) fn next_element(&mut self, seq: &mut Seq, count: bool) -> Result<bool, Error> {
        if seq.left == 0 {
            self.budget.leave();
            return Ok(false);
        }
        seq.left -= 1;
        if count && let Err(limit) = self.budget.count(1) {
            return Err(self.limit_error(limit));
        }
        Ok(true)
    }

    /// Reads the data of a string or extension, whose head has been read.
    #[inline]
    pub(super) fn take(&mut self, len: u32) -> Result<&'de [u8], Error> {
        let rest = self.rest();
        match rest.get(..len as usize) {
            Some(data) => {
                self.budget
                    .string(data.len())
                    .map_err(|limit| self.limit_error(limit))?;
                self.at += data.len();
                Ok(data)
            }
            None => {
                let error = self.error(ErrorKind::Truncated, "");
                Err(error
                    .expected(format!("{len} more bytes"))
                    .found(rest.len().to_string()))
            }
        }
    }

    /// Reads text of at most 31 bytes. Returns `None`, with nothing read, for anything else.
    #[inline(always)]
    pub(super) fn short_text(&mut self) -> Option<&'de str> {
        let (first @ 0xa0..=0xbf, rest) = self.rest().split_first()? else {
            return None;
        };
        let len = usize::from(first & 0x1f);
        if !self.budget.fits(len) {
            return None;
        }
        let text = utf8::validate(rest.get(..len)?).ok()?;
        self.at += 1 + len;
        Some(text)
    }

    #[inline]
    pub(super) fn text_value(&mut self) -> Result<&'de str, Error> {
        match self.short_text() {
            Some(text) => Ok(text),
            None => self.slow_text(),
        }
    }

    #[inline(never)]
    fn slow_text(&mut self) -> Result<&'de str, Error> {
        let start = self.at;
        let Head::Str(len) = self.head()? else {
            return Err(self.wrong_type(start, "a string"));
        };
        let bytes = self.take(len)?;
        match utf8::validate(bytes) {
            Ok(text) => Ok(text),
            Err(malformed) => Err(self.invalid_utf8(self.at - bytes.len(), malformed)),
        }
    }

    pub(super) fn byte_string(&mut self) -> Result<&'de [u8], Error> {
        let start = self.at;
        match self.head()? {
            Head::Bin(len) => self.take(len),
            _ => Err(self.wrong_type(start, "bytes")),
        }
    }

    pub(super) fn to_text(&self, text: &'de str) -> Text {
        crate::keep::text(self.body, Cow::Borrowed(text))
    }

    /// Skips a value, which must be well formed.
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        let start = self.at;
        let (len, is_map) = match self.head()? {
            Head::Str(_) => {
                self.at = start;
                return self.text_value().map(|_| ());
            }
            Head::Bin(len) | Head::Extension(len, _) => return self.take(len).map(|_| ()),
            Head::Array(len) => (len, false),
            Head::Map(len) => (len, true),
            _ => return Ok(()),
        };
        self.budget
            .enter_uncounted()
            .map_err(|limit| self.limit_error(limit))?;
        for _ in 0..len {
            self.budget
                .count(1)
                .map_err(|limit| self.limit_error(limit))?;
            if is_map {
                self.skip()?;
            }
            self.skip()?;
        }
        self.budget.leave();
        Ok(())
    }

    #[cold]
    pub(super) fn limit_error(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    /// An error for a value of another type at `start`.
    #[cold]
    pub(super) fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::WrongType, expected)
    }

    /// An error for a well-formed value at `start` that does not fit its type.
    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[cold]
    fn invalid_utf8(&mut self, start: usize, malformed: Malformed) -> Error {
        self.at = start + malformed.offset;
        let error = self.error(ErrorKind::Characters, malformed.expected);
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        error.found(format!("the byte 0x{byte:02x}"))
    }

    /// Reads a number as a double. Integers that a double cannot represent exactly are errors.
    pub(super) fn number(&mut self, at: Member<'_>) -> Result<f64, Error> {
        let start = self.at;
        match self.head()? {
            Head::Float(value) => Ok(value.into()),
            Head::Double(value) => Ok(value),
            Head::Unsigned(value) if value <= MAX_EXACT => Ok(value as f64),
            Head::Signed(value) if value.unsigned_abs() <= MAX_EXACT => Ok(value as f64),
            Head::Unsigned(_) | Head::Signed(_) => {
                Err(self.invalid_value(start, "an integer that a double can hold"))
            }
            _ => Err(self.wrong_type(start, at.kind().describe())),
        }
    }
}

/// A double represents all integers up to this one exactly.
const MAX_EXACT: u64 = 1 << 53;
