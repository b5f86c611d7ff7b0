//! Data files: names, writing, pins and removal.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bytes::Bytes;
use md5::{Digest, Md5};

use super::record::Segment;

/// The directories of data files. A file is in the one that the last byte of its id names, so that none gets too many.
const FANOUT: u64 = 256;

/// The data files of a store.
#[derive(Debug)]
pub(crate) struct Files {
    directory: PathBuf,
    /// Whether a file is written to disk before it is moved to its place.
    is_synced: bool,
    next: AtomicU64,
    pins: Mutex<HashMap<u64, Pin>>,
    /// Paths that a thread removes, since that can take long.
    remover: Sender<PathBuf>,
}

/// The readers of a file.
#[derive(Debug, Default)]
struct Pin {
    readers: usize,
    /// Whether the last reader removes the file.
    is_removed: bool,
}

impl Files {
    /// Creates the directories if they do not exist, and starts the thread that removes files.
    pub(super) fn open(directory: &Path, is_synced: bool) -> io::Result<Self> {
        fs::create_dir_all(directory.join("incoming"))?;
        for last in 0..FANOUT {
            fs::create_dir_all(shard(directory, last))?;
        }
        if is_synced {
            sync_directory(&directory.join("data"))?;
        }
        let (remover, paths) = channel::<PathBuf>();
        thread::Builder::new()
            .name("remover".to_owned())
            .spawn(move || {
                for path in paths {
                    // The next start tries again.
                    let _ = fs::remove_file(path);
                }
            })?;
        Ok(Self {
            directory: directory.to_owned(),
            is_synced,
            next: AtomicU64::new(1),
            pins: Mutex::new(HashMap::new()),
            remover,
        })
    }

    /// Writes the entry of the directory, and its entries, to disk if the store is synced: they may be new.
    pub(super) fn sync_entries(&self) -> io::Result<()> {
        if !self.is_synced {
            return Ok(());
        }
        sync_directory(&self.directory)?;
        let absolute = std::path::absolute(&self.directory)?;
        absolute.parent().map_or(Ok(()), sync_directory)
    }

    /// Sets the id of the next file.
    pub(super) fn set_next(&self, next: u64) {
        self.next.store(next, Ordering::Relaxed);
    }

    /// The directories in which complete files are.
    pub(super) fn shards(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..FANOUT).map(|last| shard(&self.directory, last))
    }

    /// The directory of files that are being written.
    pub(super) fn incoming(&self) -> PathBuf {
        self.directory.join("incoming")
    }

    /// The path of a complete file.
    pub(super) fn path(&self, id: u64) -> PathBuf {
        shard(&self.directory, id).join(name(id))
    }

    /// Creates a file.
    pub(crate) fn create(self: &Arc<Self>) -> io::Result<DataFile> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.incoming().join(name(id));
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(DataFile {
            id,
            path,
            file: Some(file),
            len: 0,
            hash: Md5::new(),
            files: Arc::clone(self),
            is_kept: false,
        })
    }

    fn pins(&self) -> MutexGuard<'_, HashMap<u64, Pin>> {
        // Each change is one call, so a thread that panicked has left the map whole.
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the files of segments until the pins are dropped, even if they are removed meanwhile. They may have been
    /// removed before: look up the segments once more afterwards.
    pub(crate) fn pin(self: &Arc<Self>, segments: &[Segment]) -> Pins {
        let mut pins = self.pins();
        let mut pin = |segment: &Segment| {
            pins.entry(segment.file).or_default().readers += 1;
            segment.file
        };
        Pins {
            ids: segments.iter().map(&mut pin).collect(),
            files: Arc::clone(self),
        }
    }

    /// Removes files to which nothing refers any more, as soon as they have no readers.
    pub(super) fn remove(&self, ids: &[u64]) {
        let mut pins = self.pins();
        for id in ids {
            match pins.get_mut(id) {
                Some(pin) => pin.is_removed = true,
                None => self.remove_path(self.path(*id)),
            }
        }
    }

    fn remove_path(&self, path: PathBuf) {
        // The thread runs as long as there is a sender.
        let _ = self.remover.send(path);
    }
}

fn shard(directory: &Path, id: u64) -> PathBuf {
    directory.join("data").join(format!("{:02x}", id % FANOUT))
}

fn name(id: u64) -> String {
    format!("{id:016x}")
}

/// The id of a file of this name. `None` if the store does not make such names.
pub(super) fn id_of(name: &str) -> Option<u64> {
    let id = u64::from_str_radix(name, 16).ok()?;
    (self::name(id) == name).then_some(id)
}

/// Writes the entries of a directory to disk.
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Files that have a reader.
#[derive(Debug)]
pub(crate) struct Pins {
    ids: Vec<u64>,
    files: Arc<Files>,
}

impl Pins {
    /// Opens one of the files.
    pub(super) fn open(&self, id: u64) -> io::Result<File> {
        File::open(self.files.path(id))
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let mut pins = self.files.pins();
        for id in &self.ids {
            let Some(pin) = pins.get_mut(id) else {
                continue;
            };
            pin.readers -= 1;
            if pin.readers == 0 {
                if pin.is_removed {
                    self.files.remove_path(self.files.path(*id));
                }
                pins.remove(id);
            }
        }
    }
}

/// A data file that is not part of an object yet. It is removed on drop, unless [`keep`](Self::keep) was called.
pub(crate) struct DataFile {
    id: u64,
    path: PathBuf,
    /// `None` when it is complete.
    file: Option<File>,
    len: u64,
    hash: Md5,
    files: Arc<Files>,
    is_kept: bool,
}

impl DataFile {
    /// Appends bytes.
    pub(crate) fn write(&mut self, pieces: &[Bytes]) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Err(io::Error::other("the file is complete"));
        };
        for piece in pieces {
            self.hash.update(piece);
            file.write_all(piece)?;
            self.len += piece.len() as u64;
        }
        Ok(())
    }

    /// Completes the file: moves it to its place, after it was written to disk if the store is synced.
    pub(crate) fn complete(&mut self) -> io::Result<[u8; 16]> {
        if let Some(file) = self.file.take() {
            if self.files.is_synced {
                file.sync_data()?;
            }
            let path = self.files.path(self.id);
            fs::rename(&self.path, &path)?;
            self.path = path;
            if self.files.is_synced {
                sync_directory(&shard(&self.files.directory, self.id))?;
            }
        }
        Ok(self.hash.clone().finalize().into())
    }

    /// The segment of the whole file.
    pub(crate) const fn segment(&self) -> Segment {
        Segment {
            file: self.id,
            offset: 0,
            len: self.len,
        }
    }

    /// Keeps the file: the database refers to it.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if !self.is_kept {
            self.files.remove_path(std::mem::take(&mut self.path));
        }
    }
}

impl std::fmt::Debug for DataFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("DataFile");
        shown.field("id", &self.id).finish_non_exhaustive()
    }
}
