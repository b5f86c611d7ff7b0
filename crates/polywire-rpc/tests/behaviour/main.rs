//! How a server and a client behave, through the public interface: over real
//! sockets of this machine, on every wire, with good and bad callers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

mod bad_input;
mod bindings;
mod bodies;
mod connections;
mod faults;
mod handlers;
mod ids;
mod layers;
mod memory;
mod mounts;
mod shutdown;
mod slow;
mod traits;
mod typed;
