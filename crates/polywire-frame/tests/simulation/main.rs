//! Both sides over simulated time and a simulated network, in which a seed decides everything.
//!
//! Each seed is a world of its own: what its network loses, doubles, delays and cuts, who stalls, crashes
//! and starts again, and who sends garbage. Whatever happens, each call ends exactly once, and is carried
//! out at most once.
//!
//! A seed that fails is printed. `POLYWIRE_SEED=7 cargo test -p polywire-frame --test simulation` runs
//! that one alone, `POLYWIRE_SEEDS=100000` so many.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod chance;
mod datagrams;
mod network;
mod streams;
