//! Both sides of a connection over simulated time and a simulated network. A seed determines the whole run.
//!
//! The seed determines which bytes the network delays, cuts and corrupts, and which side stalls or receives garbage. In
//! every run, each call ends exactly once. Unless bytes are corrupted, it is executed at most once.
//!
//! The seed of a failure is printed. `POLYWIRE_SEED=7 cargo test -p polywire-frame --test simulation` runs one seed,
//! and `POLYWIRE_SEEDS=100000` runs that many seeds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rng;
mod streams;
