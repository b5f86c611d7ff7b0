//! What transports need: the events of a message that is sent, and the events that they have received.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use http::Extensions;
use polywire_codec::message::{EncodeAny, EncodeWith};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    BigDecimal, BigInteger, Body, EncodeEvent, Encoder, Error, EventSource, Member, OutgoingEvents,
    Timestamp,
};

use super::layout::stream_member;
use crate::document::Side;
use crate::rest::RawDecoder;

/// The events that a transport receives, in the extensions of a head.
/// [`decode_input`](crate::ServerProtocol::decode_input) and
/// [`decode_output`](crate::ClientProtocol::decode_output) pass them to the member with the stream.
#[derive(Clone)]
pub struct PayloadEvents(Arc<Mutex<Option<Box<dyn EventSource>>>>);

impl PayloadEvents {
    /// Creates an extension.
    #[must_use]
    pub fn new(source: impl EventSource + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(source)))))
    }

    fn take(&self) -> Option<Box<dyn EventSource>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for PayloadEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PayloadEvents")
    }
}

/// Passes the received events of a message to the structure of `root`.
#[inline]
pub(crate) fn read_events<'de>(
    extensions: &Extensions,
    (root, body, side): (Member<'_>, &'de Body, Side),
    sink: &mut dyn Sink<'de>,
) -> Result<(), Error> {
    match extensions.get::<PayloadEvents>() {
        None => Ok(()),
        Some(events) => read_payload(events, (root, body, side), sink),
    }
}

/// Most messages have no events. For these, nothing of this is on the stack.
#[cold]
#[inline(never)]
fn read_payload<'de>(
    events: &PayloadEvents,
    (root, body, side): (Member<'_>, &'de Body, Side),
    sink: &mut dyn Sink<'de>,
) -> Result<(), Error> {
    let (Some(member), Some(source)) = (stream_member(root.target()), events.take()) else {
        return Ok(());
    };
    let mut decoder = RawDecoder::new(body, member.ordinal(), side).with_events(source);
    sink.decode_any(root, &mut decoder)
}

/// Takes the events of an input or output that is sent. `None` if it has no stream.
#[must_use]
pub fn events_of(message: &dyn Message, root: Member<'_>) -> Option<OutgoingEvents> {
    let mut collector = EventCollector::default();
    message.encode_any(root, &mut collector);
    collector.0
}

/// Takes the stream of a structure, and ignores its other members.
#[derive(Default)]
struct EventCollector(Option<OutgoingEvents>);

impl Encoder for EventCollector {
    fn event_stream(&mut self, _: Member<'_>, take: &mut dyn FnMut() -> OutgoingEvents) {
        self.0 = Some(take());
    }

    fn member(&mut self, _: Member<'_>) -> bool {
        false
    }

    fn is_head(&self) -> bool {
        true
    }

    fn begin_structure(&mut self, _: Member<'_>, _: usize) {}
    fn end_structure(&mut self, _: Member<'_>) {}
    fn begin_list(&mut self, _: Member<'_>, _: usize) {}
    fn end_list(&mut self, _: Member<'_>) {}
    fn begin_map(&mut self, _: Member<'_>, _: usize) {}
    fn key(&mut self, _: Member<'_>, _: &str) {}
    fn end_map(&mut self, _: Member<'_>) {}
    fn boolean(&mut self, _: Member<'_>, _: bool) {}
    fn integer(&mut self, _: Member<'_>, _: i64) {}
    fn float(&mut self, _: Member<'_>, _: f32) {}
    fn double(&mut self, _: Member<'_>, _: f64) {}
    fn big_integer(&mut self, _: Member<'_>, _: &BigInteger) {}
    fn big_decimal(&mut self, _: Member<'_>, _: &BigDecimal) {}
    fn string(&mut self, _: Member<'_>, _: &str) {}
    fn blob(&mut self, _: Member<'_>, _: &[u8]) {}
    fn timestamp(&mut self, _: Member<'_>, _: Timestamp) {}
    fn null(&mut self, _: Member<'_>) {}
    fn fail(&mut self, _: Error) {}
}

/// An event as a [`Message`], for [`EventCodec::encode_event`](super::EventCodec::encode_event).
pub struct OutgoingEvent(pub Box<dyn EncodeEvent>);

impl EncodeAny for OutgoingEvent {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode_event(at, encoder);
    }
}

/// All formats share one copy of the code.
impl<E> EncodeWith<E> for OutgoingEvent {}

impl fmt::Debug for OutgoingEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutgoingEvent")
    }
}
