//! Test doubles: what they remember, stubs, recordings, and what tests ask them.
#![cfg(feature = "rpc")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod calls;
mod model;
mod pages;
mod recording;
mod resources;
mod services;
mod state;
#[cfg(feature = "state-file")]
mod state_file;
mod stubs;
mod support;
mod uploads;
