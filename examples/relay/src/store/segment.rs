//! Events and keys that are on disk as a log, and not yet in the index there.

use polywire_nostr::Event;

use super::key::Key;

/// Some successive events of the log, with their keys in order. It never changes.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// Ascending. A key without a value has been removed.
    pub(crate) keys: Vec<(Key, Option<u64>)>,
    /// Ascending, with their numbers.
    pub(crate) events: Vec<(u64, Event)>,
    /// The numbers of events that are to be removed from the log: of this segment or of older ones.
    pub(crate) removed: Vec<u64>,
}

impl Segment {
    /// What a key says: nothing, that it has been removed, or its value.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<u64>> {
        let at = self
            .keys
            .binary_search_by(|(other, _)| other.as_bytes().cmp(key));
        at.ok().map(|at| self.keys[at].1)
    }

    pub(crate) fn event(&self, number: u64) -> Option<&Event> {
        let at = self
            .events
            .binary_search_by_key(&number, |(other, _)| *other);
        at.ok().map(|at| &self.events[at].1)
    }

    /// The keys from one to another, which is left out.
    pub(crate) fn range(&self, low: &[u8], high: &[u8]) -> &[(Key, Option<u64>)] {
        let start = self.keys.partition_point(|(key, _)| key.as_bytes() < low);
        let rest = &self.keys[start..];
        &rest[..rest.partition_point(|(key, _)| key.as_bytes() < high)]
    }

    /// Puts a newer segment over an older one.
    pub(crate) fn merge(older: &Self, newer: &Self) -> Self {
        let mut keys = Vec::with_capacity(older.keys.len() + newer.keys.len());
        let (mut old, mut new) = (&older.keys[..], &newer.keys[..]);
        while let (Some((a, old_rest)), Some((b, new_rest))) =
            (old.split_first(), new.split_first())
        {
            if a.0 < b.0 {
                keys.push(*a);
                old = old_rest;
            } else {
                if a.0 == b.0 {
                    old = old_rest;
                }
                keys.push(*b);
                new = new_rest;
            }
        }
        keys.extend_from_slice(old);
        keys.extend_from_slice(new);
        Self {
            keys,
            events: [&older.events[..], &newer.events].concat(),
            removed: [&older.removed[..], &newer.removed].concat(),
        }
    }
}
