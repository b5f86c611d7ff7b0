//! Events that are put into the store together, and what each of them changes.

use std::collections::BTreeMap;

use polywire_nostr::{Deletion, Event, EventRef, PublicKey};

use super::database::StoreError;
use super::key::{self, Key};
use super::scan::Merged;
use super::segment::Segment;
use super::snapshot::Snapshot;

/// Changes over a snapshot. The same events over the same snapshot make the same changes, so that the keys of a log
/// that were not yet on disk can be made again.
pub(crate) struct Batch<'s> {
    base: &'s Snapshot,
    keys: BTreeMap<Key, Option<u64>>,
    events: Vec<(u64, Event)>,
    removed: Vec<u64>,
    last: u64,
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// It is stored, under this number.
    Stored(u64),
    /// It was stored before.
    Duplicate,
    /// A newer version of it is stored.
    Superseded,
    /// Its author has deleted it.
    Deleted,
}

impl Verdict {
    /// Whether the event is accepted, a code for metrics, and the reason.
    pub(crate) const fn answer(self) -> (bool, &'static str, &'static str) {
        match self {
            Self::Stored(_) => (true, "", ""),
            Self::Duplicate => (true, "duplicate", "duplicate: the event is stored already"),
            Self::Superseded => (false, "superseded", "duplicate: a newer version is stored"),
            Self::Deleted => (
                false,
                "deleted",
                "blocked: the event was deleted by its author",
            ),
        }
    }
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

    /// The events to be stored.
    pub(crate) fn events(&self) -> &[(u64, Event)] {
        &self.events
    }

    pub(crate) fn into_segment(self) -> (Segment, u64) {
        let segment = Segment {
            keys: self.keys.into_iter().collect(),
            events: self.events,
            removed: self.removed,
        };
        (segment, self.last)
    }

    fn get(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        match self.keys.get(key) {
            Some(value) => Ok(*value),
            None => self.base.get(key),
        }
    }

    fn event(&self, number: u64) -> Result<Option<Event>, StoreError> {
        let at = self
            .events
            .binary_search_by_key(&number, |(other, _)| *other);
        match at {
            Ok(at) => Ok(Some(self.events[at].1.clone())),
            Err(_) => self.base.event(number),
        }
    }

    /// Adds an event that stands in the log already.
    pub(crate) fn replay(&mut self, number: u64, event: &Event) -> Result<Verdict, StoreError> {
        self.last = number - 1;
        let verdict = self.add(event);
        self.last = number;
        verdict
    }

    /// Adds an event, unless it is not to be stored.
    pub(crate) fn add(&mut self, event: &Event) -> Result<Verdict, StoreError> {
        let new = event.as_ref();
        if self.get(&Key::id(new.id()))?.is_some() {
            return Ok(Verdict::Duplicate);
        }
        if self.is_deleted(&new)? {
            return Ok(Verdict::Deleted);
        }
        if let Some(version) = key::version(&new)
            && let Some(number) = self.get(&version)?
            && let Some(old) = self.event(number)?
        {
            let (ours, theirs) = (key::position(&new), key::position(&old.as_ref()));
            // Of two as new, the lower id stays; ids may begin alike.
            if ours < theirs || ours == theirs && new.id() > old.as_ref().id() {
                return Ok(Verdict::Superseded);
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
        Ok(Verdict::Stored(self.last))
    }

    /// Whether somebody who may has asked to delete an event, before it came (NIP-09).
    fn is_deleted(&self, event: &EventRef<'_>) -> Result<bool, StoreError> {
        // Deletions are not deleted.
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

    fn delete(
        &mut self,
        request: &EventRef<'_>,
        deletion: &Deletion<'_>,
    ) -> Result<(), StoreError> {
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

    /// Removes up to so many events that have expired (NIP-40).
    pub(crate) fn remove_expired(&mut self, now: u64, most: usize) -> Result<(), StoreError> {
        let (scan, end) = ([Key::expiration()], key::first_of(now + 1));
        let mut expired = Merged::new(self.base, &scan, &[0; 16], &end)?;
        while self.removed.len() < most
            && let Some((_, number)) = expired.next()?
        {
            if let Some(event) = self.base.event(number)? {
                self.remove(number, &event.as_ref());
            }
        }
        Ok(())
    }
}

/// Who may delete an event: its author, and the recipients of a gift wrap, whose author is nobody.
fn deleters(event: &EventRef<'_>) -> impl Iterator<Item = PublicKey> {
    let tags = (event.kind() == 1059).then(|| event.tags());
    let recipients = tags.into_iter().flatten().filter(|tag| tag.name() == "p");
    let recipients = recipients.filter_map(|tag| tag.value()?.parse().ok());
    std::iter::once(*event.pubkey()).chain(recipients)
}
