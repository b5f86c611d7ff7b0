//! serde for JSON, with the representation of serde_json.

use std::borrow::Cow;

use polywire_schema::serde_names::{BIG_DECIMAL, BIG_INTEGER, ExtendedValue, VALUE};
use polywire_schema::{
    BigInteger, Encoder as _, Error, ErrorKind, Event, Limits, Member, Seq, TokenReader as _, Value,
};
use polywire_text::number::{Integer, decimal_prefix, integer_prefix, parse_f64};
use polywire_text::{escape, number, utf8};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, Visitor};
use serde::{Deserialize, Serialize};

use super::{JsonDecoder, JsonEncoder, JsonProfile, locate};
use crate::integers;
use crate::serde::{
    Capture, Keys, Kind, SerdeReader, SerdeWriter, TextKey, ValueDeserializer, ValueSerializer,
    capture,
};

impl<'de> JsonDecoder<'de> {
    /// Deserializes the next value. Strings without escapes can be borrowed.
    ///
    /// Bytes are read from a list of numbers or from the UTF-8 of a string. NaN and infinities have no
    /// representation.
    ///
    /// ```
    /// use polywire_codec::json::{JsonDecoder, JsonProfile};
    /// use polywire_schema::Limits;
    ///
    /// let text = r#"["abc", 42]"#;
    /// let mut decoder = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    /// let (name, number): (&str, u8) = decoder.deserialize()?;
    /// assert_eq!((name, number), ("abc", 42));
    /// decoder.finish()?;
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value is malformed, does not match the type, or exceeds the limits.
    pub fn deserialize<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        crate::serde::deserialize(self)
    }
}

impl JsonEncoder {
    /// Serializes a value.
    ///
    /// ```
    /// use polywire_codec::json::{JsonEncoder, JsonProfile};
    ///
    /// let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    /// encoder.serialize(&("abc", Some(42)))?;
    /// assert_eq!(encoder.finish()?, br#"["abc",42]"#);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value has no representation in JSON, such as NaN, an infinity, or a key that is a list or
    /// a map; or the type reports an error. [`finish`](Self::finish) then returns the same error.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        crate::serde::serialize(self, value)
    }
}

pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let text = utf8::validate(bytes).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0).in_format("JSON")
    })?;
    read_text(text)
}

pub(super) fn read_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, out);
    encoder.serialize(value)?;
    encoder.finish()
}

impl<'de> SerdeReader<'de> for JsonDecoder<'de> {
    const HUMAN_READABLE: bool = true;

    #[inline(always)]
    fn kind(&mut self) -> Result<Kind, Error> {
        Ok(match self.peek_token() {
            b'"' => Kind::String,
            b'{' => Kind::Map,
            b'[' => Kind::List,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' | b'f' => Kind::Boolean,
            b'n' => Kind::Null,
            _ => return Err(self.error(ErrorKind::Syntax, "a JSON value")),
        })
    }

    #[inline(always)]
    fn position(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    #[cold]
    fn locate(&self, error: Error, offset: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let path = locate::path(self.text, offset);
        error.in_format("JSON").at_offset(offset).at_path(path)
    }

    #[inline(always)]
    fn next_element(&mut self, is_map: bool, seq: &mut Seq) -> Result<bool, Error> {
        match is_map {
            true => self.next_item(seq, b'}', "a comma or } after a member"),
            false => self.next_item(seq, b']', "a comma or ] after an item"),
        }
    }

    #[inline]
    fn map_key<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
        keys: Option<&mut Keys<'de>>,
    ) -> Result<K::Value, Error> {
        let start = self.at;
        let key = self.serde_key()?;
        if let Some(keys) = keys {
            keys.push(match &key {
                Cow::Borrowed(key) => Cow::Borrowed(key.as_bytes()),
                Cow::Owned(key) => Cow::Owned(key.clone().into_bytes()),
            });
        }
        match seed.deserialize(TextKey(key)) {
            Ok(key) => Ok(key),
            Err(error) => Err(SerdeReader::locate(self, error, start)),
        }
    }

    #[inline(always)]
    fn quick_integer(&mut self) -> Option<i64> {
        let rest = self.rest();
        let Integer::Small(value, len) = integer_prefix(rest) else {
            return None;
        };
        let sign = usize::from(value < 0);
        let is_plain = len == sign + 1 || rest.get(sign).is_some_and(|first| *first > b'0');
        if !is_plain || matches!(rest.get(len), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.at += len;
        Some(value)
    }

    #[inline(always)]
    fn quick_double(&mut self) -> Option<f64> {
        let (value, len) = decimal_prefix(self.rest())?;
        self.at += len;
        Some(value)
    }

    #[inline(always)]
    fn quick_str(&mut self) -> Option<&'de str> {
        if self.peek() != b'"' {
            return None;
        }
        let (window, len) = self.short_text(self.at + 1)?;
        let text = window.get(..len)?;
        self.at += len + 2;
        Some(text)
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let start = self.at;
        let (number, is_integer) = self.number()?;
        // Integers have no negative zero.
        if number == "-0" {
            return visitor.visit_f64(-0.0);
        }
        if !is_integer {
            return match parse_f64(number.as_bytes()) {
                Ok(value) => visitor.visit_f64(value),
                Err(_) => Err(self.invalid_value(start, "a number of 64 bits")),
            };
        }
        match integer_prefix(number.as_bytes()) {
            Integer::Small(value, _) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            _ => match BigInteger::parse(self.digits(start)?) {
                Ok(value) => integers::visit(&value, visitor),
                Err(_) => Err(self.invalid_value(start, "an integer")),
            },
        }
    }

    /// Big numbers and `Value` keep all digits of a number of more than 64 bits.
    fn reserved_newtype<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let is_number = SerdeReader::kind(self)? == Kind::Number;
        match name {
            VALUE if !is_number => return ValueDeserializer(self).any(false, visitor),
            BIG_INTEGER | BIG_DECIMAL if is_number => {
                let (digits, _) = self.number()?;
                let digits: StrDeserializer<'_, Error> = digits.into_deserializer();
                return visitor.visit_newtype_struct(digits);
            }
            VALUE => {}
            _ => return visitor.visit_newtype_struct(ValueDeserializer(self)),
        }
        match self.any()? {
            Event::Scalar(Value::Integer(value)) => visitor.visit_i64(value),
            Event::Scalar(Value::Double(value)) => visitor.visit_f64(value),
            Event::Scalar(Value::BigInteger(value)) => {
                ExtendedValue::BigInteger(value).visit(visitor)
            }
            Event::Scalar(Value::BigDecimal(value)) => {
                ExtendedValue::BigDecimal(value).visit(visitor)
            }
            _ => Err(self.error(ErrorKind::WrongType, "a number")),
        }
    }
}

impl<'de> JsonDecoder<'de> {
    /// Reads a key, the colon after it, and white space up to the value.
    #[inline(always)]
    fn serde_key(&mut self) -> Result<Cow<'de, str>, Error> {
        // A short key without escapes, directly followed by the colon.
        if self.peek() == b'"'
            && let Some((window, len)) = self.short_text(self.at + 1)
            && self.text.as_bytes().get(self.at + len + 2) == Some(&b':')
            && let Some(key) = window.get(..len)
        {
            self.at = self.token_after_colon(self.at + len + 3).0;
            return Ok(Cow::Borrowed(key));
        }
        self.key_text()
    }
}

impl SerdeWriter for JsonEncoder {
    const FORMAT: &'static str = "JSON";
    const HUMAN_READABLE: bool = true;

    #[inline]
    fn unsigned(&mut self, value: u64) -> Result<(), Error> {
        match i64::try_from(value) {
            Ok(value) => self.integer(Member::DOCUMENT, value),
            Err(_) => self.push_digits(&value.to_string()),
        }
        Ok(())
    }

    fn digits(&mut self, digits: &str) -> Result<(), Error> {
        let parsed = number::json_number(digits.as_bytes());
        if !parsed.is_ok_and(|(len, _)| len == digits.len()) {
            return Err(self.unwritable("the digits of a number".to_owned()));
        }
        self.push_digits(digits);
        Ok(())
    }

    /// A list of numbers.
    fn bytes(&mut self, value: &[u8]) {
        self.out.push(b'[');
        for byte in value {
            self.integer(Member::DOCUMENT, i64::from(*byte));
        }
        self.close(b']');
    }

    #[inline]
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline]
    fn begin(&mut self, is_map: bool, _: Option<usize>) {
        self.out.push(if is_map { b'{' } else { b'[' });
    }

    #[inline]
    fn end(&mut self, is_map: bool, _: usize, _: Option<usize>, _: usize) {
        self.close(if is_map { b'}' } else { b']' });
    }

    #[inline]
    fn map_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        key.serialize(Capture::new(|key: &str| {
            escape::push_json_string(&mut self.out, key, *b"\":");
        }))
    }

    /// Big numbers are numbers with all their digits.
    fn reserved_newtype<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if !matches!(name, BIG_INTEGER | BIG_DECIMAL) {
            return value.serialize(ValueSerializer::new(self));
        }
        SerdeWriter::digits(self, &capture(value)?)
    }
}
