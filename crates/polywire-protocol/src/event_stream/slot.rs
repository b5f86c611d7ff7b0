//! [`EventSlot`]: a place for an event of a generated type.

use polywire_codec::message::{DecodeAny, DecodeWith};
use polywire_schema::{Decode, Decoder, Error, Member};

/// An event of the type `T`, as a [`Sink`](polywire_codec::Sink) for
/// [`EventCodec::decode_event`](super::EventCodec::decode_event). `T` is the type that was
/// generated for the union, or a [`Value`](polywire_schema::Value).
///
/// ```
/// use polywire_protocol::event_stream::EventSlot;
/// use polywire_schema::Value;
///
/// assert!(EventSlot::<Value>::new().into_value().is_none());
/// ```
#[derive(Debug)]
pub struct EventSlot<T> {
    value: Option<T>,
}

impl<T> EventSlot<T> {
    /// Creates an empty slot.
    #[must_use]
    pub const fn new() -> Self {
        Self { value: None }
    }

    /// The event. `None` if the message was no event.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        self.value
    }
}

impl<T> Default for EventSlot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de, T: Decode<'de>> DecodeAny<'de> for EventSlot<T> {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.value = Some(T::decode(at, decoder)?);
        Ok(())
    }

    /// Unions have no members that must be completed.
    fn finish(&mut self, _: Member<'_>, _: &mut dyn Decoder<'de>) -> Result<(), Error> {
        Ok(())
    }
}

/// Events are read through [`DecodeAny`]: a decoder of a format reads only a part of a message.
impl<'de, D, T: Decode<'de>> DecodeWith<'de, D> for EventSlot<T> {}
