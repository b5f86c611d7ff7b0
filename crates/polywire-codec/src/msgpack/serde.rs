//! serde for MessagePack.

use std::borrow::Cow;

use polywire_schema::serde_names::{
    BIG_DECIMAL, BIG_INTEGER, ExtendedValue, TIMESTAMP, VALUE, number_of_digits,
};
use polywire_schema::{
    BigInteger, Encode as _, Encoder as _, Error, ErrorKind, Limits, Member, Seq, TokenReader as _,
    Value,
};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, Visitor};
use serde::{Deserialize, Serialize};

use super::head::{Head, head};
use super::{MsgPackDecoder, MsgPackEncoder, MsgPackProfile, locate, timestamp};
use crate::serde::{
    Keys, Kind, MAX_SIZE_HINT, SerdeReader, SerdeWriter, ValueDeserializer, ValueSerializer, parse,
    timestamp_text,
};

impl<'de> MsgPackDecoder<'de> {
    /// Deserializes the next value. Strings and bytes can be borrowed.
    ///
    /// # Errors
    ///
    /// The value is malformed, does not match the type, or exceeds the limits.
    pub fn deserialize<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        crate::serde::deserialize(self)
    }
}

impl MsgPackEncoder {
    /// Serializes a value.
    ///
    /// # Errors
    ///
    /// The type reports an error, or a length is 2^32 or more.
    /// [`finish`](Self::finish) then returns the same error.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        crate::serde::serialize(self, value)
    }
}

pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut decoder = MsgPackDecoder::from_slice(bytes, MsgPackProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut encoder = MsgPackEncoder::new(out);
    encoder.serialize(value)?;
    encoder.finish()
}

impl<'de> SerdeReader<'de> for MsgPackDecoder<'de> {
    const HUMAN_READABLE: bool = false;
    /// `rmp_serde` writes unit structures as empty lists.
    const EMPTY_LIST_IS_UNIT: bool = true;

    #[inline(always)]
    fn kind(&mut self) -> Result<Kind, Error> {
        if self.at >= self.bytes.len() {
            return Err(self.error(ErrorKind::Truncated, "a value"));
        }
        Ok(match MsgPackDecoder::peek(self) {
            0x00..=0x7f | 0xca..=0xd3 | 0xe0..=0xff => Kind::Number,
            0x80..=0x8f | 0xde | 0xdf => Kind::Map,
            0x90..=0x9f | 0xdc | 0xdd => Kind::List,
            0xa0..=0xbf | 0xd9..=0xdb => Kind::String,
            0xc0 => Kind::Null,
            0xc1 => return Err(self.error(ErrorKind::Syntax, "a value with a known first byte")),
            0xc2 | 0xc3 => Kind::Boolean,
            0xc4..=0xc6 => Kind::Bytes,
            0xc7..=0xc9 | 0xd4..=0xd8 => Kind::Extension,
        })
    }

    #[inline(always)]
    fn position(&mut self) -> usize {
        self.at
    }

    #[cold]
    fn locate(&self, error: Error, offset: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let path = locate::path(self.bytes, offset);
        error
            .in_format("MessagePack")
            .at_offset(offset)
            .at_path(path)
    }

    #[inline(always)]
    fn next_element(&mut self, _: bool, seq: &mut Seq) -> Result<bool, Error> {
        MsgPackDecoder::next_element(self, seq, true)
    }

    #[inline]
    fn size_hint(&self, seq: &Seq) -> Option<usize> {
        Some(seq.left.min(MAX_SIZE_HINT) as usize)
    }

    #[inline]
    fn map_key<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
        keys: Option<&mut Keys<'de>>,
    ) -> Result<K::Value, Error> {
        let start = self.at;
        let key = seed.deserialize(ValueDeserializer(self))?;
        if let Some(keys) = keys {
            let bytes = self.bytes.get(start..self.at).unwrap_or_default();
            keys.push(shortest(bytes));
        }
        Ok(key)
    }

    #[cold]
    fn duplicate(&self, key: &[u8], start: usize) -> Error {
        let error = Error::new(ErrorKind::Duplicate).expected("each key once");
        let error = match super::read_value(key) {
            Ok(Value::String(key)) => error.found(format!("`{}` twice", key.escape_debug())),
            Ok(key) => error.found(format!("{key:?} twice")),
            Err(_) => error,
        };
        SerdeReader::locate(self, error, start)
    }

    #[inline(always)]
    fn quick_integer(&mut self) -> Option<i64> {
        let (value, len) = MsgPackDecoder::quick_integer(self)?;
        self.at += len;
        Some(value)
    }

    /// `rmp_serde` writes these integers as 16 bytes.
    fn wide_integer(&mut self) -> Result<Option<[u8; 16]>, Error> {
        let Some(&[0xc4, 16, ref bytes @ ..]) = self.rest().first_chunk::<18>() else {
            return Ok(None);
        };
        self.at += 18;
        Ok(Some(*bytes))
    }

    #[inline(always)]
    fn quick_double(&mut self) -> Option<f64> {
        let Some(&[0xcb, ref bytes @ ..]) = self.rest().first_chunk::<9>() else {
            return None;
        };
        self.at += 9;
        Some(f64::from_be_bytes(*bytes))
    }

    #[inline(always)]
    fn quick_str(&mut self) -> Option<&'de str> {
        self.short_text()
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let start = self.at;
        match self.head()? {
            Head::Unsigned(value) => visitor.visit_u64(value),
            Head::Signed(value) => visitor.visit_i64(value),
            Head::Float(value) => visitor.visit_f32(value),
            Head::Double(value) => visitor.visit_f64(value),
            _ => Err(self.wrong_type(start, "a number")),
        }
    }

    fn byte_string(&mut self) -> Result<Cow<'de, [u8]>, Error> {
        MsgPackDecoder::byte_string(self).map(Cow::Borrowed)
    }

    /// Passes a timestamp as RFC 3339 text. Other extensions are errors.
    fn extension<V: Visitor<'de>>(&mut self, _: bool, visitor: V) -> Result<V::Value, Error> {
        let text = self.timestamp_text()?;
        visitor.visit_str(&text)
    }

    /// Timestamps are extensions, big numbers may be numbers, and everything else is text.
    fn reserved_newtype<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text = match (name, SerdeReader::kind(self)?) {
            (VALUE, Kind::Extension) => {
                return ExtendedValue::Timestamp(self.timestamp(Member::DOCUMENT)?).visit(visitor);
            }
            // `Value` checks for duplicate keys itself.
            (VALUE, _) => return ValueDeserializer(self).any(false, visitor),
            (TIMESTAMP, Kind::Extension) => self.timestamp_text()?,
            (BIG_INTEGER, Kind::Number) => self.big_integer(Member::DOCUMENT)?.as_str().to_owned(),
            (BIG_DECIMAL, Kind::Number) => self.big_decimal(Member::DOCUMENT)?.as_str().to_owned(),
            _ => return visitor.visit_newtype_struct(ValueDeserializer(self)),
        };
        let text: StrDeserializer<'_, Error> = text.as_str().into_deserializer();
        visitor.visit_newtype_struct(text)
    }
}

impl MsgPackDecoder<'_> {
    /// A timestamp as RFC 3339 text.
    fn timestamp_text(&mut self) -> Result<String, Error> {
        let start = self.at;
        let timestamp = self.timestamp(Member::DOCUMENT)?;
        let text = timestamp_text(timestamp);
        text.ok_or_else(|| self.invalid_value(start, "a timestamp within the years 0001 to 9999"))
    }
}

impl SerdeWriter for MsgPackEncoder {
    const FORMAT: &'static str = "MessagePack";
    const HUMAN_READABLE: bool = false;

    #[inline]
    fn unsigned(&mut self, value: u64) -> Result<(), Error> {
        self.push_unsigned(value);
        Ok(())
    }

    fn digits(&mut self, digits: &str) -> Result<(), Error> {
        if digits.parse::<BigInteger>().is_ok() {
            self.push_digits(digits);
            return Ok(());
        }
        match number_of_digits(digits) {
            Some(number) => number.encode(Member::DOCUMENT, self),
            None => return Err(self.unwritable("the digits of a number".to_owned())),
        }
        Ok(())
    }

    fn wide_signed(&mut self, value: i128) -> Result<(), Error> {
        self.blob(Member::DOCUMENT, &value.to_be_bytes());
        Ok(())
    }

    fn wide_unsigned(&mut self, value: u128) -> Result<(), Error> {
        self.blob(Member::DOCUMENT, &value.to_be_bytes());
        Ok(())
    }

    #[inline]
    fn len(&self) -> usize {
        self.out.len()
    }

    fn unit_struct(&mut self) {
        self.array(0);
    }

    /// A list or map of unknown length gets the length 0, which `end` replaces.
    #[inline]
    fn begin(&mut self, is_map: bool, len: Option<usize>) {
        let len = len.unwrap_or(0);
        match is_map {
            true => self.map(len),
            false => self.array(len),
        }
    }

    fn end(&mut self, is_map: bool, start: usize, len: Option<usize>, count: usize) {
        if len.is_some() {
            return;
        }
        match self.out.get_mut(start) {
            // The length fits in the first byte.
            Some(first) if count < 16 => *first |= count as u8,
            _ => {
                let mut head = Self::new(Vec::new());
                head.begin(is_map, Some(count));
                self.out.splice(start..=start, head.out);
            }
        }
    }

    #[inline]
    fn map_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        key.serialize(ValueSerializer::new(self))
    }

    fn reserved_newtype<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match name {
            TIMESTAMP => {
                let value = parse(self, value)?;
                timestamp::push(&mut self.out, value);
            }
            BIG_INTEGER => {
                let value = parse(self, value)?;
                self.big_integer(Member::DOCUMENT, &value);
            }
            _ => return value.serialize(ValueSerializer::new(self)),
        }
        Ok(())
    }
}

/// The shortest encoding of a key, so that two encodings of a key are equal. Most keys are already in
/// that form.
fn shortest(key: &[u8]) -> Cow<'_, [u8]> {
    let Some((first, rest)) = key.split_first() else {
        return Cow::Borrowed(key);
    };
    if matches!(first, 0x00..=0x7f | 0xa0..=0xbf | 0xe0..=0xff) {
        return Cow::Borrowed(key);
    }
    let Some((head, len)) = head(*first, rest) else {
        return Cow::Borrowed(key);
    };
    let mut encoder = MsgPackEncoder::new(Vec::new());
    let data = key.get(len..).unwrap_or_default();
    match head {
        Head::Unsigned(value) => encoder.push_unsigned(value),
        Head::Signed(value) => encoder.push_integer(value),
        Head::Bin(_) => encoder.blob(Member::DOCUMENT, data),
        Head::Str(_) => match std::str::from_utf8(data) {
            Ok(text) => encoder.str(text),
            Err(_) => return Cow::Borrowed(key),
        },
        _ => return Cow::Borrowed(key),
    }
    Cow::Owned(encoder.out)
}
