//! Threads whose clients send calls.
//!
//! Each thread has its own runtime, and each client its own connections. Threads share only the
//! clock. Each thread counts its calls, and the monitor collects the counters periodically.

mod closed;
mod open;
mod pacer;
mod state;
#[cfg(test)]
mod tests;
mod threads;
mod usage;

pub(super) use state::{Run, ThreadState};
pub(super) use threads::{ThreadUsage, Threads};
