//! Waiters and JMESPath expressions through the public API.

#![allow(clippy::unwrap_used, reason = "tests")]

mod acceptors;
mod delays;
mod jmespath;
