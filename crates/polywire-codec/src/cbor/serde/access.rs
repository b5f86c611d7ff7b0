//! What is in lists, maps and variants.

use polywire_schema::{Decoder, Error, ErrorKind, Member, Seq};
use serde::de::value::U8Deserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::super::CborDecoder;
use super::super::head::INDEFINITE;
use super::de::{Reader, place};
use super::keys::Seen;

type Result<T> = std::result::Result<T, Error>;

/// The most elements that a reader is told to make room for.
const MOST_EXPECTED: u64 = 1024;

/// The items of a list.
pub(super) struct Items<'a, 'de> {
    decoder: &'a mut CborDecoder<'de>,
    seq: Seq,
    ended: bool,
}

/// The entries of a map.
pub(super) struct Entries<'a, 'de, S> {
    items: Items<'a, 'de>,
    seen: S,
}

/// The bytes of a byte string, for who wants them one by one.
pub(super) struct Bytes<'a>(pub(super) std::slice::Iter<'a, u8>);

/// The one entry of a map.
pub(super) struct Variant<'a, 'de>(pub(super) &'a mut CborDecoder<'de>);

impl<'a, 'de> Items<'a, 'de> {
    pub(super) fn read<V: Visitor<'de>>(
        decoder: &'a mut CborDecoder<'de>,
        visitor: V,
    ) -> Result<V::Value> {
        let start = decoder.at;
        let mut items = Self::enter(decoder, 4)?;
        match visitor.visit_seq(&mut items) {
            Ok(value) => items.end(start).map(|()| value),
            Err(error) => Err(place(items.decoder, start, error)),
        }
    }

    fn enter(decoder: &'a mut CborDecoder<'de>, major: u8) -> Result<Self> {
        let seq = decoder.enter(major, Member::DOCUMENT)?;
        Ok(Self {
            decoder,
            seq,
            ended: false,
        })
    }

    /// Sees to it that nothing is left.
    #[inline]
    fn end(&mut self, start: usize) -> Result<()> {
        if self.next()? {
            return Err(self.decoder.invalid(start, "fewer elements"));
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let more = self.decoder.next_item(&mut self.seq)?;
        self.ended = !more;
        Ok(more)
    }

    fn hint(&self) -> Option<usize> {
        match self.seq.left {
            INDEFINITE => None,
            left => Some(left.min(MOST_EXPECTED) as usize),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.next()? {
            true => seed.deserialize(Reader(self.decoder)).map(Some),
            false => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

impl<'a, 'de, S: Seen<'de>> Entries<'a, 'de, S> {
    /// Reads a map, none of whose keys comes twice if that is `seen` to.
    pub(super) fn read<V: Visitor<'de>>(
        decoder: &'a mut CborDecoder<'de>,
        seen: S,
        visitor: V,
    ) -> Result<V::Value> {
        let start = decoder.at;
        let items = Items::enter(decoder, 5)?;
        let mut entries = Self { items, seen };
        let value = match visitor.visit_map(&mut entries) {
            Ok(value) => value,
            Err(error) => return Err(place(entries.items.decoder, start, error)),
        };
        let Self { mut items, seen } = entries;
        items.end(start)?;
        seen.end(items.decoder)?;
        Ok(value)
    }
}

impl<'de, S: Seen<'de>> MapAccess<'de> for &mut Entries<'_, 'de, S> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.items.next()? {
            return Ok(None);
        }
        let decoder = &mut *self.items.decoder;
        let start = decoder.at;
        let key = seed.deserialize(Reader(decoder))?;
        self.seen
            .push(decoder.bytes.get(start..decoder.at).unwrap_or_default());
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(Reader(self.items.decoder))
    }

    fn size_hint(&self) -> Option<usize> {
        self.items.hint()
    }
}

impl<'de> SeqAccess<'de> for Bytes<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(byte) = self.0.next() else {
            return Ok(None);
        };
        let byte: U8Deserializer<Error> = (*byte).into_deserializer();
        seed.deserialize(byte).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let name = seed.deserialize(Reader(self.0))?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.0.is_null()? {
            true => Ok(()),
            false => Err(self.0.error(ErrorKind::WrongType, "null")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(Reader(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.0.skip_tags()?;
        Items::read(self.0, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.skip_tags()?;
        Entries::read(self.0, (), visitor)
    }
}
