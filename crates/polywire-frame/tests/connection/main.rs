//! Both sides of a connection against each other, and against invalid input.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod violations;
mod calls;
mod chunks;
mod deflate;
mod ends;
mod streams;
mod support;
mod topics;
