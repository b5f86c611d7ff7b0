//! Named methods over CBOR, similar to Smithy's rpcv2Cbor.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, request};
use polywire_codec::cbor;
use polywire_codec::{Message, Sink};
use polywire_protocol::{
    Claim, Fault, FaultKind, HeadSummary, Plan, ProtocolInfo, ProtocolKind, ReadPlan,
    ServerProtocol, fault_code,
};
use polywire_schema::{Error, ErrorKind, Map, Operation, Schema, Value, to_value};

use super::call::MethodReply;

const SMITHY_PROTOCOL: HeaderName = HeaderName::from_static("smithy-protocol");
const RPC_V2_CBOR: HeaderValue = HeaderValue::from_static("rpc-v2-cbor");
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/cbor");

/// The protocol of methods over CBOR.
///
/// A call is a `POST` to `/service/NAME/operation/METHOD`, below any path, with the header `smithy-protocol: rpc-v2-cbor`
/// and an array of the parameters as body. The result is the body of the response, with status 200. A fault is a map of
/// `__type`, `code` and `message`, with status 400 for errors of the caller and 500 for others.
#[derive(Debug)]
pub(crate) struct CborMethods {
    /// The path before the name of the method.
    endpoint: String,
    /// The names of the methods. `None` if the service has no operations, so that all calls are for methods.
    names: Option<HashSet<String>>,
}

impl CborMethods {
    /// Encodes faults of calls within a multicall. It is never mounted, as it would claim all paths.
    pub(crate) const FAULTS: Self = Self {
        endpoint: String::new(),
        names: None,
    };

    pub(crate) fn new(service: &str, names: Option<HashSet<String>>) -> Self {
        Self {
            endpoint: format!("/service/{service}/operation/"),
            names,
        }
    }

    /// Whether the path is that of a call of a method.
    fn is_method_call(&self, head: &request::Parts) -> bool {
        let path = head.uri.path();
        let name_start = path.rfind('/').map_or(0, |slash| slash + 1);
        if !path[..name_start].ends_with(&self.endpoint) {
            return false;
        }
        match &self.names {
            None => true,
            Some(names) => method_of(head).is_some_and(|name| names.contains(&*name)),
        }
    }
}

/// The name of the method: the last segment of the path, percent-decoded.
pub(crate) fn method_of(head: &request::Parts) -> Option<Cow<'_, str>> {
    let name = head.uri.path().rsplit('/').next()?;
    if !name.contains('%') {
        return Some(Cow::Borrowed(name));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

impl ProtocolInfo for CborMethods {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::RpcV2Cbor
    }
}

impl ServerProtocol for CborMethods {
    fn endpoint(&self) -> Option<&str> {
        Some(&self.endpoint)
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match summary.smithy_protocol() == Some(&RPC_V2_CBOR) && self.is_method_call(summary.head())
        {
            true => Claim::Strong,
            false => Claim::No,
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        if head.method != Method::POST {
            let message = "this path allows only POST";
            return Err(Fault::new(FaultKind::MethodNotAllowed, message));
        }
        Ok(Plan::BufferThenRoute)
    }

    fn parse_input<'de>(
        &self,
        _: Operation<'_>,
        _: &ReadPlan<'de>,
        _: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        Err(Fault::internal("no operation is called here"))
    }

    fn encode_output(&self, _: Operation<'_>, _: &dyn Message) -> Result<Response<Bytes>, Error> {
        Err(Error::new(ErrorKind::Internal))
    }

    /// The error of an operation, which only a multicall can call here: its members, with type and code.
    fn encode_error(&self, error: Schema<'_>, fault: &Fault) -> Result<Response<Bytes>, Error> {
        let status = error.error().map_or(500, |traits| i64::from(traits.status));
        let mut value = Map::from_iter([
            ("__type", Value::from(error.id())),
            ("code", Value::from(fault.code().unwrap_or(status))),
            ("message", Value::from(fault.message())),
        ]);
        if let Value::Map(members) = to_value(fault.details(), error.root())? {
            value.extend(members);
        }
        let body = cbor::write_value(&Value::Map(value))?;
        Ok(cbor_response(Bytes::from(body)))
    }

    fn encode_other(&self, fault: &Fault) -> Response<Bytes> {
        // Encoding a map of strings and a number cannot fail.
        let body = cbor::write_value(&fault_value(fault)).unwrap_or_default();
        let mut response = cbor_response(Bytes::from(body));
        let server = fault.status().is_server_error();
        *response.status_mut() = match server || fault.kind() == FaultKind::Modelled {
            true => StatusCode::INTERNAL_SERVER_ERROR,
            false => StatusCode::BAD_REQUEST,
        };
        if fault.kind() == FaultKind::MethodNotAllowed {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            let post = HeaderValue::from_static("POST");
            response.headers_mut().insert(ALLOW, post);
        }
        response
    }
}

/// The value that represents a fault.
pub(crate) fn fault_value(fault: &Fault) -> Value {
    let (name, message) = match fault.kind() {
        // The model does not allow it here, so its details are not sent.
        FaultKind::Modelled => (FaultKind::Internal.name(), "an internal error occurred"),
        FaultKind::Named => (fault.name(), fault.message()),
        kind => (kind.name(), fault.message()),
    };
    Value::Map(Map::from_iter([
        ("__type", Value::from(name)),
        ("code", Value::from(fault_code(fault))),
        ("message", Value::from(message)),
    ]))
}

pub(crate) fn response(reply: MethodReply) -> Response<Bytes> {
    cbor_response(reply.into_bytes())
}

fn cbor_response(body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, MEDIA_TYPE);
    response.headers_mut().insert(SMITHY_PROTOCOL, RPC_V2_CBOR);
    response
}
