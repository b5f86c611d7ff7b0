//! Tests of the XML-RPC client against scripted servers. The tests check the bytes on the
//! wire, and the scripts can produce every kind of failure.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "tls")]
#[path = "../support/authority.rs"]
mod authority;

mod answers;
mod auth;
mod batches;
mod blocking;
mod calls;
mod failures;
mod introspection;
mod own_server;
mod proxies;
mod retries;
mod support;
#[cfg(feature = "tls")]
mod tls;
mod typed;
mod urls;
