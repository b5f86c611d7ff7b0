//! What the standard library's nearest types take for the same steps, and the parser of hyper beside
//! lines in a map. libiqxmlrpc publishes figures of these steps.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};

use polywire_gate::groups::xmlrpc::corpus::{CONTENTS, Side};
use polywire_gate::groups::xmlrpc::oracle;
use polywire_gate::groups::xmlrpc::values::{entries, integer, member_names, small_reply};
use polywire_gate::{Group, Quote, same};
use polywire_schema::Value;

pub(super) fn cases(group: &mut Group) {
    look_up(group);
    clones(group);
    first_buffer(group);
    types(group);
    header_parse(group);
}

fn look_up(group: &mut Group) {
    for size in [5, 1000] {
        group.extend(&format!("look up {size} of {size} members"), |case| {
            let tree: BTreeMap<String, Value> = entries(size).into_iter().collect();
            let hash: HashMap<String, Value> = entries(size).into_iter().collect();
            let (first, second) = (member_names(size), member_names(size));
            let expected = (0..size as i64).sum::<i64>();
            case.peer(
                "BTreeMap",
                move || {
                    first
                        .iter()
                        .map(|name| integer(tree.get(name)))
                        .sum::<i64>()
                },
                move |answer| same(answer, &expected),
            )
            .peer(
                "HashMap",
                move || {
                    let found = second.iter().map(|name| hash.get(name));
                    found.map(integer).sum::<i64>()
                },
                move |answer| same(answer, &expected),
            );
        });
    }
}

/// A tree of the standard library's types.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Integer(i64),
    Boolean(bool),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    List(Vec<Tree>),
    Struct(BTreeMap<String, Tree>),
}

impl Tree {
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
        let xml = match group.data(&content.file(Side::Request)) {
            Ok(xml) if matches!(content.letter, "d" | "e" | "f") => xml,
            _ => continue,
        };
        group.extend(&format!("clone a Value: {}", content.words), |case| {
            let tree = Tree::of(&oracle::value_of(xml));
            let expected = tree.clone();
            case.peer(
                "BTreeMap and String",
                move || tree.clone(),
                move |answer| same(answer, &expected),
            );
        });
    }
}

fn first_buffer(group: &mut Group) {
    group.extend("a small reply, by its first buffer", |case| {
        let expected = small_reply(0);
        for (name, capacity) in [
            ("64 bytes", 64),
            ("256 bytes", 256),
            ("1 KiB", 1024),
            ("16 KiB", 16 << 10),
        ] {
            let expected = expected.clone();
            case.peer(
                name,
                move || small_reply(capacity),
                move |answer| same(answer, &expected),
            );
        }
    });
}

/// Which of a thousand values are integers: an enum beside `dyn Any`.
fn types(group: &mut Group) {
    const COUNT: usize = 1000;
    let value = |index: usize| match index % 4 {
        0 => Value::from(index as i64),
        1 => Value::from(true),
        2 => Value::from(0.5),
        _ => Value::from("text"),
    };
    let values: Vec<Value> = (0..COUNT).map(|index| value(index * 7 % 13)).collect();
    let boxes: Vec<Box<dyn Any>> = values
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
    let figure = Quote::new("libiqxmlrpc", "its own figure for one, times 1000");
    group
        .case("1000 times type of a Value")
        .polywire(
            move || {
                let is_integer = |value: &&Value| matches!(value, Value::Integer(_));
                values.iter().filter(is_integer).count()
            },
            move |answer| same(answer, &expected),
        )
        .peer(
            "dyn Any, downcast",
            move || boxes.iter().filter(|value| value.is::<i64>()).count(),
            move |answer| same(answer, &expected),
        )
        .quote(figure.nanoseconds(0.8 * COUNT as f64));
}

/// The head of a call as clients send it.
const HEAD: &str = "POST /RPC2 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\
    Accept-Encoding: gzip\r\nContent-Type: text/xml\r\nUser-Agent: Python-xmlrpc/3.11\r\n\
    Content-Length: 144\r\nConnection: keep-alive\r\nAuthorization: Basic dTpw\r\n\r\n";

/// Our subject is the parser of hyper, which reads the heads of our servers.
fn header_parse(group: &mut Group) {
    const COUNT: usize = 7;
    let head = HEAD.as_bytes().to_vec();
    let text = HEAD.to_owned();
    group
        .case("parse a head of 7 headers")
        .bytes(HEAD.len())
        .calls(500)
        .polywire(
            move || {
                let mut headers = [httparse::EMPTY_HEADER; 16];
                let mut request = httparse::Request::new(&mut headers);
                let done = request
                    .parse(&head)
                    .is_ok_and(|status| status.is_complete());
                (done, request.headers.len())
            },
            move |answer| same(answer, &(true, COUNT)),
        )
        .peer(
            "lines into a BTreeMap",
            move || {
                let mut headers = BTreeMap::new();
                let lines = text.split("\r\n").skip(1);
                for line in lines.take_while(|line| !line.is_empty()) {
                    if let Some((name, value)) = line.split_once(':') {
                        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
                    }
                }
                headers
            },
            move |answer| same(&answer.len(), &COUNT),
        );
}
