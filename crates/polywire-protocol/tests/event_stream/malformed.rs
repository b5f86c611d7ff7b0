//! Events that are rejected.

use polywire_protocol::event_stream::{EventHeader, EventHeaderValue, EventMessage};
use polywire_schema::{Direction, ErrorKind, Map, Value};

use crate::events::{event, string, text};
use crate::model::{each, map, one};

const REQUEST: Direction = Direction::Request;
const RESPONSE: Direction = Direction::Response;

#[test]
fn messages_without_a_valid_type_are_rejected() {
    let blob = |name| EventHeader::new(name, EventHeaderValue::Blob(vec![1].into()));
    for (headers, kind, path) in [
        (vec![], ErrorKind::Missing, ":message-type"),
        (
            vec![blob(":message-type")],
            ErrorKind::WrongType,
            ":message-type",
        ),
        (
            vec![text(":message-type", "command")],
            ErrorKind::Unknown,
            ":message-type",
        ),
        (
            vec![text(":message-type", "event")],
            ErrorKind::Missing,
            ":event-type",
        ),
        (
            vec![text(":message-type", "event"), blob(":event-type")],
            ErrorKind::WrongType,
            ":event-type",
        ),
        (
            vec![text(":message-type", "exception")],
            ErrorKind::Missing,
            ":exception-type",
        ),
        (
            vec![text(":message-type", "error")],
            ErrorKind::Missing,
            ":error-code",
        ),
    ] {
        let error = EventMessage::new(headers, "").kind().unwrap_err();
        assert_eq!(
            (error.kind(), error.path()),
            (kind, &*format!("header {path}"))
        );
    }
}

#[test]
fn header_values_of_another_type_are_rejected() {
    each(|subject| {
        for (name, value) in [
            ("boolean", EventHeaderValue::Byte(1)),
            ("byte", EventHeaderValue::Short(1)),
            ("short", EventHeaderValue::Integer(1)),
            ("integer", EventHeaderValue::Long(1)),
            ("long", EventHeaderValue::Integer(1)),
            ("blob", string("x")),
            ("string", EventHeaderValue::Blob(vec![1].into())),
            ("time", EventHeaderValue::Long(1)),
        ] {
            let message = event("all", vec![EventHeader::new(name, value)], b"");
            let error = subject.decode(RESPONSE, &message).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongType, "{name}");
            assert_eq!(error.path(), format!("header {name}"));
        }
        // Other headers are ignored, and so are payloads of events without one.
        let more = vec![
            text("more", "x"),
            EventHeader::new("byte", EventHeaderValue::Byte(1)),
        ];
        let (_, read) = subject
            .decode(RESPONSE, &event("all", more, b"{}"))
            .unwrap();
        assert_eq!(read, one("all", one("byte", 1)));
    });
}

#[test]
fn servers_demand_required_members() {
    each(|subject| {
        for message in [
            event("moved", vec![], b""),
            subject.message(REQUEST, &one("moved", one("x", Value::Double(1.0)))),
        ] {
            let error = subject.decode(REQUEST, &message).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
            assert!(error.what_was_expected().contains("`y`"), "{error}");
            let (_, read) = subject.decode(RESPONSE, &message).unwrap();
            assert_eq!(read["moved"]["y"], Value::Double(0.0));
        }
    });
}

#[test]
fn malformed_payloads_are_rejected() {
    each(|subject| {
        for (name, payload) in [
            ("moved", &b"\xff"[..]),
            ("moved", b"{"),
            ("note", b"\xff"),
            ("position", b"[]"),
            ("position", b"{}x"),
            ("choice", b"{}"),
        ] {
            let message = event(name, vec![text(":content-type", "x")], payload);
            assert!(
                subject.decode(RESPONSE, &message).is_err(),
                "{name} {payload:?}"
            );
        }
    });
}

#[test]
fn sensitive_events_are_not_quoted() {
    each(|subject| {
        let headers = vec![EventHeader::new("pin", EventHeaderValue::Long(1234))];
        let error = subject
            .decode(RESPONSE, &event("secret", headers, b""))
            .unwrap_err();
        // The name is from the model.
        assert_eq!(error.path(), "header pin");
        assert_eq!(error.what_was_found(), "");
        let message = event("secret", vec![], br#"{"text":1234}"#);
        let error = subject.decode(RESPONSE, &message).unwrap_err();
        assert!(!error.to_string().contains("1234"), "{error}");
        assert_eq!(error.what_was_found(), "");
    });
}

#[test]
fn values_that_do_not_fit_are_not_written() {
    each(|subject| {
        let long = "x".repeat(32_768);
        for event in [
            Value::from(1),
            Value::Map(Map::new()),
            one("unknown", Map::new()),
            map([
                ("nothing", Value::Map(Map::new())),
                ("note", Value::Map(Map::new())),
            ]),
            one("note", 1),
            one("all", one("string", long.as_str())),
            one("all", one("byte", 200)),
            one("moved", one("x", "text")),
        ] {
            assert!(subject.encode(RESPONSE, &event).is_err(), "{event:?}");
        }
    });
}
