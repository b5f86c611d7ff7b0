//! Streams of files and readers, for payloads that are sent or received piece by piece.
//!
//! | function | result |
//! |---|---|
//! | [`file`](file()) | a [`ByteStream`](polywire_schema::ByteStream) of a file, with its length |
//! | [`reader`] | a stream of an `AsyncRead`, without a length |
//! | [`into_reader`] | an `AsyncRead` of a stream |
//!
//! Between protocol and transport a stream is in the extensions of the head, as
//! [`PayloadStream`](polywire_protocol::PayloadStream).

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
