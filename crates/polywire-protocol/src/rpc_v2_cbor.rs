//! `smithy.protocols#rpcv2Cbor`.
//!
//! <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html>

use std::collections::HashMap;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Decode, Defaults, Encode, Encoder, Error, ErrorKind, Limits, Map, Member, Operation,
    OperationFlags, Schema, Service, Value,
};

use crate::protocol::{Claim, MountError, Outcome, Plan, Protocol, ProtocolKind, ReadPlan, Route};
use crate::{Fault, FaultKind, media};

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

fn failed(status: StatusCode, body: Vec<u8>) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, CBOR);
    marked(response)
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
                .is_ok_and(|value| media::is_media_type(value, "application/cbor"))
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
            return Err(Fault::method_not_allowed(vec![Method::POST]));
        }
        Ok(Plan::Buffer(Route::to(*index)))
    }

    fn decode_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let headers = &request.head.headers;
        if !request.body.is_empty() {
            media::check_coding(headers)?;
            if headers.contains_key(CONTENT_TYPE) {
                media::check_sent(headers, "application/cbor")?;
            }
        }
        media::check_accept(headers, "application/cbor")?;
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
            let mut encoder = CborEncoder::new(Vec::with_capacity(512));
            output.encode_cbor(operation.output().root(), &mut encoder);
            *response.body_mut() = Bytes::from(encoder.finish()?);
            response.headers_mut().insert(CONTENT_TYPE, CBOR);
        }
        Ok(marked(response))
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let members = fault.members(error)?;
        let at = Member::DOCUMENT;
        let mut encoder = CborEncoder::new(Vec::with_capacity(512));
        encoder.begin_map(at, members.len() + 1);
        encoder.key(at, "__type");
        encoder.string(at, error.id());
        for (member, value) in members {
            encoder.member(member);
            value.encode(member, &mut encoder);
        }
        encoder.end_map(at);
        let status = error.error().map_or(500, |error| error.status);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Ok(failed(status, encoder.finish()?))
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let (kind, message) = fault.public();
        let id = format!("smithy.framework#{}", kind.name());
        let map = Map::from_iter([("__type", id.as_str()), ("message", message)]);
        // A map of two strings can always be written.
        let body = polywire_codec::cbor::to_vec(&Value::Map(map)).unwrap_or_default();
        let mut response = failed(kind.status(), body);
        fault.allow(response.headers_mut());
        response
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
            let mut encoder =
                CborEncoder::new(Vec::with_capacity(512)).with_defaults(Defaults::Client);
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
            return Ok(Outcome::Foreign(message));
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
        let message = message.unwrap_or_default();
        let kind = FaultKind::from_name(name).unwrap_or(if head.status.is_client_error() {
            FaultKind::Malformed
        } else {
            FaultKind::Internal
        });
        let fault = Fault::new(kind, message);
        Ok(Outcome::Fault(match name {
            "" => fault.with_name(format!("HTTP {}", head.status.as_u16())),
            name => fault.with_name(name),
        }))
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

impl From<MountError> for Fault {
    fn from(error: MountError) -> Self {
        Self::internal(error)
    }
}
