//! Log events whose keys are not in the index on disk yet.

use polywire_nostr::Event;

use super::LogEntry;
use super::key::Key;

/// A range of the log with its index keys in memory, as in an LSM tree. Immutable once built.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// In ascending order. `None` is a tombstone: the key is removed.
    pub(crate) keys: Vec<(Key, Option<u64>)>,
    /// In ascending order of their numbers.
    pub(crate) events: Vec<LogEntry>,
    /// Numbers of events to remove from the log. They can be in older segments.
    pub(crate) removed: Vec<u64>,
}

impl Segment {
    /// Looks up a key. `Some(None)` is a tombstone.
    pub(crate) fn get(&self, key: &Key) -> Option<Option<u64>> {
        let at = self.keys.binary_search_by(|(other, _)| other.cmp(key));
        at.ok().map(|at| self.keys[at].1)
    }

    /// Returns the entries from `low` to `high` (exclusive).
    pub(crate) fn range(&self, low: &Key, high: &Key) -> &[(Key, Option<u64>)] {
        let start = self.keys.partition_point(|(key, _)| key < low);
        let end = self.keys.partition_point(|(key, _)| key < high);
        &self.keys[start..end]
    }

    /// Merges two segments. Newer keys replace older ones.
    pub(crate) fn merge(older: &Self, newer: &Self) -> Self {
        // Both halves are sorted, so the stable sort is one merge. Of equal keys, it leaves the newer first.
        let mut keys = [&newer.keys[..], &older.keys].concat();
        keys.sort_by_key(|(key, _)| *key);
        keys.dedup_by(|(second, _), (first, _)| second == first);
        Self {
            keys,
            events: [&older.events[..], &newer.events].concat(),
            removed: [&older.removed[..], &newer.removed].concat(),
        }
    }
}

/// Finds an event by its number.
pub(crate) fn find(events: &[LogEntry], number: u64) -> Option<&Event> {
    let at = events.binary_search_by_key(&number, |(other, _)| *other);
    at.ok().map(|at| &events[at].1)
}
