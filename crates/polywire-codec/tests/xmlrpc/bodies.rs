//! Bodies of the kinds that speed is measured on, broken in every way. The bodies themselves
//! are not in this repository: `tests/published_bodies.rs` reads them.

use polywire_schema::{Blob, Map, Timestamp, Value};

use super::broken::{self, Named};

/// How long bodies are of which every byte is cut off and changed.
const LONGEST: usize = 1_024;

fn made() -> Vec<Named> {
    let member = Map::from_iter([
        ("id", Value::from(-1_048_576)),
        ("name", Value::from("a <b> & é")),
        ("ratio", Value::from(0.1)),
        ("on", Value::from(true)),
        ("when", Value::from(Timestamp::new(1_795_293_000, 0))),
    ]);
    let nested = Map::from_iter([("inner", Value::Map(member.clone()))]);
    let values = [
        ("a", Value::from("Hello")),
        ("b", Value::List((0..1000).map(Value::from).collect())),
        ("c", Value::Map(nested)),
        ("d", Value::List(vec![Value::Map(member); 100])),
        ("e", Value::from(Blob::from(vec![0xa5; 20_000]))),
        (
            "f",
            Value::from("some text & more <of> it, é\r\n".repeat(600)),
        ),
    ];
    let mut bodies = Vec::new();
    for (name, value) in values {
        let call = polywire_codec::xmlrpc::write_call("echo", std::slice::from_ref(&value));
        let response = polywire_codec::xmlrpc::write_response(&value);
        bodies.push((format!("{name}.request.xml"), call.unwrap()));
        bodies.push((format!("{name}.response.xml"), response.unwrap()));
    }
    bodies
}

#[test]
fn whole_bodies() {
    broken::whole(&made());
}

#[test]
fn every_truncation() {
    broken::truncated(&made(), LONGEST);
}

#[test]
fn every_changed_byte() {
    broken::with_a_changed_byte(&made(), LONGEST);
}

#[test]
fn a_hundred_thousand_changes() {
    broken::changed(&made());
}
