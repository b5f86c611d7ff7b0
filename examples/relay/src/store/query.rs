//! Queries for stored events, in pages.

use std::cmp::Reverse;

use polywire_nostr::{CompiledFilter, Filter, PublicKey};

use super::database::Result;
use super::key::{Key, Position, first_of, position};
use super::plan::plan;
use super::scan::MergedScan;
use super::snapshot::Snapshot;
use super::{LogEntry, now};
use crate::policy::may_read;

/// The maximum number of events of a page.
const PAGE: usize = 256;

/// A page ends after this many bytes of events.
const PAGE_BYTES: usize = 512 << 10;

/// A query in progress. Between pages it holds no snapshot.
pub(crate) struct Query {
    filter: Filter,
    compiled: CompiledFilter,
    /// The public keys of the client.
    keys: Vec<PublicKey>,
    now: u64,
    /// How many more events to return.
    left: u64,
    /// The end of the scan (exclusive). It moves down as the query proceeds.
    end: Position,
    /// Ignore events after this number: subscriptions get them as new events.
    last: u64,
    /// How many more events to examine.
    work: u64,
    done: bool,
}

impl Query {
    /// A query for at most `max` events up to the number `last`. It examines at most `work` events.
    pub(crate) fn new(
        filter: Filter,
        keys: Vec<PublicKey>,
        max: u64,
        last: u64,
        work: u64,
    ) -> Self {
        let end = match filter.until() {
            Some(until) => first_of(until.saturating_add(1)),
            None => [0xff; 16],
        };
        Self {
            compiled: filter.compile(),
            left: filter.limit().unwrap_or(max).min(max),
            done: filter.matches_nothing(),
            now: now(),
            end,
            filter,
            keys,
            last,
            work,
        }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.done || self.left == 0
    }

    /// Whether the query has stopped before its end because of `work`.
    pub(crate) const fn is_too_broad(&self) -> bool {
        self.work == 0 && !self.is_done()
    }

    /// Returns the next events.
    pub(crate) fn page(&mut self, snapshot: &Snapshot) -> Result<Vec<LogEntry>> {
        let mut page = Vec::new();
        if let Some(ids) = self.filter.ids() {
            let numbers = ids.iter().map(|id| snapshot.get(&Key::id(id)));
            let numbers = numbers.collect::<Result<Vec<_>>>()?;
            for number in numbers.into_iter().flatten() {
                page.extend(self.read(snapshot, number)?);
            }
            page.sort_by_cached_key(|(_, event)| Reverse(position(&event.as_ref())));
            page.dedup_by_key(|(number, _)| *number);
            page.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.done = true;
            return Ok(page);
        }
        let low = first_of(self.filter.since().unwrap_or(0));
        let mut scan = MergedScan::new(snapshot, &plan(&self.filter), &low, &self.end)?;
        let mut bytes = 0;
        while self.left > 0 && self.work > 0 && page.len() < PAGE && bytes < PAGE_BYTES {
            let Some((position, number)) = scan.next()? else {
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
        Ok(page)
    }

    /// Reads an event. Returns it if it matches and the client may read it.
    fn read(&mut self, snapshot: &Snapshot, number: u64) -> Result<Option<LogEntry>> {
        self.work = self.work.saturating_sub(1);
        if number > self.last {
            return Ok(None);
        }
        let event = snapshot.event(number)?;
        let shown = event.filter(|event| {
            let event = event.as_ref();
            self.compiled.matches(&event) && may_read(&event, &self.keys, self.now)
        });
        Ok(shown.map(|event| (number, event)))
    }
}
