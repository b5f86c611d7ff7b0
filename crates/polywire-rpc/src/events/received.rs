//! Decoding events while they are received.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use polywire_codec::Dynamic;
use polywire_codec::message::{DecodeAny, DecodeWith};
use polywire_protocol::Fault;
use polywire_protocol::event_stream::{
    EventMessage, EventOutcome, MessageDecoder, MessageKind, MessageLimits, stream_of,
};
use polywire_schema::{
    ByteStream, DecodeEvent, Decoder, Direction, Error, EventSource, Map, Member, StreamError,
    StreamErrorKind, Value,
};

use super::EventOwner;

/// The messages of a stream that is received.
pub(crate) struct ReceivedMessages {
    owner: Arc<dyn EventOwner>,
    operation: u32,
    direction: Direction,
    body: ByteStream,
    /// Received bytes that have not been decoded.
    input: Bytes,
    decoder: MessageDecoder,
    /// The first message, if [`Self::read_initial`] has read it and it was an event.
    first: Option<EventMessage>,
}

impl ReceivedMessages {
    pub(crate) fn new(
        owner: Arc<dyn EventOwner>,
        (operation, direction): (u32, Direction),
        body: ByteStream,
    ) -> Self {
        Self {
            owner,
            operation,
            direction,
            body,
            input: Bytes::new(),
            decoder: MessageDecoder::new(MessageLimits::DEFAULT),
            first: None,
        }
    }

    /// Reads the initial message, if the protocol has one. Returns its payload. Another first message is kept.
    pub(crate) async fn read_initial(&mut self) -> Result<Bytes, StreamError> {
        let has_initial = self
            .owner
            .codec()
            .is_some_and(|codec| codec.has_initial_messages());
        if !has_initial {
            return Ok(Bytes::new());
        }
        let message = std::future::poll_fn(|context| self.poll_message(context)).await;
        let Some(message) = message.transpose()? else {
            return Ok(Bytes::new());
        };
        match message.kind() {
            Ok(MessageKind::InitialRequest | MessageKind::InitialResponse) => {
                let payload = message.payload();
                Ok(payload.blob(payload.as_bytes()).into_bytes())
            }
            _ => {
                self.first = Some(message);
                Ok(Bytes::new())
            }
        }
    }

    fn poll_message(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<EventMessage, StreamError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        loop {
            match self.decoder.decode(&mut self.input) {
                Ok(Some(message)) => return Poll::Ready(Some(Ok(message))),
                Ok(None) => {}
                Err(error) => return Poll::Ready(Some(Err(corrupt(error)))),
            }
            match ready!(Pin::new(&mut self.body).poll_next(context)) {
                Some(Ok(piece)) => self.input = piece,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    let end = self.decoder.finish().err();
                    return Poll::Ready(end.map(|error| Err(corrupt(error))));
                }
            }
        }
    }

    /// Decodes a message. Returns false if it is ignored: an initial message, or an event that the model does not have. An
    /// exception or error of the peer is an error of the kind `Failed`, with the fault as its source.
    fn decode(
        &self,
        message: &EventMessage,
        decode: &mut DecodeEvent<'_>,
    ) -> Result<bool, StreamError> {
        let operation = self.owner.operation(self.operation);
        let (codec, stream) = (self.owner.codec(), stream_of(operation, self.direction));
        let (Some(codec), Some(stream)) = (codec, stream) else {
            return Err(failed(Fault::internal(
                "an operation without an event stream",
            )));
        };
        let limits = self.owner.limits();
        if let Ok(MessageKind::Exception(_)) = message.kind() {
            let mut union = Map::new();
            let outcome = codec.decode_event(self.direction, stream, message, limits, &mut union);
            return Err(match outcome.map_err(corrupt)? {
                EventOutcome::Fault(fault) => failed(fault),
                EventOutcome::Exception(member) => failed(modelled(member, union)),
                _ => failed(Fault::internal("an exception that is none")),
            });
        }
        self.validate(message)?;
        let mut sink = EventSink { decode };
        let outcome = codec.decode_event(self.direction, stream, message, limits, &mut sink);
        match outcome.map_err(corrupt)? {
            EventOutcome::Event(_) | EventOutcome::Exception(_) => Ok(true),
            EventOutcome::Fault(fault) => Err(failed(fault)),
            EventOutcome::Unknown(name) => {
                tracing::debug!(%name, "an event that the model does not have");
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

impl ReceivedMessages {
    /// Checks the constraints of an event on servers. The validator needs a complete value, and the function that gets the
    /// event does not return one. So events of unions with constraints, which are rare, are decoded twice.
    fn validate(&self, message: &EventMessage) -> Result<(), StreamError> {
        let operation = self.owner.operation(self.operation);
        let validator = self
            .owner
            .server()
            .and_then(|engine| engine.validator.as_ref());
        let stream = stream_of(operation, self.direction);
        let (Some(validator), Some(stream)) = (validator, stream) else {
            return Ok(());
        };
        let Some(codec) = self
            .owner
            .codec()
            .filter(|_| stream.target().root().is_constrained())
        else {
            return Ok(());
        };
        let mut union = Map::new();
        let limits = self.owner.limits();
        let outcome = codec.decode_event(self.direction, stream, message, limits, &mut union);
        match outcome.map_err(corrupt)? {
            EventOutcome::Event(_) => {
                let union = Value::Map(union);
                let checked = validator.check_event(operation, &Dynamic(&union));
                checked
                    .map_err(|fault| StreamError::new(StreamErrorKind::Corrupt).with_source(fault))
            }
            _ => Ok(()),
        }
    }
}

/// The fault of a modelled error in the union.
fn modelled(member: Member<'_>, mut union: Map) -> Fault {
    let details = union.remove(member.name());
    let details = details
        .and_then(|value| value.as_map().cloned())
        .unwrap_or_default();
    Fault::of_error(member.target(), details)
}

fn corrupt(error: Error) -> StreamError {
    StreamError::new(StreamErrorKind::Corrupt).with_source(Fault::from(error))
}

fn failed(fault: Fault) -> StreamError {
    StreamError::new(StreamErrorKind::Failed).with_source(fault)
}

impl EventSource for ReceivedMessages {
    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        decode: &mut DecodeEvent<'_>,
    ) -> Poll<Option<Result<(), StreamError>>> {
        loop {
            let message = match ready!(self.poll_message(context)) {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            match self.decode(&message, decode) {
                Ok(true) => return Poll::Ready(Some(Ok(()))),
                Ok(false) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

/// Passes an event to the function that decodes it.
struct EventSink<'a, 'f> {
    decode: &'a mut DecodeEvent<'f>,
}

impl<'de> DecodeAny<'de> for EventSink<'_, '_> {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        (self.decode)(at, decoder)
    }

    /// Unions have no members that must be completed.
    fn finish(&mut self, _: Member<'_>, _: &mut dyn Decoder<'de>) -> Result<(), Error> {
        Ok(())
    }
}

/// All formats share one copy of the code.
impl<'de, D> DecodeWith<'de, D> for EventSink<'_, '_> {}
