//! The payloads of frames.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use polywire_codec::{Dynamic, cbor};
use polywire_model::Loader;
use polywire_protocol::{
    ClientProtocol, Fault, FaultKind, Frame, Outcome, ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const MODEL: &str = r#"
    $version: "2"
    namespace test.frame
    use polywire#frame

    @frame
    service Post { version: "1", operations: [Send, Ping] }
    operation Send {
        input := { @jsonName("TO") to: String, at: Timestamp, count: Integer }
        output := { @required id: String }
        errors: [Gone]
    }
    operation Ping {}

    @error("client")
    @httpError(410)
    structure Gone { message: String, since: Timestamp }
"#;

fn set() -> SchemaSet<'static> {
    let loaded = Loader::new().add_text("post.smithy", MODEL).assemble();
    let model = loaded.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("test.frame#Post").unwrap().unwrap()
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    Map::from_iter(entries)
}

#[test]
fn payloads_are_only_cbor() {
    let set = set();
    let send = set.service(0).find_operation("Send").unwrap();
    let frame = Frame::new(set.service(0));
    let input = map([("to", "ann".into()), ("count", 2.into())]);
    let request = frame.encode_input(send, &Dynamic(&Value::Map(input.clone())));
    let (head, payload) = request.unwrap().into_parts();
    assert!(head.headers.is_empty());
    // The names are those of the model.
    assert_eq!(&payload[..], b"\xa2btocann\x65count\x02");

    let body = Body::new(payload);
    let mut read = Map::new();
    let plan = ReadPlan {
        head: &head,
        body: &body,
        route: &Route::to(send.index()),
        limits: &Limits::DEFAULT,
        memory: None,
    };
    frame.decode_input(send, &plan, &mut read).unwrap();
    assert_eq!(read, input);

    let output = map([("id", "7".into())]);
    let response = frame.encode_output(send, &Dynamic(&Value::Map(output.clone())));
    let (head, payload) = response.unwrap().into_parts();
    assert_eq!(&payload[..], b"\xa1bida7");
    let body = Body::new(payload);
    let outcome = frame.outcome(send, &head, &body, &Limits::DEFAULT).unwrap();
    assert!(matches!(outcome, Outcome::Output), "{outcome:?}");
    let mut read = Map::new();
    frame
        .decode_output(send, &head, &body, &Limits::DEFAULT, &mut read)
        .unwrap();
    assert_eq!(read, output);

    // No HTTP request belongs to the protocol.
    let (head, ()) = http::Request::new(()).into_parts();
    assert!(frame.route(&head).is_err());
    let both = [ProtocolKind::Frame.build(set.service(0)).unwrap()];
    assert_eq!(polywire_protocol::detect(&both, &head), None);
}

#[test]
fn empty_payloads() {
    let set = set();
    let ping = set.service(0).find_operation("Ping").unwrap();
    let frame = Frame::new(set.service(0));
    let none = Value::Map(Map::new());
    let request = frame.encode_input(ping, &Dynamic(&none)).unwrap();
    assert!(request.body().is_empty());
    let response = frame.encode_output(ping, &Dynamic(&none)).unwrap();
    assert!(response.body().is_empty());

    // A structure without members can be an empty map or an empty payload.
    let send = set.service(0).find_operation("Send").unwrap();
    let (head, ()) = http::Request::new(()).into_parts();
    for payload in [&b""[..], b"\xa0"] {
        let body = Body::new(Bytes::from_static(payload));
        let mut read = Map::new();
        let plan = ReadPlan {
            head: &head,
            body: &body,
            route: &Route::to(send.index()),
            limits: &Limits::DEFAULT,
            memory: None,
        };
        frame.decode_input(send, &plan, &mut read).unwrap();
        assert!(read.is_empty());
    }
}

#[test]
fn details_contain_the_name_of_the_error() {
    let set = set();
    let send = set.service(0).find_operation("Send").unwrap();
    let frame = Frame::new(set.service(0));
    let gone = Fault::modelled("test.frame#Gone", map([("message", "away".into())]));
    let (head, payload) = frame.encode_fault(Some(send), &gone).into_parts();
    let details: Value = cbor::read_value(&payload).unwrap();
    assert_eq!(details["__type"].as_str(), Some("test.frame#Gone"));
    assert_eq!(details["message"].as_str(), Some("away"));
    let body = Body::new(payload);
    let outcome = frame.outcome(send, &head, &body, &Limits::DEFAULT).unwrap();
    let Outcome::Error(shape) = outcome else {
        panic!("{outcome:?}");
    };
    let mut read = Map::new();
    frame
        .decode_error(shape, &head, &body, &Limits::DEFAULT, &mut read)
        .unwrap();
    assert_eq!(read, map([("message", "away".into())]));

    let late = Fault::new(FaultKind::DeadlineExceeded, "too late");
    let (head, payload) = frame.encode_fault(Some(send), &late).into_parts();
    let body = Body::new(payload);
    let outcome = frame.outcome(send, &head, &body, &Limits::DEFAULT).unwrap();
    let Outcome::Fault(read) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(read.kind(), FaultKind::DeadlineExceeded);
    assert_eq!(read.message(), "too late");
}
