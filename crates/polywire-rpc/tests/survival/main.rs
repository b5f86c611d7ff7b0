//! Failures of one side of a call, and their effect on other connections: processes that are
//! killed, peers that vanish or send very slowly, and bodies just above a limit.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod killed_callers;
mod killed_servers;
mod limits;
mod processes;
#[cfg(unix)]
mod vanished;
