//! JSON-RPC on a client: calls with the id 1, and responses that are read in place.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{Method, response};
use polywire_codec::json::JsonDecoder;
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Decode as _, Decoder, Encoder as _, Error, ErrorKind, Limits, Member, Operation,
    OperationFlags, Schema, Value,
};

use super::positional::PositionalDecoder;
use super::responses::{is_list, responses_of};
use super::{CLIENT, JSON, JsonRpc, NAME, code, skip, write};
use crate::endpoint::add_host_prefix;
use crate::error_info::{ErrorInfo, kind_of_status};
use crate::protocol::{BatchOutcome, ClientProtocol, HostPrefix, Outcome};
use crate::{Fault, FaultKind};

impl ClientProtocol for JsonRpc {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let body = write(CLIENT, &self.request_size, |encoder, at| {
            encoder.key(at, "method");
            encoder.string(at, operation.name());
            if !operation.has(OperationFlags::UNIT_INPUT) {
                encoder.key(at, "params");
                input.write(operation.input().root(), encoder);
            }
            encoder.key(at, "id");
            encoder.integer(at, 1);
        })?;
        let mut request = http::Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.target()?;
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        add_host_prefix(&mut request, operation, input)?;
        Ok(request)
    }

    fn to_notification(&self, mut call: http::Request<Bytes>) -> Option<http::Request<Bytes>> {
        let mut body = without_id(std::mem::take(call.body_mut()));
        body.extend_from_slice(b"}");
        *call.body_mut() = body.freeze();
        Some(call)
    }

    /// The body is empty, or null, as of `jsonrpsee`.
    fn accepts_notification(&self, head: &response::Parts, body: &Body) -> bool {
        let body = body.as_bytes().trim_ascii();
        matches!(head.status.as_u16(), 200 | 202 | 204) && matches!(body, b"" | b"null")
    }

    fn join_calls(
        &self,
        calls: Vec<http::Request<Bytes>>,
        ids: Range<u64>,
    ) -> Result<Option<http::Request<Bytes>>, Error> {
        let mut joined: Option<http::Request<Bytes>> = None;
        let mut list = BytesMut::new();
        for (mut call, id) in calls.into_iter().zip(ids) {
            list.extend_from_slice(if joined.is_none() { b"[" } else { b"," });
            list.extend_from_slice(&Self::with_id(std::mem::take(call.body_mut()), id));
            let first = joined.get_or_insert_with(|| call.clone());
            if first.extensions().get::<HostPrefix>() != call.extensions().get() {
                let error = Error::new(ErrorKind::Unwritable).in_format(NAME);
                return Err(error.expected("calls to one host in a batch"));
            }
        }
        list.extend_from_slice(b"]");
        Ok(joined.map(|call| call.map(|_| list.freeze())))
    }

    fn split_responses(
        &self,
        ids: Range<u64>,
        head: &response::Parts,
        body: Body,
        limits: &Limits,
    ) -> Result<BatchOutcome, Error> {
        // Which call has which operation is not known, nor whether its output is sensitive.
        let unreadable = |error: Error| error.found("").at_path("");
        if is_list(&body) {
            return match (responses_of(ids, body, limits), head.status.as_u16()) {
                (Ok(responses), _) => Ok(BatchOutcome::Responses(responses)),
                (Err(error), 200) => Err(unreadable(error)),
                (Err(_), status) => Ok(BatchOutcome::Foreign(no_response(status))),
            };
        }
        Ok(
            match outcome(None, head, &body, limits).map_err(unreadable)? {
                Outcome::Fault(fault) => BatchOutcome::Fault(fault),
                Outcome::Foreign(what) => BatchOutcome::Foreign(what),
                Outcome::Output | Outcome::Error(_) => {
                    BatchOutcome::Foreign("a batch was answered with one result".to_owned())
                }
            },
        )
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        outcome(Some(operation), head, body, limits)
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let shape = operation.output();
        let root = shape.root();
        let mut decoder = JsonDecoder::from_body(body, CLIENT, limits)?;
        let read = |decoder: &mut JsonDecoder<'de>| {
            match body.as_bytes().get(decoder.offset()) {
                Some(b'{') => sink.read(root, decoder),
                Some(b'n') => skip(decoder),
                _ if shape.len() == 1 => {
                    sink.decode_any(root, &mut PositionalDecoder::single(decoder, root))
                }
                _ => sink.read(root, decoder),
            }
            .map_err(|error| below("result", error))
        };
        read_member(&mut decoder, "result", read)?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
            .map_err(|error| below("result", error))
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let root = error.root();
        let mut decoder = JsonDecoder::from_body(body, CLIENT, limits)?;
        read_member(&mut decoder, "error", |decoder| {
            read_member(decoder, "data", |decoder| {
                sink.read(root, decoder)
                    .map_err(|error| below("error.data", error))
            })
        })?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
            .map_err(|error| below("error.data", error))
    }
}

/// What a response holds. Without an operation no error is known.
fn outcome<'s>(
    operation: Option<Operation<'s>>,
    head: &response::Parts,
    body: &Body,
    limits: &Limits,
) -> Result<Outcome<'s>, Error> {
    let error = match (read(body, limits), head.status.as_u16()) {
        (Ok(Reply::Result), 200) => return Ok(Outcome::Output),
        (Ok(Reply::Error(error)), _) => error,
        (Err(error), 200) => return Err(error),
        (_, status) => return Ok(Outcome::Foreign(no_response(status))),
    };
    let facts = ErrorInfo::of(&head.headers, &error.data);
    if let Some(shape) = operation.and_then(|operation| operation.find_error(&facts.name)) {
        return Ok(Outcome::Error(shape));
    }
    let kind = FaultKind::from_name(&facts.name).unwrap_or_else(|| match head.status.as_u16() {
        200 => kind_of_code(error.code),
        _ => kind_of_status(head.status, &facts.name),
    });
    let mut fault = Fault::new(kind, facts.message.unwrap_or(error.message));
    if !facts.name.is_empty() {
        fault = fault.with_name(facts.name);
    }
    Ok(Outcome::Fault(
        fault.with_code(error.code).with_status(head.status),
    ))
}

#[cold]
fn no_response(status: u16) -> String {
    format!("status {status}, and the response is not a JSON-RPC response")
}

/// For connections on which several calls are in flight.
impl JsonRpc {
    /// A call that a client wrote, with another id than 1.
    #[must_use]
    pub fn with_id(call: Bytes, id: u64) -> Bytes {
        let mut call = without_id(call);
        call.extend_from_slice(format!(",\"id\":{id}}}").as_bytes());
        call.freeze()
    }
}

/// A call that a client wrote, without its end: the id, which is its last member, and the brace.
fn without_id(call: Bytes) -> BytesMut {
    const END: &[u8] = br#","id":1}"#;
    let mut call = call
        .try_into_mut()
        .unwrap_or_else(|call| BytesMut::from(&*call));
    call.truncate(call.len().saturating_sub(END.len()));
    call
}

/// What a response holds.
pub(super) enum Reply {
    Result,
    Error(ErrorObject),
}

/// Section 5.1 of the specification.
pub(super) struct ErrorObject {
    pub(super) code: i64,
    pub(super) message: String,
    /// Null if there is none.
    pub(super) data: Value,
}

/// Reads a whole response: section 5 of the specification. The result is skipped.
pub(super) fn read(body: &Body, limits: &Limits) -> Result<Reply, Error> {
    let at = Member::DOCUMENT;
    let mut decoder = JsonDecoder::from_body(body, CLIENT, limits)?;
    let (mut has_version, mut has_result, mut error) = (false, false, None);
    let mut seq = decoder.map(at)?;
    while let Some(name) = decoder.key(at, &mut seq)? {
        match &*name {
            "jsonrpc" => has_version = decoder.str(at)? == "2.0",
            "result" if !has_result => {
                skip(&mut decoder)?;
                has_result = true;
            }
            "error" if error.is_none() => error = Some(error_object(&mut decoder)?),
            "result" | "error" => return Err(wrong(&decoder, "one result or error")),
            _ => skip(&mut decoder)?,
        }
    }
    let reply = match (has_version, has_result, error) {
        (true, true, None) => Reply::Result,
        (true, false, Some(error)) => Reply::Error(error),
        (false, ..) => return Err(wrong(&decoder, "a member jsonrpc, \"2.0\"")),
        _ => return Err(wrong(&decoder, "one result or error")),
    };
    decoder.finish()?;
    Ok(reply)
}

fn error_object(decoder: &mut JsonDecoder<'_>) -> Result<ErrorObject, Error> {
    let at = Member::DOCUMENT;
    let (mut code, mut message, mut data) = (None, None, Value::Null);
    let mut seq = decoder.map(at)?;
    while let Some(name) = decoder.key(at, &mut seq)? {
        let value = match &*name {
            "code" | "message" | "data" => Value::decode(at, decoder)?,
            _ => {
                skip(decoder)?;
                continue;
            }
        };
        match &*name {
            "code" => code = value.as_i64(),
            "message" => message = value.as_str().map(str::to_owned),
            _ => data = value,
        }
    }
    match (code, message) {
        (Some(code), Some(message)) => Ok(ErrorObject {
            code,
            message,
            data,
        }),
        _ => Err(wrong(decoder, "an error with a code and a message")),
    }
}

#[cold]
pub(super) fn wrong(decoder: &JsonDecoder<'_>, expected: &'static str) -> Error {
    Decoder::error(decoder, ErrorKind::Syntax, expected)
}

/// Reads an object, and one of its members by `read`. The others are skipped.
fn read_member<'de>(
    decoder: &mut JsonDecoder<'de>,
    member: &str,
    read: impl FnOnce(&mut JsonDecoder<'de>) -> Result<(), Error>,
) -> Result<(), Error> {
    let at = Member::DOCUMENT;
    let mut read = Some(read);
    let mut seq = decoder.map(at)?;
    while let Some(name) = decoder.key(at, &mut seq)? {
        match read.take_if(|_| name == member) {
            Some(read) => read(decoder)?,
            None => skip(decoder)?,
        }
    }
    Ok(())
}

/// Takes the members around a structure off the path of an error in it.
#[cold]
fn below(around: &str, error: Error) -> Error {
    let rest = error.path().strip_prefix(around);
    match rest.map(|rest| rest.strip_prefix('.').unwrap_or(rest).to_owned()) {
        Some(path) => error.at_path(path),
        None => error,
    }
}

/// The kind of a fault with an unknown name.
const fn kind_of_code(code: i64) -> FaultKind {
    match code {
        code::PARSE_ERROR | code::INVALID_REQUEST => FaultKind::Malformed,
        code::METHOD_NOT_FOUND => FaultKind::UnknownOperation,
        code::INVALID_PARAMS => FaultKind::Invalid,
        -32_768..=-32_000 => FaultKind::Internal,
        _ => FaultKind::Named,
    }
}
