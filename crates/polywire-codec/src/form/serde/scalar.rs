//! Deserializing the text of a field.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use polywire_text::base64;
use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, IntoDeserializer as _, Visitor};

use super::key::Field;
use super::reader::Reader;

type Result<T> = std::result::Result<T, Error>;

/// A deserializer of the text of a field.
pub(super) struct ScalarDeserializer<'a, 'de> {
    pub(super) reader: &'a Reader<'de>,
    pub(super) field: Field,
    pub(super) text: Cow<'de, str>,
}

impl<'de> ScalarDeserializer<'_, 'de> {
    #[cold]
    fn invalid_value(&self, expected: &'static str) -> Error {
        self.reader
            .error(self.field, ErrorKind::InvalidValue, expected)
    }

    #[inline]
    fn with_position<T>(&self, result: Result<T>) -> Result<T> {
        self.reader.with_position(result, Some(self.field))
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let text = &*self.text;
        let result = if let Ok(value) = text.parse::<u64>() {
            visitor.visit_u64(value)
        } else if let Ok(value) = text.parse::<i64>() {
            visitor.visit_i64(value)
        } else if let Ok(value) = text.parse::<i128>() {
            visitor.visit_i128(value)
        } else if let Ok(value) = text.parse::<u128>() {
            visitor.visit_u128(value)
        } else {
            return Err(self.invalid_value("an integer"));
        };
        self.with_position(result)
    }

    fn bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match base64::decode(self.text.as_bytes()) {
            Ok(blob) => self.with_position(visitor.visit_byte_buf(blob.to_vec())),
            Err(malformed) => Err(self.invalid_value(malformed.expected)),
        }
    }

    #[inline]
    fn str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Self {
            reader,
            field,
            text,
        } = self;
        let result = match text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        reader.with_position(result, Some(field))
    }
}

macro_rules! scalars {
    ($($read:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$read(visitor)
            }
        )*)*
    };
    (parse $($method:ident $visit:ident $type:ty = $expected:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.text.parse::<$type>() {
                Ok(value) => self.with_position(visitor.$visit(value)),
                Err(_) => Err(self.invalid_value($expected)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for ScalarDeserializer<'_, 'de> {
    type Error = Error;

    scalars! {
        integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_u128;
        str: deserialize_any deserialize_str deserialize_string deserialize_identifier
            deserialize_char deserialize_map;
        bytes: deserialize_bytes deserialize_byte_buf;
    }

    scalars! {
        parse
        deserialize_bool visit_bool bool = "true or false";
        deserialize_f32 visit_f32 f32 = "a number";
        deserialize_f64 visit_f64 f64 = "a number";
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text.is_empty() {
            true => self.with_position(visitor.visit_unit()),
            false => Err(self.invalid_value("nothing")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    crate::serde::deserialize_transparent!();
    crate::serde::deserialize_lists_with!(str);

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.str(visitor)
    }

    /// A variant without data.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let name: StrDeserializer<'_, Error> = (*self.text).into_deserializer();
        self.with_position(visitor.visit_enum(name))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
}
