//! The thread that writes.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use polywire_nostr::Event;
use polywire_nostr::message::Prefix;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::batch::{Batch, Verdict};
use super::database::{Database, StoreError};
use super::key::Key;
use super::segment::Segment;
use super::snapshot::Snapshot;
use super::{now, read};
use crate::metrics::Metrics;
use crate::outbox::Outbox;

/// The events that are written together at most.
const GROUP: usize = 4096;

/// The bytes of events in memory that are enough to be put into the index.
const BYTES: usize = 32 << 20;

/// Expired events that are removed at once.
const EXPIRED: usize = 10_000;

/// An event, and who is answered.
pub(super) struct Publication {
    pub(super) event: Event,
    pub(super) from: Outbox,
    /// Given back with this.
    pub(super) _room: OwnedSemaphorePermit,
}

pub(super) struct Writer {
    database: Database,
    current: Arc<RwLock<Arc<Snapshot>>>,
    stored: SyncSender<Vec<(u64, Event)>>,
    metrics: Arc<Metrics>,
    /// The keys in memory that are enough to be put into the index.
    most_keys: usize,
    /// The bytes of events that are not in the index yet.
    bytes: usize,
}

/// Where the writer puts what is stored now.
type Current = Arc<RwLock<Arc<Snapshot>>>;

impl Writer {
    /// Brings the index up to the end of the log.
    pub(super) fn new(
        database: Database,
        most_keys: usize,
        stored: SyncSender<Vec<(u64, Event)>>,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, Current), StoreError> {
        let view = database.view()?;
        let last = view.get(Key::indexed().as_bytes())?.unwrap_or(0);
        let mut snapshot = Snapshot::new(view, last);
        let mut log = snapshot.view.log(last)?.peekable();
        while log.peek().is_some() {
            let mut batch = Batch::new(&snapshot);
            for item in log.by_ref().take(GROUP) {
                let (number, event) = item?;
                batch.replay(number, &event)?;
            }
            let (segment, last) = batch.into_segment();
            snapshot = snapshot.with(segment, last);
        }
        if snapshot.last > last {
            tracing::info!(
                events = snapshot.last - last,
                "the index was behind the log"
            );
        }
        let current = Arc::new(RwLock::new(Arc::new(snapshot)));
        let mut writer = Self {
            database,
            current: Arc::clone(&current),
            stored,
            metrics,
            most_keys,
            bytes: 0,
        };
        writer.index()?;
        Ok((writer, current))
    }

    /// Writes what comes, until `None` does.
    pub(super) fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Option<Publication>>) {
        let mut jobs_taken = Vec::new();
        while jobs.blocking_recv_many(&mut jobs_taken, GROUP) > 0 {
            let stopping = jobs_taken.iter().any(Option::is_none);
            let group: Vec<_> = jobs_taken.drain(..).flatten().collect();
            self.publish(&group);
            drop(group);
            let snapshot = read(&self.current);
            let keys = snapshot.segments.iter().map(|segment| segment.keys.len());
            let full = keys.sum::<usize>() > self.most_keys || self.bytes > BYTES;
            if (full || stopping)
                && let Err(error) = self.index()
            {
                tracing::error!(%error, "the index could not be written");
            }
            if stopping {
                return;
            }
        }
    }

    /// Stores a group and answers its publishers.
    fn publish(&mut self, group: &[Publication]) {
        match self.write(group) {
            Ok(verdicts) => self.answer(group, &verdicts),
            Err(error) => {
                tracing::error!(%error, events = group.len(), "events could not be stored");
                let reason = Prefix::Error.with(&error.to_string());
                for Publication { event, from, .. } in group {
                    self.metrics.rejected("storage");
                    from.ok(event.as_ref().id(), false, &reason);
                }
            }
        }
    }

    /// Stores a group. All of it is on disk when this returns.
    fn write(&mut self, group: &[Publication]) -> Result<Vec<Verdict>, StoreError> {
        let snapshot = read(&self.current);
        let mut batch = Batch::new(&snapshot);
        let verdicts = group
            .iter()
            .map(|publication| batch.add(&publication.event));
        let verdicts = verdicts.collect::<Result<Vec<_>, _>>()?;
        if batch.events().is_empty() {
            return Ok(verdicts);
        }
        let start = Instant::now();
        self.database.append(batch.events())?;
        self.metrics.committed(start.elapsed());
        let events = batch.events().iter();
        self.bytes += events
            .map(|(_, event)| event.as_ref().as_json().len())
            .sum::<usize>();
        let (segment, last) = batch.into_segment();
        self.set(snapshot.with(segment, last));
        Ok(verdicts)
    }

    fn answer(&self, group: &[Publication], verdicts: &[Verdict]) {
        let mut stored = Vec::with_capacity(group.len());
        for (Publication { event, from, .. }, verdict) in group.iter().zip(verdicts) {
            if let Verdict::Stored(number) = verdict {
                stored.push((*number, event.clone()));
            }
            let (accepted, code, reason) = verdict.answer();
            from.ok(event.as_ref().id(), accepted, reason);
            if !reason.is_empty() {
                self.metrics.rejected(code);
            }
        }
        self.metrics.accepted(stored.len());
        // Its thread is there for as long as this one.
        let _ = self.stored.send(stored);
    }

    fn set(&self, snapshot: Snapshot) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(snapshot);
    }

    /// Puts into the index what is in memory, and removes events that have expired.
    fn index(&mut self) -> Result<(), StoreError> {
        let snapshot = read(&self.current);
        let mut batch = Batch::new(&snapshot);
        batch.remove_expired(now(), EXPIRED)?;
        let (expired, last) = batch.into_segment();
        let merge = |all, segment: &Arc<Segment>| Segment::merge(&all, segment);
        let all = snapshot.segments.iter().fold(Segment::default(), merge);
        let all = Segment::merge(&all, &expired);
        if all.keys.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        self.database.index(&all, last)?;
        tracing::debug!(keys = all.keys.len(), time = ?start.elapsed(), "the index was written");
        self.bytes = 0;
        self.set(Snapshot::new(self.database.view()?, last));
        Ok(())
    }
}
