//! Threads with clients that send calls.
//!
//! Each thread has a runtime of its own, and each of its clients connections of its own; nothing
//! is shared but the clock's beginning and the end. What happened is counted by each thread for
//! itself, and taken away from time to time by who watches.

mod closed;
mod lane;
mod open;
mod pacer;
#[cfg(test)]
mod tests;
mod threads;
mod usage;

pub(super) use lane::{Lane, Run};
pub(super) use threads::{Threads, Used};
