//! Heads of one operation that are written repeatedly: the first with a set of members, later ones
//! with a header template, and ones for which there is no template are equal.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use polywire_codec::{Dynamic, Typed};
use polywire_model::Loader;
use polywire_protocol::{Plan, Protocol, ProtocolKind, ReadPlan, WithToken};
use polywire_schema::{
    Blob, Body, Encode, Encoder, Limits, Map, Member, Operation, SchemaSet, Text, Value,
};

const MODEL: &str = r#"
$version: "2"
namespace test.layouts

use aws.protocols#restJson1

@restJson1
service Layouts {
    operations: [Put]
}

@http(method: "PUT", uri: "/{bucket}/{key+}?x-id=Put")
operation Put {
    input := {
        @required
        @httpLabel
        bucket: String
        @httpHeader("X-Number")
        number: Integer
        @httpHeader("X-Text")
        text: String
        @httpHeader("X-List")
        list: Texts
        @httpPrefixHeaders("x-meta-")
        more: Map
        @httpHeader("X-Time")
        time: Timestamp
        @httpHeader("Content-Type")
        type: String
        @required
        @httpLabel
        key: String
        @httpQuery("a b")
        query: String
        @httpQueryParams
        parameters: Map
        @httpHeader("X-Token")
        @idempotencyToken
        token: String
        @httpPayload
        body: Blob
    }
}

list Texts {
    member: String
}

map Map {
    key: String
    value: String
}
"#;

fn set() -> Arc<SchemaSet<'static>> {
    let assembled = Loader::new().add_text("layouts.smithy", MODEL).assemble();
    let model = assembled.unwrap().model;
    Arc::new(model.schemas("test.layouts#Layouts").unwrap().unwrap())
}

fn text(text: &str) -> Value {
    Value::from(text)
}

/// The members of an input, in addition to its labels, that a number selects.
fn input(chosen: usize) -> Map {
    let entry = |key: &str, value: &str| Value::Map(Map::from_iter([(key, text(value))]));
    let list = ["a", "b,c", "d \"e\" "].map(text).to_vec();
    let members = [
        ("number", Value::Integer(-7)),
        ("text", text("a text that is longer than others")),
        ("list", Value::List(list)),
        ("more", entry("own", "more")),
        (
            "time",
            Value::Timestamp("2024-02-29T12:00:00Z".parse().unwrap()),
        ),
        ("type", text("text/css")),
        ("query", text("a/b ü")),
        ("parameters", entry("q&", "1=2")),
        ("body", Value::Blob(Blob::from(&b"body"[..]))),
    ];
    let mut map = Map::from_iter([("bucket", text("a/b")), ("key", text("c/d e"))]);
    let chosen = members
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen >> at & 1 == 1);
    map.extend(chosen.map(|(_, (name, value))| (Text::from(name), value)));
    map
}

/// The parts of the head of such an input, sorted by name.
fn expected(chosen: usize) -> (String, Vec<(&'static str, &'static str)>) {
    let is = |at: usize| chosen >> at & 1 == 1;
    let mut target = "/a%2Fb/c/d%20e?x-id=Put".to_owned();
    if is(6) {
        target.push_str("&a%20b=a%2Fb%20%C3%BC");
    }
    if is(7) {
        target.push_str("&q%26=1%3D2");
    }
    let media_type = match (is(5), is(8)) {
        (true, _) => Some("text/css"),
        (false, true) => Some("application/octet-stream"),
        (false, false) => None,
    };
    let headers = [
        ("content-type", media_type),
        ("x-list", is(2).then_some("a, \"b,c\", \"d \\\"e\\\" \"")),
        ("x-meta-own", is(3).then_some("more")),
        ("x-number", is(0).then_some("-7")),
        (
            "x-text",
            is(1).then_some("a text that is longer than others"),
        ),
        ("x-time", is(4).then_some("Thu, 29 Feb 2024 12:00:00 GMT")),
    ];
    let there = headers
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    (target, there.collect())
}

fn sorted(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let pairs = headers.iter();
    let mut pairs: Vec<_> = pairs
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    pairs.sort_unstable();
    pairs
}

/// Every set of members, twice and in two orders, with more sets than templates.
#[test]
fn repeated_heads_are_equal() {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let put = service.find_operation("Put").unwrap();
    for chosen in (0..512).chain((0..512).rev()) {
        let input = input(chosen);
        let message = Value::Map(input.clone());
        let request = protocol.encode_input(put, &Dynamic(&message)).unwrap();
        let (target, headers) = expected(chosen);
        assert_eq!(request.uri().to_string(), target);
        assert_eq!(sorted(request.headers()), headers, "{chosen}");
        let read = read(&*protocol, put, request);
        for (name, value) in input.entries() {
            // The query is decoded as parameters.
            let found = match &**name {
                "parameters" => &Value::Map(Map::from_iter([("q&", read[&**name]["q&"].clone())])),
                name => &read[name],
            };
            assert_eq!(found, value, "{name} of {chosen}");
        }
        for name in ["number", "text", "list", "more", "time", "query", "body"] {
            assert!(
                input.get(name).is_some() || read[name].is_null(),
                "{name} of {chosen}"
            );
        }
    }
}

/// The result of decoding a request on a server.
fn read(protocol: &dyn Protocol, operation: Operation<'_>, request: http::Request<Bytes>) -> Value {
    let (head, body) = request.into_parts();
    let Ok(Plan::Buffer(route)) = protocol.route(&head) else {
        panic!("not routed");
    };
    let plan = ReadPlan {
        head: &head,
        body: &Body::from(body),
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut map = Map::new();
    protocol.decode_input(operation, &plan, &mut map).unwrap();
    Value::Map(map)
}

/// An input with a shared blob.
struct Put(Blob);

impl Encode for Put {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.begin_structure(at, 3);
        for member in at.target().members() {
            match member.name() {
                "bucket" | "key" if encoder.member(member) => "x".encode(member, encoder),
                "body" if encoder.member(member) => self.0.encode(member, encoder),
                _ => {}
            }
        }
        encoder.end_structure(at);
    }
}

/// A payload is not copied.
#[test]
fn a_payload_is_shared() {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let put = service.find_operation("Put").unwrap();
    let input = Put(Blob::from(vec![7; 4096]));
    let start = input.0.as_bytes().as_ptr();
    let request = protocol.encode_input(put, &Typed::new(&input)).unwrap();
    assert_eq!(request.body().as_ptr(), start);
    // It is not copied with a token or without types either.
    let message = Typed::new(&input);
    let request = protocol.encode_input(put, &WithToken::new(put, &message, "token"));
    assert_eq!(request.unwrap().body().as_ptr(), start);
    let value = Value::Map(Map::from_iter([
        ("bucket", text("x")),
        ("key", text("x")),
        ("body", Value::Blob(input.0.clone())),
    ]));
    let request = protocol.encode_input(put, &Dynamic(&value)).unwrap();
    assert_eq!(request.body().as_ptr(), start);
}

/// A repeated header is one list.
#[test]
fn repeated_headers() {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let put = service.find_operation("Put").unwrap();
    let request = |name: &str| {
        let builder = http::Request::put("/a/b?x-id=Put");
        let builder = builder.header(name, " 1 ").header("x-meta-a", "2");
        let builder = builder.header(name, "3,4").header("x-meta-b", "5");
        builder.body(Bytes::new()).unwrap()
    };
    let decode = |name: &str| {
        let (head, body) = request(name).into_parts();
        let Ok(Plan::Buffer(route)) = protocol.route(&head) else {
            panic!("not routed");
        };
        let plan = ReadPlan {
            head: &head,
            body: &Body::from(body),
            route: &route,
            limits: &Limits::DEFAULT,
            memory: None,
        };
        let mut map = Map::new();
        let read = protocol.decode_input(put, &plan, &mut map);
        read.map(|()| Value::Map(map))
    };
    let read = decode("x-list").unwrap();
    assert_eq!(
        read["list"],
        Value::List(["1", "3", "4"].map(text).to_vec())
    );
    assert_eq!(read["more"]["b"], text("5"));
    let error = decode("x-text").unwrap_err();
    assert!(
        error.message().contains("header X-Text"),
        "{}",
        error.message()
    );
    assert!(error.message().contains("one value"), "{}", error.message());
}
