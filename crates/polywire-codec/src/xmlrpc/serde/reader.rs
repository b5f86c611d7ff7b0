//! Reads serde types.

use std::borrow::Cow;

use polywire_schema::serde_names::{
    BIG_DECIMAL, BIG_INTEGER, BLOB, ExtendedValue, NUMBER_KEY, TIMESTAMP, VALUE, number_of,
};
use polywire_schema::{Error, ErrorKind, Event, Member, Seq, TokenReader, Value};
use polywire_text::base64;
use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, Visitor};

use crate::integers;
use crate::serde::{Keys, Kind, SerdeReader, TextKey, ValueDeserializer, timestamp_text};
use crate::xmlrpc::document::{
    ARRAY, BASE64, BOOLEAN, DATE, DOUBLE, INT, INT_BYTES, STRING, STRUCT,
};
use crate::xmlrpc::value::Type;
use crate::xmlrpc::{XmlRpcDecoder, locate};

/// The maximum length of base64 that is decoded without an allocation, in bytes.
const MAX_STACK_BASE64: usize = 96;

impl<'de> SerdeReader<'de> for XmlRpcDecoder<'de> {
    const HUMAN_READABLE: bool = true;
    /// Bytes are base64.
    const TEXT_IS_BYTES: bool = false;

    #[inline(always)]
    fn kind(&mut self) -> Result<Kind, Error> {
        if let Some(head) = self.cursor.rest().first_chunk()
            && !self.empty_value
        {
            match u64::from_le_bytes(*head) {
                ARRAY => return Ok(Kind::List),
                BASE64 => return Ok(Kind::Bytes),
                BOOLEAN => return Ok(Kind::Boolean),
                DATE => return Ok(Kind::Extension),
                DOUBLE => return Ok(Kind::Number),
                STRING => return Ok(Kind::String),
                STRUCT => return Ok(Kind::Map),
                tag if tag & INT_BYTES == INT => return Ok(Kind::Number),
                _ => {}
            }
        }
        self.slow_kind()
    }

    /// With the leniency `array_structs`, an empty array is read as a map.
    #[inline(always)]
    fn is_map(&mut self) -> Result<bool, Error> {
        let kind = SerdeReader::kind(self)?;
        Ok(kind == Kind::Map
            || kind == Kind::List && self.cursor.dialect.array_structs() && self.is_empty_array())
    }

    #[inline(always)]
    fn position(&mut self) -> usize {
        self.cursor.at
    }

    #[cold]
    fn locate(&self, error: Error, offset: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let path = locate::path(self.cursor.text, offset);
        let offset = self.cursor.base + offset;
        error.in_format("XML-RPC").at_offset(offset).at_path(path)
    }

    /// Also reads the name of a member, for [`map_key`](Self::map_key).
    #[inline(always)]
    fn next_element(&mut self, is_map: bool, seq: &mut Seq) -> Result<bool, Error> {
        if !is_map {
            return self.next_item(seq);
        }
        self.plain_name = self.plain_member(seq);
        if self.plain_name.is_some() {
            self.count_item()?;
            return Ok(true);
        }
        if self.plain_struct_end(seq) {
            return Ok(false);
        }
        self.slow_element(seq)
    }

    #[inline(always)]
    fn map_key<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
        keys: Option<&mut Keys<'de>>,
    ) -> Result<K::Value, Error> {
        match self.plain_name {
            Some(name) if keys.is_none() && name != NUMBER_KEY => {
                seed.deserialize(TextKey(Cow::Borrowed(name)))
            }
            _ => self.slow_key(seed, keys),
        }
    }

    #[inline(always)]
    fn quick_boolean(&mut self) -> Option<bool> {
        self.plain_boolean()
    }

    #[inline(always)]
    fn quick_integer(&mut self) -> Option<i64> {
        self.short_integer()
    }

    #[inline(always)]
    fn quick_double(&mut self) -> Option<f64> {
        self.plain_double()
    }

    fn float_of_digits(&mut self) -> Result<Option<f32>, Error> {
        match self.kind()? {
            Kind::Number => TokenReader::float(self, Member::DOCUMENT).map(Some),
            _ => Ok(None),
        }
    }

    #[inline(always)]
    fn quick_str(&mut self) -> Option<&'de str> {
        self.plain_string()
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let value = match self.longer_integer() {
            Some(value) => Value::Integer(value),
            None => self.scalar_without_schema()?,
        };
        match value {
            Value::Integer(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            Value::BigInteger(value) => integers::visit(&value, visitor),
            Value::Double(value) => visitor.visit_f64(value),
            Value::BigDecimal(value) => visitor.visit_str(value.as_str()),
            _ => Err(self.error(ErrorKind::Internal, "a number")),
        }
    }

    fn visit_string<V: Visitor<'de>>(&mut self, lent: bool, visitor: V) -> Result<V::Value, Error> {
        let text = match !self.empty_value && self.cursor.skip(b"<string>") {
            true => match self.escaped_text() {
                Some(text) => return visitor.visit_str(&text),
                None => self.string_content()?,
            },
            false => self.string()?,
        };
        match text {
            Cow::Borrowed(text) if lent && text != NUMBER_KEY => visitor.visit_borrowed_str(text),
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn byte_string(&mut self) -> Result<Cow<'de, [u8]>, Error> {
        Ok(Cow::Owned(Vec::from(self.blob(Member::DOCUMENT)?)))
    }

    #[inline(never)]
    fn visit_bytes<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let mut buffer = [0; MAX_STACK_BASE64];
        let decode = |text: &[u8]| match text.len() <= MAX_STACK_BASE64 {
            true => {
                let bytes = base64::STANDARD.decode_to_slice(text, &mut buffer);
                bytes.ok().map(|bytes| Ok(bytes.len()))
            }
            false => {
                let mut bytes = Vec::new();
                base64::STANDARD.push_decoded(&mut bytes, text).ok()?;
                Some(Err(bytes))
            }
        };
        match self.plain_bytes(decode) {
            Some(Ok(len)) => visitor.visit_bytes(&buffer[..len]),
            Some(Err(bytes)) => visitor.visit_byte_buf(bytes),
            None => visitor.visit_byte_buf(Vec::from(self.blob(Member::DOCUMENT)?)),
        }
    }

    /// Passes a date as RFC 3339 text, without the zone if it has none.
    fn extension<V: Visitor<'de>>(&mut self, _: bool, visitor: V) -> Result<V::Value, Error> {
        let start = self.cursor.at;
        let timestamp = match self.scalar_without_schema()? {
            Value::Timestamp(timestamp) => timestamp,
            _ => return visitor.visit_unit(),
        };
        let Some(mut text) = timestamp_text(timestamp) else {
            return Err(self.invalid_value(start, "a date within the years 0001 to 9999"));
        };
        if timestamp.is_unzoned() {
            // Remove the `Z`.
            text.pop();
        }
        visitor.visit_string(text)
    }

    #[inline(always)]
    fn reserved_newtype<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match name {
            BLOB => self.visit_bytes(visitor),
            TIMESTAMP => {
                let timestamp = match self.plain_date() {
                    Some(timestamp) => timestamp,
                    None => self.slow_timestamp()?,
                };
                visitor.visit_i128(number_of(timestamp))
            }
            _ => self.value_or_number(name, visitor),
        }
    }
}

/// A deserializer of the digits of a number.
fn digits(digits: &str) -> StringDeserializer<Error> {
    digits.to_owned().into_deserializer()
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads a [`Value`] or a big number.
    fn value_or_number<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match (name, SerdeReader::kind(self)?) {
            (VALUE, Kind::Number | Kind::Extension) => match self.scalar_without_schema()? {
                Value::BigInteger(value) => ExtendedValue::BigInteger(value).visit(visitor),
                Value::BigDecimal(value) => ExtendedValue::BigDecimal(value).visit(visitor),
                Value::Timestamp(value) => ExtendedValue::Timestamp(value).visit(visitor),
                Value::Integer(value) => visitor.visit_i64(value),
                Value::Double(value) => visitor.visit_f64(value),
                _ => visitor.visit_unit(),
            },
            // `Value` checks for duplicate keys itself.
            (VALUE, _) => ValueDeserializer(self).any(false, visitor),
            (BIG_INTEGER, Kind::Number) => {
                let value = self.big_integer(Member::DOCUMENT)?;
                visitor.visit_newtype_struct(digits(value.as_str()))
            }
            (BIG_DECIMAL, Kind::Number) => {
                let value = self.big_decimal(Member::DOCUMENT)?;
                visitor.visit_newtype_struct(digits(value.as_str()))
            }
            _ => visitor.visit_newtype_struct(ValueDeserializer(self)),
        }
    }

    /// [`SerdeReader::map_key`] for the key of a map, or for a name in any form.
    #[inline(never)]
    fn slow_key<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
        keys: Option<&mut Keys<'de>>,
    ) -> Result<K::Value, Error> {
        let key = match self.plain_name {
            Some(name) => Cow::Borrowed(name),
            None => std::mem::take(&mut self.name),
        };
        if let Some(keys) = keys {
            keys.push(match &key {
                Cow::Borrowed(key) => Cow::Borrowed(key.as_bytes()),
                Cow::Owned(key) => Cow::Owned(key.clone().into_bytes()),
            });
        }
        match key {
            // Must not be borrowed: see `SerdeReader::visit_string`.
            Cow::Borrowed(NUMBER_KEY) => seed.deserialize(TextKey(NUMBER_KEY.to_owned().into())),
            key => seed.deserialize(TextKey(key)),
        }
    }

    /// [`SerdeReader::kind`] for a start tag in any form.
    #[inline(never)]
    fn slow_kind(&mut self) -> Result<Kind, Error> {
        let start = self.cursor.at;
        let (kind, _) = self.value_type()?;
        self.cursor.at = start;
        Ok(match kind {
            Type::Array => Kind::List,
            Type::Base64 => Kind::Bytes,
            Type::BigDecimal | Type::BigInteger | Type::Double | Type::Integer(_) => Kind::Number,
            Type::Boolean => Kind::Boolean,
            Type::DateTime => Kind::Extension,
            Type::Nil => Kind::Null,
            Type::String | Type::Untyped => Kind::String,
            Type::Struct => Kind::Map,
        })
    }

    /// [`SerdeReader::next_element`] for a member in any form.
    #[inline(never)]
    fn slow_element(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        let Some(name) = self.next_member(seq)? else {
            return Ok(false);
        };
        self.name = name;
        self.count_item()?;
        Ok(true)
    }

    /// Whether the next value is an empty array. Nothing is read.
    #[cold]
    fn is_empty_array(&mut self) -> bool {
        let (start, budget) = (self.cursor.at, self.budget.mark());
        let tag = self.value_type();
        let empty = tag.is_ok_and(|(_, tag)| self.begin_struct_from_empty_array(tag).is_some());
        self.cursor.at = start;
        self.budget.back_to(budget);
        empty
    }

    /// Reads a scalar, whose kind the caller knows.
    fn scalar_without_schema(&mut self) -> Result<Value, Error> {
        match self.any()? {
            Event::Scalar(value) => Ok(value),
            _ => Err(self.error(ErrorKind::Internal, "a scalar")),
        }
    }
}
