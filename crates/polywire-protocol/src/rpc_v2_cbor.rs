//! `smithy.protocols#rpcv2Cbor`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>

use std::collections::HashMap;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Decode, Encode, Encoder, Error, ErrorKind, Limits, Map, Member, Operation,
    OperationFlags, Schema, Service, Value,
};

use crate::protocol::{Claim, MountError, Outcome, Plan, Protocol, ProtocolKind, ReadPlan, Route};
use crate::rest::{accepts, is_media_type};
use crate::{Fault, FaultKind};

const CBOR: HeaderValue = HeaderValue::from_static("application/cbor");
const MARK: HeaderName = HeaderName::from_static("smithy-protocol");
const MARK_VALUE: HeaderValue = HeaderValue::from_static("rpc-v2-cbor");

/// rpcv2Cbor: `POST /service/Service/operation/Operation`, CBOR both ways.
#[derive(Debug)]
pub struct RpcV2Cbor {
    service: String,
    operations: HashMap<String, u32>,
}

const SERVER: CborProfile = CborProfile::DEFAULT;
const CLIENT: CborProfile = SERVER.lenient();

impl RpcV2Cbor {
    /// The protocol for a service.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        let operations = service.operations();
        let named = operations.map(|operation| (operation.name().to_owned(), operation.index()));
        Self {
            service: service.name().to_owned(),
            operations: named.collect(),
        }
    }
}

/// Reads a structure that is the whole body; an empty body is an empty one.
fn read<'de>(
    root: Member<'_>,
    body: &'de Body,
    profile: CborProfile,
    limits: &Limits,
    sink: &mut dyn Sink<'de>,
) -> Result<(), Error> {
    let mut decoder = CborDecoder::from_body(body, profile, limits)?;
    if !body.is_empty() {
        sink.decode_cbor(root, &mut decoder)?;
        decoder.finish()?;
    }
    sink.finish(root, &mut decoder)
}

fn marked<T>(mut message: http::Response<T>) -> http::Response<T> {
    message.headers_mut().insert(MARK, MARK_VALUE);
    message
}

impl Protocol for RpcV2Cbor {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::RpcV2Cbor
    }

    fn claim(&self, head: &request::Parts) -> Claim {
        if head.headers.get(MARK) == Some(&MARK_VALUE) {
            return Claim::Strong;
        }
        let cbor = |value: &HeaderValue| {
            value
                .to_str()
                .is_ok_and(|value| is_media_type(value, "application/cbor"))
        };
        let call = head.method == Method::POST && head.headers.get(CONTENT_TYPE).is_some_and(cbor);
        if call { Claim::Weak } else { Claim::No }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        let path = head.uri.path();
        // A prefix before these four segments is allowed.
        let mut segments = path.rsplit('/');
        let (name, operation, service, marker) = (
            segments.next(),
            segments.next(),
            segments.next(),
            segments.next(),
        );
        let (Some(name), Some("operation"), Some(service), Some("service")) =
            (name, operation, service, marker)
        else {
            let message = format!(
                "no operation at {path}: expected /service/{}/operation/NAME",
                self.service
            );
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        };
        let known = (service == self.service)
            .then(|| self.operations.get(name))
            .flatten();
        let Some(index) = known else {
            let message = format!("no operation {name} in service {service}");
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        };
        if head.method != Method::POST {
            return Err(Fault::new(FaultKind::MethodNotAllowed, "POST"));
        }
        Ok(Plan::Buffer(Route::to(*index)))
    }

    fn decode_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let header = |name| {
            request
                .head
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        if !request.body.is_empty()
            && let Some(sent) = header(CONTENT_TYPE)
            && !is_media_type(sent, "application/cbor")
        {
            let message = format!("expected a body of application/cbor, found {sent}");
            return Err(Fault::new(FaultKind::UnsupportedMediaType, message));
        }
        if let Some(accept) = header(ACCEPT)
            && !accepts(accept, "application/cbor")
        {
            let message = format!("the answer is application/cbor, which {accept} does not accept");
            return Err(Fault::new(FaultKind::NotAcceptable, message));
        }
        Ok(read(
            operation.input().root(),
            request.body,
            SERVER,
            request.limits,
            sink,
        )?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let mut response = http::Response::new(Bytes::new());
        if !operation.has(OperationFlags::UNIT_OUTPUT) {
            let mut encoder = CborEncoder::new(Vec::with_capacity(128));
            output.encode_cbor(operation.output().root(), &mut encoder);
            *response.body_mut() = Bytes::from(encoder.finish()?);
            response.headers_mut().insert(CONTENT_TYPE, CBOR);
        }
        Ok(marked(response))
    }

    fn encode_fault(
        &self,
        operation: Option<Operation<'_>>,
        fault: &Fault,
    ) -> http::Response<Bytes> {
        let modelled = operation
            .filter(|_| fault.kind() == FaultKind::Modelled)
            .and_then(|operation| operation.find_error(fault.shape()));
        let written = modelled.and_then(|shape| {
            let status = shape.error().map_or(500, |error| error.status);
            Some((
                write_error(shape, fault.details()).ok()?,
                StatusCode::from_u16(status).ok()?,
            ))
        });
        let (body, status) = written.unwrap_or_else(|| framework_fault(fault));
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, CBOR);
        if fault.kind() == FaultKind::MethodNotAllowed {
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("POST"));
        }
        marked(response)
    }

    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let mut request = http::Request::new(Bytes::new());
        *request.method_mut() = Method::POST;
        let target = format!("/service/{}/operation/{}", self.service, operation.name());
        *request.uri_mut() = target.parse().map_err(|_| {
            Error::new(ErrorKind::Internal)
                .in_format("rpcv2Cbor")
                .expected(format!("a target, not {target}"))
        })?;
        if !operation.has(OperationFlags::UNIT_INPUT) {
            let mut encoder = CborEncoder::new(Vec::with_capacity(128));
            input.encode_cbor(operation.input().root(), &mut encoder);
            *request.body_mut() = Bytes::from(encoder.finish()?);
            request.headers_mut().insert(CONTENT_TYPE, CBOR);
        }
        request.headers_mut().insert(MARK, MARK_VALUE);
        request.headers_mut().insert(ACCEPT, CBOR);
        Ok(request)
    }

    fn outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        if head.headers.get(MARK) != Some(&MARK_VALUE) {
            let message = format!(
                "status {} and no header smithy-protocol: rpc-v2-cbor, so this is no answer of rpcv2Cbor",
                head.status
            );
            return Ok(Outcome::Fault(Fault::new(FaultKind::Malformed, message)));
        }
        if head.status == StatusCode::OK {
            return Ok(Outcome::Output);
        }
        let read = || {
            let mut decoder = CborDecoder::from_body(body, CLIENT, limits)?;
            Value::decode(Member::DOCUMENT, &mut decoder)
        };
        let document = read().unwrap_or_default();
        let id = document["__type"].as_str().unwrap_or_default();
        let name = id.rsplit('#').next().unwrap_or_default();
        if let Some(error) = operation.find_error(name) {
            return Ok(Outcome::Error(error));
        }
        let message = document["message"]
            .as_str()
            .or_else(|| document["Message"].as_str());
        let message = message.map_or_else(|| format!("status {} {id}", head.status), str::to_owned);
        let kind = FaultKind::from_name(name).unwrap_or(if head.status.is_client_error() {
            FaultKind::Malformed
        } else {
            FaultKind::Internal
        });
        Ok(Outcome::Fault(Fault::new(kind, message)))
    }

    fn decode_output<'de>(
        &self,
        operation: Operation<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        read(operation.output().root(), body, CLIENT, limits, sink)
    }

    fn decode_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        read(error.root(), body, CLIENT, limits, sink)
    }
}

/// An error of the model: its members, and its id as `__type` first.
fn write_error(shape: Schema<'_>, details: &Map) -> Result<Vec<u8>, Error> {
    // The structure is written by its schema and the id put in front, so the
    // count of the map is one higher: write both as one map of documents.
    let mut encoder = CborEncoder::new(Vec::new());
    let present = details.iter().filter(|(_, value)| !value.is_null()).count();
    encoder.begin_map(Member::DOCUMENT, present + 1);
    encoder.key(Member::DOCUMENT, "__type");
    encoder.string(Member::DOCUMENT, shape.id());
    for member in shape.members() {
        if let Some(value) = details.get(member.name()).filter(|value| !value.is_null()) {
            encoder.member(member);
            value.encode(member, &mut encoder);
        }
    }
    encoder.end_map(Member::DOCUMENT);
    encoder.finish()
}

fn framework_fault(fault: &Fault) -> (Vec<u8>, StatusCode) {
    let kind = match fault.kind() {
        FaultKind::Modelled => FaultKind::Internal,
        kind => kind,
    };
    let message = match fault.kind() {
        FaultKind::Modelled => "an internal error occurred",
        FaultKind::MethodNotAllowed => "rpcv2Cbor is called by POST",
        _ => fault.message(),
    };
    let id = format!("smithy.framework#{}", kind.name());
    let map = Map::from_iter([("__type", id.as_str()), ("message", message)]);
    // A map of two strings can always be written.
    (
        polywire_codec::cbor::to_vec(&Value::Map(map)).unwrap_or_default(),
        kind.status(),
    )
}

impl From<MountError> for Fault {
    fn from(error: MountError) -> Self {
        Self::internal(error)
    }
}
