//! `aws.protocols#awsJson1_0` and `aws.protocols#awsJson1_1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html>
//! <https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html>

use http::{HeaderMap, HeaderName, StatusCode, request, response};
use polywire_codec::json::JsonProfile;

use crate::error_info::ERROR_TYPE;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::rpc::{Json, Rpc, Style};
use crate::{Fault, FaultKind, intern, media};

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// awsJson1_0: `X-Amz-Target: Service.Operation`, JSON both ways, errors with
/// their namespace.
///
/// - Calls are posted to `/`, and HTTP bindings mean nothing:
///   [behaviours](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#protocol-behaviors).
///   Servers do not look at the path, since clients put that of their endpoint before it.
/// - Members go by their own names, and timestamps are seconds unless `@timestampFormat`
///   says other:
///   [shape serialization](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#shape-serialization).
/// - Clients send `{}` for nothing, and take an empty body for it. Servers do the same:
///   [empty bodies](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#empty-body-serialization).
/// - An error is named by `__type`, and read from `x-amzn-errortype` and `code` too, without
///   namespace and URI:
///   [errors](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#operation-error-serialization).
/// - Services with `@awsQueryCompatible` say the codes of the query protocol besides:
///   [the trait](https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#aws-protocols-awsquerycompatible-trait).
pub type AwsJson1_0 = Rpc<AwsJson<0>>;

/// awsJson1_1: as [`AwsJson1_0`], with another media type, and errors without
/// their namespace.
///
/// - What it has in common with it:
///   [behaviours](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#protocol-behaviors),
///   [shape serialization](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#shape-serialization),
///   [errors](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#operation-error-serialization).
/// - What it has not:
///   [differences](https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#differences-between-awsjson1-0-and-awsjson1-1).
pub type AwsJson1_1 = Rpc<AwsJson<1>>;

/// The protocol with this minor version.
#[derive(Debug)]
pub struct AwsJson<const MINOR: u8>(Json);

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

    /// The media type tells the two versions apart. A request that names its
    /// operation as they do and has another media type is answered that it is
    /// wrong, unless somebody else knows it.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match (summary.is_of(Self::MEDIA_TYPE), summary.has_target) {
            (true, true) => Claim::Strong,
            (true, false) | (false, true) => Claim::Weak,
            (false, false) => Claim::No,
        }
    }

    /// The path is not looked at: clients put whatever path their endpoint has
    /// before the slash.
    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        own: &str,
        _: &str,
    ) -> Result<&'h str, Fault> {
        let unknown = |message| Fault::new(FaultKind::UnknownOperation, message);
        let Some(target) = head.headers.get(TARGET) else {
            let message = format!("no header x-amz-target: expected {own}.OPERATION there");
            return Err(unknown(message));
        };
        let target = target.to_str().unwrap_or_default();
        // Some services have a prefix before the name that is not in their Smithy models, such as
        // `com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101`.
        match target.rsplit_once('.') {
            Some((service, operation)) if service.rsplit('.').next() == Some(own) => Ok(operation),
            _ => Err(unknown(format!(
                "no operation {target:?}: expected {own}.OPERATION in the header x-amz-target"
            ))),
        }
    }

    fn target(&self, _: &str, _: &str) -> String {
        "/".to_owned()
    }

    fn mark_request(&self, headers: &mut HeaderMap, service: &str, operation: &str) {
        // Shape names are identifiers, which headers can hold.
        if let Some(target) = intern::header_value(&format!("{service}.{operation}")) {
            headers.insert(TARGET, target);
        }
    }

    /// Outputs are read whatever they say of themselves. An error has to name
    /// itself, or to be JSON; and gateways of our age write JSON too.
    fn check_answer(&self, head: &response::Parts) -> Result<(), String> {
        let is_json = |sent: &str| {
            let own = sent.len() > 18 && sent[..18].eq_ignore_ascii_case("application/x-amz-");
            own || sent.eq_ignore_ascii_case("application/json")
        };
        let own = head.status.is_success()
            || head.headers.contains_key(ERROR_TYPE)
            || head.status != StatusCode::BAD_GATEWAY && media::is_sent(&head.headers, is_json);
        if own {
            return Ok(());
        }
        Err(format!(
            "status {}, and the response is not an error of {}",
            head.status,
            Self::KIND
        ))
    }
}
