//! Both sides over datagrams, and invalid input.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arbitrary_datagrams;
mod calls;
mod limits;
mod round_trips;
mod support;
mod tokens;
