//! JSON-RPC on a server.
//!
//! Each response is written with the id null, as its last member. [`ServerProtocol::join`]
//! replaces it.

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{StatusCode, request};
use polywire_codec::json::{JsonDecoder, JsonEncoder};
use polywire_codec::{Dynamic, Message, Sink, Typed};
use polywire_schema::{Body, Encoder, Error, Limits, Member, Operation, Schema, Value};

use super::client::{Reply, read};
use super::envelope::NULL;
use super::positional::PositionalDecoder;
use super::{JSON, JsonRpc, PROFILE, code, write};
use crate::fault::{NamedError, PublicFault};
use crate::media::check_coding;
use crate::protocol::{CallBatch, Claim, HeadSummary, Plan, ReadPlan, ServerProtocol};
use crate::rpc::other_members;
use crate::size_hint::SizeHint;
use crate::{Fault, FaultKind};

/// The end of each response before `join`. At the end of a JSON object this can only be its own
/// last member.
const END: &[u8] = br#","id":null}"#;

impl ServerProtocol for JsonRpc {
    fn endpoint(&self) -> Option<&str> {
        Some(self.path.as_str())
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        self.claim_on(summary)
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        self.check_head(head)?;
        Ok(Plan::BufferThenSplit)
    }

    fn split(
        &self,
        head: &request::Parts,
        body: Bytes,
        limits: &Limits,
    ) -> Result<CallBatch, Fault> {
        check_coding(&head.headers)?;
        self.calls_of(&body, limits)
    }

    fn join(
        &self,
        batch: &CallBatch,
        responses: Vec<Option<http::Response<Bytes>>>,
    ) -> http::Response<Bytes> {
        let calls = batch.calls.iter().zip(responses);
        let mut answers = calls
            .filter_map(|(call, response)| Some((call.id.as_ref()?, self.own_response(response?))));
        if !batch.is_list {
            return match answers.next() {
                None => empty_response(),
                Some((id, response)) => response_with_id(id, response),
            };
        }
        let mut list = BytesMut::new();
        for (id, response) in answers {
            list.extend_from_slice(if list.is_empty() { b"[" } else { b"," });
            push_with_id(&mut list, id, response.body());
        }
        if list.is_empty() {
            return empty_response();
        }
        list.extend_from_slice(b"]");
        response(list.freeze())
    }

    /// The body is `params`: an object, an array, or nothing.
    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let root = operation.input().root();
        let mut decoder = JsonDecoder::from_body(request.body, PROFILE, request.limits)?;
        match request.body.as_bytes().first() {
            None => {}
            Some(b'[') => {
                sink.decode_any(root, &mut PositionalDecoder::list(&mut decoder, root))?;
                decoder.finish()?;
            }
            Some(_) => {
                sink.read(root, &mut decoder)?;
                decoder.finish()?;
            }
        }
        Ok(sink.finish(root, &mut decoder)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let root = operation.output().root();
        let body = write(PROFILE, &self.response_size, |encoder, at| {
            encoder.key(at, "result");
            output.write(root, encoder);
            push_null_id(encoder, at);
        })?;
        Ok(response(body.into()))
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let message = match fault.message() {
            "" => error.name(),
            message => message,
        };
        let data = NamedError {
            name: error.id(),
            members: fault.members(error)?,
        };
        let code = fault.code().unwrap_or(code::SERVER_ERROR);
        let body = fault.write(&Typed::new(&data), |data| {
            failure(code, message, Some(data))
        })?;
        let mut response = response(body.into());
        fault.write_head(response.headers_mut());
        Ok(response)
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let PublicFault { kind, message, .. } = fault.public();
        let code = code_of(kind, fault);
        let message = match code {
            code::PARSE_ERROR => "Parse error",
            code::INVALID_REQUEST => "Invalid Request",
            code::METHOD_NOT_FOUND => "Method not found",
            code::INVALID_PARAMS => "Invalid params",
            code::INTERNAL_ERROR => "Internal error",
            _ => message,
        };
        let data = Value::Map(other_members(true, fault));
        // Strings can always be written.
        let body = failure(code, message, Some(&Dynamic(&data))).unwrap_or_default();
        let mut response = response(body.into());
        // No client of JSON-RPC sends such requests: the status is for others.
        if kind == FaultKind::MethodNotAllowed {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
        if kind == FaultKind::UnsupportedMediaType {
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        }
        fault.write_head(response.headers_mut());
        response
    }
}

impl JsonRpc {
    /// The error of a response of any server, as this protocol writes it: on one line, and with the
    /// id null, which [`join`](ServerProtocol::join) replaces. `None` if the text is not a response
    /// of JSON-RPC 2.0 with an error.
    #[must_use]
    pub fn error_without_id(response: &Body, limits: &Limits) -> Option<Bytes> {
        let Ok(Reply::Error(error)) = read(response, limits) else {
            return None;
        };
        let data = Dynamic(&error.data);
        let data = (!error.data.is_null()).then_some(&data as &dyn Message);
        let body = failure(error.code, &error.message, data).ok()?;
        Some(body.into())
    }

    /// A response that has a place for an id. One that this protocol did not write becomes a fault.
    fn own_response(&self, response: http::Response<Bytes>) -> http::Response<Bytes> {
        match response.body().ends_with(END) {
            true => response,
            false => self.encode_other(&Fault::internal("a response without the id null")),
        }
    }
}

/// The code of a fault that the model does not know.
fn code_of(kind: FaultKind, fault: &Fault) -> i64 {
    match kind {
        FaultKind::Internal => code::INTERNAL_ERROR,
        _ if fault.code().is_some() => fault.code().unwrap_or_default(),
        FaultKind::UnknownOperation => code::METHOD_NOT_FOUND,
        FaultKind::Invalid => code::INVALID_PARAMS,
        FaultKind::Malformed if fault.decode_error().is_some() => code::INVALID_PARAMS,
        FaultKind::Malformed
        | FaultKind::MethodNotAllowed
        | FaultKind::NotAcceptable
        | FaultKind::UnsupportedMediaType => code::INVALID_REQUEST,
        _ => code::SERVER_ERROR,
    }
}

/// A response with an error.
fn failure(code: i64, message: &str, data: Option<&dyn Message>) -> Result<Vec<u8>, Error> {
    write(PROFILE, &SizeHint::default(), |encoder, at| {
        encoder.key(at, "error");
        encoder.begin_map(at, 3);
        encoder.key(at, "code");
        encoder.integer(at, code);
        encoder.key(at, "message");
        encoder.string(at, message);
        if let Some(data) = data {
            encoder.key(at, "data");
            data.write(at, encoder);
        }
        encoder.end_map(at);
        push_null_id(encoder, at);
    })
}

fn push_null_id(encoder: &mut JsonEncoder, at: Member<'_>) {
    encoder.key(at, "id");
    encoder.null(at);
}

fn response(body: Bytes) -> http::Response<Bytes> {
    let mut response = http::Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// There is nothing to answer. The status is 200, since some clients accept no other for a
/// notification (jsonrpclib-pelix).
fn empty_response() -> http::Response<Bytes> {
    http::Response::new(Bytes::new())
}

/// The response to the only call of a message.
fn response_with_id(id: &[u8], mut response: http::Response<Bytes>) -> http::Response<Bytes> {
    *response.status_mut() = StatusCode::OK;
    if id != NULL {
        let body = std::mem::take(response.body_mut());
        // Usually nothing else holds the body, and it is not copied.
        let mut body = body
            .try_into_mut()
            .unwrap_or_else(|body| BytesMut::from(&*body));
        body.truncate(body.len() - NULL.len() - 1);
        body.extend_from_slice(id);
        body.extend_from_slice(b"}");
        *response.body_mut() = body.freeze();
    }
    response
}

/// Adds a response that ends with [`END`].
fn push_with_id(out: &mut BytesMut, id: &[u8], body: &[u8]) {
    out.extend_from_slice(&body[..body.len() - NULL.len() - 1]);
    out.extend_from_slice(id);
    out.extend_from_slice(b"}");
}
