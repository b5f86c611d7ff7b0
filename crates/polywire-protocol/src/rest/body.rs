//! The parts of a message: head, then payload or document.

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Member, ShapeKind};

use super::payload::{RawDecoder, RawEncoder};
use super::{Bindings, Format, HeadDecoder, Payload, Rest};

/// Who writes or reads a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// A message to be read as a structure.
pub(crate) struct Parts<'a, 'de> {
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
    pub(crate) fn read<F: Format>(
        &self,
        format: &F,
        head: HeadDecoder<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let mut head = head;
        if self.bindings.head {
            sink.decode_any(self.root, &mut head)?;
        }
        if self.body.is_empty() {
            if self.bindings.has_body() {
                format.read_nothing(self)?;
            }
            return sink.finish(self.root, &mut head);
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
            None => sink.finish(self.root, &mut head),
        }
    }
}

/// The body of a message and its media type.
pub(super) type Written = Option<(Vec<u8>, HeaderValue)>;

impl<F: Format> Rest<F> {
    /// Writes the body of a message. `empty` stands where no member has a part
    /// in it.
    pub(super) fn write_body(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        empty: Option<&'static [u8]>,
        side: Side,
    ) -> Result<Written, Error> {
        let own = || HeaderValue::from_static(F::MEDIA_TYPE);
        let Some(payload) = bindings.payload else {
            if !bindings.document {
                return Ok(empty.map(|empty| (empty.to_vec(), own())));
            }
            let document = self.format.write_document(root, bindings, message)?;
            return Ok(Some((document, own())));
        };
        let member = root.target().member(payload.ordinal);
        let body = match payload.raw {
            true => RawEncoder::write(root, payload.ordinal, bindings.defaults(), message)?,
            false => {
                let document = self.format.write_payload(root, bindings, message)?;
                (!document.is_empty()).then_some(document)
            }
        };
        if let Some(body) = body {
            return Ok(Some((body, media_type::<F>(member, payload)?)));
        }
        // A structure that a client does not give may be an empty document,
        // unless that could not be read again for want of its required members.
        let empty = F::EMPTY_PAYLOAD.filter(|_| {
            side == Side::Client
                && payload.kind == ShapeKind::Structure
                && !member.target().members().any(|member| member.is_required())
        });
        Ok(empty.map(|empty| (empty.to_vec(), own())))
    }
}

/// The media type of a payload.
fn media_type<F: Format>(member: Member<'_>, payload: Payload) -> Result<HeaderValue, Error> {
    let fixed = match (member.media_type(), payload.kind) {
        (Some(media_type), _) => {
            return HeaderValue::from_str(media_type).map_err(|_| {
                Error::new(ErrorKind::Internal)
                    .expected("a media type")
                    .found(media_type.to_owned())
            });
        }
        (None, _) if !payload.raw => F::MEDIA_TYPE,
        (None, ShapeKind::Blob) => "application/octet-stream",
        (None, _) => "text/plain",
    };
    Ok(HeaderValue::from_static(fixed))
}

/// Sets the media type of a body, unless a header member has said it already.
pub(super) fn say_type(headers: &mut http::HeaderMap, media_type: HeaderValue) {
    headers.entry(CONTENT_TYPE).or_insert(media_type);
}
