//! `cargo run --profile library -p polywire-gate-nostr`: see `bench/README.md`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    polywire_gate::run(polywire_gate_nostr::GROUPS)
}
