//! Queries for stored events, in pages.

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
    /// How many more events to examine and scans to start.
    work: u64,
    /// The events of a query for ids that are not returned yet, the latest last.
    found: Option<Vec<(Position, u64)>>,
    done: bool,
}

impl Query {
    /// A query for at most `max` events up to the number `last`. It examines at most `work` events. Each start of
    /// a scan counts as an event: each page starts all scans again.
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
            found: None,
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
        let mut scan = None;
        if self.filter.ids().is_none() {
            let (low, scans) = (
                first_of(self.filter.since().unwrap_or(0)),
                plan(&self.filter),
            );
            self.work = self.work.saturating_sub(scans.len() as u64);
            scan = Some(MergedScan::new(snapshot, &scans, &low, &self.end)?);
        } else if self.found.is_none() {
            self.found = Some(self.find(snapshot)?);
        }
        let mut bytes = 0;
        while self.left > 0 && self.work > 0 && page.len() < PAGE && bytes < PAGE_BYTES {
            let next = match &mut scan {
                Some(scan) => scan.next()?,
                None => self.found.as_mut().and_then(Vec::pop),
            };
            let Some((position, number)) = next else {
                self.done = true;
                break;
            };
            self.end = position;
            self.work -= 1;
            if let Some((number, event)) = self.read(snapshot, number)? {
                bytes += event.as_ref().as_json().len();
                page.push((number, event));
                self.left -= 1;
            }
        }
        Ok(page)
    }

    /// Finds the events of a filter with ids.
    fn find(&self, snapshot: &Snapshot) -> Result<Vec<(Position, u64)>> {
        let mut found = Vec::new();
        for id in self.filter.ids().unwrap_or_default() {
            if let Some(number) = snapshot.get(&Key::id(id))?
                && let Some((number, event)) = self.read(snapshot, number)?
            {
                found.push((position(&event.as_ref()), number));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Reads an event. Returns it if it matches and the client may read it.
    fn read(&self, snapshot: &Snapshot, number: u64) -> Result<Option<LogEntry>> {
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
