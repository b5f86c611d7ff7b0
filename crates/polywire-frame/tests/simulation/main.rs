//! Both sides over simulated time and a simulated network, in which a seed decides everything.
//!
//! Each seed decides what the network delays, cuts and corrupts, and which side stalls or sends garbage. In every case
//! each call ends exactly once, and is executed at most once.
//!
//! The seed of a failure is printed. `POLYWIRE_SEED=7 cargo test -p polywire-frame --test simulation` runs one seed,
//! `POLYWIRE_SEEDS=100000` that many.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chance;
mod streams;
