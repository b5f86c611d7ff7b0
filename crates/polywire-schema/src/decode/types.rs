//! Implementations of [`Decode`] for scalars, collections and [`Value`].

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use polywire_text::{Blob, Text, Timestamp};

use crate::error::quoted;
use crate::map::fingerprint;
use crate::{
    BigDecimal, BigInteger, ByteStream, Decode, Decoder, Error, ErrorKind, Map, Member, Value,
};

macro_rules! scalar {
    ($($type:ty => $call:ident;)*) => {
        $(impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
                decoder.$call(at)
            }
        })*
    };
}

scalar! {
    bool => boolean;
    i64 => integer;
    f32 => float;
    f64 => double;
    BigInteger => big_integer;
    BigDecimal => big_decimal;
    Text => text;
    Cow<'de, str> => str;
    Blob => blob;
    ByteStream => stream;
    Timestamp => timestamp;
}

macro_rules! small_integer {
    ($($type:ty => $expected:literal;)*) => {
        $(impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
                match Self::try_from(decoder.integer(at)?) {
                    Ok(value) => Ok(value),
                    // Decoders check the range of the kind. This check is for types that are
                    // narrower than their schema.
                    Err(_) => Err(decoder.error(ErrorKind::InvalidValue, $expected)),
                }
            }
        })*
    };
}

small_integer! {
    i8 => "an integer of 8 bits";
    i16 => "an integer of 16 bits";
    i32 => "an integer of 32 bits";
}

impl<'de> Decode<'de> for String {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        Ok(decoder.str(at)?.into_owned())
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Box<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        Ok(Self::new(T::decode(at, decoder)?))
    }

    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        (**self).decode_into(at, decoder)
    }
}

/// An item of a sparse list or map. Null is read as `None`.
impl<'de, T: Decode<'de>> Decode<'de> for Option<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        if decoder.null(at)? {
            return Ok(None);
        }
        Ok(Some(T::decode(at, decoder)?))
    }

    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        match self {
            Some(value) => value.decode_into(at, decoder),
            None => {
                *self = Self::decode(at, decoder)?;
                Ok(())
            }
        }
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    #[inline]
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut list = Self::new();
        list.decode_into(at, decoder)?;
        Ok(list)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let element = at.element();
        let mut seq = decoder.list(at)?;
        if !seq.continues {
            self.clear();
        }
        while decoder.item(at, &mut seq)? {
            if self.capacity() == 0 {
                self.reserve_exact(decoder.size_hint(at, &seq));
            }
            let Some(placeholder) = T::PLACEHOLDER else {
                self.push(T::decode(element, decoder)?);
                continue;
            };
            self.push(placeholder());
            if let Some(item) = self.last_mut()
                && let Err(error) = item.decode_in_place(element, decoder)
            {
                // The item can be incomplete.
                self.pop();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Reads a map with the functions of a map type. `insert` returns whether the key was new.
fn decode_map<'de, M, V: Decode<'de>, D: Decoder<'de> + ?Sized>(
    map: &mut M,
    at: Member<'_>,
    decoder: &mut D,
    clear: impl FnOnce(&mut M),
    reserve: impl Fn(&mut M, usize),
    insert: impl Fn(&mut M, Text, V) -> bool,
) -> Result<(), Error> {
    let element = at.element();
    let mut seq = decoder.map(at)?;
    if !seq.continues {
        clear(map);
    }
    // Do not reserve for a continued map: reserving a little for each run of entries would copy
    // all entries each time.
    let mut first = !seq.continues;
    while let Some(key) = decoder.key(at, &mut seq)? {
        if first {
            reserve(map, decoder.size_hint(at, &seq));
            first = false;
        }
        let value = V::decode(element, decoder)?;
        if !insert(map, key, value) {
            return Err(decoder.error(ErrorKind::Duplicate, "each key once"));
        }
    }
    Ok(())
}

impl<'de, K: From<Text> + Ord, V: Decode<'de>> Decode<'de> for BTreeMap<K, V> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::new();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_map(
            self,
            at,
            decoder,
            Self::clear,
            |_, _| (),
            |map, key, value| map.insert(K::from(key), value).is_none(),
        )
    }
}

impl<'de, K, V, S> Decode<'de> for HashMap<K, V, S>
where
    K: From<Text> + Eq + Hash,
    V: Decode<'de>,
    S: BuildHasher + Default,
{
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::default();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_map(
            self,
            at,
            decoder,
            Self::clear,
            Self::reserve,
            |map, key, value| map.insert(K::from(key), value).is_none(),
        )
    }
}

/// A map in the order of the message.
///
/// The entries of a flattened XML map can be separated by other elements. Then the keys are not
/// compared here. A structure with such a member has to call
/// [`generated::distinct_keys`](crate::generated::distinct_keys) after its last member, as
/// generated structures do.
impl<'de, K: From<Text> + AsRef<str>, V: Decode<'de>> Decode<'de> for Vec<(K, V)> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut entries = Self::new();
        entries.decode_into(at, decoder)?;
        Ok(entries)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let element = at.element();
        let mut seq = decoder.map(at)?;
        if !seq.continues {
            self.clear();
        }
        // See `decode_map`.
        let mut first = !seq.continues;
        while let Some(key) = decoder.key(at, &mut seq)? {
            if first {
                self.reserve_exact(decoder.size_hint(at, &seq));
                first = false;
            }
            let Some(placeholder) = V::PLACEHOLDER else {
                self.push((K::from(key), V::decode(element, decoder)?));
                continue;
            };
            // Creates the entry in place. `push` would copy the key through the stack, because it
            // has to drop the key if the allocation fails.
            self.resize_with(self.len() + 1, || (K::from(Text::default()), placeholder()));
            if let Some((place, value)) = self.last_mut() {
                *place = K::from(key);
                if let Err(error) = value.decode_in_place(element, decoder) {
                    self.pop();
                    return Err(error);
                }
            }
        }
        // The caller compares the keys of a continued map once, at the end of the structure.
        // Sorting all keys after each run of entries would take quadratic time.
        if seq.continues {
            return Ok(());
        }
        distinct_keys(self, decoder)
    }
}

/// Checks that the keys of a map that is stored as a vector are unique.
///
/// # Errors
///
/// Returns [`ErrorKind::Duplicate`] for a key that occurs twice.
pub fn distinct_keys<'de, K: AsRef<str>, V, D: Decoder<'de> + ?Sized>(
    entries: &[(K, V)],
    decoder: &D,
) -> Result<(), Error> {
    match find_duplicate(entries) {
        None => Ok(()),
        Some(key) => Err(decoder
            .error(ErrorKind::Duplicate, "each key once")
            .found(quoted(key))),
    }
}

/// Returns a key that occurs twice.
fn find_duplicate<K: AsRef<str>, V>(entries: &[(K, V)]) -> Option<&str> {
    /// Up to this many keys, comparing all pairs is faster than sorting.
    const MAX_PAIRWISE: usize = 32;

    if entries.len() <= MAX_PAIRWISE {
        // A small Bloom filter: most keys have different fingerprints and need no comparison.
        let mut seen = [0_u64; 4];
        for (position, (key, _)) in entries.iter().enumerate() {
            let key = key.as_ref();
            let print = fingerprint(key);
            let (word, bit) = (&mut seen[print as usize / 64 % 4], 1 << (print % 64));
            if *word & bit != 0
                && entries[..position]
                    .iter()
                    .any(|(other, _)| other.as_ref() == key)
            {
                return Some(key);
            }
            *word |= bit;
        }
        return None;
    }
    // Sorting keeps the time at O(n log n) for all keys that a sender can choose.
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_ref()).collect();
    keys.sort_unstable();
    let pair = keys.windows(2).find(|pair| pair[0] == pair[1]);
    pair.map(|pair| pair[0])
}

impl<'de> Decode<'de> for Value {
    /// Reads the shape that `at` targets. As a document, reads any value.
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        crate::dynamic::decode(at, decoder)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        crate::dynamic::decode_into(self, at, decoder)
    }
}

/// A structure, union, map or document. [`Encode`](crate::Encode) for `Map` supports only
/// structures and unions: for map shapes and documents use a [`Value`].
impl<'de> Decode<'de> for Map {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut map = Self::new();
        map.decode_into(at, decoder)?;
        Ok(map)
    }

    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let mut value = Value::Map(std::mem::take(self));
        value.decode_into(at, decoder)?;
        match value {
            Value::Map(map) => *self = map,
            other => {
                return Err(decoder
                    .error(ErrorKind::WrongType, "a map")
                    .found(other.describe()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn duplicate_keys_are_found(keys in proptest::collection::vec("[ab]{0,3}|[a-z]{6}", 0..80)) {
            let entries: Vec<(&String, ())> = keys.iter().map(|key| (key, ())).collect();
            let is_unique = keys.iter().collect::<HashSet<_>>().len() == keys.len();
            let duplicate = find_duplicate(&entries);
            prop_assert_eq!(duplicate.is_none(), is_unique);
            if let Some(key) = duplicate {
                prop_assert!(keys.iter().filter(|other| *other == key).count() > 1);
            }
        }
    }
}
