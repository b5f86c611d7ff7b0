//! [`EventCodec`]: the events of a model as messages.
//!
//! | member of the union | headers | payload |
//! |---|---|---|
//! | event | `:message-type` `event`, `:event-type` | by the members of the structure |
//! | error | `:message-type` `exception`, `:exception-type` | the same |
//!
//! Members with `@eventHeader` are headers of their own names and types. The member with
//! `@eventPayload` is the payload: a blob or string as it is, a structure or union as a document.
//! Without such a member, the other members are a document. `:content-type` is the media type of
//! the payload, if there is one.

use std::fmt;

use bytes::Bytes;
use polywire_codec::{Message, Sink};
use polywire_schema::{Direction, Error, Limits, Member};

use super::EventMessage;
use crate::Fault;

/// Encodes and decodes the events of a protocol.
///
/// [`ProtocolInfo::event_codec`](crate::ProtocolInfo::event_codec) returns it. `stream` is the
/// member of an input or output that targets a union with `@streaming`:
/// [`stream_of`](super::stream_of). `direction` is that of the HTTP message: clients send
/// requests, and servers send responses.
///
/// A stream in a request goes through these calls:
///
/// 1. The client encodes the input without the stream with
///    [`encode_input`](crate::ClientProtocol::encode_input), and passes the request to
///    [`begin_request`](Self::begin_request). It sends the head and that body, and then what
///    [`encode_event`](Self::encode_event) returns for each event. The end of the body is the end
///    of the stream.
/// 2. The server feeds the body to a [`MessageDecoder`](super::MessageDecoder). If the codec
///    [has initial messages](Self::has_initial_messages) and the first message is one
///    ([`EventMessage::kind`]), its payload is the body for
///    [`decode_input`](crate::ServerProtocol::decode_input); otherwise that body is empty.
/// 3. The server passes each further message to [`decode_event`](Self::decode_event), and the
///    events to [`Validator::check_event`](crate::Validator::check_event). An exception or a
///    fault ends the stream. At the end of the body it calls
///    [`MessageDecoder::finish`](super::MessageDecoder::finish), which detects a truncated stream.
///
/// A stream in a response goes the other way, with `encode_output`,
/// [`begin_response`](Self::begin_response) and `decode_output`. A server that fails after the
/// head was sent writes [`encode_fault`](Self::encode_fault) and ends the body.
///
/// ```
/// use bytes::Bytes;
/// use polywire_codec::Dynamic;
/// use polywire_protocol::event_stream::{EventOutcome, MessageDecoder, MessageLimits, stream_of};
/// use polywire_protocol::{ProtocolInfo, RestJson1};
/// use polywire_schema::{Direction, Limits, Map, Value};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let idl = r#"$version: "2"
/// # namespace example
/// # @aws.protocols#restJson1
/// # service Robot { operations: [Watch] }
/// # @http(method: "GET", uri: "/watch")
/// # @readonly
/// # operation Watch { output := { @httpPayload events: Events } }
/// # @streaming
/// # union Events { moved: Moved }
/// # structure Moved { @eventHeader x: Integer, note: String }"#;
/// # let mut loader = polywire_model::Loader::new();
/// # loader.add_text("robot.smithy", idl);
/// # let set = loader.assemble()?.model.schemas("example#Robot").unwrap()?;
/// // union Events { moved: Moved }, structure Moved { @eventHeader x: Integer, note: String }
/// let watch = set.service(0).find_operation("Watch").unwrap();
/// let stream = stream_of(watch, Direction::Response).unwrap();
/// let protocol = RestJson1::new(set.service(0))?;
/// let codec = protocol.event_codec().unwrap();
///
/// let moved = Map::from_iter([("x", Value::from(3)), ("note", Value::from("left"))]);
/// let event = Value::Map(Map::from_iter([("moved", Value::Map(moved))]));
/// let mut sent = codec.encode_event(Direction::Response, stream, &Dynamic(&event))?;
///
/// let message = MessageDecoder::new(MessageLimits::DEFAULT).decode(&mut sent)?.unwrap();
/// assert_eq!(message.payload().as_bytes(), br#"{"note":"left"}"#);
/// let (limits, mut read) = (Limits::DEFAULT, Map::new());
/// let outcome =
///     codec.decode_event(Direction::Response, stream, &message, &limits, &mut read)?;
/// assert!(matches!(outcome, EventOutcome::Event(member) if member.name() == "moved"));
/// assert_eq!(Value::Map(read), event);
/// # Ok(())
/// # }
/// ```
pub trait EventCodec: fmt::Debug + Send + Sync {
    /// Returns whether the members of the input or output beside the stream are in a message of
    /// the stream, as in RPC protocols. REST protocols have them in the head of the HTTP message.
    fn has_initial_messages(&self) -> bool;

    /// Encodes an event: a value of the union. Modelled errors are members of the union too.
    ///
    /// # Errors
    ///
    /// The event does not fit the model or the format, or exceeds the maxima of the framing.
    fn encode_event(
        &self,
        direction: Direction,
        stream: Member<'_>,
        event: &dyn Message,
    ) -> Result<Bytes, Error>;

    /// Encodes an error that ends the stream: as the member of the union that targets the shape of
    /// a modelled error, and otherwise as an error that is not modelled, with the name and the
    /// message that the caller may see. Never fails.
    fn encode_fault(&self, direction: Direction, stream: Member<'_>, fault: &Fault) -> Bytes;

    /// Decodes a message. The sink receives the value of the union, if the outcome is an event or
    /// an exception. Use an [`EventSlot`](super::EventSlot) for generated types, and a
    /// [`Map`](polywire_schema::Map) for dynamic values.
    ///
    /// # Errors
    ///
    /// The message has no valid type, or its headers or payload are not a valid event of the
    /// model. On servers also if the model does not have the event. Errors quote nothing of events
    /// that can contain sensitive data.
    fn decode_event<'s, 'de>(
        &self,
        direction: Direction,
        stream: Member<'s>,
        message: &'de EventMessage,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<EventOutcome<'s>, Error>;

    /// Turns a request that [`ClientProtocol::encode_input`](crate::ClientProtocol::encode_input)
    /// wrote into the start of an event stream: sets the content type, and replaces the body by
    /// the initial message with that body, if the protocol has one. Events follow after the body.
    /// Only for operations whose input has a stream.
    ///
    /// The server passes the payload of the initial message to `decode_input` as the body, or an
    /// empty body if the first message is no initial message.
    ///
    /// # Errors
    ///
    /// As [`MessageEncoder::finish_with`](super::MessageEncoder::finish_with), or the protocol has no initial messages and the
    /// request has a body.
    fn begin_request(&self, request: http::Request<Bytes>) -> Result<http::Request<Bytes>, Error>;

    /// Turns a response that
    /// [`ServerProtocol::encode_output`](crate::ServerProtocol::encode_output) wrote into the
    /// start of an event stream, as [`begin_request`](Self::begin_request). Only for operations
    /// whose output has a stream.
    ///
    /// # Errors
    ///
    /// As [`begin_request`](Self::begin_request).
    fn begin_response(
        &self,
        response: http::Response<Bytes>,
    ) -> Result<http::Response<Bytes>, Error>;
}

/// What a message of an event stream was.
#[derive(Debug)]
#[non_exhaustive]
pub enum EventOutcome<'s> {
    /// An event: the sink has this member of the union.
    Event(Member<'s>),
    /// A modelled error: the sink has this member of the union. The stream ends.
    Exception(Member<'s>),
    /// An error that is not modelled, or an exception that the model does not have. The sink has
    /// nothing, and the stream ends.
    Fault(Fault),
    /// The initial message. The sink has nothing. Later than at the start of the stream it has no
    /// meaning; a client then ignores it.
    Initial,
    /// An event that the model does not have, which clients ignore. Contains its name.
    Unknown(String),
}
