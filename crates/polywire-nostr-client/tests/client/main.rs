//! The client against scripted relays in the same process, over loopback sockets.
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
