//! Third-party programs against the `polywire` program.
//!
//! Every case is a test in `tests/cases/` with its own name. It starts `polywire serve` on a free
//! port of this machine, calls it with a third-party program (or with `polywire call`), and
//! compares the answer. In some cases our clients call moto's server instead. If a program is
//! missing, the case prints that and counts as skipped. With `CI=true` it fails.
//! `tests/interop/setup` installs the programs.
//!
//! | variable | meaning |
//! |---|---|
//! | `POLYWIRE_BIN` | the program to test; without it, it is built |
//! | `OBJECT_STORE_BIN` | the example `object-store`; without it, it is built |
//! | `RELAY_BIN` | the example `relay`; without it, it is built |
//! | `POLYWIRE_DATA`, `POLYWIRE_CONFORMANCE` | the folders of the models of AWS and of the official suites, see the package `test-data`; without them their cases are ignored |
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
/// There is no such model.
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
