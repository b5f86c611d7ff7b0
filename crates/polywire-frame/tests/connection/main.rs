//! Both sides of a connection against each other, and against invalid input.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod calls;
mod chunks;
mod closing;
mod deflate;
mod streams;
mod support;
mod topics;
mod violations;
