//! The redb database: the event log by number, and the index by key. No other file uses redb.

use std::fmt;
use std::path::Path;

use polywire_nostr::Event;
use redb::{Database as Redb, DatabaseError, ReadOnlyTable, ReadableDatabase, TableDefinition};

use super::LogEntry;
use super::key::{Key, Position, position_of};
use super::segment::Segment;

const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
const KEYS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("keys");

/// The file name within the data directory.
const FILE: &str = "events.redb";

pub(crate) struct Database(Redb);

/// A failure of the database. The text says what the operator can do.
#[derive(Debug)]
pub(crate) struct StoreError(pub(super) String);

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self(match error.into() {
            redb::Error::PreviousIo => "the database is read-only after a failed write: \
                restart the relay"
                .into(),
            error => format!("the database could not be read or written: {error}"),
        })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

impl Database {
    /// Opens the database in a directory. Creates both if they do not exist.
    pub(crate) fn open(directory: &Path, cache: usize) -> Result<Self> {
        std::fs::create_dir_all(directory).map_err(|error| {
            let shown = directory.display();
            StoreError(format!("the directory {shown} cannot be created: {error}"))
        })?;
        let file = directory.join(FILE);
        let opened = Redb::builder().set_cache_size(cache).create(&file);
        let database = opened.map_err(|error| {
            let shown = file.display();
            StoreError(match error {
                DatabaseError::DatabaseAlreadyOpen => format!(
                    "{shown} is in use by another process: stop it, or choose another directory with --data"
                ),
                error => format!("{shown} cannot be opened: {error}"),
            })
        })?;
        let database = Self(database);
        let write = database.begin()?;
        write.open_table(EVENTS)?;
        write.open_table(KEYS)?;
        write.commit()?;
        Ok(database)
    }

    fn begin(&self) -> Result<redb::WriteTransaction> {
        let mut write = self.0.begin_write()?;
        // Makes the time of a restart independent of the size of the database.
        write.set_quick_repair(true);
        Ok(write)
    }

    /// Appends events to the log. They are on disk when this returns.
    pub(crate) fn append(&self, events: &[LogEntry]) -> Result<()> {
        let write = self.begin()?;
        let mut log = write.open_table(EVENTS)?;
        for (number, event) in events {
            log.insert(number, event.as_ref().as_json().as_bytes())?;
        }
        drop(log);
        Ok(write.commit()?)
    }

    /// Writes a segment to the index, and records that the index includes the log up to `indexed`.
    pub(crate) fn index(&self, segment: &Segment, indexed: u64) -> Result<()> {
        let write = self.begin()?;
        let mut keys = write.open_table(KEYS)?;
        for (key, value) in &segment.keys {
            match value {
                Some(value) => drop(keys.insert(key.as_bytes(), value)?),
                None => drop(keys.remove(key.as_bytes())?),
            }
        }
        keys.insert(Key::indexed().as_bytes(), indexed)?;
        drop(keys);
        let mut log = write.open_table(EVENTS)?;
        for number in &segment.removed {
            log.remove(number)?;
        }
        drop(log);
        Ok(write.commit()?)
    }

    /// Begins a read transaction.
    pub(crate) fn view(&self) -> Result<View> {
        let read = self.0.begin_read()?;
        Ok(View {
            events: read.open_table(EVENTS)?,
            keys: read.open_table(KEYS)?,
        })
    }
}

/// The database at a point in time.
pub(crate) struct View {
    events: ReadOnlyTable<u64, &'static [u8]>,
    keys: ReadOnlyTable<&'static [u8], u64>,
}

impl View {
    pub(crate) fn get(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.keys.get(key.as_bytes())?.map(|value| value.value()))
    }

    pub(crate) fn event(&self, number: u64) -> Result<Option<Event>> {
        let text = self.events.get(number)?;
        text.map(|text| parse(number, text.value())).transpose()
    }

    /// Returns the events of the log after a number, in ascending order.
    pub(crate) fn log(&self, after: u64) -> Result<impl Iterator<Item = Result<LogEntry>>> {
        let range = self.events.range(after + 1..)?;
        Ok(range.map(|item| {
            let (number, text) = item?;
            let number = number.value();
            Ok((number, parse(number, text.value())?))
        }))
    }

    /// Returns the positions of the keys from `low` to `high` (exclusive), in descending order.
    pub(crate) fn range(
        &self,
        low: &Key,
        high: &Key,
    ) -> Result<impl Iterator<Item = Result<(Position, u64)>> + use<>> {
        let range = self.keys.range(low.as_bytes()..high.as_bytes())?;
        Ok(range.rev().map(|item| {
            let (key, number) = item?;
            Ok((position_of(key.value()), number.value()))
        }))
    }
}

fn parse(number: u64, text: &[u8]) -> Result<Event> {
    Event::parse(text).map_err(|error| {
        StoreError(format!(
            "event {number} in the database is damaged: {error}"
        ))
    })
}
