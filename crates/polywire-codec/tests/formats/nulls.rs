//! Nulls, and what holds nothing.

use std::collections::BTreeMap;

use polywire_schema::{Blob, ErrorKind, Map, Member, Text, Value};

use crate::shapes::{Choice, Collections, Node, Scalars, root};
use crate::support::{Format, decode, decode_lenient, document, encode, for_every_format};
use crate::{check, with};

for_every_format! {
    nulls,
    nulls_in_dense_collections,
    null_documents,
    null_documents_in_collections,
    empty_collections,
}

fn nulls<F: Format>() {
    // A null member is one that is not there.
    let at = root("Scalars");
    let all = at.target().members().map(|member| member.name());
    let nulls: Vec<(Text, Value)> = all
        .filter(|name| *name != "document")
        .map(|name| (Text::from(name), Value::Null))
        .collect();
    let bytes = document::<F>(&Value::Map(Map::from_entries(nulls).unwrap()));
    assert_eq!(
        decode::<F, Scalars>(&bytes, at).unwrap(),
        Scalars::default()
    );
    assert_eq!(
        decode::<F, Value>(&bytes, at).unwrap(),
        Value::Map(Map::new())
    );
    // A required member as well.
    let bytes = document::<F>(&Value::from(Map::from_iter([("name", Value::Null)])));
    let error = decode::<F, Node>(&bytes, root("Node")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    // And a variant of a union: the other one counts.
    let union = Map::from_iter([("number", Value::Null), ("text", Value::from("x"))]);
    let bytes = document::<F>(&Value::Map(union));
    let choice: Choice = decode::<F, _>(&bytes, root("Choice")).unwrap();
    assert_eq!(choice, Choice::Text(Text::from("x")));
    // A null written of a value is left out.
    let value = Value::from(Map::from_iter([
        ("byte", Value::Null),
        ("string", Value::from("x")),
    ]));
    assert_eq!(
        encode::<F, _>(&value, at).unwrap(),
        encode::<F, _>(&with(|scalars| scalars.string = Some(Text::from("x"))), at).unwrap()
    );
}

fn nulls_in_dense_collections<F: Format>() {
    let at = root("Collections");
    let list = Value::List(vec![Value::from("a"), Value::Null, Value::from("b")]);
    let map = Map::from_iter([("a", Value::from(1)), ("b", Value::Null)]);
    for (name, value) in [("dense", list), ("counts", Value::Map(map))] {
        let value = Value::from(Map::from_iter([(name, value)]));
        let bytes = document::<F>(&value);
        // A server refuses them, a client leaves them out.
        for error in [
            decode::<F, Collections>(&bytes, at).unwrap_err(),
            decode::<F, Value>(&bytes, at).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
        }
        let read: Collections = decode_lenient::<F, _>(&bytes, at).unwrap();
        let dynamic: Value = decode_lenient::<F, _>(&bytes, at).unwrap();
        assert_eq!(
            encode::<F, _>(&read, at).unwrap(),
            encode::<F, _>(&dynamic, at).unwrap()
        );
        match name {
            "dense" => assert_eq!(read.dense.unwrap(), ["a", "b"]),
            _ => assert_eq!(read.counts.unwrap(), BTreeMap::from([(Text::from("a"), 1)])),
        }
        // And they are never written.
        let error = encode::<F, _>(&value, at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
    }
}

fn null_documents<F: Format>() {
    // A document may be null, which is not the same as not there.
    let at = root("Scalars");
    check::<F, _>(&with(|scalars| scalars.document = Some(Value::Null)), at);
    let inner = Value::List(vec![Value::Null]);
    check::<F, _>(&with(|scalars| scalars.document = Some(inner)), at);
}

fn null_documents_in_collections<F: Format>() {
    // A client leaves nulls out of dense collections, but a null document is a
    // document.
    let at = root("Collections");
    let collections = Collections {
        dense: Some(vec![Text::from("a")]),
        documents: Some(vec![Value::Null, Value::from(1), Value::Null]),
        documents_by_key: Some(BTreeMap::from([
            (Text::from("a"), Value::Null),
            (Text::from("b"), Value::from(2)),
        ])),
        ..Collections::default()
    };
    let bytes = check::<F, _>(&collections, at);
    let read: Collections = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(read, collections);
    let read: Value = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(encode::<F, _>(&read, at).unwrap(), bytes);
    // And in a document.
    let document = Value::from(Map::from_iter([
        ("list", Value::List(vec![Value::Null, Value::from(1)])),
        ("map", Value::from(Map::from_iter([("a", Value::Null)]))),
    ]));
    let bytes = self::document::<F>(&document);
    let read: Value = decode_lenient::<F, _>(&bytes, Member::DOCUMENT).unwrap();
    assert_eq!(read, document);
}

fn empty_collections<F: Format>() {
    let collections = Collections {
        dense: Some(Vec::new()),
        sparse: Some(Vec::new()),
        matrix: Some(vec![Vec::new()]),
        counts: Some(BTreeMap::new()),
        sparse_counts: Some(BTreeMap::new()),
        nodes: Some(BTreeMap::new()),
        blobs: Some(vec![Blob::EMPTY]),
        documents: Some(vec![
            Value::Map(Map::new()),
            Value::List(Vec::new()),
            Value::from(""),
        ]),
        sparse_nodes: Some(vec![None]),
        grouped: Some(BTreeMap::from([(Text::EMPTY, Vec::new())])),
        ..Collections::default()
    };
    check::<F, _>(&collections, root("Collections"));
    check::<F, _>(&Collections::default(), root("Collections"));
    check::<F, _>(&Choice::Empty, root("Choice"));
    check::<F, _>(&Choice::List(vec![Choice::Empty; 3]), root("Choice"));
}
