//! Retries through the public API, with the published tables.

#![allow(clippy::unwrap_used, reason = "tests")]

mod adaptive;
mod standard;
