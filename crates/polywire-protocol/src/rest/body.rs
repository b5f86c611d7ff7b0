//! Decoding messages, the head before the body, and encoding bodies.

use bytes::Bytes;
use http::HeaderValue;
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Member, Part, Schema, ShapeKind};

use super::payload::RawDecoder;
use super::{Bindings, HeadDecoder, HeadEncoder, Rest, RestFormat};
use crate::document::Side;
use crate::event_stream::is_event_stream;
use crate::intern;

/// Returns the result of reading a message without a required member. Only servers reject it.
pub(super) fn read_without(member: Member<'_>, reader: Side) -> Result<(), Error> {
    match reader {
        _ if is_event_stream(member) => Ok(()),
        Side::Client => Ok(()),
        Side::Server => Err(missing_member(member)),
    }
}

/// The error for a request without a required member.
#[cold]
fn missing_member(member: Member<'_>) -> Error {
    let name = format!(
        "the required member `{}` of {}",
        member.name(),
        member.container().id()
    );
    Error::new(ErrorKind::Missing)
        .in_format("HTTP")
        .expected(name)
}

/// A message that is decoded as a structure.
pub struct IncomingMessage<'a, 'de> {
    pub(crate) root: Member<'a>,
    pub(crate) bindings: &'a Bindings,
    pub(crate) body: &'de Body,
    pub(crate) limits: &'a Limits,
    /// Whether the structure is an error. Some formats put additional elements around it.
    pub(crate) is_error: bool,
}

impl<'de> IncomingMessage<'_, 'de> {
    /// Reads head and body into `sink`. If both have members of the structure, the sink decodes the
    /// structure twice: first from the head, then from the body.
    pub(crate) fn read<F: RestFormat>(
        &self,
        format: &F,
        head_decoder: &mut HeadDecoder<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        if self.bindings.has_head_members {
            sink.decode_any(self.root, head_decoder)?;
        }
        if self.body.is_empty() {
            if self.bindings.has_body() && !self.bindings.has_event_stream {
                format.check_empty_body(self)?;
            }
            return sink.finish(self.root, head_decoder);
        }
        match self.bindings.payload {
            Some(payload) if payload.is_raw => {
                let side = self.bindings.reader();
                let mut decoder = RawDecoder::new(self.body, payload.ordinal, side);
                sink.decode_any(self.root, &mut decoder)?;
                sink.finish(self.root, &mut decoder)
            }
            Some(_) => format.read_document(self, Part::Payload(self.bindings.direction), sink),
            None if self.bindings.has_document_members => {
                format.read_document(self, self.bindings.part(), sink)
            }
            None => sink.finish(self.root, head_decoder),
        }
    }
}

impl<F: RestFormat> Rest<F> {
    /// Writes the body of a message, after the head has been written. Returns `None` if the message
    /// has no body. `without_members` is the body if no member is bound to the body.
    pub(super) fn write_body(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        head_encoder: &mut HeadEncoder<'_>,
        without_members: Option<&'static [u8]>,
    ) -> Result<Option<Bytes>, Error> {
        let Some(payload) = bindings.payload else {
            if !bindings.has_document_members {
                return Ok(without_members.map(Bytes::from_static));
            }
            let part = bindings.part();
            let document = self.format.write_document(root, bindings, part, message)?;
            return Ok(Some(Bytes::from(document)));
        };
        let body = match payload.is_raw {
            true => head_encoder.take_raw_payload(),
            false => {
                let part = Part::Payload(bindings.direction);
                let document = self.format.write_document(root, bindings, part, message)?;
                (!document.is_empty()).then(|| Bytes::from(document))
            }
        };
        if body.is_some() {
            return Ok(body);
        }
        // Some formats write an empty document for an absent structure, but only if a server can
        // read it: not if the structure has required members.
        let member = root.target().member(payload.ordinal);
        let absent_payload = F::EMPTY_PAYLOAD.filter(|_| {
            bindings.writer() == Side::Client
                && payload.kind == ShapeKind::Structure
                && !member.target().members().any(|member| member.is_required())
        });
        Ok(absent_payload.map(Bytes::from_static))
    }
}

/// Returns the media type of the body of a message. `None` if the model gives one that is not a
/// valid header value.
pub(super) fn media_type<F: RestFormat>(
    shape: Schema<'_>,
    bindings: &Bindings,
) -> Option<HeaderValue> {
    let Some(payload) = bindings.payload else {
        return Some(HeaderValue::from_static(F::MEDIA_TYPE));
    };
    let fixed = match (shape.member(payload.ordinal).media_type(), payload.kind) {
        (Some(media_type), _) => return intern::header_value(media_type),
        (None, _) if !payload.is_raw => F::MEDIA_TYPE,
        (None, ShapeKind::Blob) => "application/octet-stream",
        (None, _) => "text/plain",
    };
    Some(HeaderValue::from_static(fixed))
}
