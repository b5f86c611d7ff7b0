//! What a start does after the process was killed: removes the files that no transaction mentions.

use std::ffi::OsStr;
use std::fs;
use std::io;

use redb::ReadableTable;

use super::database::View;
use super::files::{Files, id_of};

/// Removes incomplete files, and complete ones to which nothing refers. Returns the largest id of the others.
///
/// # Errors
///
/// A directory cannot be read, or a file cannot be removed.
pub(super) fn recover(files: &Files, view: &View) -> io::Result<u64> {
    for entry in fs::read_dir(files.incoming())? {
        fs::remove_file(entry?.path())?;
    }
    let mut largest = 0;
    for shard in files.shards() {
        for entry in fs::read_dir(shard)? {
            let entry = entry?;
            // A file with another name is not of this store.
            let Some(id) = entry.file_name().to_str().and_then(id_of) else {
                continue;
            };
            let is_known = view.files.get(id).map_err(io::Error::other)?.is_some();
            match is_known {
                true => largest = largest.max(id),
                false => fs::remove_file(entry.path())?,
            }
        }
    }
    let last = view.files.last().map_err(io::Error::other)?;
    let last = last.map_or(0, |(id, _)| id.value());
    Ok(largest.max(last))
}

/// Whether a directory has files of something else, so that it is not taken for a store by mistake.
pub(super) fn is_foreign(directory: &std::path::Path) -> io::Result<bool> {
    let own = ["objects.redb", "incoming", "data"].map(OsStr::new);
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    let mut names = entries.map(|entry| Ok::<_, io::Error>(entry?.file_name()));
    names.try_fold(false, |is_foreign, name| {
        Ok(is_foreign || !own.contains(&name?.as_os_str()))
    })
}
