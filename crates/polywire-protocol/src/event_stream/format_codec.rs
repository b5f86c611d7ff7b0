//! [`EventCodec`] of each [`EventFormat`].
//!
//! An event is written in two passes: [`HeadEncoder`] finds the variant and collects the headers,
//! and [`DocumentEncoder`] writes the document into the buffer of the message. Reading is one
//! pass: [`EventDecoder`] returns the headers and then what a decoder of the format returns. So a
//! type needs no code for events, and formats know nothing of them.

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use polywire_codec::{Dynamic, Message, Sink};
use polywire_schema::{Direction, Error, ErrorKind, Limits, Map, Member, Schema, Value};

use super::document_encoder::DocumentEncoder;
use super::event_decoder::EventDecoder;
use super::head_encoder::{EventHead, HeadEncoder, Payload};
use super::kind::{
    self, ERROR, ERROR_CODE, ERROR_MESSAGE, EVENT, EVENT_TYPE, EXCEPTION, EXCEPTION_TYPE,
    INITIAL_REQUEST, INITIAL_RESPONSE, MESSAGE_TYPE,
};
use super::{
    CONTENT_TYPE as EVENT_STREAM, EventCodec, EventFormat, EventMessage, EventOutcome, FORMAT,
    MAX_VALUE, MessageEncoder, MessageKind, PayloadKind, layout_of,
};
use crate::document::Side;
use crate::{Fault, FaultKind};

impl<F: EventFormat> EventCodec for F {
    fn has_initial_messages(&self) -> bool {
        F::INITIAL_MESSAGES
    }

    fn encode_event(
        &self,
        direction: Direction,
        stream: Member<'_>,
        event: &dyn Message,
    ) -> Result<Bytes, Error> {
        let side = writer(direction);
        let root = stream.target().root();
        let mut head = HeadEncoder::new(root, side);
        event.encode_any(root, &mut head);
        let head = head.finish()?;
        let (message_type, name_header) = match head.variant.target().error() {
            None => (EVENT, EVENT_TYPE),
            Some(_) => (EXCEPTION, EXCEPTION_TYPE),
        };
        let mut encoder = MessageEncoder::new(Vec::with_capacity(256));
        encoder.string(MESSAGE_TYPE, message_type);
        encoder.string(name_header, head.variant.name());
        if let Some(media_type) = media_type::<F>(&head) {
            encoder.string(kind::CONTENT_TYPE, media_type);
        }
        for (member, value) in &head.headers {
            encoder.header(member.name(), value);
        }
        let message = match &head.payload {
            Payload::None => encoder.finish(b""),
            Payload::Raw { bytes, .. } => encoder.finish(bytes.as_bytes()),
            Payload::Document { members, .. } => encoder.finish_with(|buffer| {
                self.write_event(buffer, side, &mut |encoder| {
                    let layout = layout_of(head.variant.target());
                    let mut encoder = DocumentEncoder::new(encoder, layout, *members);
                    event.encode_any(root, &mut encoder);
                })
            }),
        };
        message.map(Bytes::from)
    }

    fn encode_fault(&self, direction: Direction, stream: Member<'_>, fault: &Fault) -> Bytes {
        let variants = stream.target().members();
        let mut modelled = variants.filter(|variant| is_modelled_as(fault, variant.target()));
        if let Some(variant) = modelled.next() {
            let details = Value::Map(fault.details().clone());
            let event = Value::Map(Map::from_iter([(variant.name(), details)]));
            if let Ok(message) = self.encode_event(direction, stream, &Dynamic(&event)) {
                return message;
            }
        }
        let public = fault.public();
        let encode = |code: &str, message: &str| {
            let mut encoder = MessageEncoder::new(Vec::new());
            encoder.string(MESSAGE_TYPE, ERROR);
            encoder.string(ERROR_CODE, code);
            encoder.string(ERROR_MESSAGE, message);
            encoder.finish(b"")
        };
        let message = encode(shortened(public.name), shortened(public.message));
        // Both texts fit.
        Bytes::from(message.unwrap_or_default())
    }

    fn decode_event<'s, 'de>(
        &self,
        direction: Direction,
        stream: Member<'s>,
        message: &'de EventMessage,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<EventOutcome<'s>, Error> {
        let side = reader(direction);
        let (name, is_exception) = match message.kind()? {
            MessageKind::InitialRequest | MessageKind::InitialResponse => {
                return Ok(EventOutcome::Initial);
            }
            MessageKind::Error { code, message } => {
                let kind = FaultKind::from_name(code).unwrap_or(FaultKind::Internal);
                return Ok(EventOutcome::Fault(
                    Fault::new(kind, message).with_name(code),
                ));
            }
            MessageKind::Event(name) => (name, false),
            MessageKind::Exception(name) => (name, true),
        };
        let is_own = |variant: &Member<'_>| {
            variant.name() == name && variant.target().error().is_some() == is_exception
        };
        let Some(variant) = stream.target().members().find(is_own) else {
            return unknown(side, name, is_exception, stream);
        };
        let root = stream.target().root();
        let read = if reads_document(variant, message) {
            self.read_event(message.payload(), limits, side, &mut |decoder| {
                let decoder = Some(decoder);
                read_event(
                    &mut EventDecoder::new(message, variant, side, decoder),
                    root,
                    sink,
                )
            })
        } else {
            read_event(
                &mut EventDecoder::new(message, variant, side, None),
                root,
                sink,
            )
        };
        read.map_err(|error| error.without_sensitive(variant.target().root()))?;
        Ok(match is_exception {
            false => EventOutcome::Event(variant),
            true => EventOutcome::Exception(variant),
        })
    }

    fn begin_request(
        &self,
        mut request: http::Request<Bytes>,
    ) -> Result<http::Request<Bytes>, Error> {
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = initial_message::<F>(INITIAL_REQUEST, &body)?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
        Ok(request)
    }

    fn begin_response(
        &self,
        mut response: http::Response<Bytes>,
    ) -> Result<http::Response<Bytes>, Error> {
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = initial_message::<F>(INITIAL_RESPONSE, &body)?;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
        Ok(response)
    }
}

/// The side that writes messages of this direction.
const fn writer(direction: Direction) -> Side {
    match direction {
        Direction::Request => Side::Client,
        Direction::Response => Side::Server,
    }
}

/// The side that reads messages of this direction.
const fn reader(direction: Direction) -> Side {
    match direction {
        Direction::Request => Side::Server,
        Direction::Response => Side::Client,
    }
}

fn is_modelled_as(fault: &Fault, shape: Schema<'_>) -> bool {
    shape.error().is_some() && fault.shape() == shape.id()
}

/// The longest prefix that fits a header.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(MAX_VALUE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn media_type<'s, F: EventFormat>(head: &EventHead<'s>) -> Option<&'s str> {
    match &head.payload {
        Payload::None => None,
        Payload::Document { .. } => Some(F::EVENT_MEDIA_TYPE),
        Payload::Raw { member, .. } => Some(match (member.media_type(), member.kind()) {
            (Some(media_type), _) => media_type,
            (None, polywire_schema::ShapeKind::Blob) => "application/octet-stream",
            (None, _) => "text/plain",
        }),
    }
}

/// Returns whether the payload of an event is a document, and present.
fn reads_document(variant: Member<'_>, message: &EventMessage) -> bool {
    let is_document = match layout_of(variant.target()).payload {
        PayloadKind::None | PayloadKind::Raw(_) => false,
        PayloadKind::Member(_) | PayloadKind::Document => true,
    };
    is_document && !message.payload().is_empty()
}

fn read_event<'de>(
    decoder: &mut EventDecoder<'_, '_, 'de>,
    root: Member<'_>,
    sink: &mut dyn Sink<'de>,
) -> Result<(), Error> {
    sink.decode_any(root, decoder)?;
    sink.finish(root, decoder)
}

fn unknown<'s>(
    side: Side,
    name: &str,
    is_exception: bool,
    stream: Member<'_>,
) -> Result<EventOutcome<'s>, Error> {
    let shown: String = name.chars().take(64).collect();
    match (side, is_exception) {
        (Side::Client, false) => Ok(EventOutcome::Unknown(shown)),
        (Side::Client, true) => {
            let message = "an exception that the model does not have";
            let fault = Fault::new(FaultKind::Internal, message).with_name(shown);
            Ok(EventOutcome::Fault(fault))
        }
        (Side::Server, _) => Err(Error::new(ErrorKind::Unknown)
            .in_format(FORMAT)
            .expected(format!("an event of {}", stream.target().id()))
            .found(format!("{shown:?}"))),
    }
}

/// Encodes the message at the start of a stream. REST protocols have none.
fn initial_message<F: EventFormat>(name: &str, body: &[u8]) -> Result<Bytes, Error> {
    if !F::INITIAL_MESSAGES {
        // restJson1 writes `{}` for an output without members in the body.
        return match body {
            b"" | b"{}" => Ok(Bytes::new()),
            _ => Err(Error::new(ErrorKind::Unwritable)
                .in_format(FORMAT)
                .expected("no member in the body beside the stream")),
        };
    }
    let mut encoder = MessageEncoder::new(Vec::new());
    encoder.string(MESSAGE_TYPE, EVENT);
    encoder.string(EVENT_TYPE, name);
    encoder.string(kind::CONTENT_TYPE, F::EVENT_MEDIA_TYPE);
    encoder.finish(body).map(Bytes::from)
}
