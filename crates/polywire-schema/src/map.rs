//! `Map`: string keys to values, in wire order.

use polywire_text::Text;

use crate::Value;

/// A map that keeps its entries in the order in which they came.
///
/// Up to 16 entries are a plain vector, searched in order. Above that a sorted
/// index of positions is kept beside it, so that a look-up takes the logarithm
/// of the size and no choice of keys by a sender can make it slower (a hash
/// table would need a secret for that). Adding one entry to a large map moves
/// part of the index, 4 bytes an entry; [`Map::from_iter`] builds it in one go.
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
    /// The positions of all entries, in the order of their keys.
    sorted: Vec<u32>,
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
        let sorted = sorted_positions(&entries);
        let repeated = sorted.windows(2).filter_map(|pair| {
            let (first, second) = (pair[0] as usize, pair[1] as usize);
            (entries[first].0 == entries[second].0).then_some(second)
        });
        match repeated.min() {
            Some(position) => Err((position, entries)),
            None => Ok(Self(Repr::Indexed(Box::new(Indexed { entries, sorted })))),
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
                indexed.sorted.insert(at, indexed.entries.len() as u32);
                indexed.entries.push((key, value));
            }
        }
    }

    /// A map of entries whose keys all differ, as the caller knows.
    pub(crate) fn of_distinct(entries: Vec<(Text, Value)>) -> Self {
        if entries.len() <= SMALL {
            debug_assert!(
                (1..entries.len()).all(|place| {
                    let (before, rest) = entries.split_at(place);
                    before.iter().all(|(key, _)| *key != rest[0].0)
                }),
                "a key is there twice"
            );
            return Self(Repr::Small(entries));
        }
        let sorted = sorted_positions(&entries);
        Self(Repr::Indexed(Box::new(Indexed { entries, sorted })))
    }
}

impl Indexed {
    /// The position of the entry, or the place in the index for a new one.
    fn search(&self, key: &str) -> Result<usize, usize> {
        let order = |position: &u32| self.entries[*position as usize].0.as_str().cmp(key);
        self.sorted
            .binary_search_by(order)
            .map(|at| self.sorted[at] as usize)
    }
}

/// A number that equal keys share, and others rarely in its lowest bits.
#[inline]
pub(crate) fn fingerprint(key: &str) -> u32 {
    let bytes = key.as_bytes();
    let (first, last) = (bytes.first().copied(), bytes.last().copied());
    let mixed = u32::from(first.unwrap_or(0)) * 7 + u32::from(last.unwrap_or(0)) * 31;
    mixed.wrapping_add((bytes.len() as u32).wrapping_mul(5))
}

/// Positions in the order of keys; equal keys in the order of positions.
fn sorted_positions(entries: &[(Text, Value)]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..entries.len() as u32).collect();
    sorted.sort_by(|first, second| entries[*first as usize].0.cmp(&entries[*second as usize].0));
    sorted
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
            let mut map = Self::new();
            for (key, value) in entries {
                map.insert(key, value);
            }
            map
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
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_map(
            steps in proptest::collection::vec((any::<bool>(), 0..40_u32, any::<i64>()), 0..200),
        ) {
            let mut map = Map::new();
            let mut model = BTreeMap::new();
            for (add, key, value) in steps {
                let key = key.to_string();
                if add {
                    let before = map.insert(key.clone(), value);
                    prop_assert_eq!(before, model.insert(key, value).map(Value::from));
                } else {
                    prop_assert_eq!(map.remove(&key), model.remove(&key).map(Value::from));
                }
                prop_assert_eq!(map.len(), model.len());
            }
            for (key, value) in &model {
                prop_assert_eq!(map.get(key), Some(&Value::from(*value)));
            }
            prop_assert_eq!(map.get("none"), None);
        }

        #[test]
        fn repeated_keys_are_found(keys in proptest::collection::vec(0..60_u32, 0..40)) {
            let entries: Vec<_> = keys.iter()
                .map(|key| (Text::from(key.to_string()), Value::Null)).collect();
            let first_repeat = (0..keys.len()).find(|at| keys[..*at].contains(&keys[*at]));
            prop_assert_eq!(Map::from_entries(entries).err().map(|(at, _)| at), first_repeat);
        }
    }
}
