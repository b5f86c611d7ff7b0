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

use crate::document::Side;
use crate::error_info::ErrorInfo;
use crate::event_stream::event_format;
use crate::fault::PublicFault;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::request_id;
use crate::rest::{Bindings, IncomingMessage, OperationBindings, Rest, RestFormat};
use crate::validate;

/// restXml: HTTP bindings, with XML documents.
///
/// - Documents: [shape
///   serialization](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#xml-shape-serialization)
///   and the [XML traits](https://smithy.io/2.0/spec/protocol-traits.html#xml-bindings).
/// - The part of a message that carries a member: [HTTP
///   bindings](https://smithy.io/2.0/spec/http-bindings.html). The media type of a body: [content
///   types](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#content-type). Servers
///   also accept requests without `Content-Type` and with `text/xml`, because existing clients send
///   them.
/// - An error is `<ErrorResponse><Error>`, or `<Error>` with `noErrorWrapping`. `Type` and `Code`
///   precede its members:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#error-response-serialization).
///   Clients accept both forms. If a response has no body, such as one to HEAD, its status names
///   the error: 404 is `NotFound`.
/// - Errors with `@httpPayload` are not supported: [supported
///   traits](https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html#supported-traits).
/// - An empty body is a structure without members. Servers reject it if a member of the document is
///   required. The specification does not cover this case.
pub type RestXml = Rest<RestXmlFormat>;

/// The initial size of the buffer for an error, in bytes.
const ERROR_SIZE: usize = 512;
/// The elements around the members of an error.
const RESPONSE: &str = "ErrorResponse";
const ERROR: &str = "Error";

#[derive(Debug)]
pub struct RestXmlFormat {
    /// `@xmlNamespace` of the service: prefix and URI.
    namespace: Option<(Option<String>, String)>,
    /// Whether an element `ErrorResponse` contains the error: not with `noErrorWrapping`.
    wraps_errors: bool,
}

/// The header in which S3 sends the request id.
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

/// Returns whether a body that this protocol has written is an error.
fn is_error_document(body: &Bytes) -> bool {
    body.starts_with(b"<ErrorResponse>") || body.starts_with(b"<Error>")
}

const fn side_profile(side: Side) -> XmlProfile<'static> {
    XmlProfile::DEFAULT.with_rules(side.rules())
}

event_format!(
    () RestXmlFormat,
    "application/xml",
    false,
    |xml, buffer, side| XmlEncoder::new(xml.profile(side), buffer),
    |_xml, body, limits, side| XmlDecoder::from_body(body, side_profile(side), limits),
);

impl RestFormat for RestXmlFormat {
    const KIND: ProtocolKind = ProtocolKind::RestXml;
    const MEDIA_TYPE: &'static str = "application/xml";
    const REQUIRES_CONTENT_TYPE: bool = false;
    const EMPTY_OUTPUT: &'static [u8] = b"";
    const EMPTY_PAYLOAD: Option<&'static [u8]> = None;
    const HAS_REQUEST_IDS: bool = true;
    const ERROR_NAME_IN_HEADER: bool = false;

    fn for_service(service: Service<'_>) -> Self {
        let own = |(prefix, uri): (Option<&str>, &str)| (prefix.map(str::to_owned), uri.to_owned());
        Self {
            namespace: service.xml_namespace().map(own),
            wraps_errors: !service.has_no_error_wrapping(),
        }
    }

    /// Also sets the header of S3, which clients of S3 read. A response to HEAD has no other place
    /// for the id.
    fn add_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        let is_error = !response.status().is_success() && is_error_document(response.body());
        let path: &[&str] = if is_error { &["RequestId"] } else { &[] };
        let value = request_id::add(path, response, id);
        if let Some(value) = value.filter(|_| !self.wraps_errors) {
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

    fn adjust_bindings(
        &self,
        operation: Operation<'_>,
        operation_bindings: &mut OperationBindings,
    ) {
        operation_bindings.output.is_unwrapped = operation.has(OperationFlags::S3_UNWRAPPED_OUTPUT);
        // S3 keys can contain `.` and `..` segments, and the AWS SDKs send them unchanged.
        if !self.wraps_errors {
            operation_bindings.target.allow_dots();
        }
    }

    fn read_document<'de>(
        &self,
        incoming: &IncomingMessage<'_, 'de>,
        part: Part,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let is_payload = matches!(part, Part::Payload(_));
        let profile = side_profile(incoming.bindings.reader())
            .with_part(part)
            .with_unwrapped(incoming.bindings.is_unwrapped && !is_payload);
        let mut decoder = XmlDecoder::from_body(incoming.body, profile, incoming.limits)?;
        if incoming.is_error && !is_payload {
            if decoder.element() == RESPONSE {
                decoder.enter(ERROR)?;
            }
            decoder.allow_any_case_message(incoming.root.target())?;
        }
        sink.read(incoming.root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(incoming.root, &mut decoder)
    }

    /// A server rejects an empty body if the document has required members, because an empty body
    /// is not an XML document.
    fn check_empty_body(&self, incoming: &IncomingMessage<'_, '_>) -> Result<(), Error> {
        let shape = incoming.root.target();
        let required = match incoming.bindings.payload {
            Some(payload) => !payload.is_raw && shape.member(payload.ordinal).is_required(),
            None => {
                let bindings = incoming.bindings;
                let mut members = shape.members();
                members.any(|member| bindings.is_in_document(member) && member.is_required())
            }
        };
        if incoming.bindings.reader() == Side::Client || !required {
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
        part: Part,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error> {
        let is_payload = matches!(part, Part::Payload(_));
        let profile = self
            .profile(bindings.writer())
            .with_part(part)
            .with_unwrapped(bindings.is_unwrapped && !is_payload);
        let mut encoder = XmlEncoder::new(profile, bindings.document_size.new_buffer());
        message.write(root, &mut encoder);
        let document = encoder.finish()?;
        bindings.document_size.record(document.len());
        Ok(document)
    }

    /// Writes `Type` and `Code` before the members of the error, inside the elements of the error.
    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        text: &str,
    ) -> Result<Vec<u8>, Error> {
        // AWS clients read the message from the element `Message`, even if the error has no such
        // member.
        let is_message = |member: Member<'_>| member.plain(NameSource::Xml) == "Message";
        let has_text = bindings.has_document_members && error.members().any(is_message);
        let profile = XmlProfile::DEFAULT.with_part(bindings.part());
        let client = error.error().is_some_and(|error| error.client);
        self.error_document(profile, client, error.name(), |encoder| {
            if !has_text && !text.is_empty() {
                encoder.element("Message", text);
            }
            if bindings.has_document_members {
                message.write(error.root(), encoder);
            }
        })
    }

    fn write_fault(&self, fault: PublicFault<'_>, _: &mut HeaderMap) -> Vec<u8> {
        let client = fault.status.is_client_error();
        let write = |message: &str, details: Option<&Map>| {
            self.error_document(XmlProfile::DEFAULT, client, fault.name, |encoder| {
                encoder.element("Message", message);
                validate::push_fields(encoder, details);
            })
        };
        // The message can contain characters that XML does not allow.
        write(fault.message, fault.details)
            .or_else(|_| write("", None))
            .unwrap_or_default()
    }

    /// S3 sends the status of some responses before the operation ends. An error then has the
    /// status 200.
    fn is_error(&self, operation_bindings: &OperationBindings, body: &Body) -> bool {
        if self.wraps_errors || !operation_bindings.output.is_document() {
            return false;
        }
        let bytes = body.as_bytes();
        if starts_other_element(bytes) {
            return false;
        }
        // 256 bytes contain the first tag.
        let start = without_prolog(bytes);
        let start = &start[..start.len().min(256)];
        let start = match std::str::from_utf8(start) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        };
        let decoder = XmlDecoder::from_str(start, side_profile(Side::Client), &Limits::DEFAULT);
        decoder.is_ok_and(|decoder| decoder.element() == ERROR)
    }

    fn error_info(
        &self,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Option<ErrorInfo> {
        if body.is_empty() && head.status != StatusCode::BAD_GATEWAY {
            let reason = head.status.canonical_reason().unwrap_or_default();
            return Some(ErrorInfo {
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
        let name = decoder.peek_text(&["Code"]).ok()??;
        let message = ["Message", "message"]
            .into_iter()
            .find_map(|name| decoder.peek_text(&[name]).ok()?);
        Some(ErrorInfo {
            name: text(name),
            message: message.map(text),
        })
    }
}

/// A document without white space and XML declaration before its first element. While S3 works on a long
/// call, it sends white space to keep the connection open.
fn without_prolog(document: &[u8]) -> &[u8] {
    let document = document.trim_ascii_start();
    let declaration = document.strip_prefix(b"<?xml");
    let end = declaration.and_then(|rest| rest.windows(2).position(|pair| pair == b"?>"));
    match (declaration, end) {
        (Some(rest), Some(end)) => rest[end + 2..].trim_ascii_start(),
        _ => document,
    }
}

/// Returns whether a document starts with the start tag of an element other than `Error`, with any
/// namespace prefix. Returns `false` if anything precedes the tag. This avoids a decoder for most
/// outputs.
fn starts_other_element(document: &[u8]) -> bool {
    let [b'<', name @ ..] = document.trim_ascii_start() else {
        return false;
    };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let end = name.iter().position(|byte| !is_part(byte));
    let name = end.and_then(|end| name.get(..end)).unwrap_or_default();
    !name.is_empty() && !name.ends_with(ERROR.as_bytes())
}

impl RestXmlFormat {
    /// Writes an error document. `write` writes the members.
    fn error_document(
        &self,
        profile: XmlProfile<'_>,
        client: bool,
        name: &str,
        write: impl FnOnce(&mut XmlEncoder<'_>),
    ) -> Result<Vec<u8>, Error> {
        let mut encoder = XmlEncoder::new(profile, Vec::with_capacity(ERROR_SIZE));
        if self.wraps_errors {
            encoder.open(RESPONSE);
        }
        encoder.open(ERROR);
        encoder.element("Type", if client { "Sender" } else { "Receiver" });
        encoder.element("Code", name);
        write(&mut encoder);
        encoder.close(ERROR);
        if self.wraps_errors {
            encoder.close(RESPONSE);
        }
        encoder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_start_with_another_element() {
        for document in [
            "<CopyObjectResult>",
            " \n<a/>",
            "<Errors>",
            "<s3:Result xmlns:s3='x'>",
        ] {
            assert!(starts_other_element(document.as_bytes()), "{document}");
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
            assert!(!starts_other_element(document.as_bytes()), "{document}");
        }
    }
}
