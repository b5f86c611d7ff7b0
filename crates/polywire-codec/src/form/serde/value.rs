//! Deserializing values that may consist of several fields.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::access::{ItemAccess, MemberAccess};
use super::key::{self, Field};
use super::reader::Reader;
use super::scalar::ScalarDeserializer;
use crate::serde::TextKey;

type Result<T> = std::result::Result<T, Error>;

/// A deserializer of the fields whose keys have the same segments as the next one up to `end`.
pub(super) struct ValueDeserializer<'a, 'de> {
    pub(super) reader: &'a mut Reader<'de>,
    /// The next field.
    pub(super) field: Field,
    /// The end of the segments in its key.
    pub(super) end: usize,
    /// For the entry of a map: set to `true` if the type expects a scalar, because the rest of the key
    /// then belongs to the name of the entry.
    pub(super) takes_key: Option<&'a mut bool>,
}

impl<'a, 'de> ValueDeserializer<'a, 'de> {
    /// Whether the key has more segments, so that the value is not a scalar.
    #[inline]
    fn has_more_segments(&self) -> bool {
        self.end < self.field.key_end - self.field.key
    }

    /// Reads a scalar: the value of one field.
    #[inline]
    pub(super) fn scalar(self) -> Result<ScalarDeserializer<'a, 'de>> {
        if self.has_more_segments() {
            match self.takes_key {
                Some(takes_key) => *takes_key = true,
                None => {
                    let (field, kind) = (self.field, ErrorKind::WrongType);
                    let expected = "a scalar, not a key with more segments";
                    return Err(self.reader.key_error(field, self.end, kind, expected));
                }
            }
        }
        let Self { reader, field, .. } = self;
        let text = reader.value(field)?;
        reader.advance()?;
        Ok(ScalarDeserializer {
            reader,
            field,
            text,
        })
    }

    /// Reads an empty structure, list or map. Returns `false`, with nothing read, if it is not empty.
    /// A scalar is an error.
    fn take_empty(&mut self) -> Result<bool> {
        if self.has_more_segments() {
            return Ok(false);
        }
        if self.field.value < self.field.end {
            let (field, kind) = (self.field, ErrorKind::WrongType);
            let expected = "the name of a member after the key";
            return Err(self.reader.key_error(field, self.end, kind, expected));
        }
        self.reader.advance()?;
        Ok(true)
    }

    fn members<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        check_names: bool,
        visitor: V,
    ) -> Result<V::Value> {
        if self.take_empty()? {
            let empty = MapDeserializer::new(std::iter::empty::<((), ())>());
            return self
                .reader
                .with_position(visitor.visit_map(empty), Some(self.field));
        }
        let Self {
            reader, field, end, ..
        } = self;
        reader.sort()?;
        MemberAccess::read(reader, Some((field, end)), fields, check_names, visitor)
    }

    fn map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.members(&[], true, visitor)
    }

    fn list<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.reader.sort()?;
        let is_empty =
            !self.has_more_segments() && self.field.value == self.field.end && !self.is_repeated();
        if is_empty && self.take_empty()? {
            let empty = SeqDeserializer::new(std::iter::empty::<()>());
            return self
                .reader
                .with_position(visitor.visit_seq(empty), Some(self.field));
        }
        let (field, end) = (self.field, self.end);
        ItemAccess::read(self.reader, field, end, self.has_more_segments(), visitor)
    }

    /// Whether another field has the same key. The fields must be sorted.
    fn is_repeated(&self) -> bool {
        let key = self.field.key(self.reader.form);
        self.reader.second().is_some_and(|second| {
            let second = second.key(self.reader.form);
            key::compare(second, key).is_eq()
        })
    }

    fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.reader.sort()?;
        let key = self.field.key(self.reader.form);
        let rest = key.get(self.end + 1..).unwrap_or_default();
        if !self.has_more_segments() {
            return match self.is_repeated() {
                true => self.list(visitor),
                false => self.scalar()?.deserialize_any(visitor),
            };
        }
        match key::is_number(&rest[..key::segment_end(rest, 0)]) {
            true => self.list(visitor),
            false => self.map(visitor),
        }
    }

    /// Skips the value. In a structure, this skips only one field: the structure sees the name again
    /// for each of the other fields.
    fn skip(self) -> Result<()> {
        let Self {
            reader,
            field,
            end,
            takes_key,
        } = self;
        reader.value(field)?;
        if takes_key.is_none() {
            return reader.advance();
        }
        reader.sort()?;
        let prefix = &field.key(reader.form)[..end];
        while let Some(next) = reader.peek()
            && key::strip_prefix(next.key(reader.form), prefix).is_some()
        {
            reader.value(next)?;
            reader.advance()?;
        }
        Ok(())
    }
}

/// Defines methods that forward to the deserializer of a scalar.
macro_rules! scalars {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(
                self,
                $($argument: $type,)*
                visitor: V,
            ) -> Result<V::Value> {
                self.scalar()?.$method($($argument,)* visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_, 'de> {
    type Error = Error;

    scalars! {
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_identifier();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    crate::serde::deserialize_transparent!();
    crate::serde::deserialize_lists_with!(list);

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.map(visitor)
    }

    /// Derived implementations check for duplicate members.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.members(fields, false, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if !self.has_more_segments() {
            return self.scalar()?.deserialize_enum(name, variants, visitor);
        }
        let Self {
            reader, field, end, ..
        } = self;
        read_variant(reader, field, Some(end), visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }
}

/// Reads an enum. Its variant is the key segment after `end`, or the first segment without an `end`.
pub(super) fn read_variant<'de, V: Visitor<'de>>(
    reader: &mut Reader<'de>,
    field: Field,
    end: Option<usize>,
    visitor: V,
) -> Result<V::Value> {
    reader.sort()?;
    reader.enter()?;
    let start = end.map_or(0, |end| end + 1);
    let value = visitor.visit_enum(VariantDeserializer {
        reader: &mut *reader,
        field,
        start,
    });
    let value = reader.with_position(value, Some(field))?;
    reader.leave();
    let prefix = end.map(|end| &field.key(reader.form)[..end]);
    match reader.peek() {
        Some(next)
            if prefix.is_none_or(|prefix| {
                key::strip_prefix(next.key(reader.form), prefix).is_some()
            }) =>
        {
            let (kind, expected) = (ErrorKind::InvalidValue, "one variant");
            Err(reader.key_error(next, start, kind, expected))
        }
        _ => Ok(value),
    }
}

/// A deserializer of an enum whose variant is a segment of a key.
struct VariantDeserializer<'a, 'de> {
    reader: &'a mut Reader<'de>,
    field: Field,
    start: usize,
}

impl<'a, 'de> EnumAccess<'de> for VariantDeserializer<'a, 'de> {
    type Error = Error;
    type Variant = ValueDeserializer<'a, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant)> {
        let Self {
            reader,
            field,
            start,
        } = self;
        let end = key::segment_end(field.key(reader.form), start);
        let name: Cow<'de, str> = reader.decode(field.key + start, field.key + end)?;
        let name = reader.with_position(seed.deserialize(TextKey(name)), Some(field))?;
        let value = ValueDeserializer {
            reader,
            field,
            end,
            takes_key: None,
        };
        Ok((name, value))
    }
}

impl<'de> VariantAccess<'de> for ValueDeserializer<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        serde::Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.list(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.members(fields, false, visitor)
    }
}
