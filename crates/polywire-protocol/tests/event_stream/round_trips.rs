//! Properties of events: what is written is read, in all protocols and directions.

use polywire_schema::{Blob, Direction, Map, Timestamp, Value};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use crate::model::{KINDS, Subject, one, set};

/// A map of the members that are present.
fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    let members = members.filter_map(|(name, value)| Some((name, value?)));
    Value::Map(Map::from_iter(members))
}

fn text() -> impl Strategy<Value = Value> {
    "[a-z<&\" \u{e4}\u{1f600}]{0,30}".prop_map(Value::from)
}

fn blob() -> impl Strategy<Value = Value> {
    vec(any::<u8>(), 0..80).prop_map(|bytes| Value::Blob(Blob::from(bytes)))
}

fn time() -> impl Strategy<Value = Value> {
    // Years up to 9999, which all timestamp formats have.
    (0..253_402_300_799_000_i64)
        .prop_map(|time| Value::Timestamp(Timestamp::from_milliseconds(time)))
}

fn integer(range: std::ops::RangeInclusive<i64>) -> impl Strategy<Value = Value> {
    range.prop_map(Value::from)
}

fn point() -> impl Strategy<Value = Value> {
    let number = || of(integer(i64::from(i32::MIN)..=i64::from(i32::MAX)));
    (number(), number()).prop_map(|(x, y)| present([("x", x), ("y", y)]))
}

fn choice() -> impl Strategy<Value = Value> {
    prop_oneof![
        point().prop_map(|point| one("point", point)),
        text().prop_map(|text| one("name", text)),
        Just(one("none", Map::new())),
    ]
}

fn moved() -> impl Strategy<Value = Value> {
    let double = || (-1e9..1e9).prop_map(Value::Double);
    let path = vec(point(), 0..4).prop_map(Value::List);
    let tags =
        btree_map("[a-z]{1,5}", text(), 0..4).prop_map(|tags| Value::Map(Map::from_iter(tags)));
    let speed = integer(-5..=5);
    (
        of(time()),
        of(double()),
        double(),
        of(path),
        of(tags),
        of(choice()),
        speed,
    )
        .prop_map(|(at, x, y, path, tags, choice, speed)| {
            present([
                ("at", at),
                ("x", x),
                ("y", Some(y)),
                ("path", path),
                ("tags", tags),
                ("choice", choice),
                ("speed", Some(speed)),
            ])
        })
}

fn all_headers() -> impl Strategy<Value = Value> {
    let numbers = (
        of(integer(-128..=127)),
        of(integer(-32_768..=32_767)),
        of(integer(i64::from(i32::MIN)..=i64::from(i32::MAX))),
        of(integer(i64::MIN..=i64::MAX)),
    );
    let boolean = of(any::<bool>().prop_map(Value::Boolean));
    (boolean, numbers, of(blob()), of(text()), of(time())).prop_map(
        |(boolean, (byte, short, integer, long), blob, string, time)| {
            present([
                ("boolean", boolean),
                ("byte", byte),
                ("short", short),
                ("integer", integer),
                ("long", long),
                ("blob", blob),
                ("string", string),
                ("time", time),
            ])
        },
    )
}

fn node() -> impl Strategy<Value = Value> {
    let leaf = (of(text()), of(text()));
    let leaf = leaf.prop_map(|(id, label)| present([("id", id), ("label", label)]));
    leaf.prop_recursive(3, 12, 3, |node| {
        let nodes = vec(node, 0..3).prop_map(Value::List);
        (of(text()), of(text()), of(nodes)).prop_map(|(id, label, nodes)| {
            present([("id", id), ("label", label), ("nodes", nodes)])
        })
    })
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = of(text()).prop_map(|name| present([("name", name)]));
    leaf.prop_recursive(4, 5, 1, |tree| {
        (of(text()), of(tree)).prop_map(|(name, child)| present([("name", name), ("child", child)]))
    })
}

fn event() -> impl Strategy<Value = Value> {
    prop_oneof![
        moved().prop_map(|event| one("moved", event)),
        all_headers().prop_map(|event| one("all", event)),
        (of(text()), of(blob()))
            .prop_map(|(name, bytes)| one("picture", present([("name", name), ("bytes", bytes)]))),
        of(text()).prop_map(|text| one("note", present([("text", text)]))),
        of(text()).prop_map(|html| one("page", present([("html", html)]))),
        (of(integer(i64::MIN..=i64::MAX)), of(point()))
            .prop_map(|(id, point)| one("position", present([("id", id), ("point", point)]))),
        of(choice()).prop_map(|choice| one("choice", present([("choice", choice)]))),
        tree().prop_map(|event| one("tree", event)),
        node().prop_map(|event| one("node", event)),
        Just(one("nothing", Map::new())),
        (of(integer(-9..=9)), of(text())).prop_map(|(code, message)| one(
            "failed",
            present([("code", code), ("message", message)])
        )),
    ]
}

proptest! {
    #[test]
    fn events_are_read_as_they_were_written(event in event()) {
        let set = set();
        for kind in KINDS {
            let subject = Subject::new(&set, kind);
            for direction in [Direction::Request, Direction::Response] {
                let message = subject.message(direction, &event);
                let (_, read) = subject.decode(direction, &message).unwrap();
                prop_assert_eq!(&read, &event, "{} {:?}", kind, direction);
            }
        }
    }

    /// No payload and no headers make a codec panic.
    #[test]
    fn arbitrary_payloads_are_events_or_errors(
        event in event(),
        payload in vec(any::<u8>(), 0..60),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let set = set();
        for kind in KINDS {
            let subject = Subject::new(&set, kind);
            let message = subject.message(Direction::Response, &event);
            let (headers, body) = message.into_parts();
            let mut body = body.as_bytes().to_vec();
            for (at, byte) in &changes {
                if !body.is_empty() {
                    let at = at.index(body.len());
                    body[at] = *byte;
                }
            }
            for body in [payload.clone(), body] {
                let message = polywire_protocol::event_stream::EventMessage::new(
                    headers.clone(),
                    body,
                );
                for direction in [Direction::Request, Direction::Response] {
                    let _ = subject.decode(direction, &message);
                }
            }
        }
    }
}
