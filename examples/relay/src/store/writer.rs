//! The writer thread.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use polywire_nostr::Event;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::batch::Batch;
use super::database::{Database, Result};
use super::key::Key;
use super::segment::Segment;
use super::snapshot::Snapshot;
use super::{LogEntry, now};
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::policy::Rejection;

/// The maximum number of events of a transaction.
const GROUP: usize = 4096;

/// Write the index when this many bytes of events are in memory.
const MAX_BYTES: usize = 32 << 20;

/// The maximum number of expired events to remove at a time.
const MAX_EXPIRED: usize = 10_000;

/// An event to store.
pub(super) struct Publication {
    pub(super) event: Event,
    pub(super) publisher: Outbox,
    /// The space of the event in the queue.
    pub(super) _space: OwnedSemaphorePermit,
}

pub(super) struct Writer {
    database: Database,
    current: watch::Sender<Arc<Snapshot>>,
    stored: SyncSender<Vec<LogEntry>>,
    metrics: Arc<Metrics>,
    /// Write the index when more keys than this are in memory.
    max_keys: usize,
    /// The bytes of events that are in memory.
    bytes: usize,
}

impl Writer {
    /// Replays the end of the log that is not in the index.
    pub(super) fn new(
        database: Database,
        max_keys: usize,
        stored: SyncSender<Vec<LogEntry>>,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, watch::Receiver<Arc<Snapshot>>)> {
        let view = database.view()?;
        let indexed = view.get(&Key::indexed())?.unwrap_or(0);
        let mut log = view.log(indexed)?.peekable();
        let mut snapshot = Snapshot::new(database.view()?, indexed);
        while log.peek().is_some() {
            let mut batch = Batch::new(&snapshot);
            for item in log.by_ref().take(GROUP) {
                let (number, event) = item?;
                batch.replay(number, &event)?;
            }
            let (segment, last) = batch.into_segment();
            snapshot = snapshot.with(segment, last);
        }
        if snapshot.last > indexed {
            let events = snapshot.last - indexed;
            tracing::info!(events, "replayed the end of the log");
        }
        let (current, reader) = watch::channel(Arc::new(snapshot));
        let mut writer = Self {
            database,
            current,
            stored,
            metrics,
            max_keys,
            bytes: 0,
        };
        writer.index()?;
        Ok((writer, reader))
    }

    /// Stores publications until the queue returns `None`.
    pub(super) fn run(mut self, mut queue: mpsc::UnboundedReceiver<Option<Publication>>) {
        let mut jobs = Vec::new();
        while queue.blocking_recv_many(&mut jobs, GROUP) > 0 {
            let stopping = jobs.iter().any(Option::is_none);
            let group: Vec<_> = jobs.drain(..).flatten().collect();
            self.publish(&group);
            drop(group);
            let snapshot = self.snapshot();
            let keys = snapshot.segments.iter().map(|segment| segment.keys.len());
            let full = keys.sum::<usize>() > self.max_keys || self.bytes > MAX_BYTES;
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

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.borrow())
    }

    /// Stores a group and answers its publishers.
    fn publish(&mut self, group: &[Publication]) {
        let outcomes = match self.write(group) {
            Ok(outcomes) => outcomes,
            Err(error) => vec![Err(Rejection::from(error)); group.len()],
        };
        let mut stored = Vec::with_capacity(group.len());
        for (Publication { event, .. }, outcome) in group.iter().zip(&outcomes) {
            match outcome {
                Ok(number) => stored.push((*number, event.clone())),
                Err(rejection) => self.metrics.rejected(rejection.code),
            }
        }
        self.metrics.accepted(stored.len());
        for (publication, outcome) in group.iter().zip(&outcomes) {
            let event = publication.event.as_ref();
            publication.publisher.ok(event.id(), outcome.as_ref().err());
        }
        // The receiver lives as long as the relay.
        let _ = self.stored.send(stored);
    }

    /// Stores a group. Returns the numbers of the events. They are on disk when this returns.
    fn write(&mut self, group: &[Publication]) -> Result<Vec<Result<u64, Rejection>>> {
        let snapshot = self.snapshot();
        let mut batch = Batch::new(&snapshot);
        let outcomes = group
            .iter()
            .map(|publication| batch.add(&publication.event));
        let outcomes = outcomes.collect::<Result<Vec<_>>>()?;
        if batch.events.is_empty() {
            return Ok(outcomes);
        }
        let start = Instant::now();
        self.database.append(&batch.events)?;
        self.metrics.committed(start.elapsed());
        for (_, event) in &batch.events {
            self.bytes += event.as_ref().as_json().len();
        }
        let (segment, last) = batch.into_segment();
        let snapshot = snapshot.with(segment, last);
        self.current.send_replace(Arc::new(snapshot));
        Ok(outcomes)
    }

    /// Writes the keys in memory to the index, and removes events that have expired.
    fn index(&mut self) -> Result<()> {
        let snapshot = self.snapshot();
        let mut batch = Batch::new(&snapshot);
        batch.remove_expired(now(), MAX_EXPIRED)?;
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
        let snapshot = Snapshot::new(self.database.view()?, last);
        self.current.send_replace(Arc::new(snapshot));
        Ok(())
    }
}
