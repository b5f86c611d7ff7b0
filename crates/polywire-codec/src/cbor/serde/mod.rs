//! serde for CBOR.
//!
//! The representation is the same as in other CBOR crates: structures are maps with text keys,
//! tuples are arrays, a variant without data is its name, a variant with data is a map with one
//! entry, `None` and `()` are null. Lengths are definite. Duplicate keys are errors, even if they
//! are encoded differently.

mod keys;
mod parameters;
mod reserved;

use std::borrow::Cow;

use polywire_schema::serde_names::number_of_digits;
use polywire_schema::{BigInteger, Error, ErrorKind, Limits, Seq, TokenReader as _};
use polywire_text::serde_token::{LARGE, lend};
use polywire_text::{SHARE_FRACTION, utf8};
use serde::de::{DeserializeSeed, Visitor};
use serde::{Deserialize, Serialize};

use self::parameters::ParameterList;
use super::encode::{ARRAY, MAP, NEGATIVE, UNSIGNED};
use super::head::{INDEFINITE, Tag};
use super::{CborDecoder, CborEncoder, CborProfile};
use crate::integers;
use crate::parameters::Parameters;
use crate::serde::{
    Keys, Kind, MAX_SIZE_HINT, NonText, SerdeReader, SerdeWriter, ValueDeserializer,
};

impl<'de> CborDecoder<'de> {
    /// Deserializes the next data item. Strings and bytes of definite length can be borrowed.
    ///
    /// ```
    /// use polywire_codec::cbor::{CborDecoder, CborProfile};
    /// use polywire_schema::Limits;
    ///
    /// let bytes = [0x82, 0x63, b'a', b'b', b'c', 0x18, 0x2a];
    /// let mut decoder = CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    /// let (name, number): (&str, u8) = decoder.deserialize()?;
    /// assert_eq!((name, number), ("abc", 42));
    /// decoder.finish()?;
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value does not match the type, or exceeds the limits.
    pub fn deserialize<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        crate::serde::deserialize(self)
    }

    /// Deserializes an array of parameters as one value.
    ///
    /// A tuple has one parameter for each element, a `Vec` contains all parameters, `()` means no
    /// parameters, and any other type is the only parameter. Newtypes, `Box` and `Option` are read
    /// as their contents. An `Option` is `None` if there are no parameters or the only parameter is
    /// null. Options at the end of a tuple may be omitted. An empty message has no parameters.
    ///
    /// # Errors
    ///
    /// The number of parameters is wrong, a parameter does not match its type, or a limit is
    /// exceeded. The path of the error begins with the index of the parameter.
    pub fn deserialize_parameters<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let read = ParameterList::enter(self).and_then(|list| T::deserialize(Parameters(list)));
        read.map_err(|error| self.located(error))
    }

    /// Adds the current offset to an error of a type, which has none.
    #[cold]
    fn located(&self, error: Error) -> Error {
        if error.offset().is_some() || !error.is_sender_fault() {
            return error;
        }
        error.in_format("CBOR").at_offset(self.at)
    }
}

impl CborEncoder {
    /// Serializes a value.
    ///
    /// # Errors
    ///
    /// The type reports an error, or announces a wrong length. [`finish`](Self::finish) then returns
    /// the same error.
    ///
    /// ```
    /// use polywire_codec::cbor::CborEncoder;
    ///
    /// let mut encoder = CborEncoder::new(Vec::new());
    /// encoder.serialize(&("abc", Some(42)))?;
    /// assert_eq!(encoder.finish()?, [0x82, 0x63, b'a', b'b', b'c', 0x18, 0x2a]);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        crate::serde::serialize(self, value)
    }
}

pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(out);
    encoder.serialize(value)?;
    encoder.finish()
}

impl<'de> SerdeReader<'de> for CborDecoder<'de> {
    const HUMAN_READABLE: bool = false;

    #[inline(always)]
    fn kind(&mut self) -> Result<Kind, Error> {
        if self.at >= self.bytes.len() {
            return Err(self.error(ErrorKind::Truncated, "a value"));
        }
        Ok(match CborDecoder::peek(self) {
            0x00..=0x3f | 0xf9..=0xfb => Kind::Number,
            0x40..=0x5f => Kind::Bytes,
            0x60..=0x7f => Kind::String,
            0x80..=0x9f => Kind::List,
            0xa0..=0xbf => Kind::Map,
            0xc0..=0xdf => Kind::Extension,
            0xf4 | 0xf5 => Kind::Boolean,
            0xf6 | 0xf7 => Kind::Null,
            _ => return Err(self.error(ErrorKind::Syntax, "a value with a known first byte")),
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
        let path = self.path_at(offset, None);
        error.in_format("CBOR").at_offset(offset).at_path(path)
    }

    fn skip_extensions(&mut self) -> Result<(), Error> {
        self.skip_tags()
    }

    #[inline(always)]
    fn next_element(&mut self, _: bool, seq: &mut Seq) -> Result<bool, Error> {
        self.next_item(seq)
    }

    #[inline]
    fn size_hint(&self, seq: &Seq) -> Option<usize> {
        match seq.left {
            INDEFINITE => None,
            left => Some(left.min(MAX_SIZE_HINT) as usize),
        }
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
            let bytes = self.bytes.get(start..self.at);
            keys.push(keys::shortest(bytes.unwrap_or_default()));
        }
        Ok(key)
    }

    fn duplicate(&self, key: &[u8], _: usize) -> Error {
        keys::duplicate(self, key)
    }

    #[inline(always)]
    fn quick_integer(&mut self) -> Option<i64> {
        let (value, len) = CborDecoder::quick_integer(self)?;
        self.at += len;
        Some(value)
    }

    #[inline(always)]
    fn quick_double(&mut self) -> Option<f64> {
        let Some(&[0xfb, ref bytes @ ..]) = self.rest().first_chunk::<9>() else {
            return None;
        };
        self.at += 9;
        Some(f64::from_be_bytes(*bytes))
    }

    #[inline(always)]
    fn quick_str(&mut self) -> Option<&'de str> {
        let (window, len) = self.short_text()?;
        let text = utf8::validate(window.get(..len)?).ok()?;
        self.at += 1 + len;
        Some(text)
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match CborDecoder::peek(self) {
            0x00..=0x3f => {
                let head = self.head("an integer")?;
                let argument = head.argument;
                match (head.major, i64::try_from(argument)) {
                    (0, _) => visitor.visit_u64(argument),
                    (_, Ok(argument)) => visitor.visit_i64(!argument),
                    (_, Err(_)) => visitor.visit_i128(-1 - i128::from(argument)),
                }
            }
            0xfa => visitor.visit_f32(self.slow_double("a number")? as f32),
            _ => visitor.visit_f64(self.slow_double("a number")?),
        }
    }

    fn byte_string(&mut self) -> Result<Cow<'de, [u8]>, Error> {
        self.string_bytes(2, "a byte string")
    }

    /// A blob shares the body if it is large enough.
    #[inline]
    fn lend<V: Visitor<'de>>(&self, bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
        match self.body {
            Some(body) if bytes.len() >= LARGE.max(body.len() / SHARE_FRACTION) => {
                lend(body.blob(bytes), || visitor.visit_borrowed_bytes(bytes))
            }
            _ => visitor.visit_borrowed_bytes(bytes),
        }
    }

    /// A tagged value. The value of a known tag is passed as text or a number.
    fn extension<V: Visitor<'de>>(
        &mut self,
        check_keys: bool,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Some((tag, start)) = self.tag()? else {
            return ValueDeserializer(self).any(check_keys, visitor);
        };
        match tag {
            Tag::Epoch | Tag::DateTime => {
                self.at = start;
                let text = reserved::timestamp(self)?;
                visitor.visit_str(&text)
            }
            Tag::Unsigned | Tag::Negative => integers::visit(&self.bignum(tag, start)?, visitor),
            Tag::Decimal => visitor.visit_str(self.decimal(start)?.as_str()),
        }
    }

    #[cold]
    fn text_extension<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let start = self.at;
        match self.tag()? {
            Some((Tag::Unsigned | Tag::Negative | Tag::Decimal, _)) => {
                self.at = start;
                let found = "a number";
                self.extension(true, NonText { visitor, found })
            }
            Some(_) => {
                self.at = start;
                self.extension(true, visitor)
            }
            None => ValueDeserializer(self).any(true, visitor),
        }
    }

    fn reserved_newtype<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        reserved::read(self, name, visitor)
    }
}

impl SerdeWriter for CborEncoder {
    const FORMAT: &'static str = "CBOR";
    const HUMAN_READABLE: bool = false;

    #[inline]
    fn unsigned(&mut self, value: u64) -> Result<(), Error> {
        self.head(UNSIGNED, value);
        Ok(())
    }

    fn digits(&mut self, digits: &str) -> Result<(), Error> {
        if let Ok(value) = digits.parse::<i128>()
            && let Ok(complement) = u64::try_from(!value)
        {
            self.head(NEGATIVE, complement);
            return Ok(());
        }
        if digits.parse::<BigInteger>().is_ok() {
            self.push_big(digits);
            return Ok(());
        }
        let Some(number) = number_of_digits(digits) else {
            return Err(self.unwritable("the digits of a number".to_owned()));
        };
        self.document_value(&number);
        Ok(())
    }

    #[inline]
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline]
    fn begin(&mut self, is_map: bool, len: Option<usize>) {
        let major = if is_map { MAP } else { ARRAY };
        self.head(major, len.unwrap_or(0) as u64);
    }

    #[inline]
    fn end(&mut self, is_map: bool, start: usize, len: Option<usize>, count: usize) {
        if len.is_none() {
            self.insert_length(if is_map { MAP } else { ARRAY }, start, count);
        }
    }

    #[inline]
    fn map_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        key.serialize(crate::serde::ValueSerializer::new(self))
    }

    fn reserved_newtype<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        reserved::write(self, name, value)
    }
}

impl CborEncoder {
    /// Writes the length of a list or map that began at `start` with the length 0.
    fn insert_length(&mut self, major: u8, start: usize, count: usize) {
        let mut head = Self::new(Vec::new());
        head.head(major, count as u64);
        self.out.splice(start..=start, head.out);
    }
}
