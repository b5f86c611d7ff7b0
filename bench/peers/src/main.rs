//! `cargo run --release --manifest-path bench/peers/Cargo.toml -- GROUP...`: Polywire and its
//! competitors in the same run. See `bench/README.md`.

mod groups;

use std::process::ExitCode;

fn main() -> ExitCode {
    polywire_gate::run(groups::GROUPS)
}
