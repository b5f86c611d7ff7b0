//! Interoperability of polywire-nostr and polywire-nostr-client with the crates `nostr` and
//! `nostr-sdk` and with nostr-tools on Node, in both directions.
//!
//! If a peer deviates from a NIP, the case asserts the deviation, so that it fails when a new
//! version of the peer behaves differently.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod client;
mod encryption;
mod events;
mod example_relay;
mod filters;
mod fixtures;
mod messages;
mod names;
mod negentropy;
mod relays;
mod work;
mod wraps;

/// Prints a summary of the cases. Tests start in the order of their names, so this one is the last,
/// and it waits for the cases that still run.
#[test]
fn zz_summary() {
    polywire_interop::summary();
}
