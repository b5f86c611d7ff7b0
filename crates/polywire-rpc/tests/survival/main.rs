//! What befalls the two sides of a call, and that nobody else is harmed: processes that
//! are killed, peers that vanish or crawl, and bodies that are just too large.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod killed_callers;
mod killed_servers;
mod limits;
mod processes;
#[cfg(unix)]
mod vanished;
