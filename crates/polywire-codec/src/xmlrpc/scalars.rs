//! Scalars from their text.

use std::borrow::Cow;

use polywire_schema::{BigDecimal, BigInteger, Blob, Error, Timestamp};
use polywire_text::number::{parse_f32, parse_f64};
use polywire_text::{Malformed, base64};

use super::value::{Type, is_space};
use super::{XmlRpcDecoder, dates};
use crate::keep;

impl<'de> XmlRpcDecoder<'de> {
    /// The text of a number, a boolean or a date as the leniency takes it.
    pub(super) fn unpadded(&self, text: Cow<'de, str>) -> Cow<'de, str> {
        if !self.cursor.dialect.padded_scalars() {
            return text;
        }
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_space)),
            Cow::Owned(text) => Cow::Owned(text.trim_matches(is_space).to_owned()),
        }
    }

    /// The text of a number, which may be none at all.
    pub(super) fn digits<'t>(&self, text: &'t str) -> &'t str {
        match text.is_empty() && self.cursor.dialect.empty_numbers() {
            true => "0",
            false => text,
        }
    }

    /// The same of a number of any length. A string without digits is none at all.
    pub(super) fn big_digits(&self, kind: Type, text: Cow<'de, str>) -> Cow<'de, str> {
        match kind {
            Type::String | Type::Untyped => text,
            _ if text.is_empty() => Cow::Borrowed(self.digits("")),
            _ => text,
        }
    }

    /// The boolean that a text says.
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

    /// The double that a text says.
    pub(super) fn double_of(&mut self, text: &str, start: usize) -> Result<f64, Error> {
        parse_f64(float_text(self.digits(text)))
            .map_err(|malformed| self.invalid_value(start, float_expected(malformed)))
    }

    /// The same in 32 bits.
    pub(super) fn float_of(&mut self, text: &str, start: usize) -> Result<f32, Error> {
        parse_f32(float_text(self.digits(text)))
            .map_err(|malformed| self.invalid_value(start, float_expected(malformed)))
    }

    /// The instant that a text says.
    pub(super) fn timestamp_of(&mut self, text: &str, start: usize) -> Result<Timestamp, Error> {
        match Timestamp::parse_xmlrpc(text) {
            Ok(timestamp) => Ok(timestamp),
            Err(malformed) => {
                let odd = self.cursor.dialect.odd_dates().then(|| dates::odd(text));
                odd.flatten()
                    .ok_or_else(|| self.invalid_value(start, malformed.expected))
            }
        }
    }

    /// Whether the leniency reads the text of a date as nil.
    pub(super) fn is_zero_date(&self, text: &str) -> bool {
        self.cursor.dialect.zero_dates() && text == dates::ZERO
    }

    /// The bytes that a text says.
    pub(super) fn blob_of(&mut self, text: &str, start: usize) -> Result<Blob, Error> {
        blob_of(text).map_err(|expected| self.invalid_value(start, expected))
    }

    /// The integer that the text of a number of this type says.
    pub(super) fn integer_of(
        &mut self,
        kind: Type,
        text: &str,
        start: usize,
        expected: &'static str,
    ) -> Result<BigInteger, Error> {
        let text = self.digits(text);
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
            self.keep_digits(value.as_str(), start)?;
        }
        Ok(value)
    }

    /// Rejects digits that are longer than the limit, because the value stores them.
    pub(super) fn keep_digits(&mut self, digits: &str, start: usize) -> Result<(), Error> {
        if digits.len() <= self.cursor.longest {
            return Ok(());
        }
        self.cursor.at = start;
        Err(self.cursor.error(self.cursor.too_long(), ""))
    }

    /// The integer of any size that a text says.
    pub(super) fn big_integer_of(
        &mut self,
        kind: Type,
        text: Cow<'de, str>,
        start: usize,
    ) -> Result<BigInteger, Error> {
        if matches!(kind, Type::Integer(_)) {
            return self.integer_of(kind, &text, start, "an integer");
        }
        let text = keep::text(self.body, self.big_digits(kind, text));
        let value = BigInteger::parse(text).map_err(|_| self.invalid_value(start, "an integer"))?;
        if value.to_i64().is_none() {
            self.keep_digits(value.as_str(), start)?;
        }
        Ok(value)
    }

    /// The decimal number of any size that a text says.
    pub(super) fn decimal_of(
        &mut self,
        kind: Type,
        text: Cow<'de, str>,
        start: usize,
    ) -> Result<BigDecimal, Error> {
        let text = self.big_digits(kind, text);
        self.keep_digits(&text, start)?;
        BigDecimal::parse(keep::text(self.body, text))
            .map_err(|_| self.invalid_value(start, "a decimal number"))
    }

    /// The text of a number, which in an integer's tag has to be one that the tag has room
    /// for.
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

    /// The error of a number that its tag has no room for.
    #[cold]
    pub(super) fn out_of_range(&mut self, bits: u8, start: usize) -> Error {
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

/// What a double should have been, seen from its beginning, which is where its
/// error stands.
#[cold]
fn float_expected(malformed: Malformed) -> &'static str {
    match malformed.offset {
        0 => malformed.expected,
        _ => "a decimal number",
    }
}

/// The number as our own writer spells it: Python writes `nan` and `inf`.
fn float_text(text: &str) -> &[u8] {
    match text {
        "nan" => b"NaN",
        "inf" => b"Infinity",
        "-inf" => b"-Infinity",
        _ => text.as_bytes(),
    }
}

/// Base64, in which peers put line breaks and indentation.
fn blob_of(text: &str) -> Result<Blob, &'static str> {
    base64::STANDARD
        .decode_with_white_space(text.as_bytes())
        .map_err(|malformed| malformed.expected)
}
