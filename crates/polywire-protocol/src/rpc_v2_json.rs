//! `smithy.protocols#rpcv2Json`.
//!
//! Smithy RPC v2 with JSON: member names as they are, all timestamps as
//! seconds whatever `@timestampFormat` says, and big integers and decimals as
//! strings.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html>

use http::HeaderValue;
use polywire_codec::json::JsonProfile;
use polywire_schema::Service;

use crate::ProtocolKind;
use crate::delegate::delegate;
use crate::rpc::{Json, Rpc, RpcV2};

/// rpcv2Json: `POST /service/Service/operation/Operation`, JSON both ways.
#[derive(Debug)]
pub struct RpcV2Json(Rpc<OfJson>);

impl RpcV2Json {
    /// The protocol for a service.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        Self(Rpc::new(service, OfJson(Json(PROFILE))))
    }
}

delegate!(RpcV2Json, ProtocolKind::RpcV2Json);

const PROFILE: JsonProfile = JsonProfile::DEFAULT
    .with_fixed_timestamps(true)
    .with_quoted_big_numbers(true);

#[derive(Debug)]
struct OfJson(Json);

impl RpcV2 for OfJson {
    const KIND: ProtocolKind = ProtocolKind::RpcV2Json;
    type Document = Json;
    const MEDIA_TYPE: &'static str = "application/json";
    const MARK: HeaderValue = HeaderValue::from_static("rpc-v2-json");
    // Everybody's JSON is of that type.
    const CLAIMS_MEDIA_TYPE: bool = false;

    fn document(&self) -> &Json {
        &self.0
    }
}
