//! Values: their types, and the text of scalars.

use std::borrow::Cow;

use polywire_schema::{BigDecimal, BigInteger, Blob, Error, Text, Timestamp, Value};
use polywire_text::number::{Integer, integer_prefix, parse_f32, parse_f64};
use polywire_text::{Malformed, base64, element_reader, scan};

use super::{XmlRpcDecoder, dates};
use crate::keep;
use crate::xml_tokens::Start;

pub(super) const END_STRING: &[u8; 17] = b"</string></value>";
const END_BASE64: &[u8] = b"</base64></value>";
const END_DATE: &[u8] = b"</dateTime.iso8601></value>";
const END_DOUBLE: &[u8; 17] = b"</double></value>";
const END_INT: &[u8; 14] = b"</int></value>";

/// The types of values, by their tags.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Array,
    Base64,
    BigDecimal,
    BigInteger,
    Boolean,
    DateTime,
    Double,
    /// So many bits wide.
    Integer(u8),
    Nil,
    String,
    Struct,
    /// No tag: the text is the string.
    Untyped,
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads `</value>`.
    #[inline]
    pub(super) fn end_value(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</value>") {
            return Ok(());
        }
        self.cursor.expect_end("value", "</value>")
    }

    /// The type of the value at the cursor, and its start tag. The cursor then
    /// stands behind the tag.
    pub(super) fn value_type(&mut self) -> Result<(Type, Start<'de>), Error> {
        const UNTYPED: Start<'_> = Start {
            name: "",
            empty: false,
        };
        if self.empty_value {
            return Ok((
                Type::Untyped,
                Start {
                    empty: true,
                    ..UNTYPED
                },
            ));
        }
        let start = self.cursor.at;
        // White space before a tag is layout; before text it is text.
        self.cursor.skip_between()?;
        if !matches!(self.cursor.rest(), [b'<', next, ..] if !matches!(next, b'/' | b'!' | b'?')) {
            self.cursor.at = start;
            return Ok((Type::Untyped, UNTYPED));
        }
        let Some(tag) = self.cursor.start()? else {
            return Err(self.cursor.unexpected("a value"));
        };
        let kind = match tag.name.strip_prefix("ex:").unwrap_or(tag.name) {
            "i1" => Type::Integer(8),
            "i2" => Type::Integer(16),
            "i4" | "int" => Type::Integer(32),
            "i8" => Type::Integer(64),
            "string" => Type::String,
            "boolean" => Type::Boolean,
            "double" | "float" => Type::Double,
            "dateTime.iso8601" | "dateTime" => Type::DateTime,
            "base64" => Type::Base64,
            "nil" => Type::Nil,
            "array" => Type::Array,
            "struct" => Type::Struct,
            "biginteger" => Type::BigInteger,
            "bigdecimal" => Type::BigDecimal,
            _ => return Err(self.cursor.wrong_tag("a type of XML-RPC")),
        };
        Ok((kind, tag))
    }

    /// The text of a scalar whose start tag has been read, up to its end tags.
    pub(super) fn scalar_text(
        &mut self,
        kind: Type,
        tag: Start<'_>,
    ) -> Result<Cow<'de, str>, Error> {
        if tag.empty {
            if kind == Type::Untyped {
                self.empty_value = false;
            } else {
                self.end_value()?;
            }
            return Ok(Cow::Borrowed(""));
        }
        let text = match kind {
            // What they become has a size of its own; digits that are kept are looked at
            // when they are.
            Type::BigDecimal
            | Type::BigInteger
            | Type::Boolean
            | Type::DateTime
            | Type::Double
            | Type::Integer(_) => {
                let text = self.cursor.characters_up_to(usize::MAX)?;
                self.unpadded(text)
            }
            _ => self.cursor.characters()?,
        };
        if kind != Type::Untyped {
            self.end_type(tag)?;
        }
        self.end_value()?;
        Ok(text)
    }

    /// The text of a number, a boolean or a date as the leniency takes it.
    fn unpadded(&self, text: Cow<'de, str>) -> Cow<'de, str> {
        if !self.cursor.dialect.padded_scalars() {
            return text;
        }
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_space)),
            Cow::Owned(text) => Cow::Owned(text.trim_matches(is_space).to_owned()),
        }
    }

    /// The text of a number, which may be none at all.
    fn digits<'t>(&self, text: &'t str) -> &'t str {
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
            _ => Err(self.invalid(start, "0 or 1")),
        }
    }

    /// The double that a text says.
    pub(super) fn double_of(&mut self, text: &str, start: usize) -> Result<f64, Error> {
        parse_f64(float_text(self.digits(text)))
            .map_err(|malformed| self.invalid(start, float_expected(malformed)))
    }

    /// The same in 32 bits.
    pub(super) fn float_of(&mut self, text: &str, start: usize) -> Result<f32, Error> {
        parse_f32(float_text(self.digits(text)))
            .map_err(|malformed| self.invalid(start, float_expected(malformed)))
    }

    /// The instant that a text says.
    pub(super) fn timestamp_of(&mut self, text: &str, start: usize) -> Result<Timestamp, Error> {
        match Timestamp::parse_xmlrpc(text) {
            Ok(timestamp) => Ok(timestamp),
            Err(malformed) => {
                let odd = self.cursor.dialect.odd_dates().then(|| dates::odd(text));
                odd.flatten()
                    .ok_or_else(|| self.invalid(start, malformed.expected))
            }
        }
    }

    /// Whether the leniency reads the text of a date as nil.
    fn is_zero_date(&self, text: &str) -> bool {
        self.cursor.dialect.zero_dates() && text == dates::ZERO
    }

    /// Reads a date whose start tag has been read. Whether it stands for none; if not, the
    /// cursor is somewhere within it.
    #[cold]
    fn skip_zero_date(&mut self, tag: Start<'_>) -> bool {
        let text = self.scalar_text(Type::DateTime, tag);
        text.is_ok_and(|text| self.is_zero_date(&text))
    }

    /// The bytes that a text says.
    pub(super) fn blob_of(&mut self, text: &str, start: usize) -> Result<Blob, Error> {
        blob_of(text).map_err(|expected| self.invalid(start, expected))
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
            _ => return Err(self.invalid(start, expected)),
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

    /// Sees to it that digits which a value keeps are not too many.
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
        let value = BigInteger::parse(text).map_err(|_| self.invalid(start, "an integer"))?;
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
            .map_err(|_| self.invalid(start, "a decimal number"))
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
        self.invalid(
            start,
            match bits {
                8 => "an integer of 8 bits",
                16 => "an integer of 16 bits",
                32 => "an integer of 32 bits, or `i8` for a longer one",
                _ => "an integer of 64 bits",
            },
        )
    }

    /// A date, with or without a zone.
    pub(super) fn any_timestamp(&mut self) -> Result<Timestamp, Error> {
        let is_wanted = |kind| kind == Type::DateTime;
        let (_, text, start) = self.scalar(is_wanted, "a dateTime.iso8601")?;
        self.timestamp_of(&text, start)
    }

    /// Reads the end tag of a scalar's type.
    pub(super) fn end_type(&mut self, tag: Start<'_>) -> Result<(), Error> {
        self.cursor
            .expect_end(tag.name, "the end tag of the value's type")
    }

    /// A scalar of a type that is wanted, as text.
    pub(super) fn scalar(
        &mut self,
        is_wanted: fn(Type) -> bool,
        expected: &'static str,
    ) -> Result<(Type, Cow<'de, str>, usize), Error> {
        let before = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        if !is_wanted(kind) {
            return Err(self.wrong_type(before, expected));
        }
        let start = self.cursor.at;
        let text = self.scalar_text(kind, tag)?;
        Ok((kind, text, start))
    }

    /// A value that is a string, written with or without its tag.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.empty_value {
            return self.any_string();
        }
        match self.plain_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.any_string(),
        }
    }

    /// A string in its common spelling that stands for itself.
    #[inline(always)]
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        if self.empty_value {
            return None;
        }
        self.cursor.text_between(0, b"<string>", END_STRING)
    }

    /// As [`Self::string`], however it is spelled.
    #[inline(never)]
    fn any_string(&mut self) -> Result<Cow<'de, str>, Error> {
        if !self.empty_value && self.cursor.skip(b"<string>") {
            return self.string_content();
        }
        let is_wanted = |kind| matches!(kind, Type::String | Type::Untyped);
        let (_, text, _) = self.scalar(is_wanted, "a string")?;
        Ok(text)
    }

    /// Reads a string after its start tag, and its end tags.
    pub(super) fn string_content(&mut self) -> Result<Cow<'de, str>, Error> {
        let text = self.cursor.characters()?;
        if !self.cursor.skip(END_STRING) {
            self.cursor.expect_end("string", "</string>")?;
            self.end_value()?;
        }
        Ok(text)
    }

    /// The text of a string, behind its start tag.
    #[inline(always)]
    pub(super) fn text_of_string(&mut self) -> Result<Text, Error> {
        if let Some((text, len)) = Text::xml_until(self.cursor.text, self.cursor.at, END_STRING)
            && len <= self.cursor.longest
        {
            self.cursor.at += len + END_STRING.len();
            return Ok(text);
        }
        self.any_text_of_string()
    }

    #[inline(never)]
    fn any_text_of_string(&mut self) -> Result<Text, Error> {
        if let Some(text) = self.escaped_text() {
            return Ok(text);
        }
        let text = self.string_content()?;
        Ok(keep::text(self.body, text))
    }

    /// The text of a short string with references in it, behind its start tag.
    pub(super) fn escaped_text(&mut self) -> Option<Text> {
        let rest = self.cursor.rest();
        let len = memchr::memchr(b'<', &rest[..rest.len().min(65)])?;
        let usual = rest[len..].starts_with(END_STRING)
            && len <= self.cursor.longest
            // What stands as it is may share the body.
            && memchr::memchr(b'&', &rest[..len]).is_some();
        if !usual {
            return None;
        }
        let text = self.cursor.text.get(self.cursor.at..self.cursor.at + len)?;
        let text = Text::from_xml(text)?;
        self.cursor.at += len + END_STRING.len();
        Some(text)
    }

    /// A boolean in its common spelling.
    #[inline]
    pub(super) fn plain_boolean(&mut self) -> Option<bool> {
        let chunk: &[u8; 28] = self.cursor.rest().first_chunk()?;
        let (head, tail) = chunk.split_at(9);
        let usual = head == b"<boolean>"
            && tail[1..] == *b"</boolean></value>"
            && matches!(tail[0], b'0' | b'1')
            && !self.empty_value;
        if !usual {
            return None;
        }
        self.cursor.at += chunk.len();
        Some(tail[0] == b'1')
    }

    /// A double in its common spelling, and digits that are no words.
    #[inline]
    pub(super) fn plain_double(&mut self) -> Option<f64> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(b"<double>")?;
        let (value, len) = match element_reader::double(rest, END_DOUBLE) {
            Some(short) => short,
            None => long_double(rest)?,
        };
        self.cursor.at += b"<double>".len() + len + END_DOUBLE.len();
        Some(value)
    }

    /// A date in its common spelling.
    #[inline]
    pub(super) fn plain_date(&mut self) -> Option<Timestamp> {
        const LEN: usize = "20260102T03:04:05".len();
        const OPEN: &[u8] = b"<dateTime.iso8601>";

        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(OPEN)?;
        if !rest.get(LEN..)?.starts_with(END_DATE) {
            return None;
        }
        let value = Timestamp::parse_xmlrpc(&rest[..LEN]).ok()?;
        self.cursor.at += OPEN.len() + LEN + END_DATE.len();
        Some(value)
    }

    /// Bytes in their common spelling, made of the base64.
    #[inline]
    pub(super) fn plain_bytes<T>(&mut self, make: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(b"<base64>")?;
        let len = memchr::memchr(b'<', rest)?;
        if !rest[len..].starts_with(END_BASE64) || len > self.cursor.longest {
            return None;
        }
        let bytes = make(&rest[..len])?;
        self.cursor.at += b"<base64>".len() + len + END_BASE64.len();
        Some(bytes)
    }

    /// The same as a blob.
    pub(super) fn plain_blob(&mut self) -> Option<Blob> {
        self.plain_bytes(|text| base64::decode(text).ok())
    }

    /// The scalar of this type whose start tag has been read, without a schema.
    #[inline(never)]
    pub(super) fn scalar_value(&mut self, kind: Type, tag: Start<'_>) -> Result<Value, Error> {
        let start = self.cursor.at;
        if kind == Type::Nil {
            self.end_nil(tag)?;
            return Ok(Value::Null);
        }
        let text = self.scalar_text(kind, tag)?;
        Ok(match kind {
            Type::DateTime if self.is_zero_date(&text) => Value::Null,
            Type::Boolean => Value::Boolean(self.boolean_of(&text, start)?),
            Type::Base64 => Value::Blob(self.blob_of(&text, start)?),
            Type::DateTime => Value::Timestamp(self.timestamp_of(&text, start)?),
            Type::Double => Value::Double(self.double_of(&text, start)?),
            Type::Integer(_) | Type::BigInteger => {
                Value::from(self.integer_of(kind, &text, start, "an integer")?)
            }
            Type::BigDecimal => Value::BigDecimal(self.decimal_of(kind, text, start)?),
            // Arrays and structs are no scalars, and nil is none of them.
            _ => Value::String(keep::text(self.body, text)),
        })
    }

    /// An integer in its commonest spelling, few digits in an `<int>`.
    #[inline(always)]
    pub(super) fn short_integer(&mut self) -> Option<i64> {
        let rest = self.cursor.rest().strip_prefix(b"<int>")?;
        let (value, len) = element_reader::integer(rest, END_INT)?;
        if self.empty_value {
            return None;
        }
        self.cursor.at += b"<int>".len() + len + END_INT.len();
        Some(i64::from(value))
    }

    /// An integer in its common spellings, or `None` if it has another.
    #[inline(always)]
    pub(super) fn plain_integer(&mut self) -> Option<i64> {
        if let Some(value) = self.short_integer() {
            return Some(value);
        }
        self.longer_integer()
    }

    /// As [`Self::plain_integer`], but for those of [`Self::short_integer`].
    #[inline(never)]
    pub(super) fn longer_integer(&mut self) -> Option<i64> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest();
        let (value, len) = if let Some(rest) = rest.strip_prefix(b"<int>") {
            let (value, len) = plain_digits(rest, END_INT)?;
            (narrow(value)?, b"<int>".len() + len)
        } else if let Some(rest) = rest.strip_prefix(b"<i4>") {
            let (value, len) = plain_digits(rest, b"</i4></value>")?;
            (narrow(value)?, b"<i4>".len() + len)
        } else if let Some(rest) = rest.strip_prefix(b"<i8>") {
            let (value, len) = plain_digits(rest, b"</i8></value>")?;
            (value, b"<i8>".len() + len)
        } else {
            return None;
        };
        self.cursor.at += len;
        Some(value)
    }

    pub(super) fn any_integer(&mut self, expected: &'static str) -> Result<BigInteger, Error> {
        if let Some(value) = self.plain_integer() {
            return Ok(BigInteger::from(value));
        }
        let is_wanted = |kind| matches!(kind, Type::Integer(_) | Type::BigInteger);
        let (kind, text, start) = self.scalar(is_wanted, expected)?;
        self.integer_of(kind, &text, start, expected)
    }

    /// Reads the end tags of a nil, which holds nothing.
    pub(super) fn end_nil(&mut self, tag: Start<'_>) -> Result<(), Error> {
        if !tag.empty {
            self.end_type(tag)?;
        }
        self.end_value()
    }

    /// Reads a nil, if the value is one.
    pub(super) fn is_nil(&mut self) -> Result<bool, Error> {
        if self.empty_value
            || !matches!(
                self.cursor.rest(),
                [b'<' | b' ' | b'\t' | b'\n' | b'\r', ..]
            )
        {
            return Ok(false);
        }
        if self.cursor.skip(b"<nil/></value>") {
            return Ok(true);
        }
        let start = self.cursor.at;
        match self.value_type()? {
            (Type::Nil, tag) => {
                self.end_nil(tag)?;
                Ok(true)
            }
            (Type::DateTime, tag)
                if self.cursor.dialect.zero_dates() && self.skip_zero_date(tag) =>
            {
                Ok(true)
            }
            _ => {
                self.cursor.at = start;
                Ok(false)
            }
        }
    }
}

/// The double that these bytes begin with, before its end tags, and its length.
#[inline(never)]
fn long_double(bytes: &[u8]) -> Option<(f64, usize)> {
    let len = scan::xml_data(bytes);
    if !bytes[len..].starts_with(END_DOUBLE) {
        return None;
    }
    Some((parse_f64(&bytes[..len]).ok()?, len))
}

/// The number that these bytes begin with, and its length with what must stand
/// behind it.
#[inline(always)]
fn plain_digits<const N: usize>(bytes: &[u8], close: &[u8; N]) -> Option<(i64, usize)> {
    if let Some((value, len)) = element_reader::long_integer(bytes, close) {
        return Some((value, len + N));
    }
    match integer_prefix(bytes) {
        Integer::Small(value, len) if bytes[len..].first_chunk() == Some(close) => {
            Some((value, len + N))
        }
        _ => None,
    }
}

/// A number that fits 32 bits.
#[inline(always)]
fn narrow(value: i64) -> Option<i64> {
    (value == i64::from(value as i32)).then_some(value)
}

/// Whether values of this type are read as doubles: some peers write whole ones as
/// integers.
pub(super) const fn is_number(kind: Type) -> bool {
    matches!(kind, Type::Double | Type::Integer(_))
}

/// White space of XML.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
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
