//! Tests of the relay over real connections: NIPs, limits, restarts and kills.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod auth;
mod deletion;
mod events;
mod limits;
mod reconciliation;
mod requests;
mod restart;
mod support;
mod web;
