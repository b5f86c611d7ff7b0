//! The stored events that match a filter, in pages.

use std::cmp::Reverse;

use polywire_nostr::{CompiledFilter, Event, EventRef, Filter, PublicKey};

use super::database::StoreError;
use super::key::{Key, Position, first_of, position};
use super::plan::{Plan, plan};
use super::scan::Merged;
use super::snapshot::Snapshot;

/// The events of a page, and their bytes.
const PAGE: usize = 256;
const PAGE_BYTES: usize = 512 << 10;

/// A query in progress. Between pages it holds no snapshot.
pub(crate) struct Query {
    filter: Filter,
    compiled: CompiledFilter,
    reader: Reader,
    /// How many events may still come.
    left: u64,
    /// The first position that is not read any more.
    end: Position,
    /// Events behind this one are left out: they were sent when they came.
    last: u64,
    /// How many keys may still be read.
    work: u64,
    done: bool,
}

/// Who reads, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    /// The keys that have been proven.
    pub(crate) keys: Vec<PublicKey>,
    pub(crate) now: u64,
}

/// Kinds that only their authors and recipients may read: direct messages (NIP-04) and gift wraps (NIP-59).
pub(crate) const RESTRICTED: [u16; 2] = [4, 1059];

impl Reader {
    /// Whether an event is to be shown (NIP-17, NIP-40).
    pub(crate) fn may_read(&self, event: &EventRef<'_>) -> bool {
        let known = |key: &PublicKey| self.keys.contains(key);
        let is_open = !RESTRICTED.contains(&event.kind());
        let mut tags = event.tags().filter(|tag| tag.name() == "p");
        let mut is_recipient = || {
            tags.any(|tag| {
                tag.value()
                    .is_some_and(|key| key.parse().is_ok_and(|key| known(&key)))
            })
        };
        !event.is_expired(self.now) && (is_open || known(event.pubkey()) || is_recipient())
    }
}

impl Query {
    /// Begins a query for the events up to `last`, that reads no more than so many keys.
    pub(crate) fn new(filter: Filter, reader: Reader, most: u64, last: u64, work: u64) -> Self {
        let end = match filter.until() {
            Some(until) => first_of(until.saturating_add(1)),
            None => [0xff; 16],
        };
        Self {
            compiled: filter.compile(),
            left: filter.limit().unwrap_or(most).min(most),
            done: filter.matches_nothing(),
            end,
            filter,
            reader,
            last,
            work,
        }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.done || self.left == 0
    }

    /// Whether it has read all that it may, and was not done.
    pub(crate) const fn is_too_broad(&self) -> bool {
        self.work == 0 && !self.is_done()
    }

    /// The next events, and their numbers.
    pub(crate) fn page(&mut self, snapshot: &Snapshot) -> Result<Vec<(u64, Event)>, StoreError> {
        let mut page = Vec::new();
        let mut bytes = 0;
        match plan(&self.filter) {
            Plan::Ids => {
                let ids = self.filter.ids().unwrap_or_default().iter().map(Key::id);
                for id in ids.collect::<Vec<_>>() {
                    if let Some(number) = snapshot.get(&id)? {
                        page.extend(self.read(snapshot, number)?);
                    }
                }
                page.sort_by_cached_key(|(_, event)| Reverse(position(&event.as_ref())));
                page.dedup_by_key(|(number, _)| *number);
                page.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.done = true;
            }
            Plan::Scans(scans) => {
                let low = first_of(self.filter.since().unwrap_or(0));
                let mut merged = Merged::new(snapshot, &scans, &low, &self.end)?;
                while self.left > 0 && self.work > 0 && page.len() < PAGE && bytes < PAGE_BYTES {
                    let Some((position, number)) = merged.next()? else {
                        self.done = true;
                        break;
                    };
                    self.end = position;
                    if let Some((number, event)) = self.read(snapshot, number)? {
                        bytes += event.as_ref().as_json().len();
                        page.push((number, event));
                        self.left -= 1;
                    }
                }
            }
        }
        Ok(page)
    }

    /// An event, if it matches and may be read.
    fn read(
        &mut self,
        snapshot: &Snapshot,
        number: u64,
    ) -> Result<Option<(u64, Event)>, StoreError> {
        self.work = self.work.saturating_sub(1);
        if number > self.last {
            return Ok(None);
        }
        let event = snapshot.event(number)?;
        Ok(event.and_then(|event| {
            let found = event.as_ref();
            let shown = self.compiled.matches(&found) && self.reader.may_read(&found);
            shown.then_some((number, event))
        }))
    }
}
