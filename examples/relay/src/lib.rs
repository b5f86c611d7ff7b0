//! A Nostr relay that stores events on disk. See its README.
#![forbid(unsafe_code)]

mod connection;
mod live;
mod metrics;
mod options;
mod outbox;
mod policy;
mod reconciliation;
mod relay;
mod requests;
mod store;
mod web;

pub use options::Options;
pub use relay::{RunningRelay, start};
