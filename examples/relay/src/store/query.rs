//! The stored events that match a filter, in pages.

use polywire_nostr::{CompiledFilter, Event, EventRef, Filter, PublicKey};

use super::database::StoreError;
use super::key::{Key, Position, position};
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
        if event.is_expired(self.now) {
            return false;
        }
        if !RESTRICTED.contains(&event.kind()) {
            return true;
        }
        if self.keys.is_empty() {
            return false;
        }
        self.keys.contains(event.pubkey())
            || event.tags().any(|tag| {
                let value = tag.value().and_then(|value| value.parse().ok());
                tag.name() == "p" && value.is_some_and(|key| self.keys.contains(&key))
            })
    }
}

/// Why a query ends early.
#[derive(Debug)]
pub(crate) enum QueryError {
    Store(StoreError),
    /// Too many events were looked at that do not match.
    TooBroad,
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Query {
    /// Begins a query for the events up to `last`, that reads no more than so many keys.
    pub(crate) fn new(filter: Filter, reader: Reader, most: u64, last: u64, work: u64) -> Self {
        let end = match filter.until() {
            Some(until) => position(until.saturating_add(1), &[0xff; 32]),
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

    /// The next events, and their numbers.
    pub(crate) fn page(&mut self, snapshot: &Snapshot) -> Result<Vec<(u64, Event)>, QueryError> {
        let mut page = Vec::new();
        let mut bytes = 0;
        match plan(&self.filter, snapshot)? {
            Plan::Ids => {
                let ids = self.filter.ids().unwrap_or_default().iter().map(Key::id);
                for id in ids.collect::<Vec<_>>() {
                    if let Some(number) = snapshot.get(&id)? {
                        page.extend(self.read(snapshot, number)?);
                    }
                }
                page.sort_by(|(_, a), (_, b)| {
                    let key = |event: &Event| {
                        let event = event.as_ref();
                        position(event.created_at(), event.id().as_bytes())
                    };
                    key(b).cmp(&key(a))
                });
                page.dedup_by_key(|(number, _)| *number);
                page.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.done = true;
            }
            Plan::Scans(scans) => {
                let low = position(self.filter.since().unwrap_or(0), &[0xff; 32]);
                let mut merged = Merged::new(snapshot, &scans, &low, &self.end)?;
                while self.left > 0 && page.len() < PAGE && bytes < PAGE_BYTES {
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
    ) -> Result<Option<(u64, Event)>, QueryError> {
        self.work = self.work.checked_sub(1).ok_or(QueryError::TooBroad)?;
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
