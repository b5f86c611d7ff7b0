//! Event streams over HTTP, in clients and servers.
//!
//! The body of a message is a sequence of messages of `application/vnd.amazon.eventstream`. [`EncodedEvents`] encodes
//! the events of an [`EventStream`](polywire_schema::EventStream) as a
//! [`ByteStream`](polywire_schema::ByteStream), which is sent like any other. [`ReceivedMessages`] reads the messages
//! of one that is received.

mod outgoing;
mod received;

use std::fmt;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use polywire_protocol::event_stream::{self, EventCodec};
use polywire_schema::{Limits, Operation};

pub(crate) use outgoing::EncodedEvents;
pub(crate) use received::ReceivedMessages;

/// What a stream of events needs of its client or server. The stream can outlive the call, so it holds an `Arc`
/// of it.
pub(crate) trait EventOwner: Send + Sync {
    /// The codec of the protocol. `None` if it has no event streams.
    fn codec(&self) -> Option<&dyn EventCodec>;

    /// The operation with this index in the service.
    fn operation(&self, index: u32) -> Operation<'_>;

    /// The limits of one event.
    fn limits(&self) -> &Limits;

    /// The engine of a server, which tells the peer about its errors and checks the constraints of events. `None` for
    /// clients.
    fn server(&self) -> Option<&crate::call::Engine>;
}

impl fmt::Debug for dyn EventOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventOwner")
    }
}

/// Whether the body of a message is an event stream.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = value.map(|value| value.split(';').next().unwrap_or_default().trim());
    media_type.is_some_and(|own| own.eq_ignore_ascii_case(event_stream::CONTENT_TYPE))
}
