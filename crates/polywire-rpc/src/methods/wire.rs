//! Named methods over CBOR, in the manner of Smithy's rpcv2Cbor.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, request};
use polywire_codec::cbor;
use polywire_codec::{Message, Sink};
use polywire_protocol::{
    Claim, Fault, FaultKind, HeadSummary, OfKind, Plan, ProtocolKind, ReadPlan, ServerProtocol,
    fault_code,
};
use polywire_schema::{Error, ErrorKind, Map, Operation, Schema, Value};

use super::call::MethodReply;

const MARK: HeaderName = HeaderName::from_static("smithy-protocol");
const CBOR: HeaderValue = HeaderValue::from_static("rpc-v2-cbor");
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/cbor");

/// The wire of methods in CBOR.
///
/// A call is a `POST` to `/service/NAME/operation/METHOD`, below whatever path,
/// with the header `smithy-protocol: rpc-v2-cbor` and an array of the parameters
/// as its body. The result is the body of the answer, with status 200. A fault
/// is a map of `__type`, `code` and `message`, with status 400 if the caller is to
/// blame and 500 if not.
#[derive(Debug)]
pub(crate) struct CborMethods {
    /// The end of the path before the method.
    endpoint: String,
    /// The methods, if calls of others under this name are for a model.
    names: Option<HashSet<String>>,
}

impl CborMethods {
    pub(crate) fn new(service: &str, names: Option<HashSet<String>>) -> Self {
        Self {
            endpoint: format!("/service/{service}/operation/"),
            names,
        }
    }

    /// Whether a path is that of a call.
    fn is_own(&self, head: &request::Parts) -> bool {
        let path = head.uri.path();
        let begin = path.rfind('/').map_or(0, |slash| slash + 1);
        if !path[..begin].ends_with(&self.endpoint) {
            return false;
        }
        match &self.names {
            None => true,
            Some(names) => method_of(head).is_some_and(|name| names.contains(&*name)),
        }
    }
}

/// The method that a path names.
pub(crate) fn method_of(head: &request::Parts) -> Option<Cow<'_, str>> {
    let name = head.uri.path().rsplit('/').next()?;
    if !name.contains('%') {
        return Some(Cow::Borrowed(name));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

impl OfKind for CborMethods {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::RpcV2Cbor
    }
}

impl ServerProtocol for CborMethods {
    fn endpoint(&self) -> Option<&str> {
        Some(&self.endpoint)
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        match summary.smithy_protocol() == Some(&CBOR) && self.is_own(summary.head()) {
            true => Claim::Strong,
            false => Claim::No,
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        if head.method != Method::POST {
            let message = "this path answers POST";
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

    fn encode_error(&self, _: Schema<'_>, fault: &Fault) -> Result<Response<Bytes>, Error> {
        Ok(self.encode_other(fault))
    }

    fn encode_other(&self, fault: &Fault) -> Response<Bytes> {
        // A map of strings and a number can always be written.
        let body = cbor::to_vec(&fault_value(fault)).unwrap_or_default();
        let mut response = answer(Bytes::from(body));
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

/// What a caller is told of a fault.
pub(crate) fn fault_value(fault: &Fault) -> Value {
    let (name, message) = match fault.kind() {
        // An error of a model that is none of the method's: nobody's business.
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

/// A reply as it goes out.
pub(crate) fn response(reply: MethodReply) -> Response<Bytes> {
    answer(reply.into_bytes())
}

fn answer(body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, MEDIA_TYPE);
    response.headers_mut().insert(MARK, CBOR);
    response
}
