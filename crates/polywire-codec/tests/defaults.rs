//! Members that are not there and have a default, through every format.
#![allow(
    clippy::unwrap_used,
    reason = "a test may panic, and panicking is how it fails"
)]

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{
    Body, Decode, Defaults, Encode, Limits, Map, Member, MemberFlags, MemberSpec, SchemaBuilder,
    SchemaSet, ShapeKind, Value,
};

/// Three members with a default, one of them optional to clients, and inner
/// structures of the same shape.
fn set() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
    let blob = builder.shape(ShapeKind::Blob, "smithy.api#Blob");
    let node = builder.shape(ShapeKind::Structure, "example#Node");
    let nodes = builder.shape(ShapeKind::List, "example#Nodes");
    builder.member(nodes, MemberSpec::new("member", node));
    let with = |name: &str, target, default: &str| {
        let mut member = MemberSpec::new(name, target);
        member.default_json = Some(default.to_owned());
        member
    };
    builder.member(
        node,
        with("text", string, "\"hi\"").flag(MemberFlags::REQUIRED),
    );
    builder.member(
        node,
        with("size", integer, "7").flag(MemberFlags::CLIENT_OPTIONAL),
    );
    builder.member(node, with("data", blob, "\"YWJj\""));
    builder.member(node, MemberSpec::new("plain", string));
    builder.member(node, MemberSpec::new("children", nodes));
    builder.finish().unwrap()
}

fn root<'s>(set: &'s SchemaSet<'_>) -> Member<'s> {
    set.find_shape("example#Node").unwrap().root()
}

/// Writes and reads in each format: what was written, as that format's reader
/// sees it without filling in anything, and what a side reads of `input`.
fn through_all(input: &Value, defaults: Defaults) -> Vec<(Value, Value)> {
    let set = set();
    let at = root(&set);
    let ignored = Defaults::Ignored;
    let mut results = Vec::new();

    let json = |defaults| {
        let profile = JsonProfile::DEFAULT.with_defaults(defaults);
        let mut encoder = JsonEncoder::new(profile, Vec::new());
        input.encode(at, &mut encoder);
        String::from_utf8(encoder.finish().unwrap()).unwrap()
    };
    let read = |text: &str, defaults| {
        let profile = JsonProfile::DEFAULT.with_defaults(defaults);
        let mut decoder = JsonDecoder::from_str(text, profile, &Limits::DEFAULT).unwrap();
        Value::decode(at, &mut decoder).unwrap()
    };
    results.push((
        read(&json(defaults), ignored),
        read(&json(ignored), defaults),
    ));

    let cbor = |defaults| {
        let mut encoder = CborEncoder::new(Vec::new()).with_defaults(defaults);
        input.encode(at, &mut encoder);
        Body::from(encoder.finish().unwrap())
    };
    let read = |body: &Body, defaults| {
        let mut profile = CborProfile::DEFAULT;
        profile.rules.defaults = defaults;
        let mut decoder = CborDecoder::from_body(body, profile, &Limits::DEFAULT).unwrap();
        let value = Value::decode(at, &mut decoder).unwrap();
        decoder.finish().unwrap();
        value
    };
    results.push((
        read(&cbor(defaults), ignored),
        read(&cbor(ignored), defaults),
    ));

    let xmlrpc = |defaults| {
        let encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
        let mut encoder = encoder.with_defaults(defaults);
        input.encode(at, &mut encoder);
        Body::from(encoder.finish().unwrap())
    };
    let read = |body: &Body, defaults| {
        let mut profile = XmlRpcProfile::DEFAULT;
        profile.rules.defaults = defaults;
        let (_, mut decoder) = XmlRpcDecoder::response(body, profile, &Limits::DEFAULT).unwrap();
        Value::decode(at, &mut decoder).unwrap()
    };
    results.push((
        read(&xmlrpc(defaults), ignored),
        read(&xmlrpc(ignored), defaults),
    ));
    results
}

fn node(text: &str, size: Option<i64>, children: Vec<Value>) -> Value {
    let blob = polywire_schema::Blob::from(b"abc".as_slice());
    let mut map = Map::from_iter([("text", Value::from(text)), ("data", Value::Blob(blob))]);
    if let Some(size) = size {
        map.insert("size", Value::Integer(size));
    }
    if !children.is_empty() {
        map.insert("children", Value::List(children));
    }
    Value::Map(map)
}

/// Equal but for the order of members.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|own| same(value, own)))
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

#[test]
fn defaults_are_filled_at_every_level() {
    let child = Value::Map(Map::from_iter([
        ("text", Value::from("own")),
        ("size", Value::Null),
    ]));
    let input = Value::Map(Map::from_iter([("children", Value::List(vec![child]))]));
    for (defaults, size) in [(Defaults::Server, Some(7)), (Defaults::Client, None)] {
        let expected = node("hi", size, vec![node("own", size, Vec::new())]);
        for (written, read) in through_all(&input, defaults) {
            assert!(same(&written, &expected), "{defaults:?}: {written:?}");
            assert!(same(&read, &expected), "{defaults:?}: {read:?}");
        }
    }
}

#[test]
fn what_is_there_stays() {
    let mut input = node("own", Some(1), Vec::new());
    if let Value::Map(map) = &mut input {
        map.insert("data", Value::Blob(polywire_schema::Blob::default()));
    }
    for defaults in [Defaults::Server, Defaults::Client, Defaults::Ignored] {
        for (written, read) in through_all(&input, defaults) {
            assert!(same(&written, &input), "{written:?}");
            assert!(same(&read, &input), "{read:?}");
        }
    }
}
