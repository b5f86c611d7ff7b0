//! The database: a log of events by number, and an index of keys. All that is redb's is in this file.

use std::fmt;
use std::path::Path;

use polywire_nostr::Event;
use redb::{Database as Redb, DatabaseError, ReadOnlyTable, ReadableDatabase, TableDefinition};

use super::key::{Key, Position, position_of};
use super::segment::Segment;

const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
const KEYS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("keys");

/// The file in the folder of data.
const FILE: &str = "events.redb";

pub(crate) struct Database(Redb);

/// Why the database failed, and what to do.
#[derive(Debug)]
pub(crate) struct StoreError(pub(super) String);

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self(match error.into() {
            redb::Error::PreviousIo => {
                "the database could not be written before, and takes nothing \
                until the relay is started again"
                    .into()
            }
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
    /// Opens the database in a folder, or makes both.
    pub(crate) fn open(folder: &Path, cache: usize) -> Result<Self, StoreError> {
        let file = folder.join(FILE);
        std::fs::create_dir_all(folder).map_err(|error| {
            StoreError(format!(
                "the folder {} cannot be made: {error}",
                folder.display()
            ))
        })?;
        let opened = Redb::builder().set_cache_size(cache).create(&file);
        let database = opened.map_err(|error| {
            let shown = file.display();
            StoreError(match error {
                DatabaseError::DatabaseAlreadyOpen => format!(
                    "{shown} is in use by another process: stop that relay, or give this one another folder with --data"
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

    fn begin(&self) -> Result<redb::WriteTransaction, StoreError> {
        let mut write = self.0.begin_write()?;
        // A restart then takes as long whatever the size.
        write.set_quick_repair(true);
        Ok(write)
    }

    /// Appends events to the log. They are on disk when this returns.
    pub(crate) fn append(&self, events: &[(u64, Event)]) -> Result<(), StoreError> {
        let write = self.begin()?;
        let mut log = write.open_table(EVENTS)?;
        for (number, event) in events {
            log.insert(number, event.as_ref().as_json().as_bytes())?;
        }
        drop(log);
        Ok(write.commit()?)
    }

    /// Puts the keys of a segment into the index, removes from the log what it says, and notes how far the index is.
    pub(crate) fn index(&self, segment: &Segment, indexed: u64) -> Result<(), StoreError> {
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

    /// What is there now.
    pub(crate) fn view(&self) -> Result<View, StoreError> {
        let read = self.0.begin_read()?;
        Ok(View {
            events: read.open_table(EVENTS)?,
            keys: read.open_table(KEYS)?,
        })
    }
}

/// The database as it was at some time.
pub(crate) struct View {
    events: ReadOnlyTable<u64, &'static [u8]>,
    keys: ReadOnlyTable<&'static [u8], u64>,
}

impl View {
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        Ok(self.keys.get(key)?.map(|value| value.value()))
    }

    pub(crate) fn event(&self, number: u64) -> Result<Option<Event>, StoreError> {
        match self.events.get(number)? {
            None => Ok(None),
            Some(text) => parse(number, text.value()).map(Some),
        }
    }

    /// The events of the log behind a number, in order.
    pub(crate) fn log(
        &self,
        behind: u64,
    ) -> Result<impl Iterator<Item = Result<(u64, Event), StoreError>> + use<>, StoreError> {
        let range = self.events.range(behind + 1..)?;
        Ok(range.map(|item| {
            let (number, text) = item?;
            let number = number.value();
            Ok((number, parse(number, text.value())?))
        }))
    }

    /// The positions of the keys from one to another, which is left out, backwards.
    pub(crate) fn range(
        &self,
        low: &[u8],
        high: &[u8],
    ) -> Result<impl Iterator<Item = Result<(Position, u64), StoreError>> + use<>, StoreError> {
        let range = self.keys.range(low..high)?;
        Ok(range.rev().map(|item| {
            let (key, number) = item?;
            Ok((position_of(key.value()), number.value()))
        }))
    }
}

/// Reads an event as it was accepted.
fn parse(number: u64, text: &[u8]) -> Result<Event, StoreError> {
    Event::parse(text).map_err(|error| {
        StoreError(format!(
            "event {number} of the database is damaged: {error}"
        ))
    })
}
