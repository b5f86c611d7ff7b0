//! Waiters and JMESPath expressions through the public API.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

mod acceptors;
mod delays;
mod jmespath;
