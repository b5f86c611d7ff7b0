//! What is in arrays and structs.

use std::borrow::Cow;

use polywire_schema::{Decoder, Error, ErrorKind, Seq};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::de::Reader;
use super::keys::{Key, PlainKey};
use crate::xmlrpc::XmlRpcDecoder;

impl<'de> Reader<'_, 'de> {
    #[inline]
    pub(super) fn sequence<V: Visitor<'de>>(
        self,
        mut seq: Seq,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        let mut items = Items {
            decoder,
            seq: &mut seq,
            ended: false,
        };
        let value = visitor.visit_seq(&mut items);
        let ended = items.ended;
        let value = value.map_err(|error| decoder.placed(error, start))?;
        if !ended && decoder.next_item(&mut seq)? {
            let error = decoder.error(ErrorKind::InvalidValue, "");
            return Err(error.expected(format!("an array of {} items", seq.count - 1)));
        }
        Ok(value)
    }

    pub(super) fn mapping<V: Visitor<'de>>(
        self,
        mut seq: Seq,
        distinct: bool,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        let plain = !distinct && decoder.is_plain(&seq);
        let mut members = Members {
            decoder,
            seq: &mut seq,
            ended: false,
            plain,
            names: distinct.then(Vec::new),
        };
        let value = visitor.visit_map(&mut members);
        let (ended, names) = (members.ended, members.names.take());
        let value = value.map_err(|error| decoder.placed(error, start))?;
        if !ended {
            while decoder.next_member(&mut seq)?.is_some() {
                decoder.count_item()?;
                decoder.skip_value()?;
            }
        }
        if let Some(mut names) = names {
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(decoder.twice(&pair[0]));
            }
        }
        Ok(value)
    }
}

/// The items of an array.
struct Items<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    seq: &'a mut Seq,
    ended: bool,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.ended || !self.decoder.next_item(self.seq)? {
            self.ended = true;
            return Ok(None);
        }
        seed.deserialize(Reader::new(self.decoder)).map(Some)
    }
}

/// The members of a struct.
struct Members<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    seq: &'a mut Seq,
    ended: bool,
    /// Whether nothing but the spelling keeps a member from the quick way.
    plain: bool,
    /// The names so far, if nobody else looks whether one comes twice.
    names: Option<Vec<Cow<'de, str>>>,
}

impl<'de> Members<'_, 'de> {
    /// The next name, however it is spelled and whatever it is to be.
    #[inline(never)]
    fn any_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.decoder.next_member(self.seq)? else {
            self.ended = true;
            return Ok(None);
        };
        self.decoder.count_item()?;
        if let Some(names) = &mut self.names {
            names.push(name.clone());
        }
        seed.deserialize(Key(name)).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.plain {
            let name = match self.seq.count {
                0 => self.decoder.first_member(),
                _ => self.decoder.following_member(),
            };
            if let Some(name) = name {
                self.seq.count += 1;
                self.decoder.count_item()?;
                return seed.deserialize(PlainKey(name)).map(Some);
            }
        }
        if self.decoder.plain_struct_end(self.seq) {
            self.ended = true;
            return Ok(None);
        }
        self.any_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Reader::new(self.decoder))
    }
}
