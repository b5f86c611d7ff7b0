//! Payloads that stream over HTTP, in clients and servers.
//!
//! A [`ByteStream`](polywire_schema::ByteStream) is in the extensions of a head, as
//! [`PayloadStream`](polywire_protocol::PayloadStream): `OutgoingBody` sends it, and `IncomingStream` is the source
//! of one that is received. [`file`](file()) and [`reader`] make streams.

mod gate;
mod incoming;
mod outgoing;
mod progress;
mod read;

pub(crate) use gate::Gate;
pub(crate) use incoming::{IncomingStream, ReceiveLimits};
pub(crate) use outgoing::OutgoingBody;
pub(crate) use progress::Progress;
pub use read::{file, into_reader, reader};
