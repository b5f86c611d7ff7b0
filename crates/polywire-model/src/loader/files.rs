//! What stands on the disk. The only file of this crate that reads it.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::diagnostic::Problem;
use crate::source::{MAX_FILE_BYTES, SourceLocation};

/// How deep folders are searched.
const MAX_FOLDER_DEPTH: usize = 64;

/// The file that configures Smithy's build tool, in the folder of many models.
pub(super) const BUILD_FILE: &str = "smithy-build.json";

/// A finding about what couldn't be read.
#[cold]
pub(super) fn unreadable(name: impl std::fmt::Display, message: &str) -> Problem {
    let message = format!("`{name}` can't be read: {message}");
    Problem::error("Unreadable", SourceLocation::NONE, message)
}

/// A warning about a file as a whole.
#[cfg(feature = "jar")]
pub(super) fn without_place(code: &'static str, message: String) -> Problem {
    Problem::warning(code, SourceLocation::NONE, message)
}

/// The bytes of a file, of a pipe too.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Box<Problem>> {
    let file = fs::File::open(path).map_err(|error| unopened(path, &error))?;
    let mut bytes = Vec::new();
    // One more than the limit, which shows that it was passed.
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unopened(path, &error))?;
    Ok(bytes)
}

#[cold]
fn unopened(path: &Path, error: &std::io::Error) -> Problem {
    if path.is_dir() {
        return unreadable(path.display(), "it is a folder");
    }
    unreadable(path.display(), &error.to_string())
}

pub(super) fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// What a file is called whichever way leads to it; `None` when none does.
pub(super) fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// The model files of a folder and the folders in it, sorted by path. A folder
/// to which several links lead is searched once, so that no circle is endless.
pub(super) fn find(folder: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut walk = Walk {
        seen: HashSet::new(),
        files: Vec::new(),
        problems,
    };
    walk.folder(folder, 0);
    let mut files = walk.files;
    files.sort();
    files
}

struct Walk<'p> {
    seen: HashSet<PathBuf>,
    files: Vec<PathBuf>,
    problems: &'p mut Vec<Problem>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        if depth > MAX_FOLDER_DEPTH {
            let message = "folders nest too deeply";
            self.problems.push(unreadable(folder.display(), message));
            return;
        }
        if identity(folder).is_some_and(|identity| !self.seen.insert(identity)) {
            return;
        }
        let mut inner = Vec::new();
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    match entry.map(|entry| entry.path()) {
                        Ok(path) if path.is_dir() => inner.push(path),
                        Ok(path) if is_model_file(&path) => self.files.push(path),
                        Ok(_) => {}
                        Err(error) => self.problems.push(unopened(folder, &error)),
                    }
                }
            }
            Err(error) => {
                let problem = unreadable(folder.display(), &error.to_string());
                self.problems.push(problem);
            }
        }
        // Sorted, so that of two ways to a folder the same one is taken each time.
        inner.sort();
        for folder in inner {
            self.folder(&folder, depth + 1);
        }
    }
}

fn is_model_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "smithy" || extension == "json")
        && path.file_name().is_some_and(|name| name != BUILD_FILE)
}
