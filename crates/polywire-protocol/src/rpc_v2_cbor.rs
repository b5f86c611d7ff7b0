//! `smithy.protocols#rpcv2Cbor`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>

use http::HeaderValue;

use crate::rpc::{Cbor, Rpc, RpcV2};
use crate::{Fault, MountError, ProtocolKind};

/// rpcv2Cbor: `POST /service/Service/operation/Operation`, CBOR both ways.
///
/// - A path may stand before these four segments, the service may be named with its namespace,
///   HTTP bindings mean nothing, and a header that names an operation of another protocol makes a
///   request malformed:
///   [requests](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#requests).
/// - An operation without input or output, one of `Unit`, has no body and no media type:
///   [responses](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#responses).
/// - Integers are written as short as they can be, floats as wide as their type, and floats of
///   half precision are read:
///   [numbers](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#numeric-type-serialization).
/// - Timestamps are seconds with tag 1, whatever `@timestampFormat` says:
///   [timestamps](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#timestamp-type-serialization).
/// - An answer without the header `smithy-protocol` is none of the protocol:
///   [how responses are read](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#operation-response-deserialization).
/// - An error is named by `__type`, with its namespace, and by nothing else:
///   [errors](https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#operation-error-serialization).
pub type RpcV2Cbor = Rpc<RpcV2CborStyle>;

#[derive(Debug)]
pub struct RpcV2CborStyle;

impl RpcV2 for RpcV2CborStyle {
    const NEW: Self = Self;
    const KIND: ProtocolKind = ProtocolKind::RpcV2Cbor;
    type Document = Cbor;
    const MEDIA_TYPE: &'static str = "application/cbor";
    const MARK: HeaderValue = HeaderValue::from_static("rpc-v2-cbor");
    const CLAIMS_MEDIA_TYPE: bool = true;
    const TAKES_NAMESPACES: bool = true;

    fn document(&self) -> &Cbor {
        &Cbor
    }
}

impl From<MountError> for Fault {
    fn from(error: MountError) -> Self {
        Self::internal(error)
    }
}
