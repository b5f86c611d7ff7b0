//! Other people's programs against the `polywire` program.
//!
//! Every case is a test with a name of its own in `tests/cases/`. It starts
//! `polywire serve` on a free port of this machine, calls it with a program
//! that we have not written (or with `polywire call`), and compares what comes
//! back. Some go the other way: our clients call moto's server. Where a program
//! is missing the case says so and counts as skipped;
//! with `CI=true` it fails. `tests/interop/setup` installs what is needed.
//!
//! | variable | meaning |
//! |---|---|
//! | `POLYWIRE_BIN` | the program to test; without it, it is built |
//! | `OBJECT_STORE_BIN` | the example `object-store`; without it, it is built |
//! | `RELAY_BIN` | the example `relay`; without it, it is built |
//! | `POLYWIRE_DATA`, `POLYWIRE_CONFORMANCE` | where the models of AWS and the official suites are, as the package `test-data` says; without them their cases are ignored |
//! | `CI` | `true`: nothing may be skipped |
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "all of this is for tests, which may panic"
)]

mod answer;
mod background;
mod canned;
mod case;
mod moto;
mod nostr_tools;
mod peer;
mod program;
mod sample;
mod script;

use std::path::{Path, PathBuf};

pub use answer::Weather;
pub use background::{Background, Folder};
pub use canned::Canned;
pub use case::{Case, summary};
pub use moto::Moto;
pub use nostr_tools::NostrTools;
pub use peer::{Curl, CurlAnswer, Python};
pub use program::{Finished, Serving, object_store, polywire, relay, run, run_with_input, signal};
pub use sample::Sample;
pub use script::{Script, XmlRpcC};

/// The published model of a service of AWS.
///
/// # Panics
///
/// There is none.
#[must_use]
pub fn model(service: &str) -> PathBuf {
    let found = test_data::data(&format!("models/{service}.json"));
    found.unwrap_or_else(|missing| panic!("{missing}"))
}

/// The folder of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}
