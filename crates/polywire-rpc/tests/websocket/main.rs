//! WebSocket servers and clients through the public interface: over real sockets of this machine, with valid peers
//! and with sockets on which a test writes any bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

mod clients;
mod closing;
mod frames;
mod limits;
mod messages;
#[cfg(feature = "tls")]
mod secured;
mod upgrades;
mod violations;
