//! The redb database: its tables, write transactions and snapshots. Only this file and its neighbours know redb.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use redb::{
    Database as Redb, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};

use super::backend::Backend;
use super::files::DataFile;
use super::record::{self, Bucket, Summary, Version};
use crate::error::Error;

type Names<'a> = (&'a str, &'a str);

/// Buckets by name.
const BUCKETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("buckets");
/// The newest version of each object, which may be a delete marker, by bucket and key.
const OBJECTS: TableDefinition<'_, Names<'_>, &[u8]> = TableDefinition::new("objects");
/// Older versions by bucket, key and inverted sequence number, so that the newest comes first.
const OLDER: TableDefinition<'_, (&str, &str, u64), &[u8]> = TableDefinition::new("older");
/// Uploads in parts by bucket, key and upload id.
const UPLOADS: TableDefinition<'_, (&str, &str, &str), &[u8]> = TableDefinition::new("uploads");
/// Their parts by upload id and number.
const PARTS: TableDefinition<'_, (&str, i32), &[u8]> = TableDefinition::new("parts");
/// How many segments of versions and parts refer to each data file.
const FILES: TableDefinition<'_, u64, u32> = TableDefinition::new("files");
/// Numbers by name.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// In [`NUMBERS`]: the sequence number of the newest version.
const SEQUENCE: &str = "sequence";

/// A record that cannot be decoded.
#[derive(Debug)]
pub(crate) struct Damaged(pub(super) String);

/// Why a change is not made.
#[derive(Debug)]
pub(crate) enum Abort {
    /// The request is not possible. The transaction goes on with other changes.
    Rejected(Error),
    /// The database failed. The transaction is rolled back.
    Failed(String),
}

impl From<Error> for Abort {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}

impl From<redb::StorageError> for Abort {
    fn from(error: redb::StorageError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Damaged> for Abort {
    fn from(Damaged(reason): Damaged) -> Self {
        Self::Failed(format!("a record cannot be read: {reason}"))
    }
}

impl From<Abort> for Error {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::Rejected(error) => error,
            Abort::Failed(reason) => Self::internal(reason),
        }
    }
}

/// The database.
#[derive(Clone, Debug)]
pub(crate) struct Database(Arc<Redb>);

impl Database {
    /// Opens the database in a file, which is created if it does not exist. `cache` is in bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, is in use, or is no database. The text says which.
    pub(super) fn open(path: &Path, cache: usize, is_synced: bool) -> Result<Self, String> {
        let open = || -> Result<Self, redb::Error> {
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            let backend = Backend::new(file, is_synced)?;
            let database = Redb::builder()
                .set_cache_size(cache)
                .create_with_backend(backend)?;
            let write = database.begin_write()?;
            drop(Changes::new(&write)?);
            write.commit()?;
            Ok(Self(Arc::new(database)))
        };
        open().map_err(|error| match error {
            redb::Error::DatabaseAlreadyOpen => {
                format!("{} is in use by another process", path.display())
            }
            error => format!("{} cannot be opened: {error}", path.display()),
        })
    }

    /// Begins a write transaction. It waits for the current one.
    pub(super) fn begin(&self) -> Result<WriteTransaction, redb::Error> {
        Ok(self.0.begin_write()?)
    }

    /// A snapshot.
    pub(crate) fn view(&self) -> Result<View, Error> {
        let open = || -> Result<View, redb::Error> {
            let read = self.0.begin_read()?;
            Ok(View {
                buckets: read.open_table(BUCKETS)?,
                objects: read.open_table(OBJECTS)?,
                older: read.open_table(OLDER)?,
                uploads: read.open_table(UPLOADS)?,
                parts: read.open_table(PARTS)?,
                files: read.open_table(FILES)?,
            })
        };
        open().map_err(|error| Error::internal(error.to_string()))
    }
}

/// A snapshot of the database. It prevents the reuse of pages: drop it before waiting for a client.
pub(crate) struct View {
    pub(super) buckets: ReadOnlyTable<&'static str, &'static [u8]>,
    pub(super) objects: ReadOnlyTable<Names<'static>, &'static [u8]>,
    pub(super) older: ReadOnlyTable<(&'static str, &'static str, u64), &'static [u8]>,
    pub(super) uploads: ReadOnlyTable<(&'static str, &'static str, &'static str), &'static [u8]>,
    pub(super) parts: ReadOnlyTable<(&'static str, i32), &'static [u8]>,
    pub(super) files: ReadOnlyTable<u64, u32>,
}

impl View {
    /// The references of each data file.
    #[cfg(test)]
    pub(super) fn references(&self) -> Result<std::collections::BTreeMap<u64, u32>, Abort> {
        let all = self.files.iter()?;
        all.map(|item| item.map(|(id, count)| (id.value(), count.value())))
            .collect::<Result<_, _>>()
            .map_err(Abort::from)
    }

    /// The summary of the newest version, if it is no delete marker.
    pub(crate) fn object(&self, bucket: &str, key: &str) -> Result<Option<Summary>, Abort> {
        let Some(found) = self.objects.get((bucket, key))? else {
            return Ok(None);
        };
        let summary = Version::decode_summary(found.value())?;
        Ok(Some(summary).filter(|summary| !summary.is_marker))
    }
}

/// The tables of a write transaction.
pub(crate) struct Changes<'t> {
    pub(super) buckets: Table<'t, &'static str, &'static [u8]>,
    pub(super) objects: Table<'t, Names<'static>, &'static [u8]>,
    pub(super) older: Table<'t, (&'static str, &'static str, u64), &'static [u8]>,
    pub(super) uploads: Table<'t, (&'static str, &'static str, &'static str), &'static [u8]>,
    pub(super) parts: Table<'t, (&'static str, i32), &'static [u8]>,
    pub(super) files: Table<'t, u64, u32>,
    numbers: Table<'t, &'static str, u64>,
    sequence: u64,
    first_sequence: u64,
    /// Data files that versions and parts refer to from now on. They are kept when the transaction is committed.
    pub(super) added: Vec<DataFile>,
    /// Data files that nothing refers to any more. They are removed after the transaction.
    pub(super) removed: Vec<u64>,
}

impl<'t> Changes<'t> {
    /// Opens the tables.
    pub(super) fn new(write: &'t WriteTransaction) -> Result<Self, redb::Error> {
        let numbers = write.open_table(NUMBERS)?;
        let sequence = numbers.get(SEQUENCE)?.map_or(0, |number| number.value());
        Ok(Self {
            buckets: write.open_table(BUCKETS)?,
            objects: write.open_table(OBJECTS)?,
            older: write.open_table(OLDER)?,
            uploads: write.open_table(UPLOADS)?,
            parts: write.open_table(PARTS)?,
            files: write.open_table(FILES)?,
            numbers,
            sequence,
            first_sequence: sequence,
            added: Vec::new(),
            removed: Vec::new(),
        })
    }

    /// The sequence number of a new version.
    pub(super) const fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Ends the changes before the commit: returns the files that were added and those that are to be removed.
    pub(super) fn finish(mut self) -> Result<(Vec<DataFile>, Vec<u64>), redb::Error> {
        if self.sequence != self.first_sequence {
            self.numbers.insert(SEQUENCE, self.sequence)?;
        }
        Ok((self.added, self.removed))
    }
}

/// Reads that snapshots and write transactions have in common.
macro_rules! reads {
    ($($type:ty),*) => {
        $(impl $type {
            /// A bucket.
            ///
            /// # Errors
            ///
            /// There is no such bucket.
            pub(crate) fn bucket(&self, name: &str) -> Result<Bucket, Abort> {
                let found = self.buckets.get(name)?.ok_or(Error::NoSuchBucket)?;
                Ok(record::decode(found.value())?)
            }

            /// The newest version of an object, which may be a delete marker.
            pub(crate) fn newest(&self, bucket: &str, key: &str) -> Result<Option<Version>, Abort> {
                let found = self.objects.get((bucket, key))?;
                Ok(found.map(|found| Version::decode(found.value())).transpose()?)
            }

            /// A version of an object by its id.
            pub(crate) fn version(
                &self,
                bucket: &str,
                key: &str,
                id: &str,
            ) -> Result<Option<Version>, Abort> {
                match self.newest(bucket, key)? {
                    Some(newest) if newest.summary.id() == id => return Ok(Some(newest)),
                    Some(_) => {}
                    None => return Ok(None),
                }
                let Some(position) = self.older_position(bucket, key, id)? else {
                    return Ok(None);
                };
                let found = self.older.get((bucket, key, position))?;
                Ok(found.map(|found| Version::decode(found.value())).transpose()?)
            }

            /// Where a version is in the table of older versions.
            pub(super) fn older_position(
                &self,
                bucket: &str,
                key: &str,
                id: &str,
            ) -> Result<Option<u64>, Abort> {
                if id != record::NULL {
                    let position = record::sequence_of(id).map(|sequence| !sequence);
                    let Some(found) = position.map(|at| self.older.get((bucket, key, at))) else {
                        return Ok(None);
                    };
                    // The sequence number may be that of the version `null`, which has no other id.
                    let Some(found) = found? else { return Ok(None) };
                    let summary = Version::decode_summary(found.value())?;
                    return Ok(position.filter(|_| !summary.is_null));
                }
                for item in self.older.range((bucket, key, 0)..=(bucket, key, u64::MAX))? {
                    let (position, found) = item?;
                    if Version::decode_summary(found.value())?.is_null {
                        return Ok(Some(position.value().2));
                    }
                }
                Ok(None)
            }

            /// An upload.
            ///
            /// # Errors
            ///
            /// There is no such bucket or upload.
            pub(crate) fn upload(
                &self,
                bucket: &str,
                key: &str,
                id: &str,
            ) -> Result<super::record::Upload, Abort> {
                self.bucket(bucket)?;
                let found = self.uploads.get((bucket, key, id))?;
                Ok(record::decode(found.ok_or(Error::NoSuchUpload)?.value())?)
            }

            /// The parts of an upload with numbers above `after`, in order.
            pub(crate) fn parts(
                &self,
                id: &str,
                after: i32,
                most: usize,
            ) -> Result<Vec<(i32, super::record::Part)>, Abort> {
                let range = self.parts.range((id, after.saturating_add(1))..=(id, i32::MAX))?;
                range
                    .take(most)
                    .map(|item| {
                        let (key, part) = item?;
                        Ok((key.value().1, record::decode(part.value())?))
                    })
                    .collect()
            }
        })*
    };
}

reads!(View, Changes<'_>);
