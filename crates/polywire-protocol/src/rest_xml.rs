//! `aws.protocols#restXml`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html>

use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, response};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Error, ErrorKind, Limits, Map, Member, NameSource, Operation, OperationFlags, Part,
    Schema, Service,
};

use crate::error_facts::ErrorFacts;
use crate::fault::Public;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::request_id;
use crate::rest::{Bindings, Parts, Prepared, Rest, RestFormat, Side};
use crate::validate;

/// restXml: HTTP bindings, and XML by Smithy's XML traits.
///
/// - Members of a document:
///   [shape serialization](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#xml-shape-serialization),
///   and the [XML traits](https://smithy.io/2.0/spec/protocol-traits.html#xml-bindings).
/// - Which part carries a member:
///   [HTTP bindings](https://smithy.io/2.0/spec/http-bindings.html), and what media
///   type a body has:
///   [content types](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#content-type).
///   Servers take a body without one, and `text/xml`, since peers send that.
/// - An error is `<ErrorResponse><Error>`, or `<Error>` alone by `noErrorWrapping`, with `Type`
///   and `Code` before its members:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#error-response-serialization).
///   Clients take both. Where a response has no body, such as that to HEAD, its
///   status names the error: 404 is `NotFound`.
/// - An error has no `@httpPayload`:
///   [supported traits](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#supported-traits).
/// - An empty body is a structure without members; where a member of the document is
///   required it is no XML and refused. The specification says nothing of it.
pub type RestXml = Rest<RestXmlFormat>;

/// The space with which the document of an error begins.
const DOCUMENT: usize = 512;
/// The elements around the members of an error.
const RESPONSE: &str = "ErrorResponse";
const ERROR: &str = "Error";

#[derive(Debug)]
pub struct RestXmlFormat {
    /// `@xmlNamespace` of the service: prefix and URI.
    namespace: Option<(Option<String>, String)>,
    /// Whether errors stand in an element `ErrorResponse`.
    is_wrapped: bool,
}

/// Where S3 tells the id of a call.
///
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/RESTCommonResponseHeaders.html>
const S3_REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");

impl RestXmlFormat {
    fn profile(&self, side: Side) -> XmlProfile<'_> {
        let namespace = self.namespace.as_ref();
        let namespace = namespace.map(|(prefix, uri)| (prefix.as_deref(), uri.as_str()));
        side_profile(side).with_namespace(namespace)
    }
}

/// Whether a body is the document of an error.
fn is_error_document(body: &Bytes) -> bool {
    body.starts_with(b"<ErrorResponse>") || body.starts_with(b"<Error>")
}

const fn side_profile(side: Side) -> XmlProfile<'static> {
    match side {
        Side::Client => XmlProfile::DEFAULT.for_client(),
        Side::Server => XmlProfile::DEFAULT,
    }
}

impl RestFormat for RestXmlFormat {
    const KIND: ProtocolKind = ProtocolKind::RestXml;
    const MEDIA_TYPE: &'static str = "application/xml";
    const SAYS_TYPE: bool = false;
    const EMPTY_OUTPUT: &'static [u8] = b"";
    const EMPTY_PAYLOAD: Option<&'static [u8]> = None;
    const HAS_REQUEST_IDS: bool = true;
    const NAMES_ERRORS_IN_HEAD: bool = false;

    fn for_service(service: Service<'_>) -> Self {
        let own = |(prefix, uri): (Option<&str>, &str)| (prefix.map(str::to_owned), uri.to_owned());
        Self {
            namespace: service.xml_namespace().map(own),
            is_wrapped: !service.has_no_error_wrapping(),
        }
    }

    /// Clients of S3 read the id from a header of its own. A response to HEAD has no other.
    fn tell_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        let is_error = !response.status().is_success() && is_error_document(response.body());
        let path: &[&str] = if is_error { &["RequestId"] } else { &[] };
        let value = request_id::tell(path, response, id);
        if let Some(value) = value.filter(|_| !self.is_wrapped) {
            response.headers_mut().entry(S3_REQUEST_ID).or_insert(value);
        }
    }

    fn is_document(media_type: &str) -> bool {
        ["application/xml", "text/xml"]
            .iter()
            .any(|own| media_type.eq_ignore_ascii_case(own))
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match summary.media_type().is_some_and(Self::is_document) {
            true => Claim::Weak,
            false => Claim::Fallback,
        }
    }

    fn prepare(&self, operation: Operation<'_>, prepared: &mut Prepared) {
        prepared.output.unwrapped = operation.has(OperationFlags::S3_UNWRAPPED_OUTPUT);
        // Keys of S3 may be `a/../b`, and AWS's own clients send them so.
        if !self.is_wrapped {
            prepared.target.keep_dots();
        }
    }

    fn read_document<'de>(
        &self,
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let profile = side_profile(parts.side)
            .with_part(parts.bindings.part())
            .with_unwrapped(parts.bindings.unwrapped);
        let mut decoder = XmlDecoder::from_body(parts.body, profile, parts.limits)?;
        if parts.is_error {
            if decoder.element() == RESPONSE {
                decoder.enter(ERROR)?;
            }
            decoder.take_any_case_message(parts.root.target())?;
        }
        sink.read(parts.root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(parts.root, &mut decoder)
    }

    fn read_payload<'de>(
        &self,
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let profile = side_profile(parts.side).with_part(Part::Payload(parts.bindings.direction));
        let mut decoder = XmlDecoder::from_body(parts.body, profile, parts.limits)?;
        sink.read(parts.root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(parts.root, &mut decoder)
    }

    /// No XML is not an empty structure where some of it is required.
    fn read_nothing(&self, parts: &Parts<'_, '_>) -> Result<(), Error> {
        let shape = parts.root.target();
        let required = match parts.bindings.payload {
            Some(payload) => !payload.raw && shape.member(payload.ordinal).is_required(),
            None => {
                let bindings = parts.bindings;
                let mut members = shape.members();
                members.any(|member| bindings.is_in_document(member) && member.is_required())
            }
        };
        if parts.side == Side::Client || !required {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Truncated)
            .in_format("XML")
            .expected("a document")
            .found("an empty body"))
    }

    fn write_document(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error> {
        let profile = self
            .profile(bindings.writer())
            .with_part(bindings.part())
            .with_unwrapped(bindings.unwrapped);
        let mut encoder = XmlEncoder::new(profile, bindings.document_room.vec());
        message.write(root, &mut encoder);
        let document = encoder.finish()?;
        bindings.document_room.took(document.len());
        Ok(document)
    }

    fn write_payload(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error> {
        let profile = self
            .profile(bindings.writer())
            .with_part(Part::Payload(bindings.direction));
        let mut encoder = XmlEncoder::new(profile, bindings.document_room.vec());
        message.write(root, &mut encoder);
        let document = encoder.finish()?;
        bindings.document_room.took(document.len());
        Ok(document)
    }

    /// Who is to blame and which error it is stand before its members, and all
    /// that in an element or two.
    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        text: &str,
        _: &mut HeaderMap,
    ) -> Result<Vec<u8>, Error> {
        // Clients of AWS look for the text there, whatever members there are.
        let says = |member: Member<'_>| member.plain(NameSource::Xml) == "Message";
        let has_text = bindings.document && error.members().any(says);
        let profile = XmlProfile::DEFAULT.with_part(bindings.part());
        let client = error.error().is_some_and(|error| error.client);
        self.around(profile, client, error.name(), |encoder| {
            if !has_text && !text.is_empty() {
                encoder.element("Message", text);
            }
            if bindings.document {
                message.write(error.root(), encoder);
            }
        })
    }

    fn write_fault(&self, fault: Public<'_>, _: &mut HeaderMap) -> Vec<u8> {
        let client = fault.status.is_client_error();
        let write = |message: &str, details: Option<&Map>| {
            self.around(XmlProfile::DEFAULT, client, fault.name, |encoder| {
                encoder.element("Message", message);
                validate::push_fields(encoder, details);
            })
        };
        // A message may hold what XML cannot.
        write(fault.message, fault.details)
            .or_else(|_| write("", None))
            .unwrap_or_default()
    }

    /// S3 begins some answers before it knows how they end: an error then
    /// comes under status 200.
    fn is_error(&self, prepared: &Prepared, body: &Body) -> bool {
        if self.is_wrapped || !prepared.output.is_document() {
            return false;
        }
        let bytes = body.as_bytes();
        if is_plainly_another(bytes) {
            return false;
        }
        // Its name is near the beginning.
        let start = &bytes[..bytes.len().min(256)];
        let start = match std::str::from_utf8(start) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        };
        let decoder = XmlDecoder::from_str(start, side_profile(Side::Client), &Limits::DEFAULT);
        decoder.is_ok_and(|decoder| decoder.element() == ERROR)
    }

    fn error_facts(
        &self,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Option<ErrorFacts> {
        if body.is_empty() && head.status != StatusCode::BAD_GATEWAY {
            let reason = head.status.canonical_reason().unwrap_or_default();
            return Some(ErrorFacts {
                name: reason.split(' ').collect(),
                message: None,
            });
        }
        let profile = side_profile(Side::Client);
        let mut decoder = XmlDecoder::from_body(body, profile, limits).ok()?;
        if decoder.element() == RESPONSE {
            decoder.enter(ERROR).ok()?;
        }
        if decoder.element() != ERROR {
            return None;
        }
        let text = |text: std::borrow::Cow<'_, str>| text.into_owned();
        let name = decoder.peek(&["Code"]).ok()??;
        let message = ["Message", "message"]
            .into_iter()
            .find_map(|name| decoder.peek(&[name]).ok()?);
        Some(ErrorFacts {
            name: text(name),
            message: message.map(text),
        })
    }
}

/// Whether a document begins with the start tag of an element that is no error,
/// whatever its prefix. Where something stands before the tag, it does not say so.
fn is_plainly_another(document: &[u8]) -> bool {
    let [b'<', name @ ..] = document.trim_ascii_start() else {
        return false;
    };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let end = name.iter().position(|byte| !is_part(byte));
    let name = end.and_then(|end| name.get(..end)).unwrap_or_default();
    !name.is_empty() && !name.ends_with(ERROR.as_bytes())
}

impl RestXmlFormat {
    /// An error: its members by `write`, and what stands around them.
    fn around(
        &self,
        profile: XmlProfile<'_>,
        client: bool,
        name: &str,
        write: impl FnOnce(&mut XmlEncoder<'_>),
    ) -> Result<Vec<u8>, Error> {
        let mut encoder = XmlEncoder::new(profile, Vec::with_capacity(DOCUMENT));
        if self.is_wrapped {
            encoder.open(RESPONSE);
        }
        encoder.open(ERROR);
        encoder.element("Type", if client { "Sender" } else { "Receiver" });
        encoder.element("Code", name);
        write(&mut encoder);
        encoder.close(ERROR);
        if self.is_wrapped {
            encoder.close(RESPONSE);
        }
        encoder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_are_plainly_no_errors() {
        for document in [
            "<CopyObjectResult>",
            " \n<a/>",
            "<Errors>",
            "<s3:Result xmlns:s3='x'>",
        ] {
            assert!(is_plainly_another(document.as_bytes()), "{document}");
        }
        for document in [
            "",
            "<",
            "<a",
            "<Error>",
            "<Error/>",
            "\n<Error a='b'>",
            "<s3:Error>",
            "<?xml version='1.0'?><a>",
            "<!-- --><a>",
            "\u{feff}<a>",
            "< Error>",
            "a",
        ] {
            assert!(!is_plainly_another(document.as_bytes()), "{document}");
        }
    }
}
