//! Where the official suites and published models are.

#![allow(dead_code, reason = "each test target uses its part")]

use std::env;
use std::path::{Path, PathBuf};

/// The folder of the official suites, or `None` after a line that says so.
pub(crate) fn conformance() -> Option<PathBuf> {
    found("POLYWIRE_CONFORMANCE", "conformance", "")
}

/// A part of the folder of published models and benchmark data.
pub(crate) fn data(part: &str) -> Option<PathBuf> {
    found("POLYWIRE_DATA", "", part)
}

fn found(variable: &str, default: &str, part: &str) -> Option<PathBuf> {
    let base = env::var_os(variable).map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../../shared")
                .join(default)
        },
        PathBuf::from,
    );
    let folder = base.join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    skip(&format!(
        "`{}` is no folder; set {variable}",
        folder.display()
    ))
}

/// A file of the folder of the official suites: what the fetching script gets
/// has the IDL only, and no AST made of it.
pub(crate) fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = folder.join(name);
    if file.is_file() {
        return Some(file);
    }
    skip(&format!("no file `{}`", file.display()))
}

fn skip(message: &str) -> Option<PathBuf> {
    assert!(env::var("CI").as_deref() != Ok("true"), "{message}");
    println!("skipped: {message}");
    None
}
