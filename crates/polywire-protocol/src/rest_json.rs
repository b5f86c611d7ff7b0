//! `aws.protocols#restJson1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>

use http::{HeaderMap, HeaderValue, StatusCode, response};
use polywire_codec::json::{self, JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Decode, Error, Limits, Map, Member, Part, Schema, Service, Value};

use crate::error_facts::{ERROR_TYPE, ErrorFacts};
use crate::fault::Public;
use crate::media;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::rest::{Bindings, Parts, Rest, RestFormat, Side};

/// restJson1: HTTP bindings, and JSON by `@jsonName`.
///
/// - Members of a document:
///   [shape serialization](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#json-shape-serialization).
/// - Which part carries a member:
///   [HTTP bindings](https://smithy.io/2.0/spec/http-bindings.html), and what media
///   type a body has:
///   [content types](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#content-type).
/// - The name of an error stands in the header `x-amzn-errortype`, and is read from
///   `__type` and `code` too, without namespace and URI:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization).
pub type RestJson1 = Rest<RestJsonFormat>;

const SERVER: JsonProfile = JsonProfile::DEFAULT.with_json_names(true);
const CLIENT: JsonProfile = SERVER.for_client();

#[derive(Debug)]
pub struct RestJsonFormat;

impl RestFormat for RestJsonFormat {
    const KIND: ProtocolKind = ProtocolKind::RestJson1;
    const MEDIA_TYPE: &'static str = "application/json";
    const SAYS_TYPE: bool = true;
    const EMPTY_OUTPUT: &'static [u8] = b"{}";
    const EMPTY_PAYLOAD: Option<&'static [u8]> = Some(b"{}");
    const NAMES_ERRORS_IN_HEAD: bool = true;

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
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let profile = profile(parts.side).with_part(parts.bindings.part());
        let mut decoder = JsonDecoder::from_body(parts.body, profile, parts.limits)?;
        sink.read(parts.root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(parts.root, &mut decoder)
    }

    fn read_payload<'de>(
        &self,
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let profile = profile(parts.side).with_part(Part::Payload(parts.bindings.direction));
        let mut decoder = JsonDecoder::from_body(parts.body, profile, parts.limits)?;
        sink.read(parts.root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(parts.root, &mut decoder)
    }

    fn write_document(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error> {
        let profile = profile(bindings.writer()).with_part(bindings.part());
        let mut encoder = JsonEncoder::new(profile, bindings.document_room.vec());
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
        let profile = profile(bindings.writer()).with_part(Part::Payload(bindings.direction));
        let mut encoder = JsonEncoder::new(profile, bindings.document_room.vec());
        message.write(root, &mut encoder);
        let document = encoder.finish()?;
        bindings.document_room.took(document.len());
        Ok(document)
    }

    /// Its name stands in a header.
    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        _: &str,
        headers: &mut HeaderMap,
    ) -> Result<Vec<u8>, Error> {
        // Shape names are identifiers, which headers can hold.
        if let Ok(name) = HeaderValue::from_str(error.name()) {
            headers.insert(ERROR_TYPE, name);
        }
        match bindings.document {
            true => self.write_document(error.root(), bindings, message),
            false => Ok(Self::EMPTY_OUTPUT.to_vec()),
        }
    }

    fn write_fault(&self, fault: Public<'_>, headers: &mut HeaderMap) -> Vec<u8> {
        // A name that a header cannot hold is left out.
        if let Ok(name) = HeaderValue::from_str(fault.name) {
            headers.insert(ERROR_TYPE, name);
        }
        let body = Value::from(match fault.details {
            Some(details) => details.clone(),
            None => Map::from_iter([("message", fault.message)]),
        });
        // A map of strings can always be written.
        json::write_value(&body).unwrap_or_default()
    }

    fn error_facts(
        &self,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Option<ErrorFacts> {
        // Gateways of our age write JSON too.
        if !head.headers.contains_key(ERROR_TYPE)
            && (head.status == StatusCode::BAD_GATEWAY
                || !media::is_sent(&head.headers, Self::is_document))
        {
            return None;
        }
        Some(ErrorFacts::of(&head.headers, &document_of(body, limits)))
    }
}

const fn profile(side: Side) -> JsonProfile {
    match side {
        Side::Client => CLIENT,
        Side::Server => SERVER,
    }
}

/// The body of an error as a value; null if it is not JSON.
fn document_of(body: &Body, limits: &Limits) -> Value {
    let read = || {
        let mut decoder = JsonDecoder::from_body(body, CLIENT, limits)?;
        Value::decode(Member::DOCUMENT, &mut decoder)
    };
    read().unwrap_or_default()
}
