//! Reading a payload that is a blob or a string: the body without a document format.
//!
//! `RestFormat` reads and writes other payloads. `HeadEncoder` writes blobs and strings together
//! with the head.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, ByteStream, Decoder, END, Error, ErrorKind, Event,
    EventSource, Member, Schema, Seq, ShapeKind, Text, Timestamp,
};
use polywire_text::utf8;

use super::body::read_without;
use crate::document::Side;

/// Returns whether a payload of this kind is the body itself. A value of the Smithy type `document`
/// is not, even if it is a string.
pub(crate) const fn is_raw(kind: ShapeKind) -> bool {
    matches!(kind, ShapeKind::Blob | ShapeKind::String | ShapeKind::Enum)
}

const EXPECTED_STREAM: &str =
    "a member of the type `ByteStream`, because the body is not in memory";

pub(crate) const EXPECTED_RAW_PAYLOAD: &str = "a payload that is a blob or a string";

/// A decoder for a structure whose only member in the body is the payload.
pub(crate) struct RawDecoder<'de> {
    body: &'de Body,
    /// The ordinal of the payload, until it has been read.
    payload: Option<u32>,
    /// The body, if it is not in memory.
    stream: Option<ByteStream>,
    /// The events, if the payload is an event stream.
    events: Option<Box<dyn EventSource>>,
    /// The side that reads the message.
    side: Side,
}

impl<'de> RawDecoder<'de> {
    pub(crate) const fn new(body: &'de Body, payload: u32, side: Side) -> Self {
        Self {
            body,
            payload: Some(payload),
            stream: None,
            events: None,
            side,
        }
    }

    /// Sets a body that has not been read.
    pub(crate) fn with_stream(mut self, stream: &ByteStream) -> Self {
        self.stream = Some(stream.clone());
        self
    }

    /// Sets the events of a payload that is an event stream.
    pub(crate) fn with_events(mut self, events: Box<dyn EventSource>) -> Self {
        self.events = Some(events);
        self
    }

    fn not_raw<T>(&self) -> Result<T, Error> {
        Err(self.error(ErrorKind::Internal, EXPECTED_RAW_PAYLOAD))
    }
}

impl<'de> Decoder<'de> for RawDecoder<'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        match at.is_root() {
            true => Ok(Seq::default()),
            false => self.not_raw(),
        }
    }

    fn member(&mut self, _: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        Ok(self.payload.take().unwrap_or(END))
    }

    fn list(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.not_raw()
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        self.not_raw()
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.not_raw()
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        self.not_raw()
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        self.not_raw()
    }

    fn integer(&mut self, _: Member<'_>) -> Result<i64, Error> {
        self.not_raw()
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        self.not_raw()
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        self.not_raw()
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.not_raw()
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.not_raw()
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        match self.str(at)? {
            Cow::Borrowed(text) => Ok(self.body.text(text)),
            Cow::Owned(text) => Ok(Text::from(text)),
        }
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        match utf8::validate(self.body.as_bytes()) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(malformed) => {
                Err(Error::malformed(ErrorKind::InvalidValue, malformed, 0).in_format("HTTP"))
            }
        }
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        match self.stream {
            None => Ok(self.body.blob(self.body.as_bytes())),
            Some(_) => Err(self.error(ErrorKind::Internal, EXPECTED_STREAM)),
        }
    }

    fn event_stream(&mut self, _: Member<'_>) -> Result<Option<Box<dyn EventSource>>, Error> {
        Ok(self.events.take())
    }

    fn stream(&mut self, at: Member<'_>) -> Result<ByteStream, Error> {
        match self.stream.take() {
            Some(stream) => Ok(stream),
            None => self.blob(at).map(ByteStream::from),
        }
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        self.not_raw()
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.not_raw()
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.side.defaults().fills_default(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        read_without(at, self.side)
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Error::new(kind).in_format("HTTP").expected(expected)
    }
}
