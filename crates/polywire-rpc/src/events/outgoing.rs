//! Encoding events while they are sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use polywire_protocol::Fault;
use polywire_protocol::event_stream::{OutgoingEvent, stream_of};
use polywire_schema::{ByteStream, Direction, OutgoingEvents, StreamError, StreamErrorKind};

use super::EventOwner;

/// The encoded events of a message. Each piece is one message of the framing.
pub(crate) struct EncodedEvents {
    owner: Arc<dyn EventOwner>,
    operation: u32,
    direction: Direction,
    /// The initial message, until it was read.
    initial: Bytes,
    /// `None` after the end.
    events: Option<OutgoingEvents>,
}

impl EncodedEvents {
    /// The body of a message of an operation. `initial` is the initial message, or empty.
    pub(crate) fn stream(
        owner: Arc<dyn EventOwner>,
        (operation, direction): (u32, Direction),
        initial: Bytes,
        events: OutgoingEvents,
    ) -> ByteStream {
        ByteStream::new(Self {
            owner,
            operation,
            direction,
            initial,
            events: Some(events),
        })
    }

    fn encode(&self, event: &OutgoingEvent) -> Result<Bytes, Fault> {
        let operation = self.owner.operation(self.operation);
        let (codec, stream) = (self.owner.codec(), stream_of(operation, self.direction));
        let (Some(codec), Some(stream)) = (codec, stream) else {
            return Err(Fault::internal("an operation without an event stream"));
        };
        let encoded = codec.encode_event(self.direction, stream, event);
        encoded.map_err(Fault::internal)
    }

    /// The last message of a stream that ends with an error. Only servers have one. The request of a client breaks off with
    /// the error instead.
    fn last(&self, error: StreamError) -> Result<Bytes, StreamError> {
        let operation = self.owner.operation(self.operation);
        let (codec, stream) = (self.owner.codec(), stream_of(operation, self.direction));
        match (codec, stream, self.owner.server()) {
            (Some(codec), Some(stream), Some(_)) => {
                let fault = Fault::from(error);
                tracing::debug!(error = %fault, "an event stream ends with an error");
                Ok(codec.encode_fault(self.direction, stream, &fault))
            }
            _ => Err(error),
        }
    }
}

impl Stream for EncodedEvents {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.initial.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.initial))));
        }
        let Some(events) = &mut self.events else {
            return Poll::Ready(None);
        };
        let event = ready!(events.as_mut().poll_next(context));
        let encoded = match event {
            None => {
                self.events = None;
                return Poll::Ready(None);
            }
            Some(Ok(event)) => self
                .encode(&OutgoingEvent(event))
                .map_err(|fault| StreamError::new(StreamErrorKind::Interrupted).with_source(fault)),
            Some(Err(error)) => Err(error),
        };
        Poll::Ready(Some(encoded.or_else(|error| {
            self.events = None;
            self.last(error)
        })))
    }
}
