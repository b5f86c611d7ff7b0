//! Access to the elements of lists, maps and variants.

use polywire_schema::{Container, Error, ErrorKind, Member, Seq};
use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::de::ValueDeserializer;
use super::keys::Keys;
use super::{Kind, SerdeReader};

type Result<T> = std::result::Result<T, Error>;

/// The items of a list, or the entries of a map.
pub(super) struct Elements<'a, 'de, R: ?Sized> {
    reader: &'a mut R,
    seq: Seq,
    is_map: bool,
    is_done: bool,
    /// The keys of a map. `None` if the type checks for duplicate keys itself.
    keys: Option<Keys<'de>>,
}

impl<'a, 'de, R: SerdeReader<'de> + ?Sized> Elements<'a, 'de, R> {
    /// Reads a list.
    #[inline]
    pub(super) fn list<V: Visitor<'de>>(reader: &'a mut R, visitor: V) -> Result<V::Value> {
        let start = reader.position();
        let mut items = Self::begin(reader, Container::List, false)?;
        let value = visitor.visit_seq(&mut items);
        items.end(start, value)
    }

    /// Reads a map.
    #[inline]
    pub(super) fn map<V: Visitor<'de>>(
        reader: &'a mut R,
        check_keys: bool,
        visitor: V,
    ) -> Result<V::Value> {
        let start = reader.position();
        let mut entries = Self::begin(reader, Container::Map, check_keys)?;
        let value = visitor.visit_map(&mut entries);
        entries.end(start, value)
    }

    #[inline]
    fn begin(reader: &'a mut R, container: Container, check_keys: bool) -> Result<Self> {
        let seq = reader.begin(container, Member::DOCUMENT)?;
        Ok(Self {
            reader,
            seq,
            is_map: container == Container::Map,
            is_done: false,
            keys: check_keys.then(Keys::default),
        })
    }

    #[inline(always)]
    fn next(&mut self, is_map: bool) -> Result<bool> {
        if self.is_done || !self.reader.next_element(is_map, &mut self.seq)? {
            self.is_done = true;
            return Ok(false);
        }
        Ok(true)
    }

    /// Checks that the type has read all elements, and that there is no duplicate key.
    #[inline]
    fn end<T>(mut self, start: usize, value: Result<T>) -> Result<T> {
        let value = match value {
            Ok(value) => value,
            Err(error) => return Err(self.reader.locate(error, start)),
        };
        if self.next(self.is_map)? {
            let error = Error::new(ErrorKind::InvalidValue).expected("fewer elements");
            return Err(self.reader.locate(error, start));
        }
        match self.keys.and_then(Keys::duplicate) {
            None => Ok(value),
            Some(key) => Err(self.reader.duplicate(&key, start)),
        }
    }
}

impl<'de, R: SerdeReader<'de> + ?Sized> SeqAccess<'de> for &mut Elements<'_, 'de, R> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.next(false)? {
            true => seed
                .deserialize(ValueDeserializer(&mut *self.reader))
                .map(Some),
            false => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        SerdeReader::size_hint(self.reader, &self.seq)
    }
}

impl<'de, R: SerdeReader<'de> + ?Sized> MapAccess<'de> for &mut Elements<'_, 'de, R> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.next(true)? {
            true => self.reader.map_key(seed, self.keys.as_mut()).map(Some),
            false => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(ValueDeserializer(&mut *self.reader))
    }

    fn size_hint(&self) -> Option<usize> {
        SerdeReader::size_hint(self.reader, &self.seq)
    }
}

/// A variant with data: a map with one entry.
pub(super) struct Variant<'a, R: ?Sized>(pub(super) &'a mut R);

impl<'de, R: SerdeReader<'de> + ?Sized> EnumAccess<'de> for Variant<'_, R> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let name = self.0.map_key(seed, None)?;
        Ok((name, self))
    }
}

impl<'de, R: SerdeReader<'de> + ?Sized> VariantAccess<'de> for Variant<'_, R> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.0.null()? {
            true => Ok(()),
            false => Err(self.0.error(ErrorKind::WrongType, "null")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(ValueDeserializer(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.0.skip_extensions()?;
        match self.0.kind()? {
            Kind::List => Elements::list(self.0, visitor),
            _ => Err(self.0.error(ErrorKind::WrongType, "a list")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.skip_extensions()?;
        match self.0.kind()? {
            _ if self.0.is_map()? => Elements::map(self.0, false, visitor),
            Kind::List => Elements::list(self.0, visitor),
            _ => Err(self.0.error(ErrorKind::WrongType, "a map")),
        }
    }
}
