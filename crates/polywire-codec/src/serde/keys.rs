//! Keys of maps.

use std::borrow::Cow;

use polywire_schema::Error;
use polywire_text::number::json_number;
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// The keys of a map, as text or as encoded bytes, to detect duplicates.
#[derive(Debug, Default)]
pub(crate) struct Keys<'de>(Vec<Cow<'de, [u8]>>);

impl<'de> Keys<'de> {
    #[inline]
    pub(crate) fn push(&mut self, key: Cow<'de, [u8]>) {
        self.0.push(key);
    }

    /// Returns a duplicate key, if there is one.
    pub(crate) fn duplicate(mut self) -> Option<Cow<'de, [u8]>> {
        if self.0.len() < 2 {
            return None;
        }
        // Hashes are faster to sort than keys. Keys are sorted only if two hashes are equal.
        let mut hashes: Vec<u64> = self.0.iter().map(|key| hash(key)).collect();
        hashes.sort_unstable();
        if hashes.is_sorted_by(|left, right| left < right) {
            return None;
        }
        self.0.sort_unstable();
        let duplicate = self.0.windows(2).position(|pair| pair[0] == pair[1])?;
        Some(self.0.swap_remove(duplicate))
    }
}

/// A hash of a key. It need not resist collisions: equal hashes only cause a sort of the keys.
fn hash(key: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let (words, rest) = key.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let hash = words.fold(key.len() as u64, mix);
    let rest = rest
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte));
    mix(hash, rest)
}

/// A deserializer of a key in a format with text keys. Numbers and booleans are parsed from the
/// text. Numbers must follow the grammar of JSON, and an integer must not be `-0`, so that equal
/// integers have equal keys.
pub(crate) struct TextKey<'de>(pub(crate) Cow<'de, str>);

impl TextKey<'_> {
    fn is_number(&self, must_be_integer: bool) -> bool {
        let text = self.0.as_bytes();
        match json_number(text) {
            Ok((len, is_integer)) => {
                len == text.len() && (!must_be_integer || is_integer && text != b"-0")
            }
            Err(_) => false,
        }
    }
}

macro_rules! parsed {
    ($must_be_integer:literal $($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(value) if self.is_number($must_be_integer) => visitor.$visit(value),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for TextKey<'de> {
    type Error = Error;

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.parse() {
            Ok(value) => visitor.visit_bool(value),
            Err(_) => self.deserialize_any(visitor),
        }
    }

    parsed! {
        true
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
    }

    parsed! {
        false
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    super::deserialize_transparent!();

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
