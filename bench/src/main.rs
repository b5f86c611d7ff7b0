//! `cargo run --release -p polywire-bench -- GROUP...`: see `README.md` beside
//! this crate, and `polywire_bench` for the harness.

#![forbid(unsafe_code)]

mod groups;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The group rpc measures servers that are processes of their own.
    groups::serve_if_asked().unwrap_or_else(|| polywire_bench::run(groups::GROUPS))
}
