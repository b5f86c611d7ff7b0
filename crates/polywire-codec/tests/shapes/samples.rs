//! Filled values of the shapes.

use std::collections::BTreeMap;

use polywire_schema::{Blob, Map, Text, Timestamp, Value};

use super::{Choice, Collections, Node, Rank, Scalars, Suit, Wide};

/// 2026-11-21T20:30:00.25Z: a fraction that every format can tell.
pub(crate) const INSTANT: Timestamp = Timestamp::new(1_795_293_000, 250_000_000);

pub(crate) fn scalars() -> Scalars {
    Scalars {
        byte: Some(-128),
        short: Some(-32_768),
        integer: Some(i32::MIN),
        long: Some(i64::MIN),
        float: Some(0.1),
        double: Some(0.1),
        big_integer: Some("25000000000000000000".parse().unwrap()),
        big_decimal: Some("-1234567890123456789012345.0100".parse().unwrap()),
        boolean: Some(true),
        string: Some(Text::from("a \"string\" <&> \\ of 24+ bytes")),
        suit: Some(Suit::Hearts),
        rank: Some(Rank::ACE),
        blob: Some(Blob::from(vec![0, 1, 254, 255])),
        time: Some(INSTANT),
        date_time: Some(INSTANT),
        epoch_seconds: Some(INSTANT),
        http_date: Some(INSTANT),
        document: Some(document()),
    }
}

/// What all three formats can carry without a schema, each in its own way.
pub(crate) fn document() -> Value {
    Value::from(Map::from_iter([
        ("null", Value::Null),
        ("boolean", Value::from(true)),
        ("integer", Value::from(-7)),
        ("double", Value::from(1.5)),
        ("string", Value::from("text")),
        (
            "list",
            Value::List(vec![Value::from(1), Value::Null, Value::List(Vec::new())]),
        ),
        ("map", Value::Map(Map::from_iter([("", Value::from(""))]))),
    ]))
}

pub(crate) fn node() -> Node {
    Node {
        name: Text::from("root"),
        weight: Some(1),
        left: Some(Box::new(Node {
            left: Some(Box::new(Node::named("left left"))),
            ..Node::named("left")
        })),
        right: Some(Box::default()),
        children: Some(vec![Node::named("one"), Node::named("two")]),
        by_key: Some(BTreeMap::from([
            (Text::from("a"), Node::named("a")),
            (
                Text::from("a key with <&> and \"quotes\""),
                Node::named("b"),
            ),
        ])),
        choice: Some(Choice::Node(Box::new(Node::named("chosen")))),
        choices: Some(vec![
            Choice::Text(Text::from("text")),
            Choice::Number(i64::MAX),
            Choice::List(vec![Choice::Empty, Choice::List(Vec::new())]),
        ]),
    }
}

pub(crate) fn collections() -> Collections {
    let texts = |texts: &[&str]| texts.iter().map(|text| Text::from(*text)).collect();
    Collections {
        dense: Some(texts(&["", "a", "b"])),
        sparse: Some(vec![None, Some(Text::from("x")), None]),
        matrix: Some(vec![vec![1, 2], Vec::new(), vec![i32::MAX]]),
        counts: Some(BTreeMap::from([
            (Text::from(""), 0),
            (Text::from("k"), i64::MIN),
        ])),
        sparse_counts: Some(BTreeMap::from([
            (Text::from("none"), None),
            (Text::from("one"), Some(1)),
        ])),
        nodes: Some(BTreeMap::from([(Text::from("n"), node())])),
        blobs: Some(vec![Blob::EMPTY, Blob::from(vec![7; 100])]),
        times: Some(vec![Timestamp::EPOCH, Timestamp::new(-1, 0)]),
        documents: Some(vec![Value::Null, document(), Value::from("s")]),
        sparse_nodes: Some(vec![None, Some(Node::named("n"))]),
        grouped: Some(BTreeMap::from([
            (Text::from("a"), texts(&["1", "2"])),
            (Text::from("b"), Vec::new()),
        ])),
        booleans: Some(vec![true, false]),
        doubles: Some([("pi".to_owned(), 3.25)].into()),
        documents_by_key: Some(BTreeMap::from([
            (Text::from("a"), Value::Null),
            (Text::from("b"), document()),
        ])),
    }
}

pub(crate) fn wide() -> Wide {
    let inner = Wide {
        numbers: (0..200).map(Some).collect(),
        inner: None,
        list: Some(vec![3]),
    };
    Wide {
        numbers: (0..200)
            .map(|number| (number % 3 != 0).then_some(-number))
            .collect(),
        inner: Some(Box::new(inner)),
        list: Some(vec![1, 2]),
    }
}

/// A node without what forms cannot carry: structures in lists or unions that
/// are empty.
pub(crate) fn node_for_forms() -> Node {
    Node {
        choices: Some(vec![
            Choice::Text(Text::from("text")),
            Choice::Number(i64::MAX),
            Choice::List(vec![Choice::Number(1), Choice::List(Vec::new())]),
        ]),
        ..node()
    }
}
