//! Clients of the framed protocol, and what both of its sides share: the clock, and a connection on
//! a stream of bytes.
//!
//! The protocol is defined in `docs/frame.md`. Servers offer it by
//! [`ServerBuilder::frames`](crate::ServerBuilder::frames).

mod begin;
mod client;
mod clock;
mod driven;
mod error;
pub(crate) mod inproc;
mod items;
mod link;
mod locked;
mod machine;
pub(crate) mod payload;
mod poll;
mod queue;
mod read_buffer;
mod request;
mod room;
mod session;
mod state;
mod streams;
mod tickets;
#[cfg(feature = "udp")]
mod udp;
mod waiters;
mod wire;

pub(crate) use client::CallOptions;
pub use polywire_frame::{FaultCode, Trace};

pub use client::{Client, ClientBuilder, ConnectError, Rate, Stats};
pub(crate) use clock::Clock;
#[cfg(feature = "udp")]
pub(crate) use session::poll_others;
pub(crate) use session::{Ended, Session, Side};
pub use streams::{CallStream, Incoming, Message, Outgoing, Subscription};
#[cfg(feature = "udp")]
pub(crate) use udp::{Alarm, Received, Sender, Sending, Socket};
pub(crate) use wire::Taken;
