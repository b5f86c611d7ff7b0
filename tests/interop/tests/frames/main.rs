//! Frames between our state machines and a client and a server in Python. Those were written from
//! `docs/frame.md` alone, and are in `tests/interop/frames/`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod caller;
mod python_client;
mod python_server;
mod served;

/// Prints a summary of the cases. Tests start in the order of their names, so this one is the last,
/// and it waits for the cases that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
