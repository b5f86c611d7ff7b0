//! A REST protocol on a server.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, StatusCode, request};
use polywire_codec::{Dynamic, Message, Sink};
use polywire_schema::{Error, Operation, OperationFlags, Schema, ShapeKind, Value};

use super::{Found, HeadDecoder, HeadEncoder, Parts, Payload, Prepared, Rest, RestFormat, Side};
use crate::coding::has_own_coding;
use crate::media::check_coding;
use crate::protocol::{Claim, HeadSummary, Plan, ProtocolKind, ReadPlan, ServerProtocol};
use crate::{Fault, FaultKind};

impl<F: RestFormat> ServerProtocol for Rest<F> {
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        self.format.claim(summary)
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        let mut found = self.router.find(&head.method, head);
        // RFC 9110, section 9.3.2: HEAD is GET whose answer has no body, which
        // the transport leaves out.
        if head.method == Method::HEAD
            && let Found::Methods(methods) = &found
            && methods.contains(&Method::GET)
        {
            found = self.router.find(&Method::GET, head);
        }
        match found {
            Found::Route(route) => Ok(Plan::Buffer(route)),
            Found::Methods(mut methods) => {
                if methods.contains(&Method::GET) && !methods.contains(&Method::HEAD) {
                    methods.push(Method::HEAD);
                }
                Err(Fault::method_not_allowed(methods))
            }
            Found::Nothing => {
                let message = format!("no operation answers {} {}", head.method, head.uri.path());
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
        }
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let prepared = self.prepared(operation)?;
        check_media_types::<F>(operation, prepared, request)?;
        let parts = Parts {
            root: operation.input().root(),
            bindings: &prepared.input,
            body: request.body,
            limits: request.limits,
            side: Side::Server,
            is_error: false,
        };
        let mut head = HeadDecoder::request(request.head, request.route, &prepared.input);
        Ok(parts.read(&self.format, &mut head, sink)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let prepared = self.prepared(operation)?;
        let bindings = &prepared.output;
        let root = operation.output().root();
        let mut head = HeadEncoder::new(bindings);
        head.write(root, output)?;
        // An answer to HEAD has no body, and says how long it would be.
        if prepared.method == Method::HEAD {
            return answer(&mut head, prepared.code, None, Bytes::new(), true);
        }
        let nothing = operation.has(OperationFlags::UNIT_OUTPUT) || prepared.code == 204;
        let empty = (!nothing).then_some(F::EMPTY_OUTPUT);
        let body = self.write_body(root, bindings, output, &mut head, empty, Side::Server)?;
        let media_type = bindings.media_type_of(body.as_ref())?;
        let body = body.unwrap_or_default();
        answer(&mut head, prepared.code, media_type, body, false)
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let value = Value::Map(fault.details().clone());
        let message = Dynamic(&value);
        let code = error.error().map_or(500, |error| error.status);
        self.with_error(error, |bindings| {
            let mut head = HeadEncoder::new(bindings);
            head.write(error.root(), &message)?;
            let mut response = answer(&mut head, code, None, Bytes::new(), false)?;
            let headers = response.headers_mut();
            let body = fault.write(&message, |message| {
                self.format
                    .write_error(error, bindings, message, fault.message(), headers)
            })?;
            fault.write_head(headers);
            let (body, media_type) = match F::NAMES_ERRORS_IN_HEAD && bindings.payload.is_some() {
                true => {
                    let body = fault.write(&message, |message| {
                        let root = error.root();
                        self.write_body(root, bindings, message, &mut head, None, Side::Server)
                    })?;
                    let media_type = bindings.media_type_of(body.as_ref())?.cloned();
                    (body.unwrap_or_default(), media_type)
                }
                false => (
                    Bytes::from(body),
                    Some(HeaderValue::from_static(F::MEDIA_TYPE)),
                ),
            };
            if let Some(media_type) = media_type {
                // A member may have said it.
                response
                    .headers_mut()
                    .entry(CONTENT_TYPE)
                    .or_insert(media_type);
            }
            *response.body_mut() = body;
            Ok(response)
        })
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let public = fault.public();
        let mut response = http::Response::new(Bytes::new());
        *response.status_mut() = public.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(F::MEDIA_TYPE));
        let body = self.format.write_fault(public, headers);
        fault.write_head(headers);
        *response.body_mut() = Bytes::from(body);
        response
    }

    fn tell_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        self.format.tell_request_id(response, id);
    }

    fn has_request_ids(&self) -> bool {
        F::HAS_REQUEST_IDS
    }

    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let is_rest = matches!(other, ProtocolKind::RestJson1 | ProtocolKind::RestXml);
        is_rest.then_some("a request without a body is the same in both")
    }
}

/// An answer with this head and body.
fn answer(
    head: &mut HeadEncoder<'_>,
    code: u16,
    media_type: Option<&HeaderValue>,
    body: Bytes,
    is_headed: bool,
) -> Result<http::Response<Bytes>, Error> {
    let mut response = http::Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::OK);
    head.respond(&mut response, media_type, is_headed)?;
    Ok(response)
}

/// Whether an input is a structure without members, to which some may be added
/// and whose callers may send an empty document.
fn is_open(operation: Operation<'_>) -> bool {
    operation.input().is_empty() && !operation.has(OperationFlags::UNIT_INPUT)
}

/// Whether the caller sent what the input needs and takes what the output is.
fn check_media_types<F: RestFormat>(
    operation: Operation<'_>,
    prepared: &Prepared,
    request: &ReadPlan<'_>,
) -> Result<(), Fault> {
    let Prepared { input, output, .. } = prepared;
    let head = HeadSummary::new(request.head);
    if !request.body.is_empty() {
        if head.has_coding && !has_own_coding(operation) {
            check_coding(&request.head.headers)?;
        }
        if input.has_body() {
            match expected::<F>(input.payload, operation.input()) {
                Body::Any => {}
                _ if !F::SAYS_TYPE && head.content_type.is_none() => {}
                Body::Type(wanted) => head.check_type(wanted, |_| false)?,
                Body::Document => head.check_type(F::MEDIA_TYPE, F::is_document)?,
            }
        } else if head.content_type.is_some() && !is_open(operation) {
            let message = format!("{} takes no body", operation.name());
            return Err(Fault::new(FaultKind::UnsupportedMediaType, message));
        }
    }
    if output.has_body() {
        match expected::<F>(output.payload, operation.output()) {
            Body::Any => {}
            Body::Type(wanted) => head.check_accept(wanted, |_| false)?,
            Body::Document => head.check_accept(F::MEDIA_TYPE, F::is_document)?,
        }
    }
    Ok(())
}

/// What a body may be.
enum Body<'s> {
    Any,
    Document,
    Type(&'s str),
}

fn expected<'s, F: RestFormat>(payload: Option<Payload>, shape: Schema<'s>) -> Body<'s> {
    match payload {
        Some(payload) if payload.raw => match shape.member(payload.ordinal).media_type() {
            Some(own) => Body::Type(own),
            None if F::SAYS_TYPE && payload.kind != ShapeKind::Blob => Body::Type("text/plain"),
            None => Body::Any,
        },
        _ => Body::Document,
    }
}
