//! Frames over sockets: our client, our server, and whatever else may come.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod calls;
mod streams;
mod support;
mod topics;
