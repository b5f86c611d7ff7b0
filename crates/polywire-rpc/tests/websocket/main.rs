//! WebSocket servers and clients through the public API, over local sockets. The peers are polywire clients, or raw
//! sockets on which a test writes arbitrary bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

mod clients;
mod closing;
mod frames;
mod limits;
mod messages;
#[cfg(feature = "tls")]
mod tls;
mod upgrades;
mod violations;
