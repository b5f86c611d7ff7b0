//! Clients of the framed protocol, and the code that clients and servers share: the clock, and sessions on byte streams.
//!
//! `docs/frame.md` defines the protocol. Servers offer it with
//! [`ServerBuilder::frames`](crate::ServerBuilder::frames).

mod alarm;
mod client;
mod client_side;
mod clock;
mod error;
pub(crate) mod inproc;
mod items;
mod link;
mod locked;
mod machine;
pub(crate) mod payload;
mod poll;
mod queue;
mod quota;
mod read_buffer;
mod request;
mod session;
mod side;
mod start_call;
mod state;
mod streams;
mod tickets;
#[cfg(feature = "udp")]
mod udp;
mod waiters;
mod wire;

pub(crate) use client::CallOptions;
pub use polywire_frame::{FaultCode, Trace};

#[cfg(feature = "udp")]
pub(crate) use alarm::Alarm;
pub use client::{Client, ClientBuilder, ConnectError, Rate, Stats};
pub(crate) use clock::Clock;
#[cfg(feature = "udp")]
pub(crate) use session::poll_others;
pub(crate) use session::{Session, SessionError};
pub(crate) use side::Side;
pub use streams::{CallStream, Incoming, Message, Outgoing, Subscription};
#[cfg(feature = "udp")]
pub(crate) use udp::{ReadStatus, SendQueue, Sender, Socket};
pub(crate) use wire::ReadProgress;
