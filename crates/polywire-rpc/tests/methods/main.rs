//! Tests of named methods through the public API: one test per documented guarantee.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod build;
mod caching;
mod calls;
mod cbor;
mod codes;
mod faults;
mod layers;
mod multicall;
mod settings;
mod support;
mod system;
mod types;
mod with_model;
