//! Reading elements whose start tag has been read.

use std::borrow::Cow;

use polywire_schema::Error;
use polywire_schema::serde_names::{BIG_DECIMAL, BIG_INTEGER, TIMESTAMP};
use polywire_text::number::{Integer, decimal_prefix, integer_prefix};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::super::cursor::CONTENT;
use super::items::ItemAccess;
use super::members::MemberAccess;
use super::reader::{Next, Reader};
use super::text::{Position, TextDeserializer};
use crate::xml_tokens::Span;

type Result<T> = std::result::Result<T, Error>;

/// A reader of the element whose start tag was read last.
pub(super) struct ElementDeserializer<'a, 'de> {
    pub(super) reader: &'a mut Reader<'de>,
    /// Whether the name of the element is the variant of an enum, as of the root element.
    pub(super) names_variant: bool,
    /// Whether the element is an item of a list. A list in it is text, since repeated
    /// elements are the items of the outer list.
    pub(super) is_item: bool,
}

impl<'a, 'de> ElementDeserializer<'a, 'de> {
    /// Of the root element.
    pub(super) fn root(reader: &'a mut Reader<'de>) -> Self {
        Self {
            reader,
            names_variant: true,
            is_item: true,
        }
    }

    /// Of the element of a field, or the first of them.
    #[inline]
    pub(super) fn field(reader: &'a mut Reader<'de>) -> Self {
        Self {
            reader,
            names_variant: false,
            is_item: false,
        }
    }

    /// The text of the element.
    fn text(self) -> Result<TextDeserializer<'a, 'de>> {
        let (text, start) = self.reader.element_text()?;
        let position = Position::Value;
        Ok(TextDeserializer::new(self.reader, text, start, position))
    }

    #[inline]
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let cursor = &mut self.reader.cursor;
        let start = cursor.at;
        if cursor.value_kind == CONTENT
            && let Integer::Small(value, len) = integer_prefix(cursor.rest())
            && let Some(end) = cursor.plain_end(start + len, cursor.name)
        {
            cursor.at = end;
            let result = match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            };
            return self.reader.at(result, start);
        }
        self.slow_integer(visitor)
    }

    #[inline(never)]
    fn slow_integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.text()?.deserialize_i64(visitor)
    }

    fn bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.text()?.deserialize_bytes(visitor)
    }

    #[inline]
    fn str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let (text, start) = self.reader.element_text()?;
        let result = match text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        self.reader.at(result, start)
    }

    /// The members of a structure, or the entries of a map if `check_names` says that no
    /// name may come twice.
    #[inline]
    fn members<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        check_names: bool,
        visitor: V,
    ) -> Result<V::Value> {
        let start = self.reader.cursor.at;
        let mut members = MemberAccess::new(self.reader, fields, check_names)?;
        let value = visitor.visit_map(&mut members);
        members.finish(value, start)
    }

    /// The elements of a list that is a field, or the text of one that is not.
    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_item {
            return self.text()?.list(visitor);
        }
        let start = self.reader.cursor.at;
        let mut items = ItemAccess::named(self.reader);
        let value = visitor.visit_seq(&mut items);
        items.finish(value, start)
    }

    /// A value of any type: text, or a map if there are elements or attributes.
    fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.reader.cursor.is_nil() {
            self.reader.skip_element()?;
            return visitor.visit_unit();
        }
        let is_map = self.reader.has_attributes() || {
            let cursor = &mut self.reader.cursor;
            cursor.value_kind == CONTENT
                && cursor.plain_text().is_none()
                && cursor.has_elements()?
        };
        match is_map {
            true => self.members(&[], true, visitor),
            false => self.str(visitor),
        }
    }

    fn unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.reader.cursor.at;
        self.reader.skip_element()?;
        self.reader.at(visitor.visit_unit(), start)
    }

    /// The variant of an enum in an element: its name, or an element of that name.
    fn inner_variant<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let reader = self.reader;
        let outer = reader.cursor.name;
        let start = reader.cursor.at;
        if reader.cursor.value_kind != CONTENT || reader.next()? != Next::Element {
            reader.cursor.at = start;
            return ElementDeserializer::field(reader)
                .text()?
                .deserialize_enum("", &[], visitor);
        }
        reader.enter()?;
        reader.cursor.start_tag()?;
        let value = visitor.visit_enum(VariantDeserializer {
            reader,
            is_item: false,
        });
        let value = reader.at(value, start)?;
        reader.cursor.skip_between()?;
        reader.cursor.end_tag(outer)?;
        reader.leave();
        Ok(value)
    }
}

macro_rules! forward {
    ($($read:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$read(visitor)
            }
        )*)*
    };
}

impl<'de> Deserializer<'de> for ElementDeserializer<'_, 'de> {
    type Error = Error;

    forward! {
        integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_u128;
        str: deserialize_str deserialize_string deserialize_identifier;
        bytes: deserialize_bytes deserialize_byte_buf;
        any: deserialize_any;
        list: deserialize_seq;
        unit: deserialize_unit deserialize_ignored_any;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.text()?.deserialize_bool(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.text()?.deserialize_char(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.text()?.deserialize_f32(visitor)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let cursor = &mut self.reader.cursor;
        let start = cursor.at;
        if cursor.value_kind == CONTENT
            && let Some((value, len)) = decimal_prefix(cursor.rest())
            && let Some(end) = cursor.plain_end(start + len, cursor.name)
        {
            cursor.at = end;
            return self.reader.at(visitor.visit_f64(value), start);
        }
        self.text()?.deserialize_f64(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.reader.cursor.is_nil() {
            true => {
                self.reader.skip_element()?;
                visitor.visit_none()
            }
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            BIG_INTEGER | BIG_DECIMAL | TIMESTAMP => {
                self.text()?.deserialize_newtype_struct(name, visitor)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.members(&[], true, visitor)
    }

    /// A structure checks itself that no member comes twice.
    #[inline]
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
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if !self.names_variant {
            return self.inner_variant(visitor);
        }
        let start = self.reader.cursor.at;
        let value = visitor.visit_enum(VariantDeserializer {
            reader: &mut *self.reader,
            is_item: self.is_item,
        });
        self.reader.at(value, start)
    }
}

/// A reader of an enum whose variant is the name of the element.
struct VariantDeserializer<'a, 'de> {
    reader: &'a mut Reader<'de>,
    is_item: bool,
}

impl<'a, 'de> VariantDeserializer<'a, 'de> {
    fn element(self) -> ElementDeserializer<'a, 'de> {
        ElementDeserializer {
            reader: self.reader,
            names_variant: false,
            is_item: self.is_item,
        }
    }
}

impl<'de> EnumAccess<'de> for VariantDeserializer<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let Span { start, .. } = self.reader.cursor.name;
        let name = seed.deserialize(BorrowedStrDeserializer::new(self.reader.name()));
        let name = self.reader.at(name, start)?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for VariantDeserializer<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        self.reader.skip_element()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.element())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.element().list(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.element().members(fields, false, visitor)
    }
}
