//! Values: their types, and the text of scalars.

use std::borrow::Cow;

use polywire_schema::{BigInteger, Blob, Decoder, Error, ErrorKind, Timestamp, Value};
use polywire_text::number::{Integer, integer_prefix, parse_f64};
use polywire_text::{Malformed, base64};

use super::XmlRpcDecoder;
use super::cursor::Start;

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
    Integer,
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
            return Err(self.error(ErrorKind::Syntax, "a value"));
        };
        let kind = match tag.name.strip_prefix("ex:").unwrap_or(tag.name) {
            "i1" | "i2" | "i4" | "i8" | "int" => Type::Integer,
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
            _ => {
                self.cursor.at = start;
                return Err(self.error(ErrorKind::Syntax, "a type of XML-RPC"));
            }
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
            // Not kept: what they become has a size of its own.
            Type::Boolean | Type::DateTime | Type::Double => self.cursor.any_characters()?,
            _ => self.cursor.characters()?,
        };
        if kind != Type::Untyped {
            self.end_type(tag)?;
        }
        self.end_value()?;
        Ok(text)
    }

    /// Reads the end tag of a scalar's type.
    pub(super) fn end_type(&mut self, tag: Start<'_>) -> Result<(), Error> {
        self.cursor
            .expect_end(tag.name, "the end tag of the value's type")
    }

    /// A scalar of one of these types, as text.
    pub(super) fn scalar(
        &mut self,
        types: &[Type],
        expected: &'static str,
    ) -> Result<(Type, Cow<'de, str>, usize), Error> {
        let before = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        if !types.contains(&kind) {
            return Err(self.wrong_type(before, expected));
        }
        let start = self.cursor.at;
        let text = self.scalar_text(kind, tag)?;
        Ok((kind, text, start))
    }

    /// A value that is a string, written with or without its tag.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        // The common spelling, as three comparisons.
        if !self.empty_value && self.cursor.skip(b"<string>") {
            let text = self.cursor.characters()?;
            if self.cursor.skip(b"</string></value>") {
                return Ok(text);
            }
            self.cursor.expect_end("string", "</string>")?;
            self.end_value()?;
            return Ok(text);
        }
        let (_, text, _) = self.scalar(&[Type::String, Type::Untyped], "a string")?;
        Ok(text)
    }

    /// An integer in its common spellings, or `None` if it has another.
    #[inline]
    pub(super) fn plain_integer(&mut self) -> Option<i64> {
        let rest = self.cursor.rest();
        let (open, close): (&[u8], &[u8]) = match rest {
            _ if self.empty_value => return None,
            _ if rest.starts_with(b"<int>") => (b"<int>", b"</int></value>"),
            _ if rest.starts_with(b"<i4>") => (b"<i4>", b"</i4></value>"),
            _ if rest.starts_with(b"<i8>") => (b"<i8>", b"</i8></value>"),
            _ => return None,
        };
        match integer_prefix(&rest[open.len()..]) {
            Integer::Small(value, len) if rest[open.len() + len..].starts_with(close) => {
                self.cursor.at += open.len() + len + close.len();
                Some(value)
            }
            _ => None,
        }
    }

    pub(super) fn any_integer(&mut self, expected: &'static str) -> Result<BigInteger, Error> {
        if let Some(value) = self.plain_integer() {
            return Ok(BigInteger::from(value));
        }
        let (_, text, start) = self.scalar(&[Type::Integer, Type::BigInteger], expected)?;
        let digits = text.strip_prefix('+').unwrap_or(&text);
        match digits.parse() {
            Ok(value) if !text.starts_with("+-") => Ok(value),
            _ => Err(self.invalid(start, expected)),
        }
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
            _ => {
                self.cursor.at = start;
                Ok(false)
            }
        }
    }
}

/// A scalar of a document.
pub(super) fn scalar_value(kind: Type, text: &str) -> Result<Value, &'static str> {
    match kind {
        Type::Boolean => match text {
            "0" => Ok(Value::Boolean(false)),
            "1" => Ok(Value::Boolean(true)),
            _ => Err("0 or 1"),
        },
        Type::Base64 => blob_of(text).map(Value::Blob),
        Type::DateTime => Timestamp::parse_xmlrpc(text.trim())
            .map(Value::Timestamp)
            .map_err(|malformed| malformed.expected),
        _ => parse_f64(float_text(text))
            .map(Value::Double)
            .map_err(float_expected),
    }
}

/// What a double should have been, seen from its beginning, which is where its
/// error stands.
#[cold]
pub(super) fn float_expected(malformed: Malformed) -> &'static str {
    match malformed.offset {
        0 => malformed.expected,
        _ => "a decimal number",
    }
}

/// The number as our own writer spells it: Python writes `nan` and `inf`.
pub(super) fn float_text(text: &str) -> &[u8] {
    match text {
        "nan" => b"NaN",
        "inf" => b"Infinity",
        "-inf" => b"-Infinity",
        _ => text.as_bytes(),
    }
}

/// Base64, in which peers put line breaks and indentation.
pub(super) fn blob_of(text: &str) -> Result<Blob, &'static str> {
    base64::STANDARD
        .decode_with_white_space(text.as_bytes())
        .map_err(|malformed| malformed.expected)
}
