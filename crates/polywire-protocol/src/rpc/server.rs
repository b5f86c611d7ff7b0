//! The server side of the RPC protocols.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, StatusCode, request};
use polywire_codec::{Dynamic, Message, Sink, Typed};
use polywire_schema::{
    Direction, Error, Map, Member, Operation, OperationFlags, Schema, Text, Value,
};

use super::{QUERY_ERROR, Rpc, Style};
use crate::document::{Document, Side};
use crate::event_stream::{CONTENT_TYPE as EVENT_STREAM, read_events, stream_of};
use crate::fault::{NamedError, status_of};
use crate::media::check_coding;
use crate::protocol::{Claim, HeadSummary, Plan, ReadPlan, Route, ServerProtocol};
use crate::size_hint::SizeHint;
use crate::{Fault, FaultKind};

impl<S: Style> ServerProtocol for Rpc<S> {
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        self.style.claim(summary)
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        let name = self
            .style
            .operation(head, &self.service, &self.qualified_service)?;
        let Some(index) = self.operations.get(name) else {
            let message = format!("no operation {name} in service {}", self.service);
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        };
        if head.method != Method::POST {
            return Err(Fault::method_not_allowed(vec![Method::POST]));
        }
        Ok(Plan::Buffer(Route::to(*index)))
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let head = HeadSummary::new(request.head);
        if head.has_coding && !request.body.is_empty() {
            check_coding(&request.head.headers)?;
        }
        if head.content_type.is_some() && !request.body.is_empty() || S::ALWAYS_A_DOCUMENT {
            // The body is the payload of the initial message if the request is an event stream.
            head.check_type(S::MEDIA_TYPE, |sent| {
                sent.eq_ignore_ascii_case(EVENT_STREAM)
                    && stream_of(operation, Direction::Request).is_some()
            })?;
        }
        match self.call(operation)?.streams_output {
            true => head.check_accept(EVENT_STREAM, |accepted| {
                accepted.eq_ignore_ascii_case(S::MEDIA_TYPE)
            })?,
            false => self.style.check_accept(&head)?,
        }
        let root = operation.input().root();
        let message = (root, request.body, Side::Server);
        read_events(&request.head.extensions, message, sink)?;
        let document = self.style.document();
        Ok(document.read(root, request.body, request.limits, Side::Server, sink)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let call = self.call(operation)?;
        let body = match operation.has(OperationFlags::UNIT_OUTPUT) {
            true => Bytes::new(),
            false => {
                let root = operation.output().root();
                let document = self.style.document();
                let size = &call.response_size;
                Bytes::from(document.write(root, output, Side::Server, size)?)
            }
        };
        let mut response = http::Response::new(body);
        *response.headers_mut() = call.response.clone();
        Ok(response)
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let name = match S::ABSOLUTE_ERRORS {
            true => error.id(),
            false => error.name(),
        };
        let body = error_document(self.style.document(), error, name, fault)?;
        let mut response = self.error_response(status_of(error), body);
        fault.write_head(response.headers_mut());
        if self.query_compatible
            && let Some(code) = error.query_code()
        {
            let sender = error.error().is_some_and(|traits| traits.client);
            let fault = if sender { "Sender" } else { "Receiver" };
            // A code that is not a valid header value is only in the document.
            if let Ok(value) = HeaderValue::try_from(format!("{code};{fault}")) {
                response.headers_mut().insert(QUERY_ERROR, value);
            }
        }
        Ok(response)
    }

    /// Writes the name of the fault, its message, and its details if there are any.
    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let body = other_document(self.style.document(), S::ABSOLUTE_ERRORS, fault);
        let mut response = self.error_response(fault.public().status, body);
        fault.write_head(response.headers_mut());
        response
    }
}

impl<S: Style> Rpc<S> {
    fn error_response(&self, status: StatusCode, body: Vec<u8>) -> http::Response<Bytes> {
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(S::MEDIA_TYPE));
        self.style.mark_response(headers);
        response
    }
}

/// Encodes the document of a modelled error with this name.
pub(crate) fn error_document(
    document: &impl Document,
    error: Schema<'_>,
    name: &str,
    fault: &Fault,
) -> Result<Vec<u8>, Error> {
    let members = fault.members(error)?;
    let message = NamedError { name, members };
    fault.write(&Typed::new(&message), |message| {
        document.write(
            Member::DOCUMENT,
            message,
            Side::Server,
            &SizeHint::default(),
        )
    })
}

/// Encodes the document of any other fault.
pub(crate) fn other_document(
    document: &impl Document,
    with_namespace: bool,
    fault: &Fault,
) -> Vec<u8> {
    let value = Value::Map(other_members(with_namespace, fault));
    let message = Dynamic(&value);
    // Encoding a map of strings does not fail.
    document
        .write(
            Member::DOCUMENT,
            &message,
            Side::Server,
            &SizeHint::default(),
        )
        .unwrap_or_default()
}

/// Returns the members of the document of [`other_document`].
pub(crate) fn other_members(with_namespace: bool, fault: &Fault) -> Map {
    let public = fault.public();
    let name = match with_namespace {
        true => format!("smithy.framework#{}", public.name),
        false => public.name.to_owned(),
    };
    let mut value = Map::from_iter([("__type", name.as_str())]);
    match public.details {
        Some(details) => value.extend(
            details
                .iter()
                .map(|(key, value)| (Text::from(key), value.clone())),
        ),
        None => value.extend([(Text::from("message"), Value::from(public.message))]),
    }
    value
}
