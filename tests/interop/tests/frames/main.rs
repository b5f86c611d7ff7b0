//! Frames between our state machines and a client and a server in Python, which were written from
//! `docs/frame.md` alone: they are in `frames/` beside this folder.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod caller;
mod python_client;
mod python_server;
mod served;

/// Not a case: what became of the others. Tests begin in the order of their
/// names, so this one is the last, and it waits for those that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
