//! Types of values, and scalars in any form.

use std::borrow::Cow;

use polywire_schema::{BigInteger, Error, Text, Timestamp, Value};

use super::XmlRpcDecoder;
use super::tags::END_STRING;
use crate::keep;
use crate::xml_tokens::Start;

/// The type of a value. The specification has them in "Scalar &lt;value>s", "&lt;struct>s" and
/// "&lt;array>s"; `nil`, `biginteger`, `bigdecimal` and further widths of integers are extensions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Array,
    Base64,
    BigDecimal,
    BigInteger,
    Boolean,
    DateTime,
    Double,
    /// With the number of bits.
    Integer(u8),
    Nil,
    String,
    Struct,
    /// A string without a tag for its type.
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

    /// Reads the start tag of a value. Returns the type and the tag.
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
        // White space before a tag is ignored. White space before text is part of the string.
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

    /// Reads the text of a scalar after its start tag, and its end tags.
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
            // The limit for strings does not apply to the text of these values. The digits of big
            // numbers are checked when they are stored.
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

    /// Reads a date after its start tag. Whether it is a zero date; if not, the cursor is somewhere
    /// in it.
    #[cold]
    fn skip_zero_date(&mut self, tag: Start<'_>) -> bool {
        let text = self.scalar_text(Type::DateTime, tag);
        text.is_ok_and(|text| self.is_zero_date(&text))
    }

    /// Reads a date in any form, with or without a zone.
    pub(super) fn slow_timestamp(&mut self) -> Result<Timestamp, Error> {
        let (_, text, start) = self.scalar(|kind| kind == Type::DateTime, "a dateTime.iso8601")?;
        self.timestamp_of(&text, start)
    }

    /// Reads the end tag of the type of a scalar.
    fn end_type(&mut self, tag: Start<'_>) -> Result<(), Error> {
        self.cursor
            .expect_end(tag.name, "the end tag of the value's type")
    }

    /// Reads the text of a scalar. Rejects other types than those in `is_expected`. Returns the type,
    /// the text and the offset of the text.
    pub(super) fn scalar(
        &mut self,
        is_expected: fn(Type) -> bool,
        expected: &'static str,
    ) -> Result<(Type, Cow<'de, str>, usize), Error> {
        let before = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        if !is_expected(kind) {
            return Err(self.wrong_type(before, expected));
        }
        let start = self.cursor.at;
        let text = self.scalar_text(kind, tag)?;
        Ok((kind, text, start))
    }

    /// Reads a string, with or without a tag for its type.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.empty_value {
            return self.slow_string();
        }
        match self.plain_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.slow_string(),
        }
    }

    /// [`Self::string`] in any form.
    #[inline(never)]
    fn slow_string(&mut self) -> Result<Cow<'de, str>, Error> {
        if !self.empty_value && self.cursor.skip(b"<string>") {
            return self.string_content();
        }
        let is_string = |kind| matches!(kind, Type::String | Type::Untyped);
        let (_, text, _) = self.scalar(is_string, "a string")?;
        Ok(text)
    }

    /// Reads a string after `<string>`, and its end tags.
    pub(super) fn string_content(&mut self) -> Result<Cow<'de, str>, Error> {
        let text = self.cursor.characters()?;
        if !self.cursor.skip(END_STRING) {
            self.cursor.expect_end("string", "</string>")?;
            self.end_value()?;
        }
        Ok(text)
    }

    /// Like [`Self::string_content`], as a [`Text`].
    #[inline(always)]
    pub(super) fn text_of_string(&mut self) -> Result<Text, Error> {
        if let Some((text, len)) = Text::xml_until(self.cursor.text, self.cursor.at, END_STRING)
            && len <= self.cursor.max_text
        {
            self.cursor.at += len + END_STRING.len();
            return Ok(text);
        }
        self.slow_text_of_string()
    }

    #[inline(never)]
    fn slow_text_of_string(&mut self) -> Result<Text, Error> {
        if let Some(text) = self.escaped_text() {
            return Ok(text);
        }
        let text = self.string_content()?;
        Ok(keep::text(self.body, text))
    }

    /// Reads a scalar after its start tag, without a schema.
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
            // Strings. Arrays, structs and nil do not get here.
            _ => Value::String(keep::text(self.body, text)),
        })
    }

    /// Reads an integer in any form and of any size.
    pub(super) fn slow_integer(&mut self, expected: &'static str) -> Result<BigInteger, Error> {
        let is_integer = |kind| matches!(kind, Type::Integer(_) | Type::BigInteger);
        let (kind, text, start) = self.scalar(is_integer, expected)?;
        self.integer_of(kind, &text, start, expected)
    }

    /// Reads the end tags of a nil after its start tag.
    fn end_nil(&mut self, tag: Start<'_>) -> Result<(), Error> {
        if !tag.empty {
            self.end_type(tag)?;
        }
        self.end_value()
    }

    /// Reads a nil. Returns `false`, with nothing read, for any other value.
    pub(super) fn read_nil(&mut self) -> Result<bool, Error> {
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

/// Whether a value of this type can be read as a double. Some peers write integral doubles as
/// integers.
pub(super) const fn is_number(kind: Type) -> bool {
    matches!(kind, Type::Double | Type::Integer(_))
}

/// Whether a character is white space in XML.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// Removes white space at both ends.
pub(super) fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_space)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(is_space).to_owned()),
    }
}
