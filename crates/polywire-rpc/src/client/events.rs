//! The event streams of a client.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, response};
use polywire_codec::Message;
use polywire_protocol::PayloadStream;
use polywire_protocol::event_stream::{EventCodec, PayloadEvents, events_of, stream_of};
use polywire_schema::{Direction, Limits, Operation};

use super::{Carrier, Client, Inner};
use crate::CallError;
use crate::events::{EncodedEvents, EventOwner, ReceivedMessages, is_event_stream};

impl EventOwner for Inner {
    fn codec(&self) -> Option<&dyn EventCodec> {
        self.protocol.event_codec()
    }

    fn operation(&self, index: u32) -> Operation<'_> {
        self.service.operation(index)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn server(&self) -> Option<&crate::call::Engine> {
        None
    }
}

impl Client {
    /// Adds the events of an input to its request.
    #[cold]
    pub(super) fn begin_events(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
        request: Request<Bytes>,
    ) -> Result<Request<Bytes>, CallError> {
        let Some(events) = events_of(input, operation.input().root()) else {
            return Ok(request);
        };
        let (Carrier::Http(_), Some(codec)) =
            (&self.inner.carrier, self.inner.protocol.event_codec())
        else {
            let kind = self.inner.protocol.kind();
            let reason = format!("{kind} has no event streams here");
            return Err(CallError::usage(&reason));
        };
        let request = codec.begin_request(request).map_err(CallError::encode)?;
        let (mut head, initial) = request.into_parts();
        let owner: Arc<Inner> = Arc::clone(&self.inner);
        let place = (operation.index(), Direction::Request);
        let stream = EncodedEvents::stream(owner, place, initial, events);
        head.extensions.insert(PayloadStream(stream));
        Ok(Request::from_parts(head, Bytes::new()))
    }

    /// Whether the output of an operation has events.
    pub(super) fn receives_events(&self, operation: Option<Operation<'_>>) -> bool {
        operation.is_some_and(|operation| {
            stream_of(operation, Direction::Response).is_some()
                && self.inner.protocol.event_codec().is_some()
        })
    }

    /// Reads the initial message of a response that is an event stream, and passes its events on.
    pub(super) async fn receive_events(
        &self,
        operation: Operation<'_>,
        answer: &mut Response<Bytes>,
    ) -> Result<(), CallError> {
        let Some(PayloadStream(stream)) = answer.extensions_mut().remove() else {
            return Ok(());
        };
        let owner: Arc<Inner> = Arc::clone(&self.inner);
        let place = (operation.index(), Direction::Response);
        let mut messages = ReceivedMessages::new(owner, place, stream);
        *answer.body_mut() = messages.read_initial().await?;
        answer.extensions_mut().insert(PayloadEvents::new(messages));
        Ok(())
    }
}

/// Whether a response is an event stream, and no error.
pub(super) fn has_events(head: &response::Parts) -> bool {
    head.status.is_success() && is_event_stream(&head.headers)
}
