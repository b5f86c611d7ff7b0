//! The event store.
//!
//! One writer thread appends events to a log, one transaction for all events that are waiting, and then acknowledges
//! them. Index keys are not written in that transaction: they are kept sorted in memory (`segment.rs`) and written to
//! the index in bulk, so that each page of the index is written once for many keys. After a crash, the end of the log
//! is replayed to restore them. Queries read the index and the keys in memory through a [`Snapshot`].

mod batch;
mod database;
mod key;
mod plan;
mod query;
mod scan;
mod segment;
mod snapshot;
mod writer;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use polywire_nostr::Event;
use polywire_nostr::message::MachineReadablePrefix as Prefix;
use tokio::sync::{Semaphore, mpsc, watch};

pub(crate) use database::StoreError;
pub(crate) use query::Query;
pub(crate) use snapshot::Snapshot;

use crate::metrics::Metrics;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::policy::{Rejection, rejection};
use database::Database;
use writer::{Publication, Writer};

/// The maximum number of bytes of events in the queue of the writer. Publishers wait for space.
const QUEUE_BYTES: usize = 32 << 20;

/// An event and its number. Numbers ascend in the order in which events were stored.
pub(crate) type LogEntry = (u64, Event);

/// The number of ephemeral events, which are not stored. It is greater than all others.
pub(crate) const EPHEMERAL: u64 = u64::MAX;

/// Returns the seconds since 1970-01-01 UTC.
pub(crate) fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

pub(crate) struct Store {
    current: watch::Receiver<Arc<Snapshot>>,
    /// `None` stops the writer.
    jobs: mpsc::UnboundedSender<Option<Publication>>,
    space: Arc<Semaphore>,
}

impl Store {
    /// Opens the store, and starts the writer thread. Sends new events to `stored`.
    pub(crate) fn open(
        options: &Options,
        stored: SyncSender<Vec<LogEntry>>,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, JoinHandle<()>), StoreError> {
        let database = Database::open(&options.data, options.cache << 20)?;
        let (jobs, queue) = mpsc::unbounded_channel();
        let (writer, current) = Writer::new(database, options.index_keys, stored, metrics)?;
        let thread = std::thread::Builder::new().name("writer".into());
        let thread = thread.spawn(move || writer.run(queue));
        let thread =
            thread.map_err(|error| StoreError(format!("cannot start a thread: {error}")))?;
        let store = Self {
            current,
            jobs,
            space: Arc::new(Semaphore::new(QUEUE_BYTES)),
        };
        Ok((store, thread))
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.borrow())
    }

    /// Queues an event. The writer answers the publisher when the event is on disk.
    pub(crate) async fn publish(&self, event: Event, publisher: Outbox) -> Result<(), Rejection> {
        let stopped = || rejection("storage", Prefix::Error, "the relay is stopping");
        let bytes = event.as_ref().as_json().len().clamp(1, QUEUE_BYTES) as u32;
        let space = Arc::clone(&self.space).acquire_many_owned(bytes).await;
        let publication = Publication {
            event,
            publisher,
            _space: space.map_err(|_| stopped())?,
        };
        self.jobs.send(Some(publication)).map_err(|_| stopped())
    }

    /// Waits until all publications have been answered.
    pub(crate) async fn drain(&self) {
        drop(self.space.acquire_many(QUEUE_BYTES as u32).await);
    }

    /// Stops the writer after the publications that are queued.
    pub(crate) fn stop(&self) {
        let _ = self.jobs.send(None);
    }

    /// Returns the bytes of events that are queued.
    pub(crate) fn queued(&self) -> usize {
        QUEUE_BYTES - self.space.available_permits()
    }
}
