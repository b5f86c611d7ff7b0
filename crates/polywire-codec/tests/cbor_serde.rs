//! Types of serde in CBOR, beside another library.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use ciborium::Value as Other;
use polywire_codec::cbor::{self, CborDecoder, CborEncoder, CborProfile};
use polywire_schema::{BigInteger, Blob, Body, Error, ErrorKind, Limits, Value};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Unit;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Newtype(String);

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Pair(i64, Option<String>);

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Box(u8, u8),
    Named { name: String, sides: u32 },
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Inner {
    flag: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Everything {
    tiny: i8,
    small: u16,
    large: i64,
    unsigned: u64,
    huge: i128,
    single: f32,
    double: f64,
    letter: char,
    text: String,
    list: Vec<Inner>,
    map: BTreeMap<String, i32>,
    numbered: BTreeMap<u32, ()>,
    unit: Unit,
    newtype: Newtype,
    pair: Pair,
    shapes: Vec<Shape>,
    nothing: Option<u8>,
    array: [u8; 3],
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

/// Bytes, as types say them that are bytes.
#[derive(Clone, Debug, PartialEq)]
struct Raw(Vec<u8>);

impl Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

fn everything() -> Everything {
    Everything {
        tiny: -128,
        small: 65_535,
        large: i64::MIN,
        unsigned: u64::MAX,
        huge: -(1 << 100),
        single: 1.5,
        double: -0.1,
        letter: 'ß',
        text: "a text of more than twenty-three bytes".to_owned(),
        list: vec![
            Inner::default(),
            Inner {
                flag: true,
                note: Some("n".to_owned()),
            },
        ],
        map: BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), -1)]),
        numbered: BTreeMap::from([(1, ()), (70_000, ())]),
        unit: Unit,
        newtype: Newtype(String::new()),
        pair: Pair(-1, None),
        shapes: vec![
            Shape::Nothing,
            Shape::Circle(2.0),
            Shape::Box(1, 2),
            Shape::Named {
                name: "x".to_owned(),
                sides: 4,
            },
        ],
        nothing: None,
        array: [1, 2, 255],
        rest: (0..30).map(|n| (format!("rest{n}"), n)).collect(),
    }
}

fn by_other<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn read_by_other<T: DeserializeOwned>(bytes: &[u8]) -> T {
    ciborium::from_reader(bytes).unwrap()
}

/// Each reads what the other wrote, and what it wrote itself.
fn both_ways<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let own = cbor::to_vec(value).unwrap();
    assert_eq!(&cbor::from_slice::<T>(&own).unwrap(), value);
    assert_eq!(&read_by_other::<T>(&own), value);
    let other = by_other(value);
    assert_eq!(&cbor::from_slice::<T>(&other).unwrap(), value);
}

#[test]
fn types_go_both_ways() {
    both_ways(&everything());
    both_ways(&Some(Some(3)));
    both_ways(&(1, "two".to_owned(), [3.0, f64::INFINITY]));
    both_ways(&vec![Shape::Nothing; 30]);
    both_ways(&u128::MAX);
    both_ways(&i128::MIN);
    both_ways(&());
}

#[test]
fn text_and_bytes_are_borrowed() {
    #[derive(Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
        #[serde(borrow)]
        list: Vec<&'a str>,
    }

    let bytes = cbor::to_vec(&BTreeMap::from([
        ("list", Other::Array(vec!["x".into(), "y".into()])),
        ("text", "abc".into()),
    ]))
    .unwrap();
    let mut decoder =
        CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let read: Borrowed<'_> = decoder.deserialize().unwrap();
    assert_eq!((read.text, read.list), ("abc", vec!["x", "y"]));

    let bytes = cbor::to_vec(&Raw(vec![1, 2, 3])).unwrap();
    assert_eq!(bytes, by_other(&Other::Bytes(vec![1, 2, 3])));
    let mut decoder =
        CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    assert_eq!(decoder.deserialize::<&[u8]>().unwrap(), [1, 2, 3]);
    // A byte string is a list of bytes too.
    assert_eq!(cbor::from_slice::<Vec<u8>>(&bytes).unwrap(), [1, 2, 3]);
}

/// Bytes of another library, which keeps none of ours.
#[derive(Debug, PartialEq)]
struct Plain(Vec<u8>);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl serde::de::Visitor<'_> for Bytes {
            type Value = Plain;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Plain, E> {
                Ok(Plain(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

#[test]
fn large_blobs_share_the_body() {
    let (large, small) = (Blob::from(vec![7; 100_000]), Blob::from(vec![8; 1_000]));
    let written = cbor::to_vec(&(&large, &large, &small, &large)).unwrap();
    let body = Body::from(written);
    let limits = Limits::DEFAULT;
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, &limits).unwrap();
    let read: (Plain, Blob, Blob, Blob) = decoder.deserialize().unwrap();
    let range = body.as_bytes().as_ptr_range();
    let shares = |blob: &Blob| range.contains(&blob.as_ptr());
    assert_eq!(read.0.0, *large);
    assert_eq!((&read.1, &read.2, &read.3), (&large, &small, &large));
    assert!(shares(&read.1) && shares(&read.3) && !shares(&read.2));
    // What is lent without a body is copied, as ever.
    let read: (Plain, Blob, Blob, Blob) = cbor::from_slice(body.as_bytes()).unwrap();
    assert!(!shares(&read.1) && read.1 == large);
}

fn refused<T: DeserializeOwned + Debug>(bytes: &[u8]) -> Error {
    cbor::from_slice::<T>(bytes).unwrap_err()
}

#[test]
fn errors_say_where_and_what() {
    let bytes = cbor::to_vec(&BTreeMap::from([("tiny", 1), ("small", 70_000)])).unwrap();
    let error = refused::<BTreeMap<String, u16>>(&bytes);
    assert_eq!(
        error.to_string(),
        "CBOR: invalid value: expected an integer from 0 to 65535, found 70000, at byte 7, in small"
    );
    let error = refused::<(String, bool)>(&[0x82, 0x61, b'a', 0x01]);
    assert_eq!(
        error.to_string(),
        "CBOR: wrong type: expected a boolean, found 1, at byte 3, in [1]"
    );
    assert_eq!(
        refused::<(u8, u8)>(&[0x81, 1]).kind(),
        ErrorKind::InvalidValue
    );
    assert_eq!(
        refused::<(u8,)>(&[0x82, 1, 1]).kind(),
        ErrorKind::InvalidValue
    );
    assert_eq!(refused::<Inner>(&[0xa0]).kind(), ErrorKind::Missing);
    assert_eq!(refused::<Shape>(&[0x61, b'x']).kind(), ErrorKind::Unknown);
    assert_eq!(refused::<Shape>(&[0xa0]).kind(), ErrorKind::InvalidValue);
    assert_eq!(refused::<Shape>(&[0x01]).kind(), ErrorKind::WrongType);
    // `{"Circle": 1, "x": 1}`: a variant is one entry.
    let two = b"\xa2\x66Circle\x01\x61x\x01";
    assert_eq!(refused::<Shape>(two).kind(), ErrorKind::InvalidValue);
    assert_eq!(refused::<Vec<u8>>(&[0x84, 1]).kind(), ErrorKind::Truncated);
    assert_eq!(refused::<u8>(&[]).kind(), ErrorKind::Truncated);
    assert_eq!(refused::<u8>(&[1, 1]).kind(), ErrorKind::Syntax);
    assert_eq!(
        refused::<char>(&[0x62, b'a', b'b']).kind(),
        ErrorKind::InvalidValue
    );
}

#[test]
fn limits_hold() {
    let deep = [&[0x81; 100][..], &[0x01]].concat();
    assert!(refused::<Other>(&deep).is_limit());
    let limits = Limits::DEFAULT.with_items(3);
    let bytes = cbor::to_vec(&[1; 4]).unwrap();
    let mut decoder = CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &limits).unwrap();
    assert!(decoder.deserialize::<Vec<u8>>().unwrap_err().is_limit());
    // A length that no message can have makes no room.
    assert!(
        refused::<Vec<u64>>(&[0x9b, 0, 0, 0, 255, 0, 0, 0, 0])
            .offset()
            .is_some()
    );
}

fn parameters<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    CborDecoder::from_slice(bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?.deserialize_parameters()
}

#[test]
fn parameters_are_counted() {
    assert_eq!(
        parameters::<(u8, bool)>(&[0x82, 1, 0xf5]).unwrap(),
        (1, true)
    );
    assert_eq!(parameters::<Vec<u8>>(&[0x82, 1, 2]).unwrap(), [1, 2]);
    assert_eq!(parameters::<[u8; 2]>(&[0x9f, 1, 2, 0xff]).unwrap(), [1, 2]);
    parameters::<()>(&[0x80]).unwrap();
    parameters::<()>(&[]).unwrap();
    // Those at the end that are an option may be left out.
    type Optional = (u8, Option<u8>, Option<u8>);
    assert_eq!(parameters::<Optional>(&[0x81, 1]).unwrap(), (1, None, None));
    assert_eq!(
        parameters::<Optional>(&[0x82, 1, 2]).unwrap(),
        (1, Some(2), None)
    );
    for (bytes, message) in [
        (
            &[0x81, 1][..],
            "CBOR: missing: expected 2 parameters, found 1 parameter, at byte 2",
        ),
        (
            &[0x83, 1, 2, 3],
            "CBOR: unknown: expected at most 2 parameters, found one more, at byte 3",
        ),
        (
            &[],
            "CBOR: missing: expected 2 parameters, found none, at byte 0",
        ),
    ] {
        let error = parameters::<(u8, u8)>(bytes).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
    let error = parameters::<()>(&[0x81, 1]).unwrap_err();
    assert!(
        error.to_string().contains("expected no parameters"),
        "{error}"
    );
    let error = parameters::<(u8, u8)>(&[0x82, 1, 0x61, b'x']).unwrap_err();
    assert_eq!(error.path(), "[1]");
    assert_eq!(
        parameters::<u8>(&[1]).unwrap_err().kind(),
        ErrorKind::WrongType
    );
}

/// A value that says of its length what is not true.
struct Liar;

impl Serialize for Liar {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;

        let mut seq = serializer.serialize_seq(Some(3))?;
        seq.serialize_element(&1)?;
        seq.end()
    }
}

#[test]
fn a_length_that_is_not_true_is_not_written() {
    assert_eq!(
        cbor::to_vec(&Liar).unwrap_err().kind(),
        ErrorKind::Unwritable
    );
}

/// The entries without those whose keys came before.
fn distinct(entries: Vec<(Other, Other)>) -> Vec<(Other, Other)> {
    let entries = entries.into_iter();
    let by_key: BTreeMap<_, _> = entries.map(|entry| (by_other(&entry.0), entry)).collect();
    by_key.into_values().collect()
}

fn any_value() -> impl Strategy<Value = Other> {
    let leaf = prop_oneof![
        Just(Other::Null),
        any::<bool>().prop_map(Other::Bool),
        any::<i64>().prop_map(Other::from),
        any::<u64>().prop_map(Other::from),
        prop::num::f64::NORMAL.prop_map(Other::Float),
        ".{0,30}".prop_map(Other::Text),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Other::Bytes),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..30).prop_map(Other::Array),
            prop::collection::vec((inner.clone(), inner), 0..30)
                .prop_map(|entries| Other::Map(distinct(entries))),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_goes_both_ways(value in any_value()) {
        both_ways(&value);
    }

    /// Whatever the bytes are, both take them or neither, but for what only one has:
    /// limits, tags, and simple values.
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = cbor::from_slice::<Other>(&bytes);
        let _ = cbor::from_slice::<Vec<Shape>>(&bytes);
        let _ = cbor::from_slice::<BTreeMap<String, Option<Pair>>>(&bytes);
        let _ = parameters::<(u8, Option<String>)>(&bytes);
    }
}

/// Integers of every size, each in the middle of a message, where a glance tells them,
/// and at its end, where there is less to glance at.
#[test]
fn integers_wherever_they_stand() {
    let edges = [
        0,
        23,
        24,
        255,
        256,
        65_535,
        65_536,
        u32::MAX.into(),
        1 << 32,
    ];
    let mut all: Vec<i64> = edges.into_iter().chain([i64::MAX]).collect();
    all.extend(all.clone().iter().map(|value| !value));
    for last in &all {
        let list: Vec<i64> = all.iter().chain([last]).copied().collect();
        let bytes = cbor::to_vec(&list).unwrap();
        assert_eq!(bytes, by_other(&list));
        assert_eq!(cbor::from_slice::<Vec<i64>>(&bytes).unwrap(), list);
        let value = cbor::read_value(&bytes).unwrap();
        let items: Vec<_> = value.as_list().unwrap().iter().collect();
        let integers: Vec<i64> = items.iter().map(|item| item.as_i64().unwrap()).collect();
        assert_eq!(integers, list);
        assert_eq!(cbor::write_value(&value).unwrap(), bytes);
    }
    // What 64 bits do not hold is read all the same, by who has room for it.
    let large = [i128::from(u64::MAX), -1 - i128::from(u64::MAX)];
    let bytes = cbor::to_vec(&large).unwrap();
    assert_eq!(cbor::from_slice::<[i128; 2]>(&bytes).unwrap(), large);
    let value = cbor::read_value(&bytes).unwrap();
    let digits = u64::MAX.to_string();
    assert_eq!(
        value.as_list().unwrap()[0],
        Value::from(digits.parse::<BigInteger>().unwrap())
    );
    assert_eq!(cbor::write_value(&value).unwrap(), bytes);
    // A number that breaks off is none.
    for len in 1..9 {
        let cut = &[0x1b, 0, 0, 0, 1, 0, 0, 0, 0][..len];
        assert_eq!(
            cbor::read_value(cut).unwrap_err().kind(),
            ErrorKind::Truncated
        );
    }
}

/// A value of a map, list or number may have tags before it, and no key comes twice,
/// whichever way a map says how long it is.
#[test]
fn values_behind_tags_and_maps_of_both_kinds() {
    let value = |bytes: &[u8]| cbor::read_value(bytes);
    let plain = value(&[0xa1, 0x61, b'a', 0x82, 0x01, 0x18, 0xff]).unwrap();
    for same in [
        &[
            0xd9, 0xd9, 0xf7, 0xa1, 0x61, b'a', 0xd9, 0xd9, 0xf7, 0x82, 0x01, 0xd9, 0xd9, 0xf7,
            0x18, 0xff,
        ][..],
        &[0xbf, 0x61, b'a', 0x9f, 0x01, 0x18, 0xff, 0xff, 0xff],
    ] {
        assert_eq!(value(same).unwrap(), plain);
    }
    for twice in [
        &[0xa2, 0x61, b'a', 0x01, 0x61, b'a', 0x02][..],
        &[0xbf, 0x61, b'a', 0x01, 0x61, b'a', 0x02, 0xff],
    ] {
        assert_eq!(value(twice).unwrap_err().kind(), ErrorKind::Duplicate);
    }
}

/// Large integers and decimals have tags. Text may have tags without meaning, and dates are text.
#[test]
fn numbers_with_tags_are_not_strings() {
    let read = |bytes: &[u8]| cbor::from_slice::<String>(bytes);
    let large = {
        let mut bytes = vec![0xc2, 0x58, 20];
        bytes.extend([0xff; 20]);
        bytes
    };
    let numbers = [
        &[0xc2, 0x41, 0x61][..],
        &[0xc3, 0x41, 0x61],
        &[0xc4, 0x82, 0x20, 0x18, 0x0f],
        &[0xd9, 0xd9, 0xf7, 0xc2, 0x41, 0x61],
        &large,
    ];
    for number in numbers {
        let error = read(number).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{number:x?}: {error}");
        let error = cbor::from_slice::<Cow<'_, str>>(number).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{number:x?}: {error}");
    }
    assert_eq!(read(&[0xd8, 0x20, 0x61, b'a']).unwrap(), "a");
    assert_eq!(
        read(&[0xd9, 0xd9, 0xf7, 0xd8, 0x20, 0x61, b'a']).unwrap(),
        "a"
    );
    assert_eq!(read(&[0xc1, 0x00]).unwrap(), "1970-01-01T00:00:00Z");
}

/// A map takes no key twice, whatever comes of it and however the key is spelled: which
/// one counts is nothing that peers agree on.
#[test]
fn no_key_comes_twice() {
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Either {
        Text(String),
        Map(BTreeMap<String, u8>),
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Known {
        a: u8,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Flat {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }

    fn twice<T: DeserializeOwned + Debug>(first: &[u8], second: &[u8], name: &str) {
        let map = [&[0xa2], first, &[1], second, &[2]].concat();
        for bytes in [[&[0x81][..], &map].concat(), {
            let open = [&[0xbf], &map[1..], &[0xff]].concat();
            [&[0x81][..], &open].concat()
        }] {
            let error = refused::<Vec<T>>(&bytes);
            assert_eq!(error.kind(), ErrorKind::Duplicate, "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
    let a = b"\x61a";
    twice::<BTreeMap<String, u8>>(a, a, "`a`");
    twice::<Value>(a, a, "`a`");
    twice::<serde_json::Value>(a, a, "`a`");
    twice::<Other>(a, a, "`a`");
    twice::<Either>(a, a, "`a`");
    twice::<Flat>(a, a, "`a`");
    twice::<Known>(a, a, "`a`");
    for spelled in [&b"\x78\x01a"[..], b"\x7f\x61a\xff", b"\xd9\xd9\xf7\x61a"] {
        twice::<BTreeMap<String, u8>>(a, spelled, "`a`");
    }
    for spelled in [&[5][..], &[0x18, 5], &[0x19, 0, 5], &[0xc2, 0x41, 5]] {
        twice::<BTreeMap<u8, u8>>(&[5], spelled, "the integer 5");
    }
    // What a structure does not know may come as often as it likes.
    assert!(
        cbor::from_slice::<Inner>(b"\xa3\x61x\x01\x61x\x02\x64flag\xf5")
            .unwrap()
            .flag
    );
}

/// Where a reader begins within a message, the paths of its errors begin; what stands
/// before is not read again to find them.
#[test]
fn a_part_of_a_message_is_read_by_itself() {
    // What stands before it is no CBOR.
    let bytes = b"\xff\x1c\x9f\x82\x01\x61x";
    let mut decoder =
        CborDecoder::from_slice(bytes, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    decoder.begin_at(3);
    let error = decoder.deserialize_parameters::<(u8, u8)>().unwrap_err();
    assert_eq!((error.path(), error.offset()), ("[1]", Some(5)));
    decoder.begin_at(3);
    let error = decoder.deserialize::<(u8,)>().unwrap_err();
    assert_eq!((error.path(), error.offset()), ("", Some(3)));
}

/// A type that goes on although a part of it could not be written.
struct Careless;

impl Serialize for Careless {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeMap};

        struct Never;
        impl Serialize for Never {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(S::Error::custom("never"))
            }
        }
        let mut map = serializer.serialize_map(None)?;
        let _ = map.serialize_entry("a", &Never);
        map.serialize_entry("b", &1)?;
        map.end()
    }
}

#[test]
fn a_careless_type_makes_no_message() {
    let mut encoder = CborEncoder::new(Vec::new());
    let _ = encoder.serialize(&Careless);
    assert!(encoder.finish().is_err());
    let mut encoder = CborEncoder::new(Vec::new());
    let _ = encoder.serialize(&[Careless, Careless]);
    assert!(encoder.finish().is_err());
}
