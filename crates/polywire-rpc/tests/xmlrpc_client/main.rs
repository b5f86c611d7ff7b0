//! What the XML-RPC client promises, against servers that answer from a script: what
//! goes over the wire is looked at, and every way to fail can be had.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

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
