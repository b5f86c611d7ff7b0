//! The events of a model in all protocols.

use polywire_protocol::event_stream::{
    EventHeader, EventHeaderValue, EventMessage, EventOutcome, MessageEncoder, MessageKind,
};
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use polywire_schema::{Blob, Direction, ErrorKind, Map, Timestamp, Value};

use crate::model::{Subject, each, map, message, one, set};

const REQUEST: Direction = Direction::Request;
const RESPONSE: Direction = Direction::Response;

pub(crate) fn text(name: &str, value: &str) -> EventHeader {
    EventHeader::new(name, EventHeaderValue::String(value.into()))
}

/// A message of an event, with these headers.
pub(crate) fn event(name: &str, headers: Vec<EventHeader>, payload: &[u8]) -> EventMessage {
    let mut all = vec![text(":message-type", "event"), text(":event-type", name)];
    all.extend(headers);
    EventMessage::new(all, payload.to_vec())
}

fn headers(message: &EventMessage) -> Vec<(&str, &EventHeaderValue)> {
    let headers = message.headers().iter();
    headers
        .map(|header| (header.name.as_str(), &header.value))
        .collect()
}

pub(crate) fn string(value: &str) -> EventHeaderValue {
    EventHeaderValue::String(value.into())
}

/// The media type of documents in events.
fn media_type(kind: ProtocolKind) -> &'static str {
    match kind {
        ProtocolKind::RestXml => "application/xml",
        ProtocolKind::RpcV2Cbor => "application/cbor",
        _ => "application/json",
    }
}

fn point(x: i64, y: i64) -> Value {
    map([("x", Value::from(x)), ("y", Value::from(y))])
}

#[test]
fn headers_have_the_types_of_their_members() {
    let time = Timestamp::from_milliseconds(1_700_000_000_123);
    let value = map([
        ("boolean", Value::Boolean(false)),
        ("byte", Value::from(-1)),
        ("short", Value::from(-2)),
        ("integer", Value::from(-3)),
        ("long", Value::from(i64::MIN)),
        ("blob", Value::Blob(Blob::from(vec![0, 1]))),
        ("string", Value::from("")),
        ("time", Value::Timestamp(time)),
        ("color", Value::from("RED")),
        ("number", Value::from(2)),
    ]);
    let expected = [
        (":message-type", string("event")),
        (":event-type", string("all")),
        ("boolean", EventHeaderValue::Boolean(false)),
        ("byte", EventHeaderValue::Byte(-1)),
        ("short", EventHeaderValue::Short(-2)),
        ("integer", EventHeaderValue::Integer(-3)),
        ("long", EventHeaderValue::Long(i64::MIN)),
        ("blob", EventHeaderValue::Blob(vec![0, 1].into())),
        ("string", string("")),
        ("time", EventHeaderValue::Timestamp(time)),
        ("color", string("RED")),
        ("number", EventHeaderValue::Integer(2)),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, value)| (*name, value))
        .collect();
    each(|subject| {
        for direction in [REQUEST, RESPONSE] {
            let event = one("all", value.clone());
            let message = subject.message(direction, &event);
            assert_eq!(headers(&message), expected, "{}", subject.kind);
            assert!(message.payload().is_empty());
            let (outcome, read) = subject.decode(direction, &message).unwrap();
            assert!(matches!(outcome, EventOutcome::Event(member) if member.name() == "all"));
            assert_eq!(read, event, "{}", subject.kind);
        }
    });
}

#[test]
fn payloads_have_a_media_type() {
    each(|subject| {
        let document = media_type(subject.kind);
        let cases = [
            (
                "picture",
                map([("bytes", Value::Blob(vec![1].into()))]),
                "application/octet-stream",
            ),
            ("note", one("text", "a"), "text/plain"),
            ("page", one("html", "<p>"), "text/html"),
            ("position", one("point", point(1, 2)), document),
            ("choice", one("choice", one("name", "n")), document),
            ("node", one("label", "l"), document),
        ];
        for (name, value, media_type) in cases {
            let message = subject.message(RESPONSE, &one(name, value));
            assert_eq!(message.string(":content-type"), Some(media_type), "{name}");
        }
        // An event without payload has no media type, and one whose members are all absent has an
        // empty document.
        for name in ["all", "picture", "note", "position", "nothing"] {
            let message = subject.message(RESPONSE, &one(name, Map::new()));
            assert_eq!(message.string(":content-type"), None, "{name}");
            assert!(message.payload().is_empty());
        }
        let message = subject.message(RESPONSE, &one("node", Map::new()));
        assert_eq!(message.string(":content-type"), Some(document));
        assert!(!message.payload().is_empty());
    });
}

#[test]
fn documents_look_like_other_documents_of_the_protocol() {
    let event = one(
        "moved",
        map([
            ("at", Value::Timestamp(Timestamp::new(5, 0))),
            ("y", Value::Double(2.5)),
            ("path", Value::List(vec![point(1, 2)])),
        ]),
    );
    let position = one(
        "position",
        map([("id", Value::from(1)), ("point", point(3, 4))]),
    );
    each(|subject| {
        let moved = subject.message(RESPONSE, &event);
        if subject.kind == ProtocolKind::RpcV2Cbor {
            // A map of three entries: the count does not include the header.
            assert_eq!(moved.payload().as_bytes()[0], 0xa3);
        }
        let position = subject.message(RESPONSE, &position);
        let [moved, position] = [moved, position]
            .map(|message| String::from_utf8_lossy(message.payload().as_bytes()).into_owned());
        // Defaults are written.
        match subject.kind {
            ProtocolKind::RestXml => {
                assert_eq!(
                    moved,
                    "<Moved><y>2.5</y><path><member><x>1</x><y>2</y></member></path>\
                     <speed>7</speed></Moved>"
                );
                assert_eq!(position, "<Point><x>3</x><y>4</y></Point>");
            }
            ProtocolKind::RpcV2Cbor => assert!(moved.contains("espeed\u{7}"), "{moved:?}"),
            _ => {
                assert_eq!(moved, r#"{"y":2.5,"path":[{"x":1,"y":2}],"speed":7}"#);
                assert_eq!(position, r#"{"x":3,"y":4}"#);
            }
        }
    });
}

#[test]
fn an_empty_text_is_not_an_absent_one() {
    each(|subject| {
        let empty = one("note", one("text", ""));
        let message = subject.message(RESPONSE, &empty);
        assert_eq!(message.string(":content-type"), Some("text/plain"));
        assert_eq!(subject.decode(RESPONSE, &message).unwrap().1, empty);
        let absent = one("note", Map::new());
        let message = subject.message(RESPONSE, &absent);
        assert_eq!(subject.decode(RESPONSE, &message).unwrap().1, absent);
    });
}

#[test]
fn clients_ignore_events_that_the_model_does_not_have() {
    each(|subject| {
        let message = event("rotated", vec![], b"{}");
        let (outcome, value) = subject.decode(RESPONSE, &message).unwrap();
        assert!(matches!(outcome, EventOutcome::Unknown(name) if name == "rotated"));
        assert_eq!(value, Value::Map(Map::new()));
        let error = subject.decode(REQUEST, &message).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown);
        // An error is no event, and an event no error.
        let message = event("failed", vec![], b"{}");
        let (outcome, _) = subject.decode(RESPONSE, &message).unwrap();
        assert!(matches!(outcome, EventOutcome::Unknown(_)));
    });
}

#[test]
fn exceptions_and_errors_end_the_stream() {
    each(|subject| {
        let failed = map([("code", Value::from(3)), ("message", Value::from("no oil"))]);
        let failed = one("failed", failed);
        let message = subject.message(RESPONSE, &failed);
        assert_eq!(message.kind().unwrap(), MessageKind::Exception("failed"));
        assert_eq!(message.header("code"), Some(&EventHeaderValue::Integer(3)));
        let (outcome, value) = subject.decode(RESPONSE, &message).unwrap();
        assert!(matches!(outcome, EventOutcome::Exception(member) if member.name() == "failed"));
        assert_eq!(value, failed);

        let headers = vec![
            text(":message-type", "exception"),
            text(":exception-type", "newer"),
        ];
        let newer = EventMessage::new(headers, "{}");
        let (outcome, _) = subject.decode(RESPONSE, &newer).unwrap();
        assert!(matches!(outcome, EventOutcome::Fault(fault) if fault.name() == "newer"));
        assert!(subject.decode(REQUEST, &newer).is_err());

        // The text of an error is optional here, for peers that omit it.
        let headers = vec![text(":message-type", "error"), text(":error-code", "Busy")];
        let (outcome, _) = subject
            .decode(RESPONSE, &EventMessage::new(headers, ""))
            .unwrap();
        assert!(matches!(outcome, EventOutcome::Fault(fault) if fault.name() == "Busy"));
    });
}

#[test]
fn faults_are_written_as_exceptions_or_errors() {
    each(|subject| {
        let stream = subject.stream(RESPONSE);
        let write = |fault: &Fault| message(&subject.codec().encode_fault(RESPONSE, stream, fault));
        let details = Map::from_iter([("message", "no oil")]);
        let modelled = write(&Fault::modelled("example#Failed", details.clone()));
        assert_eq!(modelled.kind().unwrap(), MessageKind::Exception("failed"));
        // A modelled error that the stream does not have: its details are not for the caller.
        for fault in [
            Fault::modelled("example#Lost", details),
            Fault::internal("a secret reason"),
            // The details do not fit the structure.
            Fault::modelled("example#Failed", Map::from_iter([("unknown", "x")])),
        ] {
            let MessageKind::Error { code, message } = write(&fault).kind().unwrap().owned() else {
                panic!("{fault:?}");
            };
            assert_eq!(code, FaultKind::Internal.name());
            assert_eq!(message, "an internal error occurred");
        }
        // Longer than a header.
        let long = "\u{e4}".repeat(20_000);
        let written = write(&Fault::new(FaultKind::Overloaded, long));
        let MessageKind::Error { message, .. } = written.kind().unwrap() else {
            panic!("{written:?}");
        };
        assert_eq!(message, "\u{e4}".repeat(16_383));
    });
}

/// Owned texts, which outlive the message.
trait Owned {
    fn owned(self) -> MessageKind<'static>;
}

impl Owned for MessageKind<'_> {
    fn owned(self) -> MessageKind<'static> {
        let leak = |text: &str| &*Box::leak(text.to_owned().into_boxed_str());
        match self {
            Self::InitialRequest => MessageKind::InitialRequest,
            Self::InitialResponse => MessageKind::InitialResponse,
            Self::Event(name) => MessageKind::Event(leak(name)),
            Self::Exception(name) => MessageKind::Exception(leak(name)),
            Self::Error { code, message } => MessageKind::Error {
                code: leak(code),
                message: leak(message),
            },
        }
    }
}

/// Members with `@eventHeader` have no place in the document of the event itself.
#[test]
fn headers_in_the_document_are_ignored() {
    let set = set();
    let document = br#"{"id":"other","label":"l","nodes":[{"id":"inner"}]}"#;
    for kind in [
        ProtocolKind::RestJson1,
        ProtocolKind::AwsJson1_0,
        ProtocolKind::RpcV2Json,
    ] {
        let subject = Subject::new(&set, kind);
        let message = event("node", vec![text("id", "own")], document);
        let (_, read) = subject.decode(RESPONSE, &message).unwrap();
        assert_eq!(read["node"]["id"], Value::from("own"));
        assert_eq!(read["node"]["label"], Value::from("l"));
        assert_eq!(read["node"]["nodes"][0]["id"], Value::from("inner"));
    }
}

#[test]
fn headers_in_an_xml_document_are_ignored() {
    let set = set();
    let subject = Subject::new(&set, ProtocolKind::RestXml);
    let document = b"<Node><id>other</id><label>l</label></Node>";
    let message = event("node", vec![text("id", "own")], document);
    let (_, read) = subject.decode(RESPONSE, &message).unwrap();
    assert_eq!(read["node"]["id"], Value::from("own"));
    assert_eq!(read["node"]["label"], Value::from("l"));
}

/// Documents can nest the structure of the event. There its members are ordinary members.
#[test]
fn structures_of_events_can_be_nested() {
    let leaf = map([("name", Value::from("c")), ("child", one("name", "d"))]);
    let tree = map([
        ("name", Value::from("a")),
        ("child", map([("name", Value::from("b")), ("child", leaf)])),
    ]);
    let inner = map([
        ("id", Value::from("2")),
        ("label", Value::from("inner")),
        (
            "nodes",
            Value::List(vec![one("id", "3"), one("label", "x")]),
        ),
    ]);
    let node = map([
        ("id", Value::from("1")),
        ("label", Value::from("outer")),
        ("nodes", Value::List(vec![inner])),
    ]);
    each(|subject| {
        for event in [one("tree", tree.clone()), one("node", node.clone())] {
            for direction in [REQUEST, RESPONSE] {
                let message = subject.message(direction, &event);
                let (_, read) = subject.decode(direction, &message).unwrap();
                assert_eq!(read, event, "{}", subject.kind);
            }
        }
    });
}

/// A union in the document with a variant that the model does not have, before other members.
#[test]
fn clients_read_on_after_an_unknown_variant() {
    let set = set();
    let document = br#"{"choice":{"newer":{"a":[{}]}},"y":1.5,"tags":{"a":"b"}}"#;
    let subject = Subject::new(&set, ProtocolKind::RestJson1);
    let message = event("moved", vec![], document);
    let (_, read) = subject.decode(RESPONSE, &message).unwrap();
    assert_eq!(read["moved"]["y"], Value::Double(1.5));
    assert_eq!(read["moved"]["tags"]["a"], Value::from("b"));
    assert!(subject.decode(REQUEST, &message).is_err());
}

/// The encoder of messages writes what the codec writes: no other message is needed.
#[test]
fn messages_are_canonical() {
    each(|subject| {
        let event = one(
            "position",
            map([("id", Value::from(1)), ("point", point(3, 4))]),
        );
        let encoded = subject.encode(RESPONSE, &event).unwrap();
        assert_eq!(MessageEncoder::encode(&message(&encoded)).unwrap(), encoded);
    });
}
