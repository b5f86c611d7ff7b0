//! Reading values as serde types.

use polywire_schema::serde_names::{BLOB, TIMESTAMP, VALUE, number_of};
use polywire_schema::{BigInteger, Decoder, Error, Member};
use polywire_text::base64;
use serde::de::{Deserializer, Visitor};

use crate::xmlrpc::XmlRpcDecoder;

/// Base64 of at most so many characters is decoded on the stack.
const FEW_BYTES: usize = 96;

/// The value at the reader.
pub(crate) struct Reader<'a, 'de> {
    pub(super) decoder: &'a mut XmlRpcDecoder<'de>,
    /// Whether a [`Value`](polywire_schema::Value) asks, which takes what serde has no type for.
    pub(super) for_value: bool,
}

impl<'a, 'de> Reader<'a, 'de> {
    #[inline]
    pub(super) const fn new(decoder: &'a mut XmlRpcDecoder<'de>) -> Self {
        Self {
            decoder,
            for_value: false,
        }
    }

    /// An integer of 64 bits, which most are.
    #[inline(always)]
    fn integer(&mut self) -> Result<i64, Error> {
        match self.decoder.short_integer() {
            Some(value) => Ok(value),
            None => self.any_integer(),
        }
    }

    #[inline(never)]
    fn any_integer(&mut self) -> Result<i64, Error> {
        if let Some(value) = self.decoder.longer_integer() {
            return Ok(value);
        }
        let start = self.decoder.cursor.at;
        let value = self.decoder.any_integer("an integer")?;
        value
            .to_i64()
            .ok_or_else(|| self.decoder.invalid(start, "an integer of 64 bits"))
    }
}

impl<'de> XmlRpcDecoder<'de> {
    /// The error of a type, with the place of its value if it has none.
    #[cold]
    pub(super) fn placed(&mut self, error: Error, start: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let end = std::mem::replace(&mut self.cursor.at, start);
        let place = self.error(error.kind(), "");
        self.cursor.at = end;
        error
            .in_format(place.format())
            .at_offset(start)
            .at_path(place.path().to_owned())
    }
}

/// A number as what was asked for.
macro_rules! numbers {
    ($($method:ident $visit:ident;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
                let start = self.decoder.cursor.at;
                let value = self.integer()?;
                visitor.$visit(value).map_err(|error| self.decoder.placed(error, start))
            }
        )*
    };
}

/// The same without a sign, if it has none.
macro_rules! unsigned {
    ($($method:ident;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
                let start = self.decoder.cursor.at;
                let value = self.integer()?;
                visit_unsigned(value, visitor).map_err(|error| self.decoder.placed(error, start))
            }
        )*
    };
}

/// Hands over what was asked for without a sign.
#[inline]
fn visit_unsigned<'de, V: Visitor<'de>>(value: i64, visitor: V) -> Result<V::Value, Error> {
    match u64::try_from(value) {
        Ok(value) => visitor.visit_u64(value),
        Err(_) => visitor.visit_i64(value),
    }
}

impl<'de> Deserializer<'de> for Reader<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.any(visitor)
    }

    numbers! {
        deserialize_i8 visit_i64;
        deserialize_i16 visit_i64;
        deserialize_i32 visit_i64;
        deserialize_i64 visit_i64;
    }

    unsigned! {
        deserialize_u8;
        deserialize_u16;
        deserialize_u32;
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let visited = match self.decoder.plain_integer() {
            Some(value) => visit_unsigned(value, visitor),
            None => {
                let value = self.decoder.any_integer("an integer")?;
                match value.as_str().parse() {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => {
                        let expected = "an integer from 0 to 2^64 - 1";
                        return Err(self.decoder.invalid(start, expected));
                    }
                }
            }
        };
        visited.map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value: BigInteger = self.decoder.any_integer("an integer")?;
        match value.as_str().parse() {
            Ok(value) => visitor
                .visit_i128(value)
                .map_err(|error| self.decoder.placed(error, start)),
            Err(_) => Err(self.decoder.invalid(start, "an integer of 128 bits")),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value: BigInteger = self.decoder.any_integer("an integer")?;
        match value.as_str().parse() {
            Ok(value) => visitor
                .visit_u128(value)
                .map_err(|error| self.decoder.placed(error, start)),
            Err(_) => Err(self
                .decoder
                .invalid(start, "an integer from 0 to 2^128 - 1")),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = match self.decoder.plain_boolean() {
            Some(value) => value,
            None => self.decoder.boolean(Member::DOCUMENT)?,
        };
        visitor
            .visit_bool(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = self.decoder.float(Member::DOCUMENT)?;
        visitor
            .visit_f32(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        let value = match self.decoder.plain_double() {
            Some(value) => value,
            None => self.decoder.double(Member::DOCUMENT)?,
        };
        visitor
            .visit_f64(value)
            .map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        if let Some(text) = self.decoder.plain_string() {
            return visitor
                .visit_borrowed_str(text)
                .map_err(|error| self.decoder.placed(error, start));
        }
        self.any_str(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        // Few bytes need no vector of their own.
        let mut few = [0; FEW_BYTES];
        let decode = |text: &[u8]| match text.len() <= FEW_BYTES {
            true => {
                let bytes = base64::STANDARD.decode_to_slice(text, &mut few);
                bytes.ok().map(|bytes| Ok(bytes.len()))
            }
            false => {
                let mut bytes = Vec::new();
                base64::STANDARD.push_decoded(&mut bytes, text).ok()?;
                Some(Err(bytes))
            }
        };
        let bytes = match self.decoder.plain_bytes(decode) {
            Some(Ok(len)) => {
                let visited = visitor.visit_bytes(&few[..len]);
                return visited.map_err(|error| self.decoder.placed(error, start));
            }
            Some(Err(bytes)) => bytes,
            None => Vec::from(self.decoder.blob(Member::DOCUMENT)?),
        };
        visitor
            .visit_byte_buf(bytes)
            .map_err(|error| self.decoder.placed(error, start))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.decoder.is_nil()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        match self.decoder.is_nil()? {
            true => visitor.visit_unit(),
            false => Err(self.decoder.wrong_type(start, "nil")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let start = self.decoder.cursor.at;
        match name {
            BLOB => self.deserialize_byte_buf(visitor),
            TIMESTAMP => {
                let timestamp = match self.decoder.plain_date() {
                    Some(timestamp) => timestamp,
                    None => self.decoder.any_timestamp()?,
                };
                visitor
                    .visit_i128(number_of(timestamp))
                    .map_err(|error| self.decoder.placed(error, start))
            }
            VALUE => {
                self.for_value = true;
                visitor.visit_newtype_struct(self)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_array()?;
        self.sequence(seq, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_struct()?;
        // Maps of serde take what comes last; structures see to it themselves.
        self.mapping(seq, true, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let seq = self.decoder.begin_any_struct()?;
        self.mapping(seq, false, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.variant(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.decoder.skip_value()?;
        visitor.visit_unit()
    }
}
