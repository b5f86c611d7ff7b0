//! `aws.protocols#awsJson1_0` and `aws.protocols#awsJson1_1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html>
//! <https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html>

use http::{HeaderMap, HeaderName, StatusCode, request, response};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};

use crate::document::Json;
use crate::error_info::{ERROR_TYPE, not_an_error};
use crate::event_stream::event_format;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::rpc::{Rpc, Style};
use crate::{Fault, FaultKind, intern, media};

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// awsJson1_0: the operation is in the header `X-Amz-Target: Service.Operation`, documents are
/// JSON, and the names of errors have a namespace.
///
/// - Requests are `POST /`, and HTTP bindings have no effect:
///   [behaviors](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#protocol-behaviors).
///   Servers ignore the path, because clients send the path of their endpoint.
/// - `@jsonName` has no effect, and timestamps are seconds unless `@timestampFormat` says
///   otherwise: [shape
///   serialization](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#shape-serialization).
/// - Clients and servers send `{}` without an input or output, and accept an empty body instead:
///   [empty
///   bodies](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#empty-body-serialization).
/// - `__type` contains the name of an error. Clients also read it from `x-amzn-errortype` and
///   `code`, and remove namespace and URI:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#operation-error-serialization).
/// - Services with `@awsQueryCompatible` also send the error codes of the query protocol: [the
///   trait](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#aws-protocols-awsquerycompatible-trait).
pub type AwsJson1_0 = Rpc<AwsJson<0>>;

/// awsJson1_1: like [`AwsJson1_0`], with another media type, and error names without a namespace.
///
/// - Common parts:
///   [behaviors](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#protocol-behaviors),
///   [shape
///   serialization](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#shape-serialization),
///   [errors](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#operation-error-serialization).
/// -
///   [Differences](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#differences-between-awsjson1-0-and-awsjson1-1).
pub type AwsJson1_1 = Rpc<AwsJson<1>>;

/// The protocol awsJson with this minor version.
#[derive(Debug)]
pub struct AwsJson<const MINOR: u8>(Json);

// Events are `application/json`, unlike the bodies of other messages:
// <https://smithy.io/2.0/aws/amazon-eventstream.html#initial-message-events>
event_format!(
    (const MINOR: u8) AwsJson<MINOR>,
    "application/json",
    true,
    |json, buffer, side| {
        JsonEncoder::new(json.0.0.with_rules(side.rules()), buffer)
    },
    |json, body, limits, side| {
        JsonDecoder::from_body(body, json.0.0.with_rules(side.rules()), limits)
    },
);

impl<const MINOR: u8> Style for AwsJson<MINOR> {
    const NEW: Self = Self(Json(JsonProfile::DEFAULT));
    const KIND: ProtocolKind = match MINOR {
        0 => ProtocolKind::AwsJson1_0,
        _ => ProtocolKind::AwsJson1_1,
    };
    type Document = Json;
    const MEDIA_TYPE: &'static str = match MINOR {
        0 => "application/x-amz-json-1.0",
        _ => "application/x-amz-json-1.1",
    };
    const ALWAYS_A_DOCUMENT: bool = true;
    const ALWAYS_A_TYPE: bool = true;
    const ABSOLUTE_ERRORS: bool = MINOR == 0;

    fn document(&self) -> &Json {
        &self.0
    }

    /// The media type distinguishes the two versions. A weak claim on a request with `X-Amz-Target`
    /// and another media type lets this protocol report the wrong type, unless another protocol
    /// claims the request.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match (summary.has_media_type(Self::MEDIA_TYPE), summary.has_target) {
            (true, true) => Claim::Strong,
            (true, false) | (false, true) => Claim::Weak,
            (false, false) => Claim::No,
        }
    }

    /// Ignores the path, because clients send the path of their endpoint.
    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        own_service: &str,
        _: &str,
    ) -> Result<&'h str, Fault> {
        let unknown = |message| Fault::new(FaultKind::UnknownOperation, message);
        let Some(target) = head.headers.get(TARGET) else {
            let message = format!("no header x-amz-target: expected {own_service}.OPERATION there");
            return Err(unknown(message));
        };
        let target = target.to_str().unwrap_or_default();
        // For some services, clients send a prefix that is not in the Smithy model, such as
        // `com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101`.
        match target.rsplit_once('.') {
            Some((service, operation)) if service.rsplit('.').next() == Some(own_service) => {
                Ok(operation)
            }
            _ => Err(unknown(format!(
                "no operation {target:?}: expected {own_service}.OPERATION in the header x-amz-target"
            ))),
        }
    }

    fn target(&self, _: &str, _: &str) -> String {
        "/".to_owned()
    }

    fn mark_request(&self, headers: &mut HeaderMap, service: &str, operation: &str) {
        // Shape names are identifiers and therefore valid header values.
        if let Some(target) = intern::header_value(&format!("{service}.{operation}")) {
            headers.insert(TARGET, target);
        }
    }

    /// Accepts outputs with any headers. An error must have the header `x-amzn-errortype` or a JSON
    /// media type. A 502 with JSON can come from a gateway, so it needs the header.
    fn check_response(&self, head: &response::Parts) -> Result<(), String> {
        let is_json = |sent: &str| {
            let is_aws = sent.len() > 18 && sent[..18].eq_ignore_ascii_case("application/x-amz-");
            is_aws || sent.eq_ignore_ascii_case("application/json")
        };
        let is_own = head.status.is_success()
            || head.headers.contains_key(ERROR_TYPE)
            || head.status != StatusCode::BAD_GATEWAY
                && media::has_content_type(&head.headers, is_json);
        if is_own {
            return Ok(());
        }
        Err(not_an_error(head.status, Self::KIND))
    }
}
