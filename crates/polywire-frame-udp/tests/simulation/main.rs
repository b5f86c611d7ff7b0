//! Clients and a server over simulated time and a simulated network. A seed determines the whole run.
//!
//! The seed determines which datagrams the network loses, duplicates, delays and corrupts, and which side stalls,
//! crashes and restarts. In every run, each call ends exactly once and is executed at most once.
//!
//! The seed of a failure is printed. `POLYWIRE_SEED=7 cargo test -p polywire-frame-udp --test simulation` runs one
//! seed, and `POLYWIRE_SEEDS=100000` runs that many seeds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod datagrams;
mod network;
#[path = "../../../polywire-frame/tests/simulation/rng.rs"]
mod rng;
