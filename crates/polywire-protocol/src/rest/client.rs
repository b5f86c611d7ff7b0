//! A REST protocol on a client.

use bytes::Bytes;
use http::{HeaderValue, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Direction, Error, ErrorKind, Limits, Operation, Schema};

use super::body::{Written, say_type};
use super::{Bindings, Format, HeadDecoder, HeadEncoder, Parts, Rest, Side};
use crate::protocol::{HostPrefix, Outcome};

impl<F: Format> Rest<F> {
    pub(crate) fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let prepared = self.prepared(operation)?;
        let bindings = &prepared.input;
        let root = operation.input().root();
        let host_prefix = operation.host_prefix();
        let mut head = HeadEncoder::new(bindings);
        // Labels of the host may stand in the document.
        if bindings.head || !host_prefix.is_empty() {
            input.encode_any(root, &mut head);
        }
        let head = head.into_request(&prepared.pattern, host_prefix)?;
        let body = self.write_body(root, bindings, input, None, Side::Client)?;
        check_length(head.content_length.as_ref(), &body)?;
        let mut request = http::Request::new(Bytes::new());
        *request.method_mut() = prepared.method.clone();
        *request.uri_mut() = head.target.parse().map_err(|_| {
            Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected("a path and a query that make a target of a request")
                .found(head.target)
        })?;
        *request.headers_mut() = head.headers;
        if let Some((body, media_type)) = body {
            say_type(request.headers_mut(), media_type);
            *request.body_mut() = Bytes::from(body);
        }
        if !head.host_prefix.is_empty() {
            request
                .extensions_mut()
                .insert(HostPrefix(head.host_prefix));
        }
        Ok(request)
    }

    pub(crate) fn outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        let prepared = self.prepared(operation)?;
        let expected = head.status.is_success() || head.status.as_u16() == prepared.code;
        if expected && !self.format.is_error(prepared, body) {
            return Ok(Outcome::Output);
        }
        let Some(facts) = self.format.error_facts(head, body, limits) else {
            return Ok(Outcome::Foreign(format!(
                "status {}, and nothing that {} says of errors",
                head.status,
                F::KIND.name()
            )));
        };
        Ok(match operation.find_error(&facts.name) {
            Some(error) => Outcome::Error(error),
            None => Outcome::Fault(facts.into_fault(head.status)),
        })
    }

    pub(crate) fn decode_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let parts = Parts {
            root: operation.output().root(),
            bindings: &self.prepared(operation)?.output,
            body,
            limits,
            side: Side::Client,
            is_error: false,
        };
        parts.read(&self.format, HeadDecoder::response(head), sink)
    }

    pub(crate) fn decode_error<'de>(
        &self,
        error: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let parts = Parts {
            root: error.root(),
            bindings: &Bindings::of(error, Direction::Response),
            body,
            limits,
            side: Side::Client,
            is_error: true,
        };
        parts.read(&self.format, HeadDecoder::response(head), sink)
    }
}

/// What a member says of the length of the body has to be true: a peer takes
/// that many bytes for the body, and the rest for the next message.
fn check_length(said: Option<&HeaderValue>, body: &Written) -> Result<(), Error> {
    let Some(said) = said else {
        return Ok(());
    };
    let len = body.as_ref().map_or(0, |(body, _)| body.len()).to_string();
    if said.as_bytes() == len.as_bytes() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected(format!("{len}, the length of the body"))
        .found(format!("{said:?}"))
        .at_path("header content-length".to_owned()))
}
