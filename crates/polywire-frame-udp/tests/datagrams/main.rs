//! Both sides over datagrams, and what no side of ours sends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod any;
mod calls;
mod limits;
mod support;
mod tokens;
mod trips;
