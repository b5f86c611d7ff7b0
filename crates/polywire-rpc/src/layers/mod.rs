//! Limits, authentication and protection in front of a service, as far as tower and tower-http lack them.
//!
//! | | purpose | set by |
//! |---|---|---|
//! | [`Firewall`] | limits connections in total and per address, and requests per address | [`ServerBuilder::firewall`](crate::ServerBuilder::firewall) |
//! | [`CallHead`](crate::auth::CallHead) | limits requests per caller, by a key that you define | [`ServerBuilder::rate_per_caller`](crate::ServerBuilder::rate_per_caller) |
//! | [`CrossOrigin`] | rejects cross-site requests of web pages | [`ServerBuilder::cross_origin`](crate::ServerBuilder::cross_origin) |
//!
//! All are off by default. [`ServerBuilder::calls`](crate::ServerBuilder::calls) limits calls in progress. For compression,
//! CORS, headers, timeouts and traces, use tower-http with
//! [`ServerBuilder::http_layer`](crate::ServerBuilder::http_layer).

#[cfg(feature = "cache")]
pub mod cache;
mod callers;
mod cross_origin;
mod firewall;
mod rates;
mod table;

pub(crate) use callers::Callers;
pub use cross_origin::{CrossOrigin, OriginError};
pub(crate) use firewall::ConnectionPermit;
pub use firewall::Firewall;
pub(crate) use rates::RequestRates;
