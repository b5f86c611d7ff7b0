//! Parses the text of scalars, with the leniencies that affect it.
//!
//! `start` is the offset of the text, for errors.

use std::borrow::Cow;

use polywire_schema::{BigDecimal, BigInteger, Blob, Error, Timestamp};
use polywire_text::number::{parse_f32, parse_f64};
use polywire_text::{Malformed, base64};

use super::value::{Type, trimmed};
use super::{XmlRpcDecoder, dates};
use crate::keep;

impl<'de> XmlRpcDecoder<'de> {
    /// Removes white space around a number, a boolean or a date, if the leniency `padded_scalars` is
    /// on.
    pub(super) fn unpadded(&self, text: Cow<'de, str>) -> Cow<'de, str> {
        match self.cursor.dialect.padded_scalars() {
            true => trimmed(text),
            false => text,
        }
    }

    /// The text of a number. `0` if it is empty and the leniency `empty_numbers` is on.
    fn digits_or_zero<'t>(&self, text: &'t str) -> &'t str {
        match text.is_empty() && self.cursor.dialect.empty_numbers() {
            true => "0",
            false => text,
        }
    }

    /// Like [`digits_or_zero`](Self::digits_or_zero), for a big number. An empty string is never 0.
    fn big_digits_or_zero(&self, kind: Type, text: Cow<'de, str>) -> Cow<'de, str> {
        match kind {
            Type::String | Type::Untyped => text,
            _ if text.is_empty() => Cow::Borrowed(self.digits_or_zero("")),
            _ => text,
        }
    }

    /// Parses a boolean.
    pub(super) fn boolean_of(&mut self, text: &str, start: usize) -> Result<bool, Error> {
        let words = self.cursor.dialect.boolean_words();
        match text {
            "0" => Ok(false),
            "1" => Ok(true),
            _ if words && text.eq_ignore_ascii_case("false") => Ok(false),
            _ if words && text.eq_ignore_ascii_case("true") => Ok(true),
            _ => Err(self.invalid_value(start, "0 or 1")),
        }
    }

    /// Parses a double.
    pub(super) fn double_of(&mut self, text: &str, start: usize) -> Result<f64, Error> {
        parse_f64(float_text(self.digits_or_zero(text)))
            .map_err(|malformed| self.invalid_value(start, float_expected(malformed)))
    }

    /// Parses a 32-bit floating-point number.
    pub(super) fn float_of(&mut self, text: &str, start: usize) -> Result<f32, Error> {
        parse_f32(float_text(self.digits_or_zero(text)))
            .map_err(|malformed| self.invalid_value(start, float_expected(malformed)))
    }

    /// Parses a date.
    pub(super) fn timestamp_of(&mut self, text: &str, start: usize) -> Result<Timestamp, Error> {
        match Timestamp::parse_xmlrpc(text) {
            Ok(timestamp) => Ok(timestamp),
            Err(malformed) => {
                let odd = self
                    .cursor
                    .dialect
                    .odd_dates()
                    .then(|| dates::parse_odd(text));
                odd.flatten()
                    .ok_or_else(|| self.invalid_value(start, malformed.expected))
            }
        }
    }

    /// Whether a date is nil because of the leniency `zero_dates`.
    pub(super) fn is_zero_date(&self, text: &str) -> bool {
        self.cursor.dialect.zero_dates() && text == dates::ZERO_DATE
    }

    /// Decodes base64. Ignores white space: peers write line breaks and indentation.
    pub(super) fn blob_of(&mut self, text: &str, start: usize) -> Result<Blob, Error> {
        base64::STANDARD
            .decode_with_white_space(text.as_bytes())
            .map_err(|malformed| self.invalid_value(start, malformed.expected))
    }

    /// Parses an integer, which must be in the range of its type unless the leniency `wide_ints` is
    /// on.
    pub(super) fn integer_of(
        &mut self,
        kind: Type,
        text: &str,
        start: usize,
        expected: &'static str,
    ) -> Result<BigInteger, Error> {
        let text = self.digits_or_zero(text);
        let digits = text.strip_prefix('+').unwrap_or(text);
        let value: BigInteger = match digits.parse() {
            Ok(value) if !text.starts_with("+-") => value,
            _ => return Err(self.invalid_value(start, expected)),
        };
        let short = value.to_i64();
        if let Type::Integer(bits) = kind
            && !self.cursor.dialect.wide_ints()
            && short.is_none_or(|value| value >> (bits - 1) != value >> 63)
        {
            return Err(self.out_of_range(bits, start));
        }
        if short.is_none() {
            self.check_digits_len(value.as_str(), start)?;
        }
        Ok(value)
    }

    /// Rejects digits that are longer than the limit, because the value stores them.
    fn check_digits_len(&mut self, digits: &str, start: usize) -> Result<(), Error> {
        if digits.len() <= self.cursor.max_text {
            return Ok(());
        }
        self.cursor.at = start;
        Err(self.cursor.error(self.cursor.too_long(), ""))
    }

    /// Parses an integer of any size, which may be a string.
    pub(super) fn big_integer_of(
        &mut self,
        kind: Type,
        text: Cow<'de, str>,
        start: usize,
    ) -> Result<BigInteger, Error> {
        if matches!(kind, Type::Integer(_)) {
            return self.integer_of(kind, &text, start, "an integer");
        }
        let text = keep::text(self.body, self.big_digits_or_zero(kind, text));
        let value = BigInteger::parse(text).map_err(|_| self.invalid_value(start, "an integer"))?;
        if value.to_i64().is_none() {
            self.check_digits_len(value.as_str(), start)?;
        }
        Ok(value)
    }

    /// Parses a decimal number of any size, which may be a string.
    pub(super) fn decimal_of(
        &mut self,
        kind: Type,
        text: Cow<'de, str>,
        start: usize,
    ) -> Result<BigDecimal, Error> {
        let text = self.big_digits_or_zero(kind, text);
        self.check_digits_len(&text, start)?;
        BigDecimal::parse(keep::text(self.body, text))
            .map_err(|_| self.invalid_value(start, "a decimal number"))
    }

    /// Checks the text of a number. An integer must be in the range of its type.
    pub(super) fn number_text(
        &mut self,
        kind: Type,
        text: Cow<'de, str>,
        start: usize,
    ) -> Result<Cow<'de, str>, Error> {
        match kind {
            Type::Integer(_) => {
                let value = self.integer_of(kind, &text, start, "an integer")?;
                Ok(Cow::Owned(value.as_str().to_owned()))
            }
            _ => Ok(text),
        }
    }

    /// The error for an integer outside the range of its type.
    #[cold]
    fn out_of_range(&mut self, bits: u8, start: usize) -> Error {
        self.invalid_value(
            start,
            match bits {
                8 => "an integer of 8 bits",
                16 => "an integer of 16 bits",
                32 => "an integer of 32 bits, or `i8` for a longer one",
                _ => "an integer of 64 bits",
            },
        )
    }
}

/// What was expected instead of a double. The error has the offset of the double, so the message of
/// the parser fits only if the parser failed at the first byte.
#[cold]
fn float_expected(malformed: Malformed) -> &'static str {
    match malformed.offset {
        0 => malformed.expected,
        _ => "a decimal number",
    }
}

/// Replaces the names that Python writes for NaN and infinities by those of this crate.
fn float_text(text: &str) -> &[u8] {
    match text {
        "nan" => b"NaN",
        "inf" => b"Infinity",
        "-inf" => b"-Infinity",
        _ => text.as_bytes(),
    }
}
