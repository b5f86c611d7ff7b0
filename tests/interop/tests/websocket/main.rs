//! WebSocket between our servers and clients and those of Python's `websockets`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod python;

/// Prints a summary of the cases. Tests start in the order of their names, so this one is the last,
/// and it waits for the cases that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
