//! Finds the data that tests read and that this repository does not hold.
//!
//! | data | variable | without the variable |
//! |---|---|---|
//! | the official protocol test suites | `POLYWIRE_CONFORMANCE` | `../shared/conformance`, else `target/suites`, where `scripts/fetch-suites` puts them |
//! | service models, benchmark bodies and events | `POLYWIRE_DATA` | `../shared` |
//!
//! Paths are relative to the repository. A test whose data is missing is reported as ignored,
//! with a reason that begins with `no data`. If the variable is set, the test fails instead: the
//! caller has said that the data is there.
//!
//! libtest cannot ignore a test while it runs. Test targets that read data therefore set
//! `harness = false` in `Cargo.toml` and list their tests in [`tests!`]:
//!
//! ```
//! use test_data::{Missing, suite};
//!
//! # mod example {
//! # use test_data::{Missing, suite};
//! test_data::tests! {
//!     the_suite_has_models,
//! }
//! # pub(crate) fn run() -> std::process::ExitCode { main() }
//! # pub(crate)
//! fn the_suite_has_models() -> Result<(), Missing> {
//!     let folder = suite("aws")?;
//!     assert!(folder.join("restJson1").is_dir());
//!     Ok(())
//! }
//! # }
//! # example::run();
//! ```
//!
//! Do not write `#[test]` in such a target: without the test harness the compiler silently drops
//! these functions. A function without the attribute that is missing from `tests!` is dead code, of
//! which the compiler warns.
//!
//! Build scripts use this crate too. Where the data is missing they generate nothing, and tests
//! of the generated code are ignored by an attribute:
//! `#[cfg_attr(not(aws_models), ignore = "no data: ...")]`.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "harness")]
mod harness;
#[cfg(feature = "record")]
pub mod record;

#[cfg(feature = "harness")]
pub use harness::{Outcome, Test, run};

/// Names the folder of the protocol test suites.
pub const SUITES_VARIABLE: &str = "POLYWIRE_CONFORMANCE";
/// Names the folder of service models and benchmark data.
pub const DATA_VARIABLE: &str = "POLYWIRE_DATA";

/// Returns the folder with the IDL of a protocol test suite, `aws` or `smithy`.
///
/// # Errors
///
/// There is no such folder.
pub fn suite(name: &str) -> Result<PathBuf, Missing> {
    let (folder, is_named) = suites();
    existing(folder.join("idl").join(name), SUITES_VARIABLE, is_named)
}

/// Returns the JSON AST that Smithy's own tool made of a protocol test suite.
///
/// # Errors
///
/// There is no such file. The test is then reported as ignored even if `POLYWIRE_CONFORMANCE` is
/// set, because `scripts/fetch-suites` does not create it.
pub fn suite_ast(name: &str) -> Result<PathBuf, Missing> {
    let file = suites().0.join(format!("{name}-protocol-tests.json"));
    match file.exists() {
        true => Ok(file),
        false => Err(Missing::part(format!("{} does not exist", file.display()))),
    }
}

/// Returns a file or folder of the service models and benchmark data, such as `models`.
///
/// # Errors
///
/// There is no such file or folder.
pub fn data(path: &str) -> Result<PathBuf, Missing> {
    let is_named = std::env::var_os(DATA_VARIABLE).is_some();
    existing(data_folder().join(path), DATA_VARIABLE, is_named)
}

/// Returns the folder of the service models and benchmark data, which may not exist.
#[must_use]
pub fn data_folder() -> PathBuf {
    std::env::var_os(DATA_VARIABLE).map_or_else(|| repository().join("../shared"), PathBuf::from)
}

/// For build scripts: sets `cfg` if data was found. The data is `None` where it is missing.
///
/// Cargo runs the script again when a variable or the data changes. It does not watch data that is
/// missing, because it would then run the script in each build. After you add data, touch
/// `tests/data/src/lib.rs`, as `scripts/fetch-suites` does.
///
/// # Errors
///
/// The data is missing and the variable names its folder.
#[allow(clippy::print_stdout, reason = "Cargo reads it")]
pub fn for_build(found: Result<PathBuf, Missing>, cfg: &str) -> Result<Option<PathBuf>, Missing> {
    for variable in [SUITES_VARIABLE, DATA_VARIABLE] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if let Ok(path) = &found {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rustc-check-cfg=cfg({cfg})");
    match found {
        Ok(path) => {
            println!("cargo::rustc-cfg={cfg}");
            Ok(Some(path))
        }
        Err(missing) if missing.is_failure => Err(missing),
        Err(_) => Ok(None),
    }
}

/// The folder of the suites, and whether the variable names it.
fn suites() -> (PathBuf, bool) {
    let named = std::env::var_os(SUITES_VARIABLE);
    let is_named = named.is_some();
    (suites_folder(named, &repository()), is_named)
}

fn suites_folder(named: Option<OsString>, repository: &Path) -> PathBuf {
    let shared = repository.join("../shared/conformance");
    match named {
        Some(folder) => folder.into(),
        None if shared.is_dir() => shared,
        None => repository.join("target/suites"),
    }
}

/// The root of the repository. Cargo sets the variable for tests and build scripts; what it was at
/// compile time may be another checkout that shares the build cache.
fn repository() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let is_root = |folder: &&Path| folder.join("tests/data/Cargo.toml").is_file();
    let root = package.ancestors().find(is_root);
    root.unwrap_or(&package).to_owned()
}

fn existing(path: PathBuf, variable: &str, is_named: bool) -> Result<PathBuf, Missing> {
    if path.exists() {
        return Ok(path);
    }
    let shown = path.display();
    let reason = match (is_named, variable) {
        (true, _) => format!("{shown} does not exist, though {variable} names its folder"),
        (false, SUITES_VARIABLE) => {
            format!("{shown} does not exist (run scripts/fetch-suites or set {variable})")
        }
        (false, _) => format!("{shown} does not exist (set {variable})"),
    };
    Err(Missing {
        reason,
        is_failure: is_named,
    })
}

/// Data that is not there.
#[derive(Clone, Debug)]
pub struct Missing {
    reason: String,
    is_failure: bool,
}

impl Missing {
    /// Data that is there but is too old or lacks a part, which is no failure.
    #[must_use]
    pub fn part(reason: String) -> Self {
        Self {
            reason,
            is_failure: false,
        }
    }

    /// Whether missing data is a failure, because the variable names its folder.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.is_failure
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no data: {}", self.reason)
    }
}

impl std::error::Error for Missing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_wins() {
        let named = suites_folder(Some("elsewhere".into()), Path::new("/nowhere"));
        assert_eq!(named, Path::new("elsewhere"));
        let fetched = suites_folder(None, Path::new("/nowhere"));
        assert_eq!(fetched, Path::new("/nowhere/target/suites"));
    }

    #[test]
    fn only_a_named_folder_makes_a_failure() {
        for is_named in [false, true] {
            let missing = existing("/nowhere/models".into(), DATA_VARIABLE, is_named).unwrap_err();
            assert_eq!(missing.is_failure(), is_named);
            assert!(missing.to_string().starts_with("no data: /nowhere/models "));
        }
    }
}
