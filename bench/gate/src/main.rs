//! `cargo run --profile library -p polywire-gate -- GROUP...`: see `bench/README.md`, and the library of
//! this package for the harness.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    polywire_gate::run(polywire_gate::groups::GROUPS)
}
