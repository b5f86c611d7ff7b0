//! Answers that are none of the protocol: a proxy's, or another service's.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use polywire_protocol::ProtocolKind;

/// Whether an answer without an output was not written by a server of the
/// protocol, by its head: such a server marks its errors.
pub(super) fn is_foreign(kind: ProtocolKind, head: &Parts) -> bool {
    match kind {
        ProtocolKind::RestJson1 => {
            let json = head.headers.get(CONTENT_TYPE).is_some_and(|value| {
                let value = value.as_bytes();
                let end = value.iter().position(|byte| *byte == b';');
                let name = value[..end.unwrap_or(value.len())].trim_ascii();
                name.eq_ignore_ascii_case(b"application/json")
            });
            // Gateways of our age write JSON too.
            !head.headers.contains_key("x-amzn-errortype")
                && (!json || head.status == StatusCode::BAD_GATEWAY)
        }
        ProtocolKind::RpcV2Cbor => !head.headers.contains_key("smithy-protocol"),
        ProtocolKind::XmlRpc => head.status != StatusCode::OK,
        _ => false,
    }
}
