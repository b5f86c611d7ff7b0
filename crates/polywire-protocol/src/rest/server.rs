//! The server side of the REST protocols.

use bytes::Bytes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode, request};
use polywire_codec::{Dynamic, Message, Sink};
use polywire_schema::{Error, Operation, OperationFlags, Schema, ShapeKind, Value};

use super::{
    HeadDecoder, HeadEncoder, IncomingMessage, OperationBindings, Payload, Rest, RestFormat,
    RouteMatch,
};
use crate::coding::has_own_coding;
use crate::document::Side;
use crate::event_stream::{CONTENT_TYPE as EVENT_STREAM, read_events};
use crate::fault::status_of;
use crate::media::check_coding;
use crate::protocol::{Claim, HeadSummary, Plan, ProtocolKind, ReadPlan, ServerProtocol};
use crate::s3::AnyMediaType;
use crate::{Fault, FaultKind, PayloadStream};

impl<F: RestFormat> ServerProtocol for Rest<F> {
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        self.format.claim(summary)
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        let mut found = self.router.find(&head.method, head);
        // HEAD is GET with a response without a body (RFC 9110, section 9.3.2). The transport
        // removes the body.
        if head.method == Method::HEAD
            && let RouteMatch::OtherMethods(methods) = &found
            && methods.contains(&Method::GET)
        {
            found = self.router.find(&Method::GET, head);
        }
        match found {
            RouteMatch::Found(route) => Ok(Plan::Buffer(route)),
            RouteMatch::OtherMethods(mut methods) => {
                if methods.contains(&Method::GET) && !methods.contains(&Method::HEAD) {
                    methods.push(Method::HEAD);
                }
                Err(Fault::method_not_allowed(methods))
            }
            RouteMatch::NotFound => {
                let message = format!("no operation for {} {}", head.method, head.uri.path());
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
        }
    }

    fn has_input_stream(&self, operation: Operation<'_>) -> bool {
        let bindings = self.operation_bindings(operation);
        bindings.is_ok_and(|bindings| bindings.input.has_stream())
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let operation_bindings = self.operation_bindings(operation)?;
        match request.head.extensions.get::<AnyMediaType>() {
            Some(AnyMediaType) => check_body_coding(operation, operation_bindings, request)?,
            None => check_media_types::<F>(operation, operation_bindings, request)?,
        }
        let bindings = &operation_bindings.input;
        let incoming = IncomingMessage {
            root: operation.input().root(),
            bindings,
            body: request.body,
            stream: bindings.stream_of(&request.head.extensions),
            limits: request.limits,
            is_error: false,
        };
        if bindings.has_event_stream {
            let message = (operation.input().root(), request.body, Side::Server);
            read_events(&request.head.extensions, message, sink)?;
        }
        let mut decoder = HeadDecoder::request(request.head, request.route, bindings);
        Ok(incoming.read(&self.format, &mut decoder, sink)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let operation_bindings = self.operation_bindings(operation)?;
        let bindings = &operation_bindings.output;
        let root = operation.output().root();
        let status = operation_bindings.status;
        let mut encoder = HeadEncoder::new(bindings);
        encoder.write(root, output)?;
        // The response of an operation with the method HEAD has no body, but a member can be its
        // `Content-Length`.
        if operation_bindings.method == Method::HEAD {
            return response(&mut encoder, status, None, Bytes::new(), true);
        }
        let has_no_body =
            operation.has(OperationFlags::UNIT_OUTPUT) || status == StatusCode::NO_CONTENT;
        let empty = (!has_no_body).then_some(F::EMPTY_OUTPUT);
        let body = self.write_body(root, bindings, output, &mut encoder, empty)?;
        let media_type = bindings.media_type_of(body.as_ref())?;
        let body = body.unwrap_or_default();
        let stream = encoder.take_stream(root)?;
        let mut response = response(&mut encoder, status, media_type, body, false)?;
        // A part of a representation has its own status (RFC 9110, section 15.3.7).
        if bindings.has_content_range
            && response.status() == StatusCode::OK
            && response.headers().contains_key(CONTENT_RANGE)
        {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        if let Some(stream) = stream {
            response.extensions_mut().insert(PayloadStream(stream));
        }
        Ok(response)
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let value = Value::Map(fault.details().clone());
        let message = Dynamic(&value);
        let root = error.root();
        self.with_error(error, |bindings| {
            let mut encoder = HeadEncoder::new(bindings);
            encoder.write(root, &message)?;
            let mut response = response(&mut encoder, status_of(error), None, Bytes::new(), false)?;
            let headers = response.headers_mut();
            self.format.write_error_name(error, headers);
            fault.write_head(headers);
            let (body, media_type) = match F::ERROR_NAME_IN_HEADER && bindings.payload.is_some() {
                true => {
                    let body = fault.write(&message, |message| {
                        self.write_body(root, bindings, message, &mut encoder, None)
                    })?;
                    let media_type = bindings.media_type_of(body.as_ref())?.cloned();
                    (body.unwrap_or_default(), media_type)
                }
                false => {
                    let body = fault.write(&message, |message| {
                        self.format
                            .write_error(error, bindings, message, fault.message())
                    })?;
                    let media_type = HeaderValue::from_static(F::MEDIA_TYPE);
                    (Bytes::from(body), Some(media_type))
                }
            };
            if let Some(media_type) = media_type {
                // A member can be bound to `Content-Type`.
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

    fn add_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        self.format.add_request_id(response, id);
    }

    fn has_request_ids(&self) -> bool {
        F::HAS_REQUEST_IDS
    }

    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let is_rest = matches!(other, ProtocolKind::RestJson1 | ProtocolKind::RestXml);
        is_rest.then_some("their requests without a body are identical")
    }
}

/// Builds a response.
fn response(
    encoder: &mut HeadEncoder<'_>,
    status: StatusCode,
    media_type: Option<&HeaderValue>,
    body: Bytes,
    is_head_operation: bool,
) -> Result<http::Response<Bytes>, Error> {
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    encoder.write_response(&mut response, media_type, is_head_operation)?;
    Ok(response)
}

/// Returns whether an input is a structure without members, rather than `Unit`. Members can be
/// added to such a structure later, so clients may send an empty document.
fn is_extensible(operation: Operation<'_>) -> bool {
    operation.input().is_empty() && !operation.has(OperationFlags::UNIT_INPUT)
}

/// Checks that a body has no content coding, unless the operation has a member for it.
fn check_body_coding(
    operation: Operation<'_>,
    operation_bindings: &OperationBindings,
    request: &ReadPlan<'_>,
) -> Result<(), Fault> {
    let stream = operation_bindings.input.stream_of(&request.head.extensions);
    let has_body = !request.body.is_empty() || stream.is_some();
    match has_body && !has_own_coding(operation) {
        true => check_coding(&request.head.headers),
        false => Ok(()),
    }
}

/// Checks the media type of the request, and whether the client accepts that of the response.
fn check_media_types<F: RestFormat>(
    operation: Operation<'_>,
    operation_bindings: &OperationBindings,
    request: &ReadPlan<'_>,
) -> Result<(), Fault> {
    let OperationBindings { input, output, .. } = operation_bindings;
    let summary = HeadSummary::new(request.head);
    let has_body = !request.body.is_empty() || input.stream_of(&request.head.extensions).is_some();
    if input.has_event_stream && request.body.is_empty() {
        if summary.content_type.is_some() {
            summary.check_type(EVENT_STREAM, |_| false)?;
        }
    } else if has_body {
        if summary.has_coding && !has_own_coding(operation) {
            check_coding(&request.head.headers)?;
        }
        if input.has_body() {
            match expected_type::<F>(input.payload, operation.input()) {
                ExpectedType::Any => {}
                _ if !F::REQUIRES_CONTENT_TYPE && summary.content_type.is_none() => {}
                ExpectedType::Type(wanted) => summary.check_type(wanted, |_| false)?,
                ExpectedType::Document => summary.check_type(F::MEDIA_TYPE, F::is_document)?,
            }
        } else if summary.content_type.is_some() && !is_extensible(operation) {
            let message = format!("{} does not accept a body", operation.name());
            return Err(Fault::new(FaultKind::UnsupportedMediaType, message));
        }
    }
    if output.has_event_stream {
        summary.check_accept(EVENT_STREAM, F::is_document)?;
    } else if output.has_body() {
        match expected_type::<F>(output.payload, operation.output()) {
            ExpectedType::Any => {}
            ExpectedType::Type(wanted) => summary.check_accept(wanted, |_| false)?,
            ExpectedType::Document => summary.check_accept(F::MEDIA_TYPE, F::is_document)?,
        }
    }
    Ok(())
}

/// The media type that is expected of a body.
enum ExpectedType<'s> {
    /// Any media type.
    Any,
    /// A media type of the document format.
    Document,
    /// This media type.
    Type(&'s str),
}

fn expected_type<'s, F: RestFormat>(
    payload: Option<Payload>,
    shape: Schema<'s>,
) -> ExpectedType<'s> {
    match payload {
        Some(payload) if payload.is_raw => match shape.member(payload.ordinal).media_type() {
            Some(media_type) => ExpectedType::Type(media_type),
            None if F::REQUIRES_CONTENT_TYPE && payload.kind != ShapeKind::Blob => {
                ExpectedType::Type("text/plain")
            }
            None => ExpectedType::Any,
        },
        _ => ExpectedType::Document,
    }
}
