//! The thread that writes.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use polywire_nostr::Event;
use polywire_nostr::message::Prefix;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

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

pub(super) enum Job {
    Publish(Publication),
    /// All that came before has been answered.
    Barrier(oneshot::Sender<()>),
    /// The last one.
    Stop,
}

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
        let view = Arc::new(database.view()?);
        let last = view.get(Key::indexed().as_bytes())?.unwrap_or(0);
        let segments = Vec::new();
        let mut snapshot = Snapshot {
            view,
            segments,
            last,
        };
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

    pub(super) fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut taken = Vec::new();
        let mut stopping = false;
        while !stopping && jobs.blocking_recv_many(&mut taken, GROUP) > 0 {
            let mut barriers = Vec::new();
            let mut group = Vec::with_capacity(taken.len());
            for job in taken.drain(..) {
                match job {
                    Job::Publish(publication) => group.push(publication),
                    Job::Barrier(done) => barriers.push(done),
                    Job::Stop => stopping = true,
                }
            }
            self.publish(&group);
            drop(group);
            for done in barriers {
                // Who waited may be gone.
                let _ = done.send(());
            }
            let keys: usize = read(&self.current)
                .segments
                .iter()
                .map(|segment| segment.keys.len())
                .sum();
            if keys > self.most_keys || self.bytes > BYTES {
                self.index_or_log();
            }
        }
        self.index_or_log();
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
        self.metrics
            .committed(start.elapsed(), batch.events().len());
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
            let id = event.as_ref();
            let id = id.id();
            match verdict {
                Verdict::Stored(number) => {
                    from.ok(id, true, "");
                    stored.push((*number, event.clone()));
                }
                Verdict::Duplicate => {
                    self.metrics.rejected("duplicate");
                    from.ok(id, true, "duplicate: the event is stored already");
                }
                Verdict::Superseded => {
                    self.metrics.rejected("superseded");
                    from.ok(id, false, "duplicate: a newer version is stored");
                }
                Verdict::Deleted => {
                    self.metrics.rejected("deleted");
                    from.ok(id, false, "blocked: the event was deleted by its author");
                }
            }
        }
        self.metrics.accepted(stored.len());
        if !stored.is_empty() {
            // Its thread is there for as long as this one.
            let _ = self.stored.send(stored);
        }
    }

    fn set(&self, snapshot: Snapshot) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(snapshot);
    }

    fn index_or_log(&mut self) {
        if let Err(error) = self.index() {
            tracing::error!(%error, "the index could not be written");
        }
    }

    /// Puts into the index what is in memory, and removes events that have expired.
    fn index(&mut self) -> Result<(), StoreError> {
        let snapshot = read(&self.current);
        let mut batch = Batch::new(&snapshot);
        batch.remove_expired(now(), EXPIRED)?;
        let (expired, last) = batch.into_segment();
        let mut segments = snapshot.segments.iter();
        let all = segments.try_fold(Segment::default(), |all, segment| {
            Ok::<_, StoreError>(Segment::merge(&all, segment))
        })?;
        let all = Segment::merge(&all, &expired);
        if all.keys.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        self.database.index(&all, last)?;
        tracing::debug!(keys = all.keys.len(), time = ?start.elapsed(), "the index was written");
        self.bytes = 0;
        self.set(Snapshot {
            view: Arc::new(self.database.view()?),
            segments: Vec::new(),
            last,
        });
        Ok(())
    }
}
