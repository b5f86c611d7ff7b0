//! The types that run the events of a case: dynamic values, or a generated type.

use bytes::Bytes;
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Sink, Typed};
use polywire_protocol::event_stream::{EventCodec, EventMessage, EventOutcome, EventSlot};
use polywire_schema::{Decode, Direction, Encode, Error, Map, Member, Value};

use crate::cases::LIMITS;

/// A type of events: how to create them from a case or from a message.
pub(crate) trait EventSubject {
    /// Creates an event from the node of a case, and encodes it.
    fn encode(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'_>,
        params: &str,
    ) -> Result<Bytes, Error>;

    /// Decodes an event. Returns it as JSON, for comparison.
    fn decode<'s>(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'s>,
        message: &EventMessage,
    ) -> Result<(EventOutcome<'s>, String), Error>;

    /// Returns the event of a case as JSON, for comparison.
    fn show(&self, stream: Member<'_>, params: &str) -> Result<String, Error>;
}

/// Events as maps.
pub(crate) struct EventMaps;

/// Events of a generated type.
pub(crate) struct GeneratedEvents<T>(pub(crate) std::marker::PhantomData<T>);

fn of_params<T: for<'de> Decode<'de>>(stream: Member<'_>, params: &str) -> Result<T, Error> {
    let mut decoder = JsonDecoder::from_str(params, JsonProfile::NODE, &LIMITS)?;
    T::decode(stream.target().root(), &mut decoder)
}

fn shown<T: Encode>(stream: Member<'_>, value: &T) -> Result<String, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(stream.target().root(), &mut encoder);
    Ok(String::from_utf8_lossy(&encoder.finish()?).into_owned())
}

fn decode<'s, 'de>(
    codec: &dyn EventCodec,
    direction: Direction,
    stream: Member<'s>,
    message: &'de EventMessage,
    sink: &mut dyn Sink<'de>,
) -> Result<EventOutcome<'s>, Error> {
    codec.decode_event(direction, stream, message, &LIMITS, sink)
}

impl EventSubject for EventMaps {
    fn encode(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'_>,
        params: &str,
    ) -> Result<Bytes, Error> {
        let value: Value = of_params(stream, params)?;
        codec.encode_event(direction, stream, &Dynamic(&value))
    }

    fn decode<'s>(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'s>,
        message: &EventMessage,
    ) -> Result<(EventOutcome<'s>, String), Error> {
        let mut map = Map::new();
        let outcome = decode(codec, direction, stream, message, &mut map)?;
        let shown = match map.is_empty() {
            true => String::new(),
            false => shown(stream, &map)?,
        };
        Ok((outcome, shown))
    }

    fn show(&self, stream: Member<'_>, params: &str) -> Result<String, Error> {
        shown(stream, &of_params::<Value>(stream, params)?)
    }
}

impl<T: Encode + for<'de> Decode<'de>> EventSubject for GeneratedEvents<T> {
    fn encode(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'_>,
        params: &str,
    ) -> Result<Bytes, Error> {
        let value: T = of_params(stream, params)?;
        let message: &dyn Message = &Typed::new(&value);
        codec.encode_event(direction, stream, message)
    }

    fn decode<'s>(
        &self,
        codec: &dyn EventCodec,
        direction: Direction,
        stream: Member<'s>,
        message: &EventMessage,
    ) -> Result<(EventOutcome<'s>, String), Error> {
        let mut slot = EventSlot::<T>::new();
        let outcome = decode(codec, direction, stream, message, &mut slot)?;
        let shown = match slot.into_value() {
            None => String::new(),
            Some(value) => shown(stream, &value)?,
        };
        Ok((outcome, shown))
    }

    fn show(&self, stream: Member<'_>, params: &str) -> Result<String, Error> {
        shown(stream, &of_params::<T>(stream, params)?)
    }
}
