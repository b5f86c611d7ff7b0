//! The cases of event streams (`smithy.test#eventStreamTests`): events, initial messages, and
//! failures.
//!
//! A case has events of one direction, or an initial message, or both. The side that sends them
//! encodes them, and the other side decodes them. Where a case has events and no initial message,
//! the receiver reads a head with nothing but the operation. A failure that a case expects must
//! occur at the receiver: in the initial message or at an event.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use polywire_protocol::event_stream::{
    self, EventCodec, EventHeaderValue, EventMessage, EventOutcome, MessageDecoder, MessageEncoder,
    MessageLimits, stream_of,
};
use polywire_protocol::{Outcome, Plan, ReadPlan};
use polywire_schema::{Body, Direction, Schema};
use polywire_text::base64;
use serde_json::Value as Json;

use crate::Run;
use crate::cases::{LIMITS, request, response_head};
use crate::compare::{body as body_of, same, same_headers};
use crate::event_subject::EventSubject;
use crate::report::Side;
use crate::subject::{EncodedResponse, Subject};

/// Why a case has failed, or the failure that a case expects.
enum Failure {
    /// The side reports an error, or the peer has sent one. With the id of a modelled error.
    Reported(Option<String>, String),
    /// What was encoded or decoded differs from the case.
    Differs(String),
}

impl Failure {
    fn reported(reason: impl std::fmt::Display) -> Self {
        Self::Reported(None, reason.to_string())
    }
}

/// Creates the types of the events of a case in this direction.
pub(crate) type EventSubjects<'a> = dyn Fn(Schema<'_>) -> Box<dyn EventSubject> + 'a;

/// The types of a case: of its events, and of the structures around them.
pub(crate) struct Subjects<'a> {
    pub(crate) events: &'a EventSubjects<'a>,
    pub(crate) input: &'a dyn Subject,
    pub(crate) output: &'a dyn Subject,
}

/// Runs a case on one side.
pub(crate) fn run(
    run: &Run<'_>,
    side: Side,
    subjects: &Subjects<'_>,
    case: &Json,
) -> Result<(), String> {
    let failure = &case["expectation"]["failure"];
    match (both_directions(run, side, subjects, case), failure) {
        (Ok(()), Json::Null) => Ok(()),
        (Ok(()), _) => Err("no failure, which the case expects".to_owned()),
        (Err(Failure::Reported(_, reason)), Json::Null) => Err(reason),
        (Err(Failure::Reported(id, reason)), failure) => {
            let expected = failure["errorId"].as_str();
            match expected == id.as_deref() {
                true => Ok(()),
                false => Err(format!(
                    "expected the error {expected:?}, not {id:?}: {reason}"
                )),
            }
        }
        (Err(Failure::Differs(reason)), _) => Err(reason),
    }
}

fn both_directions(
    run: &Run<'_>,
    side: Side,
    subjects: &Subjects<'_>,
    case: &Json,
) -> Result<(), Failure> {
    let events = |kind: &str| {
        let events = case["events"].as_array().into_iter().flatten();
        let events = events.filter(|event| event["type"] == kind);
        events.cloned().collect::<Vec<Json>>()
    };
    let (requests, responses) = (events("request"), events("response"));
    let is_client = side == Side::ClientEvents;
    let has_request = !case["initialRequest"].is_null();
    let has_response = !case["initialResponse"].is_null();
    if requests.is_empty() && responses.is_empty() && !has_request && !has_response {
        return Err(Failure::Differs("an empty case".to_owned()));
    }
    match is_client {
        true if has_request => write_request(run, subjects, case)?,
        false if has_request || !requests.is_empty() => read_request(run, subjects, case)?,
        _ => {}
    }
    match is_client {
        true if has_response || !responses.is_empty() => read_response(run, subjects, case)?,
        false if has_response => write_response(run, subjects, case)?,
        _ => {}
    }
    let directions = [
        (Direction::Request, requests, is_client),
        (Direction::Response, responses, !is_client),
    ];
    for (direction, events, is_writer) in directions {
        for event in events {
            match is_writer {
                true => write_event(run, direction, subjects, &event)?,
                false => read_event(run, direction, subjects, &event)?,
            }
        }
    }
    Ok(())
}

fn codec<'a>(run: &Run<'a>) -> &'a dyn EventCodec {
    run.protocol.event_codec().unwrap()
}

fn params_of(case: &Json, name: &str) -> String {
    match &case[name] {
        params @ Json::Object(_) => params.to_string(),
        _ => "{}".to_owned(),
    }
}

fn same_or_differs(what: &str, expected: &str, found: &str) -> Result<(), Failure> {
    same(what, expected, found).map_err(Failure::Differs)
}

/// Checks that a body is the start of an event stream. The cases are of REST protocols, whose
/// streams have no initial message.
fn begins_stream(headers: &http::HeaderMap, body: &Bytes) -> Result<(), Failure> {
    let found = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    let found = String::from_utf8_lossy(found.unwrap_or_default()).into_owned();
    same_or_differs("content type", event_stream::CONTENT_TYPE, &found)?;
    same_or_differs("initial body", "", &format!("{}", body.escape_ascii()))
}

fn write_request(run: &Run<'_>, subjects: &Subjects<'_>, case: &Json) -> Result<(), Failure> {
    let (operation, expected) = (run.operation, &case["initialRequest"]);
    let params = params_of(case, "initialRequestParams");
    let input = subjects.input.of_params(operation.input(), &params);
    let input = input.map_err(Failure::reported)?;
    let mut written = None;
    input.with_message(&mut |message| {
        let request = run.protocol.encode_input(operation, message);
        written = Some(request.and_then(|request| codec(run).begin_request(request)));
    });
    let request = written.unwrap().map_err(Failure::reported)?;
    let method = expected["method"].as_str().unwrap();
    same_or_differs("method", method, request.method().as_str())?;
    let uri = expected["uri"].as_str().unwrap();
    same_or_differs("uri", uri, &request.uri().to_string())?;
    same_headers(expected, request.headers()).map_err(Failure::Differs)?;
    begins_stream(request.headers(), request.body())
}

fn read_request(run: &Run<'_>, subjects: &Subjects<'_>, case: &Json) -> Result<(), Failure> {
    let mut sent = case["initialRequest"].clone();
    if sent.is_null() {
        let (method, uri, _) = run.operation.http().unwrap();
        sent = serde_json::json!({ "method": method, "uri": uri });
    }
    let (mut head, _) = request(&sent);
    let stream = http::HeaderValue::from_static(event_stream::CONTENT_TYPE);
    head.headers.insert(CONTENT_TYPE, stream);
    let Ok(Plan::Buffer(route)) = run.protocol.route(&head) else {
        return Err(Failure::Differs("not routed".to_owned()));
    };
    let plan = ReadPlan {
        head: &head,
        body: &Body::default(),
        route: &route,
        limits: &LIMITS,
        memory: None,
    };
    let operation = run.operation;
    let input = subjects
        .input
        .decode_input(run.protocol, operation, &plan, run.validator);
    let found = input.map_err(Failure::reported)?;
    let shape = operation.input();
    let expected = subjects
        .input
        .of_params(shape, &params_of(case, "initialRequestParams"))
        .map_err(Failure::reported)?;
    same_or_differs("input", &expected.show(shape), &found.show(shape))
}

fn write_response(run: &Run<'_>, subjects: &Subjects<'_>, case: &Json) -> Result<(), Failure> {
    let (operation, expected) = (run.operation, &case["initialResponse"]);
    let params = params_of(case, "initialResponseParams");
    let output = subjects.output.of_params(operation.output(), &params);
    let output = output.map_err(Failure::reported)?;
    let mut written = None;
    output.with_message(&mut |message| {
        let response = run.protocol.encode_output(operation, message);
        written = Some(response.and_then(|response| codec(run).begin_response(response)));
    });
    let response = written.unwrap().map_err(Failure::reported)?;
    let status = expected["code"].to_string();
    same_or_differs("status", &status, response.status().as_str())?;
    same_headers(expected, response.headers()).map_err(Failure::Differs)?;
    begins_stream(response.headers(), response.body())
}

fn read_response(run: &Run<'_>, subjects: &Subjects<'_>, case: &Json) -> Result<(), Failure> {
    let mut sent = case["initialResponse"].clone();
    if sent.is_null() {
        let headers = serde_json::json!({ "content-type": event_stream::CONTENT_TYPE });
        sent = serde_json::json!({ "code": 200, "headers": headers });
    }
    let (head, operation) = (response_head(&sent), run.operation);
    let body = Body::new(Bytes::from(body_of(&sent)));
    let outcome = run.protocol.outcome(operation, &head, &body, &LIMITS);
    match outcome.map_err(Failure::reported)? {
        Outcome::Output => {}
        Outcome::Error(shape) => {
            let id = shape.id().to_owned();
            return Err(Failure::Reported(Some(id), "a modelled error".to_owned()));
        }
        other => return Err(Failure::Reported(None, format!("{other:?}"))),
    }
    let answer = EncodedResponse {
        head: &head,
        body: &body,
        limits: &LIMITS,
    };
    let output = subjects
        .output
        .decode_output(run.protocol, operation, &answer);
    let found = output.map_err(Failure::reported)?;
    let shape = operation.output();
    let expected = subjects
        .output
        .of_params(shape, &params_of(case, "initialResponseParams"))
        .map_err(Failure::reported)?;
    same_or_differs("output", &expected.show(shape), &found.show(shape))
}

/// The encoded message of a case.
fn bytes_of(event: &Json) -> Vec<u8> {
    let text = event["bytes"].as_str().unwrap();
    base64::decode(text.as_bytes()).unwrap().to_vec()
}

fn write_event(
    run: &Run<'_>,
    direction: Direction,
    subjects: &Subjects<'_>,
    event: &Json,
) -> Result<(), Failure> {
    let stream = stream_of(run.operation, direction).unwrap();
    let subject = (subjects.events)(stream.target());
    let params = params_of(event, "params");
    let written = subject.encode(codec(run), direction, stream, &params);
    let written = written.map_err(Failure::reported)?;
    let found = decode_message(&written)?;
    same_message_headers(event, &found)?;
    if let Some(expected) = event["body"].as_str() {
        let body = String::from_utf8_lossy(found.payload().as_bytes());
        same_or_differs("body", &canonical(expected), &canonical(&body))?;
    }
    let expected = bytes_of(event);
    let found = in_order_of(&decode_message(&expected)?, found)?;
    let hex = |bytes: &[u8]| format!("{:02x?}", bytes);
    same_or_differs("bytes", &hex(&expected), &hex(&found))
}

fn decode_message(bytes: &[u8]) -> Result<EventMessage, Failure> {
    let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
    let message = decoder.decode(&mut Bytes::copy_from_slice(bytes));
    let message = message.map_err(Failure::reported)?.unwrap();
    decoder.finish().map_err(Failure::reported)?;
    let again = MessageEncoder::encode(&message).map_err(Failure::reported)?;
    match again == bytes {
        true => Ok(message),
        false => Err(Failure::Differs("encoded differently again".to_owned())),
    }
}

/// Encodes a message again, with its headers in the order of another one. The order has no meaning:
/// this crate writes the order of the model, and the cases have that of their values.
fn in_order_of(expected: &EventMessage, found: EventMessage) -> Result<Vec<u8>, Failure> {
    let (mut headers, payload) = found.into_parts();
    headers.sort_by_key(|header| {
        let mut names = expected.headers().iter().map(|header| &header.name);
        names.position(|name| *name == header.name)
    });
    let message = EventMessage::new(headers, payload);
    MessageEncoder::encode(&message).map_err(Failure::reported)
}

fn canonical(text: &str) -> String {
    match serde_json::from_str::<Json>(text) {
        Ok(mut json) => {
            json.sort_all_objects();
            json.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

/// Compares all headers with those of a case.
fn same_message_headers(event: &Json, found: &EventMessage) -> Result<(), Failure> {
    let expected = event["headers"].as_object().unwrap();
    let mut expected: Vec<String> = expected
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let mut found: Vec<String> = found
        .headers()
        .iter()
        .map(|header| format!("{}: {}", header.name, header_json(&header.value)))
        .collect();
    expected.sort();
    found.sort();
    same_or_differs("headers", &expected.join("\n"), &found.join("\n"))
}

/// A header as a case has it.
fn header_json(value: &EventHeaderValue) -> Json {
    let (kind, value) = match value {
        EventHeaderValue::Boolean(value) => ("boolean", Json::from(*value)),
        EventHeaderValue::Byte(value) => ("byte", Json::from(*value)),
        EventHeaderValue::Short(value) => ("short", Json::from(*value)),
        EventHeaderValue::Integer(value) => ("integer", Json::from(*value)),
        EventHeaderValue::Long(value) => ("long", Json::from(*value)),
        EventHeaderValue::Blob(value) => {
            let mut text = Vec::new();
            base64::push(&mut text, value.as_bytes());
            ("blob", Json::from(String::from_utf8(text).unwrap()))
        }
        EventHeaderValue::String(value) => ("string", Json::from(value.as_str())),
        EventHeaderValue::Timestamp(value) => {
            let mut text = Vec::new();
            value.push_date_time(&mut text).unwrap();
            ("timestamp", Json::from(String::from_utf8(text).unwrap()))
        }
        EventHeaderValue::Uuid(value) => ("uuid", Json::from(format!("{value:02x?}"))),
    };
    serde_json::json!({ kind: value })
}

fn read_event(
    run: &Run<'_>,
    direction: Direction,
    subjects: &Subjects<'_>,
    event: &Json,
) -> Result<(), Failure> {
    let stream = stream_of(run.operation, direction).unwrap();
    let subject = (subjects.events)(stream.target());
    let message = decode_message(&bytes_of(event))?;
    same_message_headers(event, &message)?;
    let read = subject.decode(codec(run), direction, stream, &message);
    let (outcome, found) = read.map_err(Failure::reported)?;
    let has_value = || {
        let expected = subject.show(stream, &params_of(event, "params"));
        let expected = expected.map_err(Failure::reported)?;
        same_or_differs("event", &expected, &found)
    };
    match outcome {
        EventOutcome::Event(_) => has_value(),
        EventOutcome::Exception(variant) => {
            has_value()?;
            let id = variant.target().id().to_owned();
            Err(Failure::Reported(Some(id), "an exception".to_owned()))
        }
        EventOutcome::Fault(fault) => {
            let sent = |name: &str| event["headers"][name]["string"].as_str().unwrap();
            same_or_differs("code", sent(":error-code"), fault.name())?;
            same_or_differs("message", sent(":error-message"), fault.message())?;
            Err(Failure::reported(fault))
        }
        other => Err(Failure::Differs(format!("taken for {other:?}"))),
    }
}
