//! The store: database, data files, and bodies that arrive and leave.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use md5::{Digest, Md5};
use polywire::protocol::Fault;
use polywire::schema::ByteStream;
use tokio::task::spawn_blocking;

use super::database::{Abort, Changes, Database, View};
use super::files::{Files, Pins};
use super::receive::{Received, joined, receive, receive_file};
use super::record::Version;
use super::recovery;
use super::send;
use super::writer::Writer;
use crate::error::Error;

/// The largest body that is stored in the database.
const INLINE: usize = 4096;
/// The bytes of the database that are kept in memory. The kernel keeps more.
const CACHE: usize = 8 << 20;

/// A store in a directory.
#[derive(Debug)]
pub(crate) struct Store {
    // Before the files, so that the last changes are made before the store is gone.
    writer: Writer,
    database: Database,
    files: Arc<Files>,
}

/// Why a store cannot be opened.
#[derive(Debug)]
pub struct OpenError(String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

impl Store {
    /// Opens the store in a directory, which is created if it does not exist. With `is_synced`, changes are on disk when
    /// they are acknowledged.
    ///
    /// # Errors
    ///
    /// The directory cannot be read or written, has other files, or another process uses it.
    pub(crate) fn open(directory: &Path, is_synced: bool) -> Result<Self, OpenError> {
        let failed = |error: io::Error| OpenError(format!("{}: {error}", directory.display()));
        if recovery::is_foreign(directory).map_err(failed)? {
            let reason = "the directory has files that are not of an object store";
            return Err(OpenError(format!("{}: {reason}", directory.display())));
        }
        let files = Arc::new(Files::open(directory, is_synced).map_err(failed)?);
        let path = directory.join("objects.redb");
        let database = Database::open(&path, CACHE, is_synced).map_err(OpenError)?;
        files.sync_entries().map_err(failed)?;
        let view = database
            .view()
            .map_err(|error| OpenError(format!("{error:?}")))?;
        let largest = recovery::recover(&files, &view).map_err(failed)?;
        drop(view);
        files.set_next(largest + 1);
        let writer = Writer::start(database.clone(), Arc::clone(&files)).map_err(failed)?;
        Ok(Self {
            writer,
            database,
            files,
        })
    }

    /// A snapshot. Looking up a few records in it takes microseconds, so it may be used on a thread of the runtime.
    pub(crate) fn view(&self) -> Result<View, Error> {
        self.database.view()
    }

    /// Reads much of a snapshot, on a thread that may wait for the disk.
    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&View) -> Result<T, Abort> + Send + 'static,
    {
        let view = self.view()?;
        let result = spawn_blocking(move || read(&view)).await;
        let result = result.map_err(|error| Error::internal(error.to_string()))?;
        Ok(result?)
    }

    /// Makes a change. It is committed when this returns `Ok`.
    ///
    /// A change that returns an error must not have changed anything.
    pub(crate) async fn change<T, F>(&self, change: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Changes<'_>) -> Result<T, Abort> + Send + 'static,
    {
        self.writer.change(change).await
    }

    /// Receives the body of an object.
    ///
    /// # Errors
    ///
    /// The stream broke off, or has more than `limit` bytes, or it cannot be written. Then nothing is left.
    pub(crate) async fn receive(&self, body: ByteStream, limit: u64) -> Result<Received, Fault> {
        receive(&self.files, body, INLINE, limit).await
    }

    /// Receives the body of a part, which is never inline.
    pub(crate) async fn receive_part(
        &self,
        body: ByteStream,
        limit: u64,
    ) -> Result<Received, Fault> {
        receive_file(&self.files, body, limit).await
    }

    /// Looks up a version whose files stay until it is dropped.
    ///
    /// # Errors
    ///
    /// What `find` returns.
    pub(crate) fn pinned(
        &self,
        find: impl Fn(&View) -> Result<Version, Abort>,
    ) -> Result<Pinned, Error> {
        let mut version = find(&self.view()?)?;
        loop {
            let pins = self.files.pin(&version.detail.segments);
            if version.detail.segments.is_empty() {
                return Ok(Pinned::new(version, pins));
            }
            // The files may have been removed before they were pinned. If something refers to them now, they were not.
            let again = find(&self.view()?)?;
            if again.summary.sequence == version.summary.sequence {
                return Ok(Pinned::new(again, pins));
            }
            version = again;
        }
    }
}

/// A version whose files stay until it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    pub version: Arc<Version>,
    pins: Arc<Pins>,
}

impl Pinned {
    fn new(version: Version, pins: Pins) -> Self {
        Self {
            version: Arc::new(version),
            pins: Arc::new(pins),
        }
    }

    /// A range of the bytes, whose first piece has been read.
    ///
    /// # Errors
    ///
    /// The data cannot be read.
    pub(crate) async fn stream(&self, range: Range<u64>) -> Result<ByteStream, Error> {
        let version = &self.version;
        if version.detail.segments.is_empty() {
            let position = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let len = version.inline.len();
            let end = position(range.end).min(len);
            return Ok(version
                .inline
                .slice(position(range.start).min(end)..end)
                .into());
        }
        let segments = send::slice(&version.detail.segments, &range);
        send::stream(&segments, Arc::clone(&self.pins)).await
    }

    /// The MD5 sum of a range of the bytes.
    pub(crate) async fn md5(&self, range: Range<u64>) -> Result<[u8; 16], Error> {
        let segments = send::slice(&self.version.detail.segments, &range);
        let mut reader = send::Reader::new(&segments, Arc::clone(&self.pins));
        joined(spawn_blocking(move || {
            let mut sum = Md5::new();
            loop {
                let piece = reader.read()?;
                if piece.is_empty() {
                    return Ok(sum.finalize().into());
                }
                sum.update(&piece);
            }
        }))
        .await
    }
}
