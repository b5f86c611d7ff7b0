//! The parts of a message: head, then payload or document.

use bytes::Bytes;
use http::HeaderValue;
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Member, Schema, ShapeKind};

use super::payload::RawDecoder;
use super::{Bindings, HeadDecoder, HeadEncoder, Rest, RestFormat};
use crate::kept;

/// Who writes or reads a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    Client,
    Server,
}

/// A message to be read as a structure.
pub struct Parts<'a, 'de> {
    pub(crate) root: Member<'a>,
    pub(crate) bindings: &'a Bindings,
    pub(crate) body: &'de Body,
    pub(crate) limits: &'a Limits,
    pub(crate) side: Side,
    /// Whether it is an error, around which some formats put more.
    pub(crate) is_error: bool,
}

impl<'de> Parts<'_, 'de> {
    /// Reads head and body into `sink`.
    pub(crate) fn read<F: RestFormat>(
        &self,
        format: &F,
        head: &mut HeadDecoder<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        if self.bindings.head {
            sink.decode_any(self.root, head)?;
        }
        if self.body.is_empty() {
            if self.bindings.has_body() {
                format.read_nothing(self)?;
            }
            return sink.finish(self.root, head);
        }
        match self.bindings.payload {
            Some(payload) if payload.raw => {
                let required = self.side == Side::Server;
                let mut decoder = RawDecoder::new(self.body, payload.ordinal, required);
                sink.decode_any(self.root, &mut decoder)?;
                sink.finish(self.root, &mut decoder)
            }
            Some(_) => format.read_payload(self, sink),
            None if self.bindings.document => format.read_document(self, sink),
            None => sink.finish(self.root, head),
        }
    }
}

impl<F: RestFormat> Rest<F> {
    /// Writes the body of a message whose head has been written, if it has one.
    /// `empty` stands where no
    /// member has a part in it.
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
            if !bindings.document {
                return Ok(empty.map(Bytes::from_static));
            }
            let document = self.format.write_document(root, bindings, message)?;
            return Ok(Some(Bytes::from(document)));
        };
        let body = match payload.raw {
            true => head.take_body(),
            false => {
                let document = self.format.write_payload(root, bindings, message)?;
                (!document.is_empty()).then(|| Bytes::from(document))
            }
        };
        if body.is_some() {
            return Ok(body);
        }
        // A structure that a client does not give may be an empty document,
        // unless that could not be read again for want of its required members.
        let member = root.target().member(payload.ordinal);
        let empty = F::EMPTY_PAYLOAD.filter(|_| {
            side == Side::Client
                && payload.kind == ShapeKind::Structure
                && !member.target().members().any(|member| member.is_required())
        });
        Ok(empty.map(Bytes::from_static))
    }
}

/// The media type of the body of a message. `None` if the model gives one that
/// cannot be.
pub(super) fn media_type<F: RestFormat>(
    shape: Schema<'_>,
    bindings: &Bindings,
) -> Option<HeaderValue> {
    let Some(payload) = bindings.payload else {
        return Some(HeaderValue::from_static(F::MEDIA_TYPE));
    };
    let fixed = match (shape.member(payload.ordinal).media_type(), payload.kind) {
        (Some(media_type), _) => return kept::header_value(media_type),
        (None, _) if !payload.raw => F::MEDIA_TYPE,
        (None, ShapeKind::Blob) => "application/octet-stream",
        (None, _) => "text/plain",
    };
    Some(HeaderValue::from_static(fixed))
}
