//! The start of an event stream: the members of input and output beside the stream.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use polywire_codec::Dynamic;
use polywire_protocol::event_stream::{self, EventMessage, EventOutcome, MessageKind};
use polywire_protocol::{Fault, FaultKind, Plan, ProtocolKind, ReadPlan, Validator};
use polywire_schema::{Body, Direction, Error, ErrorKind, Limits, Map, Value};

use crate::model::{Subject, each, map, message, one};

/// Reads the input of a call, as a server does: from the head, and from the payload of the initial
/// message if the protocol has one.
fn read_input(
    subject: &Subject<'_>,
    head: &http::request::Parts,
    initial: Option<&EventMessage>,
) -> Result<Map, Fault> {
    let Plan::Buffer(route) = subject.protocol.route(head)? else {
        panic!("not routed by its head");
    };
    let empty = Body::default();
    let plan = ReadPlan {
        head,
        body: initial.map_or(&empty, EventMessage::payload),
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut map = Map::new();
    subject
        .protocol
        .decode_input(subject.operation, &plan, &mut map)?;
    Ok(map)
}

/// Reads the output of a call, as a client does.
fn read_output(
    subject: &Subject<'_>,
    head: &http::response::Parts,
    initial: Option<&EventMessage>,
) -> Result<Map, Error> {
    let empty = Body::default();
    let body = initial.map_or(&empty, EventMessage::payload);
    let (protocol, limits) = (&subject.protocol, Limits::DEFAULT);
    let mut map = Map::new();
    protocol.decode_output(subject.operation, head, body, &limits, &mut map)?;
    Ok(map)
}

fn first(body: &Bytes) -> Option<EventMessage> {
    (!body.is_empty()).then(|| message(body))
}

fn request(subject: &Subject<'_>, input: &Value) -> http::Request<Bytes> {
    let protocol = &subject.protocol;
    let request = protocol.encode_input(subject.operation, &Dynamic(input));
    subject.codec().begin_request(request.unwrap()).unwrap()
}

fn response(subject: &Subject<'_>, output: &Value) -> http::Response<Bytes> {
    let protocol = &subject.protocol;
    let response = protocol.encode_output(subject.operation, &Dynamic(output));
    subject.codec().begin_response(response.unwrap()).unwrap()
}

fn is_rest(kind: ProtocolKind) -> bool {
    matches!(kind, ProtocolKind::RestJson1 | ProtocolKind::RestXml)
}

#[test]
fn an_input_is_read_as_it_was_written() {
    let input = map([("name", Value::from("r2")), ("color", Value::from("blue"))]);
    each(|subject| {
        let (head, body) = request(subject, &input).into_parts();
        assert_eq!(head.headers[CONTENT_TYPE], event_stream::CONTENT_TYPE);
        if !is_rest(subject.kind) && subject.kind.name().starts_with("rpcv2") {
            assert_eq!(head.headers[ACCEPT], event_stream::CONTENT_TYPE);
        }
        let initial = first(&body);
        assert_eq!(initial.is_some(), subject.codec().has_initial_messages());
        assert_eq!(initial.is_none(), is_rest(subject.kind), "{}", subject.kind);
        if let Some(initial) = &initial {
            assert_eq!(initial.kind().unwrap(), MessageKind::InitialRequest);
            let (outcome, _) = subject.decode(Direction::Request, initial).unwrap();
            assert!(matches!(outcome, EventOutcome::Initial));
        }
        let read = read_input(subject, &head, initial.as_ref()).unwrap();
        assert_eq!(Value::Map(read), input, "{}", subject.kind);
    });
}

#[test]
fn an_output_is_read_as_it_was_written() {
    let output = one("speed", 5);
    each(|subject| {
        let (head, body) = response(subject, &output).into_parts();
        assert_eq!(head.headers[CONTENT_TYPE], event_stream::CONTENT_TYPE);
        let initial = first(&body);
        if let Some(initial) = &initial {
            assert_eq!(initial.kind().unwrap(), MessageKind::InitialResponse);
        }
        let read = read_output(subject, &head, initial.as_ref()).unwrap();
        assert_eq!(Value::Map(read), output, "{}", subject.kind);
    });
}

/// A stream may begin without an initial message only if no member is required.
#[test]
fn required_members_must_arrive() {
    each(|subject| {
        let (mut head, _) = request(subject, &one("name", "r2")).into_parts();
        if is_rest(subject.kind) {
            // The path has the required member.
            assert!(read_input(subject, &head, None).is_ok());
            head.uri = "/drive/".parse().unwrap();
            assert!(subject.protocol.route(&head).is_err());
        } else {
            let fault = read_input(subject, &head, None).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Invalid, "{fault}");
        }
        let (mut head, _) = response(subject, &one("speed", 5)).into_parts();
        head.headers.remove("x-speed");
        let error = read_output(subject, &head, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
        assert!(error.to_string().contains("`speed`"), "{error}");
    });
}

/// The stream is required, and it is not in the initial message.
#[test]
fn validation_does_not_ask_for_the_stream() {
    each(|subject| {
        if is_rest(subject.kind) {
            return;
        }
        let (head, _) = request(subject, &one("name", "r2")).into_parts();
        let Ok(Plan::Buffer(route)) = subject.protocol.route(&head) else {
            panic!("not routed by its head");
        };
        let plan = ReadPlan {
            head: &head,
            body: &Body::default(),
            route: &route,
            limits: &Limits::DEFAULT,
            memory: None,
        };
        let validator = Validator::new(subject.operation.input().set().service(0)).unwrap();
        let (protocol, operation) = (&*subject.protocol, subject.operation);
        let mut map = Map::new();
        let decoded = protocol.decode_input(operation, &plan, &mut map);
        let checked = validator.check_decoded(protocol, operation, &plan, decoded, &map);
        let fault = checked.unwrap_err();
        assert!(fault.message().contains("/name"), "{fault}");
        assert!(!fault.message().contains("/commands"), "{fault}");
    });
}

#[test]
fn events_are_validated() {
    let set = crate::model::set();
    let subject = Subject::new(&set, ProtocolKind::RestJson1);
    let validator = Validator::new(set.service(0)).unwrap();
    let check = |code: &str, count: i64| {
        let event = map([("code", Value::from(code)), ("count", Value::from(count))]);
        validator.check_event(subject.operation, &Dynamic(&one("limited", event)))
    };
    assert!(check("abc", 1).is_ok());
    let fault = check("abcd", 0).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Invalid);
    for path in ["/limited/code", "/limited/count"] {
        assert!(fault.message().contains(path), "{fault}");
    }
}

#[test]
fn other_media_types_are_rejected() {
    each(|subject| {
        let (head, body) = request(subject, &one("name", "r2")).into_parts();
        let initial = first(&body);
        let mut changed = head.clone();
        changed
            .headers
            .insert(CONTENT_TYPE, "text/html".parse().unwrap());
        let fault = read_input(subject, &changed, initial.as_ref()).unwrap_err();
        assert_eq!(
            fault.kind(),
            FaultKind::UnsupportedMediaType,
            "{}",
            subject.kind
        );
        let mut changed = head;
        changed.headers.insert(ACCEPT, "text/html".parse().unwrap());
        let fault = read_input(subject, &changed, initial.as_ref()).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::NotAcceptable, "{}", subject.kind);
    });
}

/// REST protocols have no place for members in the body beside a stream.
#[test]
fn rest_streams_have_no_initial_body() {
    each(|subject| {
        if is_rest(subject.kind) {
            let request = http::Request::new(Bytes::from_static(b"{\"a\":1}"));
            let error = subject.codec().begin_request(request).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable);
        }
    });
}

#[test]
fn protocols_without_event_streams_have_no_codec() {
    let set = crate::model::set();
    for kind in ProtocolKind::ALL {
        let has_codec = crate::model::KINDS.contains(&kind);
        // Protocols that need traits which the model does not have cannot be built.
        if let Ok(protocol) = kind.build(set.service(0)) {
            assert_eq!(protocol.event_codec().is_some(), has_codec, "{kind}");
        }
    }
}
