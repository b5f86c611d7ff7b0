//! `aws.protocols#restJson1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>

use http::{HeaderMap, HeaderValue, StatusCode, response};
use polywire_codec::json::{self, JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Map, Member, Part, Schema, Service, Value};

use crate::document::{Document as _, Json};
use crate::error_info::{ERROR_TYPE, ErrorInfo};
use crate::event_stream::event_format;
use crate::fault::PublicFault;
use crate::media;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::rest::{Bindings, IncomingMessage, Rest, RestFormat};

/// restJson1: HTTP bindings, with JSON documents.
///
/// - Documents and `@jsonName`: [shape
///   serialization](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#json-shape-serialization).
/// - The part of a message that carries a member: [HTTP
///   bindings](https://smithy.io/2.0/spec/http-bindings.html). The media type of a body: [content
///   types](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#content-type).
/// - Servers write the name of an error to the header `x-amzn-errortype`. Clients also read it from
///   the members `__type` and `code`, and remove namespace and URI:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization).
pub type RestJson1 = Rest<RestJsonFormat>;

const PROFILE: JsonProfile = JsonProfile::DEFAULT.with_json_names(true);

#[derive(Debug)]
pub struct RestJsonFormat;

event_format!(
    () RestJsonFormat,
    "application/json",
    false,
    |_json, buffer, side| JsonEncoder::new(PROFILE.with_rules(side.rules()), buffer),
    |_json, body, limits, side| {
        JsonDecoder::from_body(body, PROFILE.with_rules(side.rules()), limits)
    },
);

impl RestFormat for RestJsonFormat {
    const KIND: ProtocolKind = ProtocolKind::RestJson1;
    const MEDIA_TYPE: &'static str = "application/json";
    const REQUIRES_CONTENT_TYPE: bool = true;
    const EMPTY_OUTPUT: &'static [u8] = b"{}";
    const EMPTY_PAYLOAD: Option<&'static [u8]> = Some(b"{}");
    const ERROR_NAME_IN_HEADER: bool = true;

    fn for_service(_: Service<'_>) -> Self {
        Self
    }

    fn is_document(media_type: &str) -> bool {
        media_type.eq_ignore_ascii_case(Self::MEDIA_TYPE)
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match summary.media_type().is_some_and(Self::is_document) {
            true => Claim::Weak,
            false => Claim::Fallback,
        }
    }

    fn read_document<'de>(
        &self,
        incoming: &IncomingMessage<'_, 'de>,
        part: Part,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let side = incoming.bindings.reader();
        Json(PROFILE.with_part(part)).read(
            incoming.root,
            incoming.body,
            incoming.limits,
            side,
            sink,
        )
    }

    fn write_document(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        part: Part,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error> {
        let (side, size) = (bindings.writer(), &bindings.document_size);
        Json(PROFILE.with_part(part)).write(root, message, side, size)
    }

    fn write_error_name(&self, error: Schema<'_>, headers: &mut HeaderMap) {
        // Shape names are identifiers and therefore valid header values.
        if let Ok(name) = HeaderValue::from_str(error.name()) {
            headers.insert(ERROR_TYPE, name);
        }
    }

    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        _: &str,
    ) -> Result<Vec<u8>, Error> {
        match bindings.has_document_members {
            true => self.write_document(error.root(), bindings, bindings.part(), message),
            false => Ok(Self::EMPTY_OUTPUT.to_vec()),
        }
    }

    fn write_fault(&self, fault: PublicFault<'_>, headers: &mut HeaderMap) -> Vec<u8> {
        // A name that is not a valid header value is omitted.
        if let Ok(name) = HeaderValue::from_str(fault.name) {
            headers.insert(ERROR_TYPE, name);
        }
        let body = Value::from(match fault.details {
            Some(details) => details.clone(),
            None => Map::from_iter([("message", fault.message)]),
        });
        // Writing a map of strings does not fail.
        json::write_value(&body).unwrap_or_default()
    }

    fn error_info(
        &self,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Option<ErrorInfo> {
        // A gateway may also send JSON, so a 502 without the header is not an error of this
        // protocol.
        if !head.headers.contains_key(ERROR_TYPE)
            && (head.status == StatusCode::BAD_GATEWAY
                || !media::has_content_type(&head.headers, Self::is_document))
        {
            return None;
        }
        Some(ErrorInfo::of(
            &head.headers,
            &Json(PROFILE).value(body, limits),
        ))
    }
}
