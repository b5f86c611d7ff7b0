//! Reading items: of lists, and of `$value` fields.

use polywire_schema::Error;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::element::ElementDeserializer;
use super::reader::{Next, Reader};
use super::text::{Position, TextDeserializer};
use crate::xml_tokens::Span;

type Result<T> = std::result::Result<T, Error>;

/// A reader of a `$value` field: the element or text at the cursor.
pub(super) struct ContentDeserializer<'a, 'de> {
    pub(super) reader: &'a mut Reader<'de>,
    pub(super) fields: &'static [&'static str],
    pub(super) has_text: bool,
}

impl<'a, 'de> ContentDeserializer<'a, 'de> {
    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.reader.cursor.at;
        let mut items = ItemAccess {
            first: false,
            reader: self.reader,
            name: None,
            fields: self.fields,
            has_text: self.has_text,
        };
        let value = visitor.visit_seq(&mut items);
        items.finish(value, start)
    }
}

/// Methods that read the element or the text.
macro_rules! content {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value> {
            let reader = self.reader;
            let start = reader.cursor.at;
            if reader.next()? == Next::Element {
                reader.cursor.start_tag()?;
                return ElementDeserializer {
                    reader,
                    names_variant: true,
                    is_item: false,
                }
                .$method($($argument,)* visitor);
            }
            reader.cursor.at = start;
            let text = reader.text()?;
            TextDeserializer::new(reader, text, start, Position::Content)
                .$method($($argument,)* visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for ContentDeserializer<'_, 'de> {
    type Error = Error;

    content! {
        deserialize_any();
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
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_ignored_any();
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.list(visitor)
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
}

/// The items of a list: adjacent elements of one name, or in a `$value` field all elements
/// and texts up to an element that is another field.
pub(super) struct ItemAccess<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// Whether the start tag of the first item has been read.
    first: bool,
    /// The name of the elements. `None` in a `$value` field.
    name: Option<Span>,
    fields: &'static [&'static str],
    has_text: bool,
}

impl<'a, 'de> ItemAccess<'a, 'de> {
    /// The elements that have the name of the one whose start tag was read last.
    pub(super) fn named(reader: &'a mut Reader<'de>) -> Self {
        Self {
            first: true,
            name: Some(reader.cursor.name),
            reader,
            fields: &[],
            has_text: false,
        }
    }

    /// Looks whether an item comes next.
    #[inline]
    fn next(&mut self) -> Result<Next> {
        if self.first {
            return Ok(Next::Element);
        }
        let start = self.reader.cursor.at;
        let next = self.reader.next()?;
        let is_item = match (next, self.name) {
            (Next::Element, Some(name)) => self.reader.is_named(name),
            (Next::Element, None) => !self.reader.next_is_one_of(self.fields),
            (Next::Text, name) => name.is_none() && !self.has_text,
            (Next::End, _) => false,
        };
        if next == Next::Text || !is_item {
            self.reader.cursor.at = start;
        }
        Ok(if is_item { next } else { Next::End })
    }

    /// Checks that the type has read all items.
    pub(super) fn finish<T>(mut self, value: Result<T>, start: usize) -> Result<T> {
        let value = self.reader.at(value, start)?;
        match self.next()? {
            Next::End => Ok(value),
            _ => Err(self.reader.invalid_value(start, "fewer items")),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut ItemAccess<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let next = self.next()?;
        if next != Next::End {
            self.reader.count()?;
        }
        match next {
            Next::End => Ok(None),
            Next::Element => {
                if !std::mem::take(&mut self.first) {
                    self.reader.cursor.start_tag()?;
                }
                let item = ElementDeserializer {
                    names_variant: self.name.is_none(),
                    is_item: true,
                    reader: self.reader,
                };
                seed.deserialize(item).map(Some)
            }
            Next::Text => {
                let start = self.reader.cursor.at;
                let text = self.reader.text()?;
                let item = TextDeserializer::new(self.reader, text, start, Position::Content);
                seed.deserialize(item).map(Some)
            }
        }
    }
}
