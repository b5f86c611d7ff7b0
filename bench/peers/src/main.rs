//! `cargo run --release --manifest-path bench/peers/Cargo.toml -- GROUP...`: see
//! `bench/README.md`.

#![deny(unsafe_code)]

mod groups;

use std::process::ExitCode;

fn main() -> ExitCode {
    polywire_gate::run(groups::GROUPS)
}
