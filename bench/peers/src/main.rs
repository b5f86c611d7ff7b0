//! `cargo run --release --manifest-path bench/peers/Cargo.toml -- GROUP...`: see
//! `bench/README.md`.

#![deny(unsafe_code)]

mod groups;
mod xmlrpc_c;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = groups::rpc::serve_if_asked() {
        return code;
    }
    polywire_gate::run(groups::GROUPS)
}
