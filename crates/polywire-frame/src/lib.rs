//! Polywire's framed protocol: small calls, many at once, over one connection.
//!
//! This crate does no I/O. A [`Connection`] is a state machine for one side of a byte stream: received bytes and the time
//! go in, bytes to send and events come out. Payloads are opaque to it. `polywire-rpc` runs connections on sockets,
//! `polywire-frame-udp` has the same protocol over datagrams, and `docs/frame.md` defines the protocol.
//!
//! - [`client::Connection`] makes calls, [`server::Connection`] answers them. Both are a [`Connection`], generic over its
//!   [`Role`].
//! - [`wire`] has the encoding of frames.
//! - [`flow`] has flow control for clients and servers: limits, rates, admission, retries.
//!
//! A [`ProtocolError`] ends a connection. It states at which byte of the stream what was expected and what was found,
//! and is reported to the peer.

#![forbid(unsafe_code)]

mod connection;
pub mod flow;
mod id;
mod time;
pub mod wire;

pub use connection::{CallCounts, Connection, Event, OutgoingFrame, Role, Step, client, server};
pub use id::CallId;
pub use time::Time;
pub use wire::{
    Extension, FaultCode, Features, Flags, Frame, FrameReader, HEADER, Header, InvalidTraceparent,
    Kind, MAX_EXTENSION, Next, Output, PREFACE, ProtocolError, Reason, Settings, TooLarge, Trace,
};
