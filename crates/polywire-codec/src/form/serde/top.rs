//! Deserializing the form.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::access::MemberAccess;
use super::key::Field;
use super::reader::Reader;
use super::scalar::ScalarDeserializer;
use super::value::read_variant;
use crate::serde::TextKey;

type Result<T> = std::result::Result<T, Error>;

/// A deserializer of the form.
pub(super) struct FormDeserializer<'a, 'de>(pub(super) &'a mut Reader<'de>);

impl<'de> FormDeserializer<'_, 'de> {
    /// A list of pairs of keys and values.
    fn pairs<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.enter()?;
        let value = visitor.visit_seq(PairsAccess(&mut *self.0));
        let value = self.0.with_position(value, None)?;
        self.0.leave();
        Ok(value)
    }

    #[cold]
    fn no_fields(self) -> Error {
        let error = Error::new(ErrorKind::WrongType).expected("a structure, map or list of pairs");
        self.0.locate(error, None)
    }
}

macro_rules! scalars {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
            Err(self.no_fields())
        })*
    };
}

impl<'de> Deserializer<'de> for FormDeserializer<'_, 'de> {
    type Error = Error;

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_identifier deserialize_bytes deserialize_byte_buf
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.peek() {
            None => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    /// A form without fields. `Reader::finish` reports remaining fields.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_unit()
    }

    crate::serde::deserialize_transparent!();
    crate::serde::deserialize_lists_with!(pairs);

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        MemberAccess::read(self.0, None, &[], true, visitor)
    }

    /// Derived implementations check for duplicate members.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        MemberAccess::read(self.0, None, fields, false, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0.peek() {
            Some(field) => read_variant(self.0, field, None, visitor),
            None => {
                let error = Error::new(ErrorKind::Missing).expected("a variant");
                Err(self.0.locate(error, None))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        while let Some(field) = self.0.peek() {
            self.0.decode(field.key, field.key_end)?;
            self.0.value(field)?;
            self.0.advance()?;
        }
        visitor.visit_unit()
    }
}

/// The fields of a form as pairs.
struct PairsAccess<'a, 'de>(&'a mut Reader<'de>);

impl<'de> SeqAccess<'de> for PairsAccess<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(field) = self.0.peek() else {
            return Ok(None);
        };
        let key = self.0.decode(field.key, field.key_end)?;
        self.0.advance()?;
        let pair = PairDeserializer {
            reader: &*self.0,
            field,
            key: Some(key),
            is_read: false,
        };
        let pair = seed.deserialize(pair);
        self.0.with_position(pair, Some(field)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

/// A deserializer of one pair, and access to its halves.
struct PairDeserializer<'a, 'de> {
    reader: &'a Reader<'de>,
    field: Field,
    /// The key, until it has been read.
    key: Option<Cow<'de, str>>,
    is_read: bool,
}

impl<'de> Deserializer<'de> for PairDeserializer<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let value = visitor.visit_seq(&mut self)?;
        match self.is_read {
            true => Ok(value),
            false => Err(Error::new(ErrorKind::WrongType).expected("a pair")),
        }
    }

    crate::serde::deserialize_transparent!();

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for &mut PairDeserializer<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if let Some(key) = self.key.take() {
            return seed.deserialize(TextKey(key)).map(Some);
        }
        if std::mem::replace(&mut self.is_read, true) {
            return Ok(None);
        }
        let value = ScalarDeserializer {
            reader: self.reader,
            field: self.field,
            text: self.reader.value(self.field)?,
        };
        seed.deserialize(value).map(Some)
    }
}
