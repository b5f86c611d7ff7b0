//! A journal in an embedded database.

use std::fmt;
use std::io;
use std::path::Path;

use redb::{Database, ReadableDatabase, TableDefinition};

use super::{Change, Journal};

/// Things by service, kind and key, with a 0 byte between.
const THINGS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("polywire.things");

/// A file that keeps what doubles remember: a redb database, one for all services of a program. A
/// change is on disk before the call that made it is answered.
///
/// ```
/// use std::sync::Arc;
///
/// use polywire::double::{Change, Journal, StateFile};
///
/// # let folder = std::env::temp_dir().join(format!("polywire-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("state");
/// let file = Arc::new(StateFile::open(&path)?);
/// file.store(&[Change { service: "s", kind: "Queue", key: "a", content: Some(b"{}") }])?;
/// assert_eq!(file.things("s")?, [("Queue".to_owned(), b"{}".to_vec())]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StateFile(Database);

/// Why a state file could not be used.
#[derive(Debug)]
pub struct StateFileError(redb::Error);

impl fmt::Display for StateFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            redb::Error::DatabaseAlreadyOpen => f.write_str("another program uses this file"),
            error => error.fmt(f),
        }
    }
}

impl std::error::Error for StateFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl StateFileError {
    fn new(error: impl Into<redb::Error>) -> Self {
        Self(error.into())
    }
}

impl StateFile {
    /// Opens the file, or creates it.
    ///
    /// # Errors
    ///
    /// The file is no such database, another program uses it, or it cannot be read or written.
    pub fn open(path: &Path) -> Result<Self, StateFileError> {
        let database = Database::create(path).map_err(StateFileError::new)?;
        let begin = database.begin_write().map_err(StateFileError::new)?;
        begin.open_table(THINGS).map_err(StateFileError::new)?;
        begin.commit().map_err(StateFileError::new)?;
        Ok(Self(database))
    }

    /// The things of a service, as their kinds and contents.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn things(&self, service: &str) -> Result<Vec<(String, Vec<u8>)>, StateFileError> {
        let read = self.0.begin_read().map_err(StateFileError::new)?;
        let table = read.open_table(THINGS).map_err(StateFileError::new)?;
        let mut things = Vec::new();
        let start = format!("{service}\0");
        for entry in table.range(start.as_str()..).map_err(StateFileError::new)? {
            let (key, content) = entry.map_err(StateFileError::new)?;
            let Some(rest) = key.value().strip_prefix(&start) else {
                break;
            };
            let kind = rest.split('\0').next().unwrap_or_default();
            things.push((kind.to_owned(), content.value().to_vec()));
        }
        Ok(things)
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<(), redb::Error> {
        let write = self.0.begin_write()?;
        {
            let mut table = write.open_table(THINGS)?;
            for change in changes {
                let key = format!("{}\0{}\0{}", change.service, change.kind, change.key);
                match change.content {
                    Some(content) => table.insert(key.as_str(), content)?,
                    None => table.remove(key.as_str())?,
                };
            }
        }
        write.commit()?;
        Ok(())
    }
}

impl Journal for StateFile {
    fn store(&self, changes: &[Change<'_>]) -> io::Result<()> {
        self.write(changes).map_err(io::Error::other)
    }
}
