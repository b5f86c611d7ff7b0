//! The changes that a group of events makes.

use std::collections::BTreeMap;

use polywire_nostr::message::MachineReadablePrefix as Prefix;
use polywire_nostr::{Deletion, Event, EventRef};

use super::LogEntry;
use super::database::Result;
use super::key::{self, Key};
use super::scan::MergedScan;
use super::segment::{Segment, find};
use super::snapshot::Snapshot;
use crate::policy::{Rejection, deleters, duplicate, rejection};

/// Changes to a snapshot. They are a function of the snapshot and the events, so that a replay of the log restores
/// index keys that were not on disk.
pub(crate) struct Batch<'s> {
    base: &'s Snapshot,
    keys: BTreeMap<Key, Option<u64>>,
    /// The events to append to the log.
    pub(crate) events: Vec<LogEntry>,
    removed: Vec<u64>,
    last: u64,
}

impl<'s> Batch<'s> {
    pub(crate) fn new(base: &'s Snapshot) -> Self {
        Self {
            base,
            keys: BTreeMap::new(),
            events: Vec::new(),
            removed: Vec::new(),
            last: base.last,
        }
    }

    /// Returns the changes, and the number of the last event.
    pub(crate) fn into_segment(self) -> (Segment, u64) {
        let segment = Segment {
            keys: self.keys.into_iter().collect(),
            events: self.events,
            removed: self.removed,
        };
        (segment, self.last)
    }

    fn get(&self, key: &Key) -> Result<Option<u64>> {
        match self.keys.get(key) {
            Some(value) => Ok(*value),
            None => self.base.get(key),
        }
    }

    fn event(&self, number: u64) -> Result<Option<Event>> {
        match find(&self.events, number) {
            Some(event) => Ok(Some(event.clone())),
            None => self.base.event(number),
        }
    }

    /// Adds an event that is in the log.
    pub(crate) fn replay(&mut self, number: u64, event: &Event) -> Result<()> {
        self.last = number - 1;
        let _ = self.add(event)?;
        self.last = number;
        Ok(())
    }

    /// Adds an event and returns its number, or why it is not stored.
    pub(crate) fn add(&mut self, event: &Event) -> Result<Result<u64, Rejection>> {
        let new = event.as_ref();
        if self.get(&Key::id(new.id()))?.is_some() {
            return Ok(Err(duplicate()));
        }
        if self.is_deleted(&new)? {
            let reason = "the event was deleted by its author";
            return Ok(Err(rejection("deleted", Prefix::Blocked, reason)));
        }
        if let Some(version) = key::version(&new)
            && let Some(number) = self.get(&version)?
            && let Some(old) = self.event(number)?
        {
            let (ours, theirs) = (key::position(&new), key::position(&old.as_ref()));
            // For equal times, the lower id wins. Positions contain only a part of the id.
            if ours < theirs || ours == theirs && new.id() > old.as_ref().id() {
                let reason = "a newer version is stored";
                return Ok(Err(rejection("superseded", Prefix::Duplicate, reason)));
            }
            self.remove(number, &old.as_ref());
        }
        for deletion in new.deletions() {
            self.delete(&new, &deletion)?;
        }
        self.last += 1;
        let keys = key::of_event(&new);
        self.keys
            .extend(keys.into_iter().map(|key| (key, Some(self.last))));
        self.events.push((self.last, event.clone()));
        Ok(Ok(self.last))
    }

    /// Whether a deletion request for the event is stored (NIP-09).
    fn is_deleted(&self, event: &EventRef<'_>) -> Result<bool> {
        // Deletion requests cannot be deleted.
        if event.kind() == 5 {
            return Ok(false);
        }
        for by in deleters(event) {
            if self.get(&Key::deleted(event.id(), &by))?.is_some() {
                return Ok(true);
            }
        }
        let Some(identifier) = key::identifier(event) else {
            return Ok(false);
        };
        let key = Key::deleted_version(event.pubkey(), event.kind(), &identifier);
        let until = self.get(&key)?;
        Ok(until.is_some_and(|until| event.created_at() <= until))
    }

    fn delete(&mut self, request: &EventRef<'_>, deletion: &Deletion<'_>) -> Result<()> {
        let author = request.pubkey();
        let target = match deletion {
            Deletion::Event(id) => {
                self.keys.insert(Key::deleted(id, author), Some(0));
                self.get(&Key::id(id))?
            }
            Deletion::Address { kind, identifier } => {
                let key = Key::deleted_version(author, *kind, identifier);
                let until = self.get(&key)?.unwrap_or(0).max(request.created_at());
                self.keys.insert(key, Some(until));
                self.get(&Key::version(author, *kind, identifier))?
            }
        };
        if let Some(number) = target
            && let Some(event) = self.event(number)?
            && self.is_deleted(&event.as_ref())?
        {
            self.remove(number, &event.as_ref());
        }
        Ok(())
    }

    fn remove(&mut self, number: u64, event: &EventRef<'_>) {
        let keys = key::of_event(event);
        self.keys.extend(keys.into_iter().map(|key| (key, None)));
        self.removed.push(number);
    }

    /// Removes at most `max` events that have expired (NIP-40).
    pub(crate) fn remove_expired(&mut self, now: u64, max: usize) -> Result<()> {
        let (prefixes, end) = ([Key::expiration()], key::first_of(now + 1));
        let mut expired = MergedScan::new(self.base, &prefixes, &[0; 16], &end)?;
        while self.removed.len() < max
            && let Some((_, number)) = expired.next()?
        {
            if let Some(event) = self.base.event(number)? {
                self.remove(number, &event.as_ref());
            }
        }
        Ok(())
    }
}
