//! Credential providers through the public API.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

mod answers;
mod chains;
mod conversion;
mod environment;
mod profiles;
