//! The event streams of a server.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use polywire_codec::Message;
use polywire_protocol::event_stream::{EventCodec, events_of, stream_of};
use polywire_protocol::{Fault, PayloadStream};
use polywire_schema::{Direction, Limits, Operation};

use super::Engine;
use crate::events::{EncodedEvents, EventOwner};

/// A protocol of a server.
pub(crate) struct ServerEvents {
    pub(crate) engine: Arc<Engine>,
    pub(crate) protocol: usize,
}

impl EventOwner for ServerEvents {
    fn codec(&self) -> Option<&dyn EventCodec> {
        self.engine.protocols[self.protocol].event_codec()
    }

    fn operation(&self, index: u32) -> Operation<'_> {
        self.engine.service.operation(index)
    }

    fn limits(&self) -> &Limits {
        &self.engine.limits
    }

    fn server(&self) -> Option<&Engine> {
        Some(&self.engine)
    }
}

impl Engine {
    /// Whether the input or output of an operation has a stream of events.
    pub(crate) fn streams_events(&self, operation: u32, direction: Direction) -> bool {
        let streams = match direction {
            Direction::Request => &self.input_events,
            Direction::Response => &self.output_events,
        };
        streams.get(operation as usize).copied().unwrap_or_default()
    }

    /// The operations whose input or output has a stream of events.
    pub(crate) fn find_event_streams(
        operations: impl Iterator<Item = u32>,
        service: &crate::ServiceHandle,
        direction: Direction,
    ) -> Vec<bool> {
        let has_stream = |index| stream_of(service.operation(index), direction).is_some();
        operations.map(has_stream).collect()
    }

    /// Adds the events of an output to its response.
    pub(crate) fn begin_events(
        self: &Arc<Self>,
        protocol: usize,
        operation: Operation<'_>,
        output: &dyn Message,
        response: Response<Bytes>,
    ) -> Result<Response<Bytes>, Fault> {
        let codec = self.protocols[protocol].event_codec();
        let events = events_of(output, operation.output().root());
        let (Some(codec), Some(events)) = (codec, events) else {
            return Ok(response);
        };
        let response = codec.begin_response(response).map_err(Fault::internal)?;
        let (mut head, initial) = response.into_parts();
        let owner = Arc::new(ServerEvents {
            engine: Arc::clone(self),
            protocol,
        });
        let place = (operation.index(), Direction::Response);
        let stream = EncodedEvents::stream(owner, place, initial, events);
        head.extensions.insert(PayloadStream(stream));
        Ok(Response::from_parts(head, Bytes::new()))
    }
}
