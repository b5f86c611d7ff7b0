//! Values: their types, and the text of scalars.

use std::borrow::Cow;

use polywire_schema::{BigInteger, Error, Text, Timestamp, Value};

use super::XmlRpcDecoder;
use super::plain::END_STRING;
use crate::keep;
use crate::xml_tokens::Start;

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

    /// Reads a date whose start tag has been read. Whether it stands for none; if not, the
    /// cursor is somewhere within it.
    #[cold]
    fn skip_zero_date(&mut self, tag: Start<'_>) -> bool {
        let text = self.scalar_text(Type::DateTime, tag);
        text.is_ok_and(|text| self.is_zero_date(&text))
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

/// Whether values of this type are read as doubles: some peers write whole ones as
/// integers.
pub(super) const fn is_number(kind: Type) -> bool {
    matches!(kind, Type::Double | Type::Integer(_))
}

/// White space of XML.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}
