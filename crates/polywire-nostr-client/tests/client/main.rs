//! The client with relays in the same process that follow a script, over real sockets of this machine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod authenticating;
#[cfg(feature = "tls")]
mod information;
mod pools;
mod publishing;
mod reconciling;
mod reconnecting;
mod subscribing;
mod support;
