//! The behaviour of servers and clients through the public interface: over local sockets, on every
//! wire, with valid and invalid requests.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[cfg(feature = "tls")]
#[path = "../support/authority.rs"]
mod authority;
mod support;

mod authentication;
mod bad_input;
mod bindings;
mod blocking;
mod bodies;
mod connections;
mod deadlines;
mod faults;
mod guards;
mod handlers;
mod http;
mod http2;
mod json_rpc;
mod layers;
mod lines;
mod listeners;
mod memory;
mod mounts;
mod pages;
mod request_ids;
mod scgi;
mod shutdown;
mod slow;
#[cfg(feature = "tls")]
mod tls;
mod tower_http;
mod traits;
mod typed;
#[cfg(unix)]
mod unix;
