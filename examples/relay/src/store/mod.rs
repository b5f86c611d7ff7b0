//! Where events are kept.
//!
//! An event is acknowledged when it is in the log on disk: one thread takes whatever waits, appends it in one
//! transaction, and answers. Keys of the index are not written then: they are kept in memory in order (`segment.rs`),
//! and go to disk when there are many of them, which touches each page of the index once. After a crash they are made
//! again from the end of the log. Queries read both, by a [`Snapshot`].

mod batch;
mod database;
mod key;
mod plan;
mod query;
mod scan;
mod segment;
mod snapshot;
mod writer;

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use polywire_nostr::Event;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{Semaphore, mpsc};

pub(crate) use database::StoreError;
pub(crate) use query::{Query, RESTRICTED, Reader};
pub(crate) use snapshot::Snapshot;

use crate::metrics::Metrics;
use crate::options::Options;
use crate::outbox::Outbox;
use database::Database;
use writer::{Publication, Writer};

/// The bytes of events that may wait to be written. Publishers wait for room.
const ROOM: usize = 32 << 20;

/// The number of events that are never stored: later than any other.
pub(crate) const EPHEMERAL: u64 = u64::MAX;

/// The time in seconds since 1970-01-01 UTC.
pub(crate) fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

pub(crate) struct Store {
    current: Arc<RwLock<Arc<Snapshot>>>,
    /// `None` is the last.
    jobs: mpsc::UnboundedSender<Option<Publication>>,
    room: Arc<Semaphore>,
}

/// The thread that writes. It ends when the store is gone.
pub(crate) type WriterThread = JoinHandle<()>;

impl Store {
    /// Opens the store. Events that are stored go to `stored`, with their numbers.
    pub(crate) fn open(
        options: &Options,
        stored: SyncSender<Vec<(u64, Event)>>,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, WriterThread), StoreError> {
        let database = Database::open(&options.data, options.cache << 20)?;
        let (jobs, waiting) = mpsc::unbounded_channel();
        let (writer, current) = Writer::new(database, options.index_keys, stored, metrics)?;
        let thread = std::thread::Builder::new().name("writer".into());
        let thread = thread.spawn(move || writer.run(waiting));
        let thread = thread.map_err(|error| StoreError(format!("no thread: {error}")))?;
        let store = Self {
            current,
            jobs,
            room: Arc::new(Semaphore::new(ROOM)),
        };
        Ok((store, thread))
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        read(&self.current)
    }

    /// Puts an event into the queue, once there is room. Its publisher is answered when it is on disk.
    pub(crate) async fn publish(&self, event: Event, from: Outbox) {
        let bytes = event.as_ref().as_json().len().clamp(1, ROOM) as u32;
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await;
        // The semaphore is never closed.
        let Ok(room) = room else { return };
        let publication = Publication {
            event,
            from,
            _room: room,
        };
        if let Err(SendError(Some(publication))) = self.jobs.send(Some(publication)) {
            let Publication { event, from, .. } = publication;
            from.ok(
                event.as_ref().id(),
                false,
                "error: the relay writes no more",
            );
        }
    }

    /// Waits until all that was published has been answered.
    pub(crate) async fn drain(&self) {
        // All room is there again then.
        drop(self.room.acquire_many(ROOM as u32).await);
    }

    /// Lets the writer end, once it has written all.
    pub(crate) fn stop(&self) {
        let _ = self.jobs.send(None);
    }

    /// How many bytes of events wait to be written.
    pub(crate) fn queued(&self) -> usize {
        ROOM - self.room.available_permits()
    }
}

fn read(current: &RwLock<Arc<Snapshot>>) -> Arc<Snapshot> {
    // Whole whatever happened to who held it.
    let current = current.read().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(&current)
}
