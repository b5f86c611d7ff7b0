//! The small steps that the seed of this wire publishes figures of, each beside
//! what the standard library's nearest means make of it. A thousand of each, of
//! mixed length, so that no branch is learned by heart.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};

use http::header::{HeaderMap, HeaderName, HeaderValue};
use crate::{Group, Quote, same};
use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
use polywire_schema::{Encoder, Map, Member, Value};
use polywire_text::number;

use super::corpus::{CONTENTS, Side};
use super::oracle;

const COUNT: usize = 1000;
const STD: &str = "std";

pub(super) fn cases(group: &mut Group) {
    integers(group);
    doubles(group);
    types(group);
    look_up(group);
    header_look_up(group);
    header_parse(group);
    clones(group);
    first_buffer(group);
}

/// The seed's own figure for one step, times a thousand.
fn libiqxmlrpc(nanoseconds: f64) -> Quote {
    Quote::new("libiqxmlrpc", "its own figure for one, times 1000")
        .nanoseconds(nanoseconds * COUNT as f64)
}

/// Integers of one to ten digits, every fourth of them negative.
fn some_integers() -> Vec<i64> {
    let one = |index: i64| {
        let size = 10_i64.pow((index * 7 % 10) as u32);
        let value = size + index * 7_919 % size.max(2);
        if index % 4 == 0 { -value } else { value }
    };
    (0..COUNT as i64).map(one).collect()
}

fn some_doubles() -> Vec<f64> {
    (0..COUNT as i64)
        .map(|index| match index % 3 {
            0 => (index * 137) as f64 / 100.0,
            1 => (index as f64 + 0.1).sqrt(),
            _ => (index * 31) as f64,
        })
        .collect()
}

fn integers(group: &mut Group) {
    let values = some_integers();
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    let joined: String = texts.concat();
    let sum: i64 = values.iter().sum();
    let (ours, theirs) = (texts.clone(), texts);
    group
        .case("1000 times string to int")
        .bytes(joined.len())
        .polywire(
            move || {
                let parsed = ours.iter().map(|text| number::parse_i64(text.as_bytes()));
                parsed.map(Result::unwrap_or_default).sum::<i64>()
            },
            move |answer| same(answer, &sum),
        )
        .peer(
            STD,
            move || {
                let parsed = theirs.iter().map(|text| text.parse::<i64>());
                parsed.map(Result::unwrap_or_default).sum::<i64>()
            },
            move |answer| same(answer, &sum),
        )
        .quote(libiqxmlrpc(24.3));
    let (ours, theirs) = (values.clone(), values);
    let expected = joined.clone();
    group
        .case("1000 times int to string")
        .bytes(joined.len())
        .polywire_writes(
            move |out| ours.iter().for_each(|value| number::push_i64(out, *value)),
            move |written| same(written, expected.as_bytes()),
        )
        .peer_writes(
            STD,
            move |out| {
                for value in &theirs {
                    out.extend_from_slice(value.to_string().as_bytes());
                }
            },
            move |written| same(written, joined.as_bytes()),
        );
}

fn doubles(group: &mut Group) {
    let values = some_doubles();
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    let joined: String = texts.concat();
    let sum: f64 = values.iter().sum();
    let (ours, theirs) = (texts.clone(), texts);
    group
        .case("1000 times string to double")
        .bytes(joined.len())
        .polywire(
            move || {
                let parsed = ours.iter().map(|text| number::parse_f64(text.as_bytes()));
                parsed.map(Result::unwrap_or_default).sum::<f64>()
            },
            move |answer| same(answer, &sum),
        )
        .peer(
            STD,
            move || {
                let parsed = theirs.iter().map(|text| text.parse::<f64>());
                parsed.map(Result::unwrap_or_default).sum::<f64>()
            },
            move |answer| same(answer, &sum),
        );
    let (ours, theirs) = (values.clone(), values);
    let expected = joined.clone();
    group
        .case("1000 times double to string")
        .bytes(joined.len())
        .polywire_writes(
            move |out| ours.iter().for_each(|value| number::push_f64(out, *value)),
            move |written| same(written, expected.as_bytes()),
        )
        .peer_writes(
            STD,
            move |out| {
                for value in &theirs {
                    out.extend_from_slice(value.to_string().as_bytes());
                }
            },
            move |written| same(written, joined.as_bytes()),
        );
}

/// Which of a thousand values are integers.
fn types(group: &mut Group) {
    let value = |index: usize| match index % 4 {
        0 => Value::from(index as i64),
        1 => Value::from(true),
        2 => Value::from(0.5),
        _ => Value::from("text"),
    };
    let ours: Vec<Value> = (0..COUNT).map(|index| value(index * 7 % 13)).collect();
    let theirs: Vec<Box<dyn Any>> = ours
        .iter()
        .map(|value| -> Box<dyn Any> {
            match value {
                Value::Integer(value) => Box::new(*value),
                Value::Boolean(value) => Box::new(*value),
                Value::Double(value) => Box::new(*value),
                other => Box::new(other.as_str().unwrap_or_default().to_owned()),
            }
        })
        .collect();
    let expected = (0..COUNT).filter(|index| index * 7 % 13 % 4 == 0).count();
    group
        .case("1000 times type of a Value")
        .polywire(
            move || {
                let is_integer = |value: &&Value| matches!(value, Value::Integer(_));
                ours.iter().filter(is_integer).count()
            },
            move |answer| same(answer, &expected),
        )
        .peer(
            "dyn Any, downcast",
            move || theirs.iter().filter(|value| value.is::<i64>()).count(),
            move |answer| same(answer, &expected),
        )
        .quote(libiqxmlrpc(0.8));
}

/// Every member of a struct, by name.
fn look_up(group: &mut Group) {
    for size in [5, 16, 64, 1000] {
        let names: Vec<String> = (0..size).map(|index| format!("member{index}")).collect();
        let entries = || names.iter().zip(0_i64..);
        let map =
            Map::from_iter(entries().map(|(name, value)| (name.as_str(), Value::from(value))));
        let tree: BTreeMap<String, Value> = entries()
            .map(|(name, value)| (name.clone(), Value::from(value)))
            .collect();
        let hash: HashMap<String, Value> = tree.clone().into_iter().collect();
        // In an order that is not that of the members.
        let asked: Vec<String> = (0..size).map(|at| names[at * 7 % size].clone()).collect();
        let expected = (0..size as i64).sum::<i64>();
        let sum = |found: Option<&Value>| found.and_then(Value::as_i64).unwrap_or_default();
        let (first, second) = (asked.clone(), asked.clone());
        group
            .case(format!("look up {size} of {size} members"))
            .polywire(
                move || asked.iter().map(|name| sum(map.get(name))).sum::<i64>(),
                move |answer| same(answer, &expected),
            )
            .peer(
                "BTreeMap",
                move || first.iter().map(|name| sum(tree.get(name))).sum::<i64>(),
                move |answer| same(answer, &expected),
            )
            .peer(
                "HashMap",
                move || second.iter().map(|name| sum(hash.get(name))).sum::<i64>(),
                move |answer| same(answer, &expected),
            );
    }
}

/// The head of a call as clients send it.
const HEAD: &str = "POST /RPC2 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\
    Accept-Encoding: gzip\r\nContent-Type: text/xml\r\nUser-Agent: Python-xmlrpc/3.11\r\n\
    Content-Length: 144\r\nConnection: keep-alive\r\nAuthorization: Basic dTpw\r\n\r\n";

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    HEAD.lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
}

/// What a server asks of each head.
const ASKED: [&str; 4] = ["content-type", "content-length", "authorization", "expect"];

fn header_look_up(group: &mut Group) {
    let ours: HeaderMap = lines()
        .filter_map(|(name, value)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_static(value)))
        })
        .collect();
    let tree: BTreeMap<String, String> = lines()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let names = ASKED.map(HeaderName::from_static);
    let expected = "text/xml144Basic dTpw".len();
    group
        .case("look up 4 headers")
        .calls(500)
        .polywire(
            move || {
                let found = names.iter().filter_map(|name| ours.get(name));
                found.map(HeaderValue::len).sum::<usize>()
            },
            move |answer| same(answer, &expected),
        )
        .peer(
            "BTreeMap",
            move || {
                let found = ASKED.iter().filter_map(|name| tree.get(*name));
                found.map(String::len).sum::<usize>()
            },
            move |answer| same(answer, &expected),
        );
}

fn header_parse(group: &mut Group) {
    let count = lines().count();
    let head = HEAD.as_bytes().to_vec();
    let text = HEAD.to_owned();
    group
        .case("parse a head of 7 headers")
        .bytes(HEAD.len())
        .calls(500)
        .polywire(
            move || {
                // The parser of hyper, which reads our heads.
                let mut headers = [httparse::EMPTY_HEADER; 16];
                let mut request = httparse::Request::new(&mut headers);
                let done = request
                    .parse(&head)
                    .is_ok_and(|status| status.is_complete());
                (done, request.headers.len())
            },
            move |answer| same(answer, &(true, count)),
        )
        .peer(
            "lines into a BTreeMap",
            move || {
                let mut headers = BTreeMap::new();
                for line in text
                    .split("\r\n")
                    .skip(1)
                    .take_while(|line| !line.is_empty())
                {
                    if let Some((name, value)) = line.split_once(':') {
                        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
                    }
                }
                headers
            },
            move |answer| same(&answer.len(), &count),
        );
}

/// A tree as one would write it down first.
#[derive(Clone, Debug, PartialEq)]
enum Naive {
    Integer(i64),
    Boolean(bool),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    List(Vec<Naive>),
    Struct(BTreeMap<String, Naive>),
}

impl Naive {
    fn of(value: &Value) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(*value),
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Double(value) => Self::Double(*value),
            Value::Blob(bytes) => Self::Bytes(bytes.to_vec()),
            Value::List(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Map(map) => Self::Struct(
                map.entries()
                    .iter()
                    .map(|(key, value)| (key.to_string(), Self::of(value)))
                    .collect(),
            ),
            other => Self::String(other.as_str().unwrap_or_default().to_owned()),
        }
    }
}

fn clones(group: &mut Group) {
    for content in CONTENTS {
        if !matches!(content.letter, "d" | "e" | "f") {
            continue;
        }
        let file = content.file(Side::Request);
        let name = format!("clone a Value: {}", content.words);
        group.case_from(name, [file.as_str()], |case, [xml]| {
            let ours = oracle::value_of(xml);
            let theirs = Naive::of(&ours);
            let (expected, naive) = (ours.clone(), theirs.clone());
            case.polywire(move || ours.clone(), move |answer| same(answer, &expected))
                .peer(
                    "BTreeMap and String",
                    move || theirs.clone(),
                    move |answer| same(answer, &naive),
                );
        });
    }
}

/// A reply of some 150 bytes into a new buffer, by how much room that has at first: as much
/// as ours gives it, or too little, or far too much.
fn first_buffer(group: &mut Group) {
    const OURS: usize = 512;
    let reply = |room: usize| {
        let envelope = Envelope::Response;
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::with_capacity(room));
        encoder.string(Member::DOCUMENT, "Hello, and welcome to this server");
        encoder.finish().unwrap_or_default()
    };
    let expected = reply(OURS);
    let is_expected = move |answer: &Vec<u8>| same(answer, &expected);
    let case = group.case("a small reply, by its first buffer");
    case.bytes(reply(OURS).len()).calls(500);
    case.polywire(move || reply(OURS), is_expected.clone());
    for (name, room) in [
        ("64 bytes", 64),
        ("256 bytes", 256),
        ("1 KiB", 1024),
        ("16 KiB", 16 << 10),
    ] {
        case.peer(name, move || reply(room), is_expected.clone());
    }
}
