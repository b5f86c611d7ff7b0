//! `smithy.protocols#rpcv2Json`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html>

use http::HeaderValue;
use polywire_codec::json::JsonProfile;

use crate::ProtocolKind;
use crate::rpc::{Json, Rpc, RpcV2};

/// rpcv2Json: `POST /service/Service/operation/Operation`, JSON both ways.
///
/// - A request is the protocol's by its header `smithy-protocol` alone, since everybody's JSON is
///   of one media type:
///   [claiming](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#identification-for-claiming).
/// - A path may stand before the four segments, the service has no namespace there, HTTP bindings
///   mean nothing, and a header that names an operation of another protocol makes a request
///   malformed:
///   [requests](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#requests).
/// - Members go by their own names, and timestamps are seconds whatever `@timestampFormat`
///   says:
///   [shape serialization](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#shape-serialization).
/// - Big integers and decimals are strings:
///   [numbers](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#numeric-type-serialization).
/// - An answer without the header `smithy-protocol` is none of the protocol:
///   [how responses are read](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#operation-response-deserialization).
/// - An error is named by `__type`, with its namespace, and by nothing else:
///   [errors](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#operation-error-serialization).
pub type RpcV2Json = Rpc<RpcV2JsonStyle>;

const PROFILE: JsonProfile = JsonProfile::DEFAULT
    .with_fixed_timestamps(true)
    .with_quoted_big_numbers(true);

#[derive(Debug)]
pub struct RpcV2JsonStyle(Json);

impl RpcV2 for RpcV2JsonStyle {
    const NEW: Self = Self(Json(PROFILE));
    const KIND: ProtocolKind = ProtocolKind::RpcV2Json;
    type Document = Json;
    const MEDIA_TYPE: &'static str = "application/json";
    const MARK: HeaderValue = HeaderValue::from_static("rpc-v2-json");
    // Everybody's JSON is of that type.
    const CLAIMS_MEDIA_TYPE: bool = false;
    const TAKES_NAMESPACES: bool = false;

    fn document(&self) -> &Json {
        &self.0
    }
}
