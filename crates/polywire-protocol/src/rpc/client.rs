//! The client side of the RPC protocols.

use bytes::Bytes;
use http::{Method, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Member, Operation, OperationFlags, Schema};

use super::{Rpc, Style};
use crate::document::{Document, Side};
use crate::endpoint::add_host_prefix;
use crate::error_info::ErrorInfo;
use crate::event_stream::{is_event_stream, read_events};
use crate::protocol::{ClientProtocol, Outcome};

impl<S: Style> ClientProtocol for Rpc<S> {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let call = self.call(operation)?;
        let Some(target) = &call.target else {
            let target = self.style.target(&self.service, operation.name());
            return Err(Error::new(ErrorKind::Internal)
                .in_format(S::KIND.name())
                .expected(format!("a valid request target, not {target}")));
        };
        let body = match !operation.has(OperationFlags::UNIT_INPUT) {
            true => {
                let root = operation.input().root();
                let document = self.style.document();
                let size = &call.request_size;
                Bytes::from(document.write(root, input, Side::Client, size)?)
            }
            false if S::ALWAYS_A_DOCUMENT => Bytes::from_static(S::Document::EMPTY),
            false => Bytes::new(),
        };
        let mut request = http::Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.clone();
        *request.headers_mut() = call.request.clone();
        add_host_prefix(&mut request, operation, input)?;
        Ok(request)
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        if let Err(message) = self.style.check_response(head) {
            return Ok(Outcome::Foreign(message));
        }
        if head.status.is_success() {
            return Ok(Outcome::Output);
        }
        Ok(failure(
            self.style.document(),
            operation,
            head,
            body,
            limits,
        ))
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let output = operation.output();
        read_events(&head.extensions, (output.root(), body, Side::Client), sink)?;
        if body.is_empty() && self.call(operation)?.streams_output {
            check_optional(output)?;
        }
        let document = self.style.document();
        document.read(output.root(), body, limits, Side::Client, sink)
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let document = self.style.document();
        document.read(error.root(), body, limits, Side::Client, sink)
    }
}

/// Checks that an event stream may begin without an initial response.
///
/// <https://smithy.io/2.0/spec/streaming.html#initial-message-client-and-server-behavior>
#[cold]
#[inline(never)]
fn check_optional(output: Schema<'_>) -> Result<(), Error> {
    let mut members = output.members();
    let is_needed = |member: &Member<'_>| member.is_required() && !is_event_stream(*member);
    match members.find(is_needed) {
        None => Ok(()),
        Some(member) => Err(Error::new(ErrorKind::Missing).expected(format!(
            "an initial response with the required member `{}` of {}",
            member.name(),
            output.id()
        ))),
    }
}

/// Decodes the error in a response that is not an output.
pub(crate) fn failure<'s>(
    document: &impl Document,
    operation: Operation<'s>,
    head: &response::Parts,
    body: &Body,
    limits: &Limits,
) -> Outcome<'s> {
    let document = document.value(body, limits);
    ErrorInfo::of(&head.headers, &document).into_outcome(operation, head.status)
}
