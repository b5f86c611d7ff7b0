//! serde over forms, compared with serde_urlencoded where both have the same conventions.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::form;
use polywire_schema::ErrorKind;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Flat {
    name: String,
    count: u64,
    delta: i8,
    ratio: f64,
    flag: bool,
    letter: char,
    #[serde(default)]
    comment: Option<String>,
    kind: Kind,
    #[serde(rename = "a.b c&=é")]
    odd: Newtype,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
enum Kind {
    #[default]
    Plain,
    #[serde(rename = "very special")]
    Special,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Newtype(u16);

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Nested {
    name: String,
    inner: Inner,
    items: Vec<Inner>,
    matrix: Vec<Vec<i32>>,
    map: BTreeMap<String, i32>,
    deep: BTreeMap<String, BTreeMap<u8, Inner>>,
    choice: Choice,
    choices: Vec<Choice>,
    unit: (),
    pair: (u8, String),
    optional: Option<Inner>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Inner {
    x: i32,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Choice {
    Unit,
    Newtype(i32),
    Tuple(i32, String),
    Struct { x: i32, inner: Inner },
    List(Vec<u8>),
}

fn flat() -> Flat {
    Flat {
        name: "Zoë & co=\u{1f600} ~*-._+%\r\n\0".to_owned(),
        count: u64::MAX,
        delta: -8,
        ratio: -1.5e300,
        flag: true,
        letter: '&',
        comment: None,
        kind: Kind::Special,
        odd: Newtype(3),
    }
}

fn inner(x: i32) -> Inner {
    Inner {
        x,
        tags: vec!["a b".to_owned(), String::new()],
    }
}

fn nested() -> Nested {
    Nested {
        name: "n".to_owned(),
        inner: inner(1),
        items: (0..12).map(inner).collect(),
        matrix: vec![vec![1, 2], vec![], vec![3]],
        map: BTreeMap::from([("a.b".to_owned(), 1), ("%2E ".to_owned(), 2)]),
        deep: BTreeMap::from([
            ("".to_owned(), BTreeMap::new()),
            ("x.y".to_owned(), BTreeMap::from([(7, inner(7))])),
        ]),
        choice: Choice::Struct {
            x: 1,
            inner: Inner::default(),
        },
        choices: vec![
            Choice::Unit,
            Choice::Newtype(-1),
            Choice::Tuple(1, "2".to_owned()),
            Choice::List(vec![]),
            Choice::List(vec![1]),
        ],
        unit: (),
        pair: (1, "&".to_owned()),
        optional: None,
    }
}

/// Both write the same, and read it.
#[track_caller]
fn agree<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let own = form::to_string(value).unwrap();
    let other = serde_urlencoded::to_string(value).unwrap();
    for text in [&own, &other] {
        assert_eq!(&form::from_str::<T>(text).unwrap(), value, "{text}");
        let back: T = serde_urlencoded::from_str(text).unwrap();
        assert_eq!(&back, value, "{text}");
    }
}

#[test]
fn as_serde_urlencoded() {
    agree(&flat());
    agree(&Flat {
        comment: Some("x".to_owned()),
        ratio: 2.0,
        ..flat()
    });
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let pairs = vec![
        pair("a.b", "1"),
        pair("a.b", ""),
        pair("", "="),
        pair("&", "%"),
    ];
    agree(&pairs);
    agree(&Vec::<(String, i64)>::new());
    let entries = [
        pair("a.b", "1"),
        pair("a", "2"),
        pair("", "="),
        pair("a.c.d", "%"),
    ];
    agree(&BTreeMap::from(entries));
    agree(&BTreeMap::from([(-1, true), (2, false)]));
    agree(&());
    // Of a text without special characters even the bytes are the same.
    let plain = BTreeMap::from([pair("a-b_c", "d e*f.g~h"), pair("x", "é")]);
    let own = form::to_string(&plain).unwrap();
    assert_eq!(own, serde_urlencoded::to_string(&plain).unwrap());
}

#[test]
fn nesting() {
    let value = nested();
    let text = form::to_string(&value).unwrap();
    assert_eq!(form::from_str::<Nested>(&text).unwrap(), value, "{text}");
    // In any order.
    let mut fields: Vec<&str> = text.split('&').collect();
    fields.reverse();
    let reversed = fields.join("&");
    assert_eq!(form::from_str::<Nested>(&reversed).unwrap(), value);
    fields.sort_unstable();
    let sorted = fields.join("&");
    assert_eq!(form::from_str::<Nested>(&sorted).unwrap(), value);
}

/// The table of the documentation.
#[test]
fn forms_of_values() {
    #[track_caller]
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, expected: &str) {
        let map = BTreeMap::from([("k".to_owned(), value)]);
        assert_eq!(form::to_string(&map).unwrap(), expected);
        assert_eq!(
            form::from_str::<BTreeMap<String, T>>(expected).unwrap(),
            map
        );
    }
    check(7, "k=7");
    check("a b".to_owned(), "k=a+b");
    check(Inner::default(), "k.x=0&k.tags=");
    check(vec![1, 2], "k.1=1&k.2=2");
    check(Vec::<i32>::new(), "k=");
    check(BTreeMap::from([("a".to_owned(), 1)]), "k.a=1");
    check(BTreeMap::<String, i32>::new(), "k=");
    check((1, true), "k.1=1&k.2=true");
    check(Choice::Unit, "k=Unit");
    check(Choice::Newtype(1), "k.Newtype=1");
    check(Choice::Tuple(1, "b".to_owned()), "k.Tuple.1=1&k.Tuple.2=b");
    check(
        Choice::Struct {
            x: 1,
            inner: Inner::default(),
        },
        "k.Struct.x=1&k.Struct.inner.x=0&k.Struct.inner.tags=",
    );
    check((), "k=");
    check(vec![vec![1], vec![]], "k.1.1=1&k.2=");
}

/// A whole form may be missing.
#[test]
fn options() {
    let some = Some(Inner::default());
    let text = form::to_string(&some).unwrap();
    assert_eq!(form::from_str::<Option<Inner>>(&text).unwrap(), some);
    assert_eq!(form::to_string(&None::<Inner>).unwrap(), "");
    assert_eq!(form::from_str::<Option<Inner>>("").unwrap(), None);
}

#[test]
fn repeated_keys() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Query {
        #[serde(default)]
        a: Vec<i32>,
        b: String,
        #[serde(default)]
        c: Vec<String>,
    }
    let query = |a: &[i32], c: &[&str]| Query {
        a: a.to_vec(),
        b: "x".to_owned(),
        c: c.iter().map(|item| (*item).to_owned()).collect(),
    };
    for (text, expected) in [
        ("a=1&a=2&b=x", query(&[1, 2], &[])),
        ("a=2&b=x&a=1", query(&[2, 1], &[])),
        ("b=x&c=z&a=2&c=y&%61=1&c=", query(&[2, 1], &["z", "y", ""])),
        ("b=x&a=2", query(&[2], &[])),
        ("b=x&a=&c=", query(&[], &[])),
        ("b=x&c=&c=", query(&[], &["", ""])),
        ("a.2=2&b=x&a.10=10&a.1=1", query(&[1, 2, 10], &[])),
        ("z.q=1&b=x&z.r=2&y", query(&[], &[])),
    ] {
        let read: Query = form::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read, expected, "{text}");
    }
    let map: BTreeMap<String, Vec<u8>> = form::from_str("a=1&b=2&a=3").unwrap();
    assert_eq!(map["a"], [1, 3]);
}

/// Each wrong form, the kind of the error, its offset and its path.
#[test]
fn errors() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "name")]
        _name: String,
        #[serde(rename = "count", default)]
        _count: u8,
        #[serde(rename = "items", default)]
        _items: Vec<u8>,
        #[serde(rename = "choice", default)]
        _choice: Option<Choice>,
        #[serde(rename = "inner", default)]
        _inner: Inner,
    }
    for (text, kind, offset, path) in [
        ("name=a&more=1", ErrorKind::Unknown, 12, "more"),
        ("name=a&name=b", ErrorKind::Duplicate, 12, "name"),
        ("count=1", ErrorKind::Missing, 0, ""),
        ("name=a&count=x", ErrorKind::InvalidValue, 13, "count"),
        ("name=a&count=256", ErrorKind::InvalidValue, 13, "count"),
        ("name=a&count=%zz", ErrorKind::Syntax, 13, ""),
        ("name=a&%", ErrorKind::Syntax, 7, ""),
        ("name=a&name.x=b", ErrorKind::Duplicate, 14, "name.x"),
        ("name.x=a", ErrorKind::WrongType, 4, "name.x"),
        ("name=a&items.0=1", ErrorKind::InvalidValue, 13, "items.0"),
        ("name=a&items.01=1", ErrorKind::InvalidValue, 13, "items.01"),
        ("name=a&items.x=1", ErrorKind::InvalidValue, 13, "items.x"),
        (
            "name=a&items.1=1&items.1=2",
            ErrorKind::Duplicate,
            23,
            "items.1",
        ),
        (
            "name=a&items=1&items.1=2",
            ErrorKind::Duplicate,
            23,
            "items.1",
        ),
        ("name=a&items.1.x=1", ErrorKind::WrongType, 14, "items.1.x"),
        (
            "name=a&inner.x=1&inner.x=1",
            ErrorKind::Duplicate,
            25,
            "inner.x",
        ),
        ("name=a&inner=1", ErrorKind::WrongType, 12, "inner"),
        ("name=a&choice=No", ErrorKind::Unknown, 14, "choice"),
        ("name=a&choice=Newtype", ErrorKind::WrongType, 14, "choice"),
        (
            "name=a&choice.Newtype=1&choice.Unit=",
            ErrorKind::InvalidValue,
            31,
            "choice.Unit",
        ),
    ] {
        let error = form::from_str::<Strict>(text).unwrap_err();
        let found = (error.kind(), error.offset(), error.path());
        assert_eq!(found, (kind, Some(offset), path), "{text}: {error}");
    }
    let map = form::from_str::<BTreeMap<String, i32>>("a=1&b=2&%61=3");
    assert_eq!(map.unwrap_err().kind(), ErrorKind::Duplicate);
    assert!(form::from_str::<(u8, u8)>("a=1").is_err());
    assert!(form::from_str::<()>("a=1").is_err());
    let deep = format!("{}x=1", "a.".repeat(100));
    #[derive(Debug, Deserialize)]
    struct Deep {
        #[serde(rename = "a", default)]
        _a: Option<Box<Deep>>,
    }
    assert!(form::from_str::<Deep>(&deep).unwrap_err().is_limit());
}

/// What a form cannot carry.
#[test]
fn unwritable() {
    let error = |result: Result<String, polywire_schema::Error>| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unwritable);
    };
    error(form::to_string(&1));
    error(form::to_string("a"));
    error(form::to_string(&[1]));
    error(form::to_string(&[("a", vec![1])]));
    error(form::to_string(&[("a", "b", "c")]));
    error(form::to_string(&BTreeMap::from([("a", [None, Some(1)])])));
    error(form::to_string(&BTreeMap::from([(vec![1], 1)])));
    error(form::to_string(&BTreeMap::from([(
        "a",
        Ok::<_, ()>(None::<i32>),
    )])));
}

#[test]
fn borrowed() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Borrowed<'a> {
        plain: &'a str,
        #[serde(borrow)]
        either: Cow<'a, str>,
    }
    let read: Borrowed<'_> = form::from_str("plain=abc&either=a%20b").unwrap();
    assert_eq!((read.plain, &*read.either), ("abc", "a b"));
    let error = form::from_str::<Borrowed<'_>>("plain=a+c&either=").unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::WrongType, Some(6))
    );
    let read: Flat = form::from_reader(&form::to_vec(&flat()).unwrap()[..]).unwrap();
    assert_eq!(read, flat());
    let mut out = Vec::new();
    form::to_writer(&mut out, &flat()).unwrap();
    assert_eq!(out, form::to_vec(&flat()).unwrap());
}

proptest! {
    /// Any texts are read as they were written, and as serde_urlencoded reads and writes them.
    #[test]
    fn texts(pairs in prop::collection::vec((".{0,6}|[.a%+&=]{0,6}", ".{0,20}"), 0..6)) {
        let written = form::to_string(&pairs).unwrap();
        prop_assert_eq!(&written, &serde_urlencoded::to_string(&pairs).unwrap());
        prop_assert_eq!(&form::from_str::<Vec<(String, String)>>(&written).unwrap(), &pairs);
        let map: BTreeMap<String, String> = pairs.into_iter().collect();
        for written in [form::to_string(&map).unwrap(), serde_urlencoded::to_string(&map).unwrap()] {
            let read: BTreeMap<String, String> = form::from_str(&written).unwrap();
            prop_assert_eq!(&read, &map);
        }
        let nested: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            map.iter().map(|(key, value)| {
                let inner = BTreeMap::from([(value.clone(), vec![key.clone(), value.clone()])]);
                (key.clone(), inner)
            }).collect();
        let written = form::to_string(&nested).unwrap();
        prop_assert_eq!(form::from_str::<BTreeMap<_, _>>(&written).unwrap(), nested);
    }
}

/// Forms that are cut off or have one byte changed are read or rejected.
#[test]
fn robust() {
    let short = [
        "a=1&b=2&%61=3&c.1=x&c.2=y",
        "inner.x=1&name=%C3%A9+&choice.Tuple.1=1&pair=",
        "Struct.x=1&Struct.inner.tags.2=a",
    ];
    for text in short {
        check_changes(text.as_bytes(), &(0..=u8::MAX).collect::<Vec<u8>>());
    }
    let nested = Nested {
        items: vec![inner(1)],
        ..nested()
    };
    check_changes(&form::to_vec(&nested).unwrap(), b"\0&=.%1\xff");
    check_changes(&form::to_vec(&flat()).unwrap(), b"\0&=.%1\xff");
}

fn check_changes(text: &[u8], bytes: &[u8]) {
    let mut changed = text.to_vec();
    for at in 0..text.len() {
        read_all(&text[..at]);
        for byte in bytes {
            changed[at] = *byte;
            read_all(&changed);
        }
        changed[at] = text[at];
    }
}

fn read_all(bytes: &[u8]) {
    let _ = form::from_slice::<Nested>(bytes);
    let _ = form::from_slice::<Flat>(bytes);
    let _ = form::from_slice::<Choice>(bytes);
    let _ = form::from_slice::<Vec<(String, String)>>(bytes);
    let _ = form::from_slice::<BTreeMap<String, Vec<String>>>(bytes);
    let _ = form::from_slice::<polywire_schema::Value>(bytes);
}
