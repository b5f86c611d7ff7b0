//! `Map`: string keys to values, in wire order.

use std::collections::BTreeMap;

use polywire_text::Text;

use crate::Value;

/// A map that keeps its entries in the order in which they came.
///
/// Up to 16 entries are a plain vector, searched in order. Above that an index is kept
/// beside it: the hashes of keys in their order, 8 bytes an entry, where keys of one hash
/// stand in the order of keys. So a look-up compares numbers, and one key at the end; and
/// it takes the logarithm of the size whatever keys a sender chooses, without the secret
/// that a hash table would need. Adding one entry to a large map moves part of the index;
/// [`Map::from_iter`] builds it in one go.
///
/// ```
/// use polywire_schema::{Map, Value};
///
/// let mut map = Map::new();
/// map.insert("name", Value::from("Oslo"));
/// map.insert("height", Value::from(23));
/// assert_eq!(map.get("name"), Some(&Value::from("Oslo")));
/// assert_eq!(map.keys().collect::<Vec<_>>(), ["name", "height"]);
/// ```
#[derive(Clone)]
pub struct Map(Repr);

/// 24 bytes: the box hides in the capacities that a vector cannot have.
#[derive(Clone)]
enum Repr {
    Small(Vec<(Text, Value)>),
    Indexed(Box<Indexed>),
}

#[derive(Clone)]
struct Indexed {
    entries: Vec<(Text, Value)>,
    /// Of all entries the hash of the key, in the upper half, and the position: in the
    /// order of hashes, and those of one hash in the order of keys.
    slots: Vec<u64>,
}

const SMALL: usize = 16;

const _: () = assert!(size_of::<Map>() == 24);

impl Map {
    /// A map without entries. Does not allocate.
    #[must_use]
    pub const fn new() -> Self {
        Self(Repr::Small(Vec::new()))
    }

    /// A map with space for this many entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Repr::Small(Vec::with_capacity(capacity)))
    }

    /// A map of entries whose keys all differ, in their order; or the position
    /// of the first entry whose key came before.
    ///
    /// # Errors
    ///
    /// The position of the repeated key, with the entries.
    pub fn from_entries(entries: Vec<(Text, Value)>) -> Result<Self, (usize, Vec<(Text, Value)>)> {
        if entries.len() <= SMALL {
            // A bit per length and first and last byte: keys that differ there
            // need no comparison, and most do.
            let mut seen = 0_u64;
            for (position, (key, _)) in entries.iter().enumerate() {
                let bit = 1 << (fingerprint(key) % 64);
                if seen & bit != 0 && entries[..position].iter().any(|(other, _)| other == key) {
                    return Err((position, entries));
                }
                seen |= bit;
            }
            return Ok(Self(Repr::Small(entries)));
        }
        let slots = sorted_slots(&entries);
        let repeated = slots.windows(2).filter_map(|pair| {
            let (first, second) = (position_in(pair[0]), position_in(pair[1]));
            let alike = hash_in(pair[0]) == hash_in(pair[1]);
            (alike && entries[first].0 == entries[second].0).then_some(second)
        });
        match repeated.min() {
            Some(position) => Err((position, entries)),
            None => Ok(Self(Repr::Indexed(Box::new(Indexed { entries, slots })))),
        }
    }

    /// The same of entries whose keys are known to differ, as a reader may have seen
    /// when it read them; for a few. More are looked at all the same.
    ///
    /// # Errors
    ///
    /// As of [`from_entries`](Self::from_entries), of many entries.
    #[doc(hidden)]
    pub fn from_distinct(entries: Vec<(Text, Value)>) -> Result<Self, (usize, Vec<(Text, Value)>)> {
        match entries.len() {
            0..=SMALL => Ok(Self(Repr::Small(entries))),
            _ => Self::from_entries(entries),
        }
    }

    /// A map of one entry, with space for no more.
    pub(crate) fn of_one(key: Text, value: Value) -> Self {
        Self(Repr::Small(vec![(key, value)]))
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The entries, in order.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &[(Text, Value)] {
        match &self.0 {
            Repr::Small(entries) => entries,
            Repr::Indexed(indexed) => &indexed.entries,
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let position = self.position(key)?;
        Some(&self.entries()[position].1)
    }

    /// The value of a key, to change.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let position = self.position(key)?;
        Some(&mut self.entries_mut()[position].1)
    }

    /// Whether there is an entry with this key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The position of a key among the entries.
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.0 {
            Repr::Small(entries) => entries.iter().position(|(own, _)| own == key),
            Repr::Indexed(indexed) => indexed.search(key).ok(),
        }
    }

    /// Adds an entry at the end, or replaces the value of an entry with the
    /// same key, which keeps its place. Returns the value that was there.
    pub fn insert(&mut self, key: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.position(&key) {
            Some(position) => Some(std::mem::replace(
                &mut self.entries_mut()[position].1,
                value,
            )),
            None => {
                self.push_new(key, value);
                None
            }
        }
    }

    /// Removes the entry with this key. The entries after it move up, and a
    /// large map builds its index anew.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let position = self.position(key)?;
        let mut entries = std::mem::take(self).into_entries();
        let (_, value) = entries.remove(position);
        *self = Self::of_distinct(entries);
        Some(value)
    }

    /// Keys and values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.entries()
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.entries().iter().map(|(key, _)| key.as_str())
    }

    /// The values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.entries().iter().map(|(_, value)| value)
    }

    /// The values, in order, to change.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value> {
        self.entries_mut().iter_mut().map(|(_, value)| value)
    }

    /// The entries as a vector.
    #[must_use]
    pub fn into_entries(self) -> Vec<(Text, Value)> {
        match self.0 {
            Repr::Small(entries) => entries,
            Repr::Indexed(indexed) => indexed.entries,
        }
    }

    /// The map with keys and values that keep no message alive: [`Value::into_owned`].
    #[must_use]
    pub fn into_owned(mut self) -> Self {
        for (key, value) in self.entries_mut() {
            *key = std::mem::take(key).into_owned();
            *value = std::mem::take(value).into_owned();
        }
        self
    }

    fn entries_mut(&mut self) -> &mut [(Text, Value)] {
        match &mut self.0 {
            Repr::Small(entries) => entries,
            Repr::Indexed(indexed) => &mut indexed.entries,
        }
    }

    /// Adds an entry whose key is known to be new.
    fn push_new(&mut self, key: Text, value: Value) {
        match &mut self.0 {
            Repr::Small(entries) if entries.len() < SMALL => entries.push((key, value)),
            Repr::Small(entries) => {
                let mut entries = std::mem::take(entries);
                entries.push((key, value));
                *self = Self::of_distinct(entries);
            }
            Repr::Indexed(indexed) => {
                let at = indexed.search(&key).unwrap_or_else(|at| at);
                let slot = slot(&key, indexed.entries.len());
                indexed.slots.insert(at, slot);
                indexed.entries.push((key, value));
            }
        }
    }

    /// A map of entries whose keys all differ, as the caller knows.
    #[inline]
    pub(crate) fn of_distinct(entries: Vec<(Text, Value)>) -> Self {
        if entries.len() > SMALL {
            return Self::with_index(entries);
        }
        debug_assert!(
            (1..entries.len()).all(|place| {
                let (before, rest) = entries.split_at(place);
                before.iter().all(|(key, _)| *key != rest[0].0)
            }),
            "a key is there twice"
        );
        Self(Repr::Small(entries))
    }

    #[inline(never)]
    fn with_index(entries: Vec<(Text, Value)>) -> Self {
        let slots = sorted_slots(&entries);
        Self(Repr::Indexed(Box::new(Indexed { entries, slots })))
    }
}

impl Indexed {
    /// The position of the entry, or the place in the index for a new one.
    fn search(&self, key: &str) -> Result<usize, usize> {
        let hash = hash(key);
        let begin = self.slots.partition_point(|slot| hash_in(*slot) < hash);
        match self.slots.get(begin) {
            Some(slot) if hash_in(*slot) == hash => {
                let position = position_in(*slot);
                match self.entries[position].0 == *key {
                    true => Ok(position),
                    false => self.search_alike(key, begin, hash),
                }
            }
            _ => Err(begin),
        }
    }

    /// As [`Self::search`], among the keys of one hash, which are few unless somebody
    /// chose them so.
    #[cold]
    fn search_alike(&self, key: &str, begin: usize, hash: u32) -> Result<usize, usize> {
        let alike = &self.slots[begin..];
        let alike = &alike[..alike.partition_point(|slot| hash_in(*slot) == hash)];
        let order = |slot: &u64| self.entries[position_in(*slot)].0.as_str().cmp(key);
        match alike.binary_search_by(order) {
            Ok(at) => Ok(position_in(alike[at])),
            Err(at) => Err(begin + at),
        }
    }
}

fn slot(key: &str, position: usize) -> u64 {
    u64::from(hash(key)) << 32 | position as u64
}

#[inline]
const fn hash_in(slot: u64) -> u32 {
    (slot >> 32) as u32
}

#[inline]
const fn position_in(slot: u64) -> usize {
    slot as u32 as usize
}

/// A number that equal keys share, and others rarely. Who knows it can choose keys that
/// share one: nothing depends on it but how often two keys are compared.
#[inline]
fn hash(key: &str) -> u32 {
    /// Odd, with its bits well spread: 2^64 by the golden ratio.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

    let bytes = key.as_bytes();
    let mix = |hash: u64, word: u64| (hash.rotate_left(29) ^ word).wrapping_mul(SPREAD);
    let len = bytes.len() as u64;
    let mixed = if let Some(last) = bytes.last_chunk::<8>() {
        // The last word overlaps the one before, so that none is shorter.
        let words = bytes[..bytes.len() - 1].as_chunks::<8>().0;
        let front = words
            .iter()
            .fold(len, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        mix(front, u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        mix(len, u64::from(first) << 32 | u64::from(last))
    } else {
        bytes
            .iter()
            .fold(len, |hash, byte| mix(hash, u64::from(*byte)))
    };
    // The upper half of a product depends on all of its factors.
    (mixed >> 32) as u32
}

/// A number that equal keys share, and others rarely in its lowest bits.
#[inline]
pub(crate) fn fingerprint(key: &str) -> u32 {
    let bytes = key.as_bytes();
    let (first, last) = (bytes.first().copied(), bytes.last().copied());
    let mixed = u32::from(first.unwrap_or(0)) * 7 + u32::from(last.unwrap_or(0)) * 31;
    mixed.wrapping_add((bytes.len() as u32).wrapping_mul(5))
}

/// The slots of all entries; those of equal keys in the order of positions.
fn sorted_slots(entries: &[(Text, Value)]) -> Vec<u64> {
    let keys = entries.iter().enumerate();
    let mut slots: Vec<u64> = keys
        .map(|(position, (key, _))| slot(key, position))
        .collect();
    slots.sort_unstable();
    for alike in slots.chunk_by_mut(|first, second| hash_in(*first) == hash_in(*second)) {
        if alike.len() > 1 {
            let key = |slot: &u64| &entries[position_in(*slot)].0;
            alike.sort_by(|first, second| key(first).cmp(key(second)));
        }
    }
    slots
}

impl AsRef<Map> for Map {
    fn as_ref(&self) -> &Map {
        self
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<Text>, V: Into<Value>> FromIterator<(K, V)> for Map {
    /// Of entries with the same key, the last value counts, at the place of
    /// the first.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries: Vec<(Text, Value)> = entries
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        Self::from_entries(entries).unwrap_or_else(|(_, entries)| {
            // One by one each would move half of the index.
            let mut places = BTreeMap::new();
            let mut once: Vec<(Text, Value)> = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                match places.get(&key) {
                    Some(place) => {
                        let place: &usize = place;
                        once[*place].1 = value;
                    }
                    None => {
                        places.insert(key.clone(), once.len());
                        once.push((key, value));
                    }
                }
            }
            // Each key is there once.
            Self::from_entries(once).unwrap_or_default()
        })
    }
}

impl<K: Into<Text>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Map {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_entries().into_iter()
    }
}

impl PartialEq for Map {
    /// Equal if they have the same entries, in any order.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .entries()
                .iter()
                .enumerate()
                .all(|(position, (key, value))| {
                    // Most equal maps are in the same order.
                    let (other_key, other_value) = &other.entries()[position];
                    if key == other_key {
                        value == other_value
                    } else {
                        other.get(key) == Some(value)
                    }
                })
    }
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests;
