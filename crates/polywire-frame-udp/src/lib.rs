//! Polywire's framed protocol over datagrams: a client and a server that lose no call although datagrams are lost,
//! duplicated and reordered.
//!
//! Like `polywire-frame`, this crate does no I/O: datagrams and the time go in, datagrams and events come out.
//! A [`Client`] resends a call until it is answered or its deadline passes. A [`Server`] stores nothing of a client
//! that has not proved, by a token, that it receives datagrams at its address. From then on it knows a call by its slot
//! and count, executes it at most once, and keeps the answer until one of these:
//!
//! - the slot's next call, which confirms that the answer has arrived;
//! - memory is short: then a repeated call gets `internal`;
//! - a GOAWAY of the client, or a new connection of its address;
//! - 60 seconds without a datagram of the client, or the time that the server sets if that is longer;
//! - a restart of the server.
//!
//! One-way calls are not covered: if the datagram of one is duplicated, the call is executed twice.
//!
//! Datagrams to be sent are in [`Datagrams`], consecutive in one buffer, so that one system call can send many.
//!
//! # Why no call is executed twice
//!
//! Within a connection a slot's counts only grow, and a call that is not newer than the slot's last is never started.
//! Counts wrap around; so a client uses a slot at most 16,384 times in [`DATAGRAM_LIFE`], and an old datagram is never
//! half the range behind.
//!
//! A server that has forgotten a connection has forgotten the counts too. So no token may open a connection twice: no
//! two tokens are equal; a token contains the time at which it was made, opens a connection only within 30 seconds of
//! it, and never one that is older than the address's last; and a connection is not forgotten before it was silent for
//! 60 seconds. A restarted server has another key, and knows no token at all.

#![forbid(unsafe_code)]

mod address;
pub mod client;
mod datagrams;
pub mod server;
mod token;

use std::time::Duration;

pub use address::Address;
pub use client::Client;
pub use datagrams::{Datagrams, Run};
pub use polywire_frame::wire::TooLong;
pub use server::Server;

/// The largest datagram that either side may send, in bytes, with its token.
pub const MAX_DATAGRAM: usize = 65_000;

/// The default limit of datagrams that a side sends, in bytes: what networks carry without fragmentation.
pub const DEFAULT_DATAGRAM: usize = 1_400;

/// How long a datagram may be delayed without harm. One that is delayed longer may be taken for a new call.
pub const DATAGRAM_LIFE: Duration = Duration::from_secs(10);

/// The age up to which a token opens a connection. Less than the time after which a silent client is forgotten.
const TOKEN_LIFE: Duration = Duration::from_secs(30);

/// A client that has received nothing for this long begins a new connection before its next call: its token must not
/// be too old when the call arrives, and the server must not have forgotten it.
const STALE: Duration = Duration::from_secs(20);

/// Bytes of the token in front of each frame.
const TOKEN: usize = 8;

/// The least bytes of a client's first datagram, so that it is not shorter than the answer.
const LEAST_HELLO: usize = 128;
