//! `smithy.protocols#rpcv2Cbor`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>

use http::HeaderValue;
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};

use crate::ProtocolKind;
use crate::document::Cbor;
use crate::event_stream::event_format;
use crate::rpc::{Rpc, RpcV2};

/// rpcv2Cbor: `POST /service/Service/operation/Operation` with CBOR documents.
///
/// - The path can have a prefix, and the service can have its namespace. HTTP bindings have no
///   effect. A request with a header that names an operation of another protocol is malformed:
///   [requests](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#requests).
/// - Input and output of type `Unit` have no body and no media type:
///   [responses](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#responses).
/// - Integers are written in their shortest form, and floats with the width of their type.
///   Half-precision floats are accepted:
///   [numbers](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#numeric-type-serialization).
/// - Timestamps are seconds with tag 1. `@timestampFormat` has no effect:
///   [timestamps](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#timestamp-type-serialization).
/// - Clients reject a response without the header `smithy-protocol`:
///   [responses](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#operation-response-deserialization).
/// - Only `__type` contains the name of an error, with its namespace:
///   [errors](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#operation-error-serialization).
pub type RpcV2Cbor = Rpc<RpcV2CborStyle>;

#[derive(Debug)]
pub struct RpcV2CborStyle;

event_format!(
    () RpcV2CborStyle,
    "application/cbor",
    true,
    |_cbor, buffer, side| CborEncoder::new(buffer).with_defaults(side.defaults()),
    |_cbor, body, limits, side| {
        CborDecoder::from_body(body, CborProfile::DEFAULT.with_rules(side.rules()), limits)
    },
);

impl RpcV2 for RpcV2CborStyle {
    const NEW: Self = Self;
    const KIND: ProtocolKind = ProtocolKind::RpcV2Cbor;
    type Document = Cbor;
    const MEDIA_TYPE: &'static str = "application/cbor";
    const MARK: HeaderValue = HeaderValue::from_static("rpc-v2-cbor");
    const CLAIMS_MEDIA_TYPE: bool = true;
    const ACCEPTS_NAMESPACES: bool = true;

    fn document(&self) -> &Cbor {
        &Cbor
    }
}
