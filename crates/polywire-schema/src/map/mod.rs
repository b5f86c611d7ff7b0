//! [`Map`]: a map from strings to values that keeps the order of its entries.

use std::collections::BTreeMap;

use polywire_text::Text;

use crate::Value;

/// A map from strings to values that keeps the insertion order.
///
/// A map of up to 16 entries is a vector with linear search. A larger map also has an index: a
/// vector of key hashes and positions, 8 bytes per entry, sorted by hash and then by key. A lookup
/// is a binary search by hash, followed by one comparison of keys. It takes O(log n) even if a
/// sender chooses keys with equal hashes, so the hash needs no secret seed.
///
/// Inserting one entry into a large map moves part of the index. [`Map::from_iter`] builds the
/// index once.
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

// 24 bytes: the tag is stored in a niche of the capacity of the vector.
#[derive(Clone)]
enum Repr {
    Small(Vec<(Text, Value)>),
    Indexed(Box<Indexed>),
}

#[derive(Clone)]
struct Indexed {
    entries: Vec<(Text, Value)>,
    /// One slot per entry, sorted by the hash and then by the key. The upper 32 bits are the hash
    /// of the key, the lower 32 bits are the position in `entries`.
    slots: Vec<u64>,
}

/// The maximum number of entries without an index.
const SMALL: usize = 16;

const _: () = assert!(size_of::<Map>() == 24);

impl Map {
    /// Creates an empty map. Does not allocate.
    #[must_use]
    pub const fn new() -> Self {
        Self(Repr::Small(Vec::new()))
    }

    /// Creates an empty map with space for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Repr::Small(Vec::with_capacity(capacity)))
    }

    /// Creates a map from entries with unique keys. Keeps their order.
    ///
    /// # Errors
    ///
    /// Returns the position of the first duplicate key, and the entries.
    pub fn from_entries(entries: Vec<(Text, Value)>) -> Result<Self, (usize, Vec<(Text, Value)>)> {
        if entries.len() <= SMALL {
            // A small Bloom filter: most keys have different fingerprints and need no comparison.
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
        let duplicates = slots.windows(2).filter_map(|pair| {
            let (first, second) = (position_in(pair[0]), position_in(pair[1]));
            let has_same_hash = hash_in(pair[0]) == hash_in(pair[1]);
            (has_same_hash && entries[first].0 == entries[second].0).then_some(second)
        });
        match duplicates.min() {
            Some(position) => Err((position, entries)),
            None => Ok(Self(Repr::Indexed(Box::new(Indexed { entries, slots })))),
        }
    }

    /// Like [`from_entries`](Self::from_entries), but the caller guarantees that keys are unique.
    /// Up to 16 entries are not checked.
    ///
    /// # Errors
    ///
    /// Returns the position of the first duplicate key, and the entries, if there are more than 16.
    #[doc(hidden)]
    pub fn from_distinct(entries: Vec<(Text, Value)>) -> Result<Self, (usize, Vec<(Text, Value)>)> {
        match entries.len() {
            0..=SMALL => Ok(Self(Repr::Small(entries))),
            _ => Self::from_entries(entries),
        }
    }

    /// Creates a map with one entry, without spare capacity.
    pub(crate) fn with_entry(key: Text, value: Value) -> Self {
        Self(Repr::Small(vec![(key, value)]))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns whether the map has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Returns the entries in insertion order.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &[(Text, Value)] {
        match &self.0 {
            Repr::Small(entries) => entries,
            Repr::Indexed(indexed) => &indexed.entries,
        }
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let position = self.position(key)?;
        Some(&self.entries()[position].1)
    }

    /// Returns a mutable reference to the value of a key.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let position = self.position(key)?;
        Some(&mut self.entries_mut()[position].1)
    }

    /// Returns whether the map contains the key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Returns the position of a key in [`entries`](Self::entries).
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.0 {
            Repr::Small(entries) => entries.iter().position(|(other, _)| other == key),
            Repr::Indexed(indexed) => indexed.search(key).ok(),
        }
    }

    /// Adds an entry at the end. If the map contains the key, replaces the value of this entry and
    /// returns the old value.
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

    /// Removes the entry with this key and returns its value. Keeps the order of the other entries.
    /// A large map rebuilds its index, so this takes O(n log n).
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let position = self.position(key)?;
        let mut entries = std::mem::take(self).into_entries();
        let (_, value) = entries.remove(position);
        *self = Self::from_unique(entries);
        Some(value)
    }

    /// Returns keys and values in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.entries()
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the keys in insertion order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.entries().iter().map(|(key, _)| key.as_str())
    }

    /// Returns the values in insertion order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.entries().iter().map(|(_, value)| value)
    }

    /// Returns mutable references to the values in insertion order.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value> {
        self.entries_mut().iter_mut().map(|(_, value)| value)
    }

    /// Converts the map to a vector of entries in insertion order.
    #[must_use]
    pub fn into_entries(self) -> Vec<(Text, Value)> {
        match self.0 {
            Repr::Small(entries) => entries,
            Repr::Indexed(indexed) => indexed.entries,
        }
    }

    /// Copies all keys and values that share the memory of a message: see [`Value::into_owned`].
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

    /// Adds an entry. The map must not contain the key.
    fn push_new(&mut self, key: Text, value: Value) {
        match &mut self.0 {
            Repr::Small(entries) if entries.len() < SMALL => entries.push((key, value)),
            Repr::Small(entries) => {
                let mut entries = std::mem::take(entries);
                entries.push((key, value));
                *self = Self::from_unique(entries);
            }
            Repr::Indexed(indexed) => {
                let at = indexed.search(&key).unwrap_or_else(|at| at);
                let slot = slot(&key, indexed.entries.len());
                indexed.slots.insert(at, slot);
                indexed.entries.push((key, value));
            }
        }
    }

    /// Creates a map from entries whose keys the caller knows to be unique.
    #[inline]
    pub(crate) fn from_unique(entries: Vec<(Text, Value)>) -> Self {
        if entries.len() > SMALL {
            return Self::with_index(entries);
        }
        debug_assert!(
            (1..entries.len()).all(|position| {
                let (before, rest) = entries.split_at(position);
                before.iter().all(|(key, _)| *key != rest[0].0)
            }),
            "duplicate key"
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
    /// Returns the position of the entry. If there is none, returns the index in `slots` at which
    /// to insert it.
    fn search(&self, key: &str) -> Result<usize, usize> {
        let hash = hash(key);
        let begin = self.slots.partition_point(|slot| hash_in(*slot) < hash);
        match self.slots.get(begin) {
            Some(slot) if hash_in(*slot) == hash => {
                let position = position_in(*slot);
                match self.entries[position].0 == *key {
                    true => Ok(position),
                    false => self.search_collisions(key, begin, hash),
                }
            }
            _ => Err(begin),
        }
    }

    /// Like [`Self::search`], but only for the keys with this hash, which start at `begin`.
    #[cold]
    fn search_collisions(&self, key: &str, begin: usize, hash: u32) -> Result<usize, usize> {
        let slots = &self.slots[begin..];
        let slots = &slots[..slots.partition_point(|slot| hash_in(*slot) == hash)];
        let order = |slot: &u64| self.entries[position_in(*slot)].0.as_str().cmp(key);
        match slots.binary_search_by(order) {
            Ok(at) => Ok(position_in(slots[at])),
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

/// Hashes a key. The hash is not collision-resistant: collisions only cost comparisons of keys.
#[inline]
fn hash(key: &str) -> u32 {
    /// 2^64 divided by the golden ratio, as in Fibonacci hashing.
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

    let bytes = key.as_bytes();
    let mix = |hash: u64, word: u64| (hash.rotate_left(29) ^ word).wrapping_mul(MULTIPLIER);
    let len = bytes.len() as u64;
    let mixed = if let Some(last) = bytes.last_chunk::<8>() {
        // The last word overlaps the previous word, so that all words have eight bytes.
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
    // The upper bits of a product depend on all bits of the factors.
    (mixed >> 32) as u32
}

/// Computes a hash from the length, the first byte and the last byte of a key. The lowest bits
/// differ for most pairs of keys.
#[inline]
pub(crate) fn fingerprint(key: &str) -> u32 {
    let bytes = key.as_bytes();
    let (first, last) = (bytes.first().copied(), bytes.last().copied());
    let mixed = u32::from(first.unwrap_or(0)) * 7 + u32::from(last.unwrap_or(0)) * 31;
    mixed.wrapping_add((bytes.len() as u32).wrapping_mul(5))
}

/// Creates the sorted slots of all entries. Slots of equal keys are sorted by position.
fn sorted_slots(entries: &[(Text, Value)]) -> Vec<u64> {
    let keys = entries.iter().enumerate();
    let mut slots: Vec<u64> = keys
        .map(|(position, (key, _))| slot(key, position))
        .collect();
    slots.sort_unstable();
    for same_hash in slots.chunk_by_mut(|first, second| hash_in(*first) == hash_in(*second)) {
        if same_hash.len() > 1 {
            let key = |slot: &u64| &entries[position_in(*slot)].0;
            same_hash.sort_by(|first, second| key(first).cmp(key(second)));
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
    /// Creates a map from entries. For duplicate keys, keeps the position of the first entry and
    /// the value of the last entry.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries: Vec<(Text, Value)> = entries
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        Self::from_entries(entries).unwrap_or_else(|(_, entries)| {
            // `insert` would move half of the index for each entry.
            let mut positions: BTreeMap<Text, usize> = BTreeMap::new();
            let mut unique: Vec<(Text, Value)> = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                match positions.get(&key) {
                    Some(position) => unique[*position].1 = value,
                    None => {
                        positions.insert(key.clone(), unique.len());
                        unique.push((key, value));
                    }
                }
            }
            Self::from_unique(unique)
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
    /// Compares the entries. Ignores their order.
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
