//! `smithy.protocols#rpcv2Json`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html>

use http::HeaderValue;
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};

use crate::ProtocolKind;
use crate::document::Json;
use crate::event_stream::event_format;
use crate::rpc::{Rpc, RpcV2};

/// rpcv2Json: `POST /service/Service/operation/Operation` with JSON documents.
///
/// - Only the header `smithy-protocol` identifies a request, because other protocols use the same
///   media type:
///   [claiming](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#identification-for-claiming).
/// - The path can have a prefix. The service has no namespace in it. HTTP bindings have no effect.
///   A request with a header that names an operation of another protocol is malformed:
///   [requests](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#requests).
/// - `@jsonName` has no effect, and timestamps are seconds with any `@timestampFormat`: [shape
///   serialization](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#shape-serialization).
/// - Big integers and decimals are strings:
///   [numbers](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#numeric-type-serialization).
/// - Clients reject a response without the header `smithy-protocol`:
///   [responses](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#operation-response-deserialization).
/// - Only `__type` contains the name of an error, with its namespace:
///   [errors](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#operation-error-serialization).
pub type RpcV2Json = Rpc<RpcV2JsonStyle>;

const PROFILE: JsonProfile = JsonProfile::DEFAULT
    .with_fixed_timestamps(true)
    .with_quoted_big_numbers(true);

#[derive(Debug)]
pub struct RpcV2JsonStyle(Json);

event_format!(
    () RpcV2JsonStyle,
    "application/json",
    true,
    |_json, buffer, side| JsonEncoder::new(PROFILE.with_rules(side.rules()), buffer),
    |_json, body, limits, side| {
        JsonDecoder::from_body(body, PROFILE.with_rules(side.rules()), limits)
    },
);

impl RpcV2 for RpcV2JsonStyle {
    const NEW: Self = Self(Json(PROFILE));
    const KIND: ProtocolKind = ProtocolKind::RpcV2Json;
    type Document = Json;
    const MEDIA_TYPE: &'static str = "application/json";
    const MARK: HeaderValue = HeaderValue::from_static("rpc-v2-json");
    // Other protocols use the same media type.
    const CLAIMS_MEDIA_TYPE: bool = false;
    const ACCEPTS_NAMESPACES: bool = false;

    fn document(&self) -> &Json {
        &self.0
    }
}
