//! Reads files and folders. No other module of the crate does.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::diagnostic::Problem;
use crate::rules::{self, Rule};
use crate::source::{MAX_FILE_BYTES, SourceLocation};

/// The maximum depth of folders.
const MAX_FOLDER_DEPTH: usize = 64;

/// The configuration of Smithy's build tool, which is in the folders of many models.
pub(super) const BUILD_FILE: &str = "smithy-build.json";

/// A finding about a file that cannot be read.
#[cold]
pub(super) fn unreadable(name: impl std::fmt::Display, message: &str) -> Problem {
    let message = format!("`{name}` cannot be read: {message}");
    Problem::error(rules::UNREADABLE, SourceLocation::NONE, message)
}

/// A warning about a file as a whole.
pub(super) fn without_place(rule: &'static Rule, message: String) -> Problem {
    Problem::warning(rule, SourceLocation::NONE, message)
}

/// The bytes of a file or pipe.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Box<Problem>> {
    let file = fs::File::open(path).map_err(|error| unopened(path, &error))?;
    let mut bytes = Vec::new();
    // One byte more than the limit, to detect that the file is larger.
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

/// The canonical path of a file. `None` if there is no such file.
pub(super) fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// The model files of a folder and its subfolders, sorted by path.
///
/// Symbolic links are followed to what is in `folder`. A model may come from another user, and
/// findings print lines of files, so links out of `folder` are not followed: for a model file
/// that is an error, for a folder a warning. A folder that several links lead to is searched
/// once, so links may form a circle. Only regular files are read: opening a pipe waits for a
/// writer.
pub(super) fn find(folder: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut walk = Walk {
        root: identity(folder),
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
    /// The canonical path of the folder where the search began.
    root: Option<PathBuf>,
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
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let problem = unreadable(folder.display(), &error.to_string());
                self.problems.push(problem);
                return;
            }
        };
        let mut inner = Vec::new();
        for entry in entries {
            let kind = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
            match kind {
                Ok((path, kind)) => self.entry(path, kind, &mut inner),
                Err(error) => self.problems.push(unopened(folder, &error)),
            }
        }
        // Sorted, so that the result does not depend on the file system.
        inner.sort();
        for folder in inner {
            self.folder(&folder, depth + 1);
        }
    }

    /// Adds an entry of a folder to the model files or to the subfolders, if it is one of them.
    fn entry(&mut self, path: PathBuf, mut kind: fs::FileType, inner: &mut Vec<PathBuf>) {
        let is_model = is_model_file(&path);
        if kind.is_symlink() {
            kind = match fs::metadata(&path) {
                Ok(target) => target.file_type(),
                Err(error) if is_model => return self.problems.push(unopened(&path, &error)),
                // A broken link that is not named like a model.
                Err(_) => return,
            };
            if (is_model || kind.is_dir())
                && let Some(target) = self.target_outside(&path)
            {
                return self.problems.push(link_out(&path, &target, kind));
            }
        }
        if kind.is_dir() {
            inner.push(path);
        } else if is_model && kind.is_file() {
            self.files.push(path);
        } else if is_model {
            let problem = unreadable(path.display(), "it is not a regular file");
            self.problems.push(problem);
        }
    }

    /// The target of a link, unless it is known to be in the folder.
    fn target_outside(&self, link: &Path) -> Option<PathBuf> {
        match (&self.root, identity(link)) {
            (Some(root), Some(target)) => (!target.starts_with(root)).then_some(target),
            (None, Some(target)) => Some(target),
            (_, None) => Some(fs::read_link(link).unwrap_or_else(|_| link.to_owned())),
        }
    }
}

/// The finding about a symbolic link out of the folder of a model.
#[cold]
fn link_out(path: &Path, target: &Path, kind: fs::FileType) -> Problem {
    let (path, target) = (path.display(), target.display());
    let reason = format!("symbolic link points outside the model folder ({target})");
    let hint = format!("to include it, add {target} to the model paths");
    if kind.is_dir() {
        let message = format!("`{path}` is not searched: {reason}");
        return without_place(rules::LINK_OUT, message).hint(hint);
    }
    unreadable(path, &reason).hint(hint)
}

fn is_model_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "smithy" || extension == "json")
        && path.file_name().is_some_and(|name| name != BUILD_FILE)
}
