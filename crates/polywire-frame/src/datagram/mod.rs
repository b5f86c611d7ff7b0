//! Frames over datagrams: a client and a server that lose no call although datagrams are lost, doubled
//! and overtaken.
//!
//! As the machines of streams these do no I/O: datagrams and the time go in, datagrams and events come
//! out. A [`Client`] sends a call again until it is answered or its time is over. A [`Server`] keeps
//! nothing of anybody who has not shown, by a token, that datagrams reach him; from then on it knows a
//! call by its slot and count, carries it out at most once, and keeps its answer until the slot's next
//! call says that it has arrived.
//!
//! What is to be sent is in [`Datagrams`]: one behind the other in one buffer, so that a system call can
//! take many.
//!
//! # Why no call is carried out twice
//!
//! Within a connection a slot's counts only grow, and what is not newer than the last is never begun.
//! The counts go round; so a client uses none of its slots more than 16,384 times in [`DATAGRAM_LIFE`],
//! and an old datagram is never half a round behind.
//!
//! A server that has forgotten a connection has forgotten the counts too. So no token may open a
//! connection twice: no two tokens are the same; a token says when it was made, opens a connection only
//! while it is younger than 30 seconds, never one that is older than the address's last, and a connection
//! is not forgotten before it was silent for 60. A restarted server has another key, and knows no token
//! at all.

mod address;
mod calls;
pub mod client;
mod datagrams;
mod flight;
mod peer;
mod peers;
pub mod server;
mod token;
mod trip;

use std::fmt;
use std::time::Duration;

pub use address::Address;
pub use client::Client;
pub use datagrams::{Datagrams, Run};
pub use server::Server;

/// The most bytes of a datagram, its token among them, that either side may send.
pub const MOST: usize = 65_000;

/// The most bytes of a datagram that a side sends which was told nothing else: what networks carry
/// in one piece.
pub const USUAL: usize = 1_400;

/// How long a datagram may be on its way and still do no harm. One that comes later may be taken for a
/// new call.
pub const DATAGRAM_LIFE: Duration = Duration::from_secs(10);

/// How old a token may be that opens a connection. Less than the time after which a silent client is
/// forgotten.
const TOKEN_LIFE: Duration = Duration::from_secs(30);

/// A client that has heard nothing for this long begins anew before its next call: its token must not
/// be too old when that arrives, nor itself forgotten.
const STALE: Duration = Duration::from_secs(20);

/// Bytes of the token in front of each frame.
const TOKEN: usize = 8;

/// The least bytes of a client's first datagram, which is at least as long as the answer.
const LEAST_HELLO: usize = 128;

/// A call or an answer that is longer than a datagram may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong {
    /// The bytes that the datagram would have had.
    pub length: usize,
    /// The most that this side sends.
    pub most: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, most } = self;
        write!(
            f,
            "a datagram of {length} bytes, where at most {most} are sent"
        )
    }
}

impl std::error::Error for TooLong {}
