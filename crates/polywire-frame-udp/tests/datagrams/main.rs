//! Both sides over datagrams, and invalid input.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod any;
mod calls;
mod limits;
mod support;
mod tokens;
mod trips;
