//! Nostr between polywire-nostr and the crates `nostr` and `nostr-sdk` and Node's nostr-tools, in both
//! directions.
//!
//! Where a peer deviates, the case asserts what it does, so that a new version that does something
//! else is noticed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod client;
mod encryption;
mod events;
mod example_relay;
mod filters;
mod hard;
mod messages;
mod names;
mod negentropy;
mod relays;
mod work;
mod wraps;

/// Not a case: what became of the others. Tests begin in the order of their
/// names, so this one is the last, and it waits for those that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
