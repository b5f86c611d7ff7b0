//! Decoding messages, the head before the body, and encoding bodies.

use bytes::Bytes;
use http::HeaderValue;
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Member, Part, Schema, ShapeKind};

use super::payload::RawDecoder;
use super::{Bindings, HeadDecoder, HeadEncoder, Rest, RestFormat};
use crate::intern;

/// The side of a connection that reads or writes a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    Client,
    Server,
}

/// A message that is decoded as a structure.
pub struct IncomingMessage<'a, 'de> {
    pub(crate) root: Member<'a>,
    pub(crate) bindings: &'a Bindings,
    pub(crate) body: &'de Body,
    pub(crate) limits: &'a Limits,
    pub(crate) side: Side,
    /// Whether the structure is an error. Some formats put additional elements around it.
    pub(crate) is_error: bool,
}

impl<'de> IncomingMessage<'_, 'de> {
    /// Reads head and body into `sink`.
    pub(crate) fn read<F: RestFormat>(
        &self,
        format: &F,
        head: &mut HeadDecoder<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        if self.bindings.has_head {
            sink.decode_any(self.root, head)?;
        }
        if self.body.is_empty() {
            if self.bindings.has_body() {
                format.check_empty_body(self)?;
            }
            return sink.finish(self.root, head);
        }
        match self.bindings.payload {
            Some(payload) if payload.is_raw => {
                let is_request = self.side == Side::Server;
                let mut decoder = RawDecoder::new(self.body, payload.ordinal, is_request);
                sink.decode_any(self.root, &mut decoder)?;
                sink.finish(self.root, &mut decoder)
            }
            Some(_) => format.read_document(self, Part::Payload(self.bindings.direction), sink),
            None if self.bindings.has_document => {
                format.read_document(self, self.bindings.part(), sink)
            }
            None => sink.finish(self.root, head),
        }
    }
}

impl<F: RestFormat> Rest<F> {
    /// Writes the body of a message, after the head has been written. Returns `None` if the message
    /// has no body. `empty` is the body if no member is bound to it.
    pub(super) fn write_body(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        head: &mut HeadEncoder<'_>,
        empty: Option<&'static [u8]>,
        side: Side,
    ) -> Result<Option<Bytes>, Error> {
        let Some(payload) = bindings.payload else {
            if !bindings.has_document {
                return Ok(empty.map(Bytes::from_static));
            }
            let part = bindings.part();
            let document = self.format.write_document(root, bindings, part, message)?;
            return Ok(Some(Bytes::from(document)));
        };
        let body = match payload.is_raw {
            true => head.take_raw_payload(),
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
        let empty = F::EMPTY_PAYLOAD.filter(|_| {
            side == Side::Client
                && payload.kind == ShapeKind::Structure
                && !member.target().members().any(|member| member.is_required())
        });
        Ok(empty.map(Bytes::from_static))
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
