//! Reading values from text: of attributes, of elements, and between elements.

use std::borrow::Cow;

use polywire_schema::Error;
use polywire_schema::serde_names::{BIG_DECIMAL, BIG_INTEGER, TIMESTAMP};
use polywire_text::base64;
use polywire_text::number::{parse_f32, parse_f64};
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor};

use super::reader::{Reader, SPACE};

type Result<T> = std::result::Result<T, Error>;

/// Where a text is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Position {
    /// In an attribute, an element or a list: it is there.
    Value,
    /// In a `$text` field, where empty text is `None`.
    Text,
    /// In a `$value` field, where text is the variant `$text`.
    Content,
}

/// A reader of a text. It begins at `start`.
pub(super) struct TextDeserializer<'a, 'de> {
    pub(super) reader: &'a mut Reader<'de>,
    pub(super) text: Cow<'de, str>,
    pub(super) start: usize,
    pub(super) position: Position,
}

impl<'a, 'de> TextDeserializer<'a, 'de> {
    pub(super) fn new(
        reader: &'a mut Reader<'de>,
        text: Cow<'de, str>,
        start: usize,
        position: Position,
    ) -> Self {
        Self {
            reader,
            text,
            start,
            position,
        }
    }

    /// Without white space at the ends.
    fn trim(mut self) -> Self {
        self.start += self.text.len() - self.text.trim_start_matches(SPACE).len();
        self.text = match self.text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(SPACE)),
            Cow::Owned(text) => Cow::Owned(text.trim_matches(SPACE).to_owned()),
        };
        self
    }

    #[inline]
    fn trimmed(&self) -> &str {
        self.text.trim_matches(SPACE)
    }

    /// The error for a text that the type cannot have.
    #[cold]
    fn invalid_value(self, expected: &'static str) -> Error {
        let Self { reader, start, .. } = self.trim();
        reader.invalid_value(start, expected)
    }

    fn str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let result = match self.text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        self.reader.at(result, self.start)
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let text = self.trimmed();
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
        self.reader.at(result, self.start)
    }

    fn bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match base64::STANDARD.decode_with_white_space(self.text.as_bytes()) {
            Ok(blob) => {
                let result = visitor.visit_byte_buf(blob.to_vec());
                self.reader.at(result, self.start)
            }
            Err(malformed) => Err(self.invalid_value(malformed.expected)),
        }
    }

    /// Values between white space.
    pub(super) fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Self {
            reader,
            text,
            start,
            ..
        } = self;
        let mut items = ListAccess {
            reader,
            text,
            start,
            at: 0,
        };
        let value = visitor.visit_seq(&mut items);
        let value = items.reader.at(value, start)?;
        match items.next_item() {
            None => Ok(value),
            Some(_) => Err(items.reader.invalid_value(start, "fewer items")),
        }
    }
}

/// The trimmed text as another type, if it is one.
macro_rules! numbers {
    ($($method:ident $parse:ident $visit:ident $type:ty;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let text = self.trimmed();
            // Other programs write infinities as `inf`.
            let value = match $parse(text.as_bytes()) {
                Ok(value) => Some(value),
                Err(_) => text.parse::<$type>().ok(),
            };
            match value {
                Some(value) => self.reader.at(visitor.$visit(value), self.start),
                None => Err(self.invalid_value("a number")),
            }
        })*
    };
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

impl<'de> Deserializer<'de> for TextDeserializer<'_, 'de> {
    type Error = Error;

    forward! {
        integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_u128;
        str: deserialize_any deserialize_str deserialize_string deserialize_identifier
            deserialize_map;
        bytes: deserialize_bytes deserialize_byte_buf;
        list: deserialize_seq;
    }

    numbers! {
        deserialize_f32 parse_f32 visit_f32 f32;
        deserialize_f64 parse_f64 visit_f64 f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let value = match self.trimmed() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(self.invalid_value("true or false")),
        };
        self.reader.at(visitor.visit_bool(value), self.start)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut characters = self.text.chars();
        match (characters.next(), characters.next()) {
            (Some(value), None) => self.reader.at(visitor.visit_char(value), self.start),
            _ => self.trim().str(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        // White space that is spelled by references is text.
        let is_blank = match &self.text {
            Cow::Borrowed(text) => text.trim_matches(SPACE).is_empty(),
            Cow::Owned(text) => text.is_empty(),
        };
        match self.position == Position::Text && is_blank {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.reader.at(visitor.visit_unit(), self.start)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        let start = self.start;
        match name {
            BIG_INTEGER | BIG_DECIMAL | TIMESTAMP => {
                let Self { reader, text, .. } = self.trim();
                let result = match text {
                    Cow::Borrowed(text) => {
                        visitor.visit_newtype_struct(BorrowedStrDeserializer::new(text))
                    }
                    Cow::Owned(text) => visitor.visit_newtype_struct(StrDeserializer::new(&text)),
                };
                reader.at(result, start)
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

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.str(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
}

impl<'de> EnumAccess<'de> for TextDeserializer<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        if self.position == Position::Content {
            let name = seed.deserialize(BorrowedStrDeserializer::new(super::TEXT));
            let name = self.reader.at(name, self.start)?;
            return Ok((name, self));
        }
        let trimmed = self.trim();
        let name = match &*trimmed.text {
            "" => seed.deserialize(BorrowedStrDeserializer::new(super::TEXT)),
            name => seed.deserialize(StrDeserializer::new(name)),
        };
        let name = trimmed.reader.at(name, trimmed.start)?;
        Ok((name, trimmed))
    }
}

impl<'de> TextDeserializer<'_, 'de> {
    /// The data of the variant `$text`; no other variant has any here.
    fn content(self) -> Result<Self> {
        if self.position == Position::Content {
            return Ok(self);
        }
        let expected = "a variant without data, or an element named like a variant";
        Err(self.reader.wrong_type(self.start, expected))
    }
}

impl<'de> VariantAccess<'de> for TextDeserializer<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        let mut content = self.content()?;
        content.position = Position::Value;
        seed.deserialize(content)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.content()?.list(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.content()?.str(visitor)
    }
}

/// The items of a text with white space between them (`xs:list`).
struct ListAccess<'a, 'de> {
    reader: &'a mut Reader<'de>,
    text: Cow<'de, str>,
    start: usize,
    at: usize,
}

impl<'de> ListAccess<'_, 'de> {
    /// The next item, and where it begins in the text.
    fn next_item(&mut self) -> Option<(Cow<'de, str>, usize)> {
        let rest = self.text.get(self.at..)?;
        let item = rest.trim_start_matches(SPACE);
        let start = self.at + rest.len() - item.len();
        let end = start + item.find(SPACE).unwrap_or(item.len());
        self.at = end;
        match &self.text {
            _ if start == end => None,
            Cow::Borrowed(text) => Some((Cow::Borrowed(&text[start..end]), start)),
            Cow::Owned(text) => Some((Cow::Owned(text[start..end].to_owned()), start)),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut ListAccess<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some((text, at)) = self.next_item() else {
            return Ok(None);
        };
        self.reader.count()?;
        // Where the text has references, its offsets are not those of the input.
        let start = match text {
            Cow::Borrowed(_) => self.start + at,
            Cow::Owned(_) => self.start,
        };
        let item = TextDeserializer::new(self.reader, text, start, Position::Value);
        seed.deserialize(item).map(Some)
    }
}
