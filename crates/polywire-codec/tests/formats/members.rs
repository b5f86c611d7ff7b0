//! Members: in any order, unknown, twice, missing; variants of unions.

use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_schema::{Blob, Decode, Encode, Error, ErrorKind, Map, Member, Text, Value};

use crate::check;
use crate::shapes::{Choice, Node, Scalars, Strict, WIDE, Wide, root, samples};
use crate::support::{
    Format, decode, decode_dyn, decode_lenient, document, encode, for_every_format, for_xml_too,
};

for_every_format! {
    members_in_any_order,
    unknown_members,
    duplicates,
    duplicates_among_many_members,
    duplicates_behind_nested_values,
    duplicate_keys,
    unions,
    variants_that_the_model_does_not_have,
    required_members,
    variants_that_cannot_be_written,
}

for_xml_too! {
    variants_that_cannot_be_written,
}

/// The maps of a value with their entries in another order.
fn shuffled(value: &Value, seed: &mut u64) -> Value {
    match value {
        Value::List(list) => Value::List(list.iter().map(|item| shuffled(item, seed)).collect()),
        Value::Map(map) => {
            let mut entries: Vec<(Text, Value)> = map
                .entries()
                .iter()
                .map(|(key, value)| (key.clone(), shuffled(value, seed)))
                .collect();
            for at in (1..entries.len()).rev() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                entries.swap(at, (*seed >> 33) as usize % (at + 1));
            }
            Value::Map(Map::from_entries(entries).unwrap())
        }
        other => other.clone(),
    }
}

fn members_in_any_order<F: Format>() {
    fn shuffles<F: Format, T>(value: &T, at: Member<'_>)
    where
        T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
    {
        let bytes = encode::<F, T>(value, at).unwrap();
        let whole: Value = decode::<F, _>(&bytes, Member::DOCUMENT).unwrap();
        let dynamic: Value = decode::<F, _>(&bytes, at).unwrap();
        let mut seed = 7;
        for _ in 0..20 {
            let other = document::<F>(&shuffled(&whole, &mut seed));
            assert_eq!(decode::<F, T>(&other, at).unwrap(), *value);
            assert_eq!(decode_dyn::<F, Value>(&other, at).unwrap(), dynamic);
        }
    }

    // A document of JSON has no decimal numbers: one that a double tells.
    let scalars = Scalars {
        big_decimal: Some("1.5".parse().unwrap()),
        ..samples::scalars()
    };
    shuffles::<F, _>(&scalars, root("Scalars"));
    shuffles::<F, _>(&samples::node(), root("Node"));
    shuffles::<F, _>(&samples::collections(), root("Collections"));
    shuffles::<F, _>(&samples::wide(), root("Wide"));
}

fn unknown_members<F: Format>() {
    let node = samples::node();
    let at = root("Node");
    let bytes = encode::<F, _>(&node, at).unwrap();
    let Value::Map(map) = decode::<F, Value>(&bytes, Member::DOCUMENT).unwrap() else {
        panic!("a structure is a map");
    };
    let deep = Value::List(vec![
        Value::List(Vec::new()),
        Value::Map(Map::from_iter([
            ("name", Value::List(vec![samples::document()])),
            ("", Value::Null),
            (
                "\"escaped\" <key>",
                Value::from("\"text\" </value>\u{1f600}"),
            ),
        ])),
    ]);
    let strangers = [
        Value::Null,
        Value::from(true),
        Value::from(-1),
        Value::from(1.5),
        Value::from("a string"),
        Value::from(String::from("x").repeat(1000)),
        Value::List(Vec::new()),
        Value::Map(Map::new()),
        samples::document(),
        deep,
        Value::Blob(Blob::from(vec![1, 2, 3])),
    ];
    for stranger in &strangers {
        for place in 0..=map.len() {
            let mut entries = map.entries().to_vec();
            entries.insert(place, (Text::from("stranger"), stranger.clone()));
            entries.insert(0, (Text::from("nam"), stranger.clone()));
            entries.push((Text::from("name2"), stranger.clone()));
            let other = document::<F>(&Value::Map(Map::from_entries(entries).unwrap()));
            assert_eq!(decode::<F, Node>(&other, at).unwrap(), node);
            let dynamic = decode::<F, Value>(&other, at).unwrap();
            assert_eq!(encode::<F, _>(&dynamic, at).unwrap(), bytes);
        }
    }
}

/// A message whose members come as given, the same one twice if it is so.
fn repeated<F: Format>(entries: &[(&str, Value)]) -> Vec<u8> {
    use polywire_schema::Encoder as _;

    let mut encoder = F::encoder();
    encoder.begin_map(Member::DOCUMENT, entries.len());
    for (key, value) in entries {
        encoder.key(Member::DOCUMENT, key);
        value.encode(Member::DOCUMENT, &mut encoder);
    }
    encoder.end_map(Member::DOCUMENT);
    F::written(encoder).unwrap()
}

fn refused<T: Debug>(result: Result<T, Error>, kind: ErrorKind, path: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.path()), (kind, path), "{error}");
}

fn duplicates<F: Format>() {
    let one = || Value::from("one");
    for (entries, path) in [
        (vec![("name", one()), ("name", one())], "name"),
        (
            vec![("name", one()), ("weight", Value::from(1)), ("name", one())],
            "name",
        ),
        // A null is a member, too.
        (vec![("name", one()), ("name", Value::Null)], "name"),
        (
            vec![("weight", Value::Null), ("weight", Value::Null)],
            "weight",
        ),
        (
            vec![
                ("choices", Value::List(Vec::new())),
                ("choices", Value::List(Vec::new())),
            ],
            "choices",
        ),
    ] {
        let bytes = repeated::<F>(&entries);
        refused(
            decode::<F, Node>(&bytes, root("Node")),
            ErrorKind::Duplicate,
            path,
        );
        refused(
            decode::<F, Value>(&bytes, root("Node")),
            ErrorKind::Duplicate,
            path,
        );
    }
}

fn duplicates_among_many_members<F: Format>() {
    let at = root("Wide");
    for ordinal in [0, 63, 64, 127, 128, 129, WIDE - 1] {
        let name = format!("number{ordinal}");
        let mut entries: Vec<(String, Value)> = (0..WIDE)
            .map(|ordinal| (format!("number{ordinal}"), Value::from(i64::from(ordinal))))
            .collect();
        entries.push((name.clone(), Value::from(1)));
        let entries: Vec<(&str, Value)> = entries
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let bytes = repeated::<F>(&entries);
        refused(decode::<F, Wide>(&bytes, at), ErrorKind::Duplicate, &name);
        refused(decode::<F, Value>(&bytes, at), ErrorKind::Duplicate, &name);
    }
}

/// What was seen of a wide structure outlives the wide structure in it, and
/// is forgotten with it.
fn duplicates_behind_nested_values<F: Format>() {
    let at = root("Wide");
    let inner = || Value::from(Map::from_iter([("number150", 1), ("number151", 2)]));
    for between in [
        ("inner", inner()),
        ("list", Value::List(vec![Value::from(1)])),
        ("unknown", Value::List(vec![Value::List(Vec::new())])),
    ] {
        let entries = [
            ("number150", Value::from(1)),
            between.clone(),
            ("number150", Value::from(2)),
        ];
        let bytes = repeated::<F>(&entries);
        refused(
            decode::<F, Wide>(&bytes, at),
            ErrorKind::Duplicate,
            "number150",
        );
        refused(
            decode::<F, Value>(&bytes, at),
            ErrorKind::Duplicate,
            "number150",
        );
        let bytes = repeated::<F>(&entries[1..]);
        decode::<F, Wide>(&bytes, at).unwrap();
    }
    // Siblings do not share what they have seen.
    let list = Value::List(vec![inner(), inner()]);
    let chain = Map::from_iter([("inner", inner()), ("number150", Value::from(1))]);
    decode::<F, Wide>(&document::<F>(&Value::Map(chain)), at).unwrap();
    let bytes = repeated::<F>(&[("unknown", list), ("number150", Value::from(2))]);
    decode::<F, Wide>(&bytes, at).unwrap();
}

fn duplicate_keys<F: Format>() {
    for len in [2, 17, 40] {
        let mut entries: Vec<(String, Value)> = (0..len)
            .map(|index| (format!("key{index}"), Value::from(index)))
            .collect();
        entries.push(("key0".to_owned(), Value::from(1)));
        let entries: Vec<(&str, Value)> = entries
            .iter()
            .map(|(key, value)| (key.as_str(), value.clone()))
            .collect();
        let bytes = repeated::<F>(&entries);
        let at = root("Counts");
        let typed = decode::<F, BTreeMap<Text, i64>>(&bytes, at);
        assert_eq!(typed.unwrap_err().kind(), ErrorKind::Duplicate);
        for at in [at, Member::DOCUMENT] {
            let error = decode::<F, Value>(&bytes, at).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Duplicate);
            assert!(error.to_string().contains("key0"), "{error}");
        }
    }
}

fn unions<F: Format>() {
    let at = root("Choice");
    for choice in [
        Choice::Text(Text::from("t")),
        Choice::Number(0),
        Choice::Node(Box::new(samples::node())),
        Choice::List(vec![Choice::Number(1), Choice::Empty]),
        Choice::Empty,
    ] {
        check::<F, _>(&choice, at);
    }
    for entries in [
        vec![],
        vec![("text", Value::Null)],
        vec![("text", Value::from("x")), ("number", Value::from(1))],
    ] {
        let bytes = repeated::<F>(&entries);
        for result in [
            decode::<F, Choice>(&bytes, at).map(|_| ()),
            decode::<F, Value>(&bytes, at).map(|_| ()),
            decode_lenient::<F, Choice>(&bytes, at).map(|_| ()),
            decode_lenient::<F, Value>(&bytes, at).map(|_| ()),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongType);
            assert!(error.to_string().contains("exactly one member"), "{error}");
        }
        let value = Value::Map(Map::from_iter(entries));
        assert!(encode::<F, _>(&value, at).is_err());
    }
}

fn variants_that_the_model_does_not_have<F: Format>() {
    let at = root("Choice");
    let new = ("new", Value::List(vec![Value::from(1)]));
    // A client meets a newer server.
    let bytes = repeated::<F>(std::slice::from_ref(&new));
    assert_eq!(
        decode_lenient::<F, Choice>(&bytes, at).unwrap(),
        Choice::Unknown
    );
    let dynamic: Value = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(dynamic, Value::Map(Map::new()));
    // A server takes none.
    for result in [
        decode::<F, Choice>(&bytes, at).map(|_| ()),
        decode::<F, Value>(&bytes, at).map(|_| ()),
    ] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unknown);
    }
    let bytes = repeated::<F>(&[("text", Value::from("x")), new]);
    for result in [
        decode::<F, Choice>(&bytes, at).map(|_| ()),
        decode::<F, Value>(&bytes, at).map(|_| ()),
    ] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unknown);
    }
    let known: Choice = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(known, Choice::Text(Text::from("x")));
}

fn required_members<F: Format>() {
    let at = root("Strict");
    for (entries, missing, path) in [
        (vec![], "id", ""),
        (vec![("id", Value::from("x"))], "tags", ""),
        (vec![("tags", Value::List(Vec::new()))], "id", ""),
        (
            vec![
                ("id", Value::from("x")),
                ("tags", Value::List(Vec::new())),
                (
                    "items",
                    Value::List(vec![
                        Value::from(Map::from_iter([
                            ("id", Value::from("x")),
                            ("tags", Value::List(Vec::new())),
                        ])),
                        Value::from(Map::from_iter([("id", Value::from("x"))])),
                    ]),
                ),
            ],
            "tags",
            "items[1]",
        ),
        (
            vec![
                (
                    "items",
                    Value::List(vec![Value::from(Map::from_iter([(
                        "tags",
                        Value::List(vec![Value::from("x")]),
                    )]))]),
                ),
                ("id", Value::from("x")),
            ],
            "id",
            "items[0]",
        ),
    ] {
        let bytes = repeated::<F>(&entries);
        for error in [
            decode::<F, Strict>(&bytes, at).unwrap_err(),
            decode::<F, Value>(&bytes, at).unwrap_err(),
        ] {
            assert_eq!((error.kind(), error.path()), (ErrorKind::Missing, path));
            let expected = format!("the required member `{missing}` of example.proof#Strict");
            assert_eq!(error.what_was_expected(), expected);
        }
        decode_lenient::<F, Strict>(&bytes, at).unwrap();
        decode_lenient::<F, Value>(&bytes, at).unwrap();
    }
}

fn variants_that_cannot_be_written<F: Format>() {
    let node = Node {
        choice: Some(Choice::Unknown),
        ..Node::default()
    };
    let error = encode::<F, _>(&node, root("Node")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable);
    assert!(!error.is_sender_fault());
}
