//! The attributes of serde in every format: one table of types, written and read back.
//!
//! XML and forms have no types of values: what they cannot carry is in `not_in_xml` and
//! `not_in_forms`. What XML-RPC cannot carry is in `not_in_xmlrpc`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use polywire_codec::{cbor, form, json, msgpack, xml, xmlrpc};
use polywire_schema::{BigDecimal, BigInteger, Blob, ErrorKind, Text, Timestamp, Value};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Inner {
    height: i32,
    name: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Renamed {
    #[serde(rename = "the name")]
    name: String,
    #[serde(alias = "other")]
    count: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    #[serde(default)]
    first_value: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    some_items: Vec<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_there: Option<bool>,
    #[serde(skip)]
    never: u8,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Flat {
    id: i64,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum External {
    Unit,
    Newtype(i32),
    Tuple(i32, String),
    Struct { height: f64, inner: Inner },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type")]
enum Internal {
    Unit,
    Newtype(Inner),
    Struct { count: u8, inner: Inner },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", content = "value")]
enum Adjacent {
    Unit,
    Newtype(i32),
    Tuple(i32, String),
    Struct { count: u8 },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Fraction(f64),
    Text(String),
    List(Vec<i64>),
    Inner(Inner),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    name: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Borrowed<'a> {
    plain: &'a str,
    #[serde(borrow)]
    copied: Cow<'a, str>,
    #[serde(borrow)]
    items: Vec<&'a str>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Unit;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Newtype(String);

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Tuple(u8, String, Option<bool>);

/// Numbers at the ends of their types.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Numbers {
    a: (i8, i8, u8),
    b: (i16, i16, u16),
    c: (i32, i32, u32),
    d: (i64, i64, u64),
    e: (f32, f32, f64, f64),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Wide {
    signed: (i128, i128),
    unsigned: u128,
}

/// The types of Polywire that serde knows as text or bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Own {
    text: Text,
    blob: Blob,
    timestamp: Timestamp,
    integer: BigInteger,
    decimal: BigDecimal,
}

/// A flattened structure of strings, which every format can buffer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct FlatText {
    id: i64,
    items: Vec<u8>,
    #[serde(flatten)]
    newtype: Member<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

fn flat_text() -> FlatText {
    FlatText {
        id: -1,
        items: vec![1, 2],
        newtype: Member {
            value: "a".to_owned(),
        },
        rest: BTreeMap::from([("x".to_owned(), "1".to_owned())]),
    }
}

fn inner() -> Inner {
    Inner {
        height: -20,
        name: "São \"Paulo\"\n".to_owned(),
    }
}

/// Writes a value in these formats and reads it back.
macro_rules! same {
    ($type:ty: $value:expr, [$($format:ident),*]) => {{
        let value: $type = $value;
        $({
            let bytes = $format::to_vec(&value).unwrap();
            let written = String::from_utf8_lossy(&bytes);
            let back = $format::from_slice::<$type>(&bytes);
            match back {
                Ok(back) => assert_eq!(back, value, "{}: {written}", stringify!($format)),
                Err(error) => panic!("{}: {written}: {error}", stringify!($format)),
            }
        })*
    }};
    ($type:ty: $value:expr) => {
        same!($type: $value, [json, cbor, msgpack, xmlrpc, xml, form])
    };
}

/// A member of any type.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Member<T> {
    value: T,
}

/// Writes a value, as it is and as a member, and reads it back.
macro_rules! member {
    ($type:ty: $value:expr, [$($format:ident),*]) => {
        same!(Member<$type>: Member { value: $value }, [$($format),*])
    };
    ($type:ty: $value:expr) => {
        member!($type: $value, [json, cbor, msgpack, xmlrpc, xml, form])
    };
}

/// Checks that a value is not written.
macro_rules! unwritable {
    ($format:ident: $($value:expr;)*) => {
        $(match $format::to_vec(&$value) {
            Ok(bytes) => panic!("{}", String::from_utf8_lossy(&bytes)),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unwritable),
        })*
    };
}

/// Checks that what is written for a value is not read, with an error of this kind.
macro_rules! unreadable {
    ($format:ident: $($type:ty: $value:expr => $kind:ident;)*) => {
        $({
            let value: $type = $value;
            let bytes = $format::to_vec(&value).unwrap();
            match $format::from_slice::<$type>(&bytes) {
                Ok(back) => panic!("{}: {back:?}", String::from_utf8_lossy(&bytes)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::$kind, "{error}"),
            }
        })*
    };
}

#[test]
fn attributes() {
    same!(Renamed: Renamed { name: "a".to_owned(), count: u64::MAX }, [json, cbor, msgpack, form]);
    same!(Renamed: Renamed { name: "a".to_owned(), count: i64::MAX as u64 }, [xmlrpc]);
    same!(Defaults: Defaults { first_value: 1, some_items: vec![], not_there: None, never: 0 });
    same!(Defaults: Defaults {
        first_value: 0, some_items: vec![-1, 300], not_there: Some(true), never: 0,
    });
    let rest = BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), -2)]);
    same!(Flat: Flat { id: i64::MIN, inner: inner(), rest }, [json, cbor, msgpack, xmlrpc]);
    same!(FlatText: flat_text());
    same!(Strict: Strict { name: String::new() });
}

#[test]
fn enums() {
    let tuple = || "b".to_owned();
    for value in [
        External::Unit,
        External::Newtype(-1),
        External::Tuple(1, tuple()),
        External::Struct {
            height: 0.5,
            inner: inner(),
        },
    ] {
        same!(External: value.clone());
        same!(Vec<External>: vec![value.clone(), External::Unit], [json, cbor, msgpack, xmlrpc]);
        member!(Vec<External>: vec![value.clone(), External::Unit]);
        member!(External: value.clone());
        same!(Option<External>: Some(value));
    }
    for value in [
        Internal::Unit,
        Internal::Newtype(inner()),
        Internal::Struct {
            count: 200,
            inner: inner(),
        },
    ] {
        same!(Internal: value, [json, cbor, msgpack, xmlrpc]);
    }
    for value in [
        Adjacent::Unit,
        Adjacent::Newtype(7),
        Adjacent::Tuple(1, tuple()),
        Adjacent::Struct { count: 1 },
    ] {
        member!(Adjacent: value.clone());
        same!(Adjacent: value);
    }
    for value in [
        Untagged::Number(-7),
        Untagged::Fraction(0.25),
        Untagged::Fraction(3.0),
        Untagged::Text("a".to_owned()),
        Untagged::List(vec![1, 2]),
        Untagged::Inner(inner()),
    ] {
        same!(Untagged: value, [json, cbor, msgpack, xmlrpc]);
    }
}

#[test]
fn shapes() {
    same!(Unit: Unit);
    same!((): ());
    member!((): ());
    same!(Newtype: Newtype("a".to_owned()), [json, cbor, msgpack, xmlrpc, xml]);
    member!(Newtype: Newtype("a".to_owned()));
    same!(Tuple: Tuple(255, "ü".to_owned(), None), [json, cbor, msgpack, xmlrpc]);
    same!(Tuple: Tuple(255, "ü".to_owned(), Some(true)), [json, cbor, msgpack, xmlrpc, xml]);
    member!(Tuple: Tuple(255, "ü ".to_owned(), None), [json, cbor, msgpack, xmlrpc, xml]);
    member!(Tuple: Tuple(255, "ü ".to_owned(), Some(true)));
    same!(Option<Option<i32>>: None);
    member!(Option<Option<i32>>: None);
    same!(Vec<Option<i32>>: vec![Some(1), None], [json, cbor, msgpack, xmlrpc]);
    member!(Vec<Option<i32>>: vec![Some(1), None], [json, cbor, msgpack, xmlrpc, xml]);
    same!(char: '€', [json, cbor, msgpack, xmlrpc, xml]);
    same!(bool: false, [json, cbor, msgpack, xmlrpc, xml]);
    member!(char: ' ');
    member!(bool: false);
    same!(Vec<Vec<u8>>: vec![vec![], vec![0, 255]], [json, cbor, msgpack, xmlrpc]);
    member!(Vec<Vec<u8>>: vec![vec![], vec![0, 255]]);
    same!(Vec<(String, u8)>: vec![("a".to_owned(), 1), ("b".to_owned(), 2)], [json, cbor, msgpack, xmlrpc, form]);
    let map = BTreeMap::from([("a b".to_owned(), vec![true])]);
    same!(BTreeMap<String, Vec<bool>>: map, [json, cbor, msgpack, xmlrpc, form]);
    let map = BTreeMap::from([
        ("a".to_owned(), vec![true]),
        ("b".to_owned(), vec![true, false]),
    ]);
    member!(BTreeMap<String, Vec<bool>>: map.clone());
    same!(BTreeMap<String, Vec<bool>>: map);
    let map = BTreeMap::from([(-1, "x".to_owned()), (10, String::new())]);
    same!(BTreeMap<i32, String>: map, [json, cbor, msgpack, xmlrpc, form]);
    same!(BTreeMap<bool, u8>: BTreeMap::from([(true, 1)]));
    same!(Numbers: numbers(), [json, cbor, msgpack, xml, form]);
    let wide = Wide {
        signed: (i128::MIN, i128::MAX),
        unsigned: u128::MAX,
    };
    same!(Wide: wide, [json, cbor, msgpack, xml, form]);
}

fn numbers() -> Numbers {
    Numbers {
        a: (i8::MIN, i8::MAX, u8::MAX),
        b: (i16::MIN, i16::MAX, u16::MAX),
        c: (i32::MIN, i32::MAX, u32::MAX),
        d: (i64::MIN, i64::MAX, u64::MAX),
        e: (f32::MIN_POSITIVE, -1.5, f64::MAX, -0.0),
    }
}

/// What XML cannot carry.
#[test]
fn not_in_xml() {
    let renamed = Renamed {
        name: "a".to_owned(),
        count: 1,
    };
    let text = |text: &str| text.to_owned();
    unwritable! { xml:
        // No name of an element.
        renamed;
        BTreeMap::from([("a b", 1)]);
        BTreeMap::from([(-1, 1)]);
        // Only a list of values that are text can be the whole document.
        vec![External::Newtype(1)];
        vec![vec![1]];
        vec![("a", 1)];
        // In such a list nothing can be missing or empty, or have white space in it.
        vec![Some(1), None];
        Tuple(255, text("a"), None);
        Tuple(255, text("a b"), None);
        Tuple(255, text(""), None);
        // Characters that XML does not allow.
        text("\u{8}");
    }
    unreadable! { xml:
        // What serde reads through a buffer has scalars that are strings, and no lists.
        Flat: Flat { id: 1, inner: inner(), rest: BTreeMap::new() } => WrongType;
        Internal: Internal::Newtype(inner()) => WrongType;
        Internal: Internal::Struct { count: 1, inner: inner() } => WrongType;
        Untagged: Untagged::Inner(inner()) => InvalidValue;
        Value: json::read_value("{\"a\": [1, 2]}").unwrap() => Duplicate;
        // An empty list has no elements, and so has a list that is missing.
        Member<Vec<u8>>: Member { value: vec![] } => Missing;
    }
    same!(Internal: Internal::Unit);
    // An untagged enum takes the variant for strings.
    for value in [
        Untagged::Number(-7),
        Untagged::Fraction(0.5),
        Untagged::List(vec![1, 2]),
    ] {
        let bytes = xml::to_vec(&value).unwrap();
        let back: Untagged = xml::from_slice(&bytes).unwrap();
        assert!(matches!(back, Untagged::Text(_)), "{back:?}");
    }
    same!(Untagged: Untagged::Text("a".to_owned()), [xml]);
    // A value has no types: null is an empty text. An empty list in a map has no name.
    let value = json::read_value("{\"a\": 1, \"b\": null, \"c\": {\"d\": true}, \"e\": []}");
    let bytes = xml::to_vec(&value.unwrap()).unwrap();
    let back: Value = xml::from_slice(&bytes).unwrap();
    let expected = json::read_value("{\"a\": \"1\", \"b\": \"\", \"c\": {\"d\": \"true\"}}");
    assert_eq!(back, expected.unwrap());
    // `Some` of nothing is nothing.
    let bytes = xml::to_vec(&Some(None::<i32>)).unwrap();
    assert_eq!(
        xml::from_slice::<Option<Option<i32>>>(&bytes).unwrap(),
        None
    );
}

/// What XML-RPC cannot carry, and what it leaves out.
#[test]
fn not_in_xmlrpc() {
    unwritable! { xmlrpc:
        // Integers have 64 bits with a sign.
        u64::MAX;
        i128::MIN;
        numbers();
        BTreeMap::from([("a", u128::MAX)]);
        // Characters that XML does not allow.
        "\u{8}";
        BTreeMap::from([("\u{8}", 1)]);
        // A key is a scalar.
        BTreeMap::from([(vec![1], 1)]);
    }
    let text = |value: &Member<Option<Option<i32>>>| xmlrpc::to_string(value).unwrap();
    // A member that is `None` is left out; `Some` of `None` is a nil.
    assert!(text(&Member { value: None }).contains("<struct></struct>"));
    assert!(text(&Member { value: Some(None) }).contains("<nil/>"));
    // Bytes are base64, which is read as a list of numbers too.
    let bytes = xmlrpc::to_vec(&Member {
        value: Blob::from(&[1, 2][..]),
    })
    .unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("<base64>AQI=</base64>"));
    let list: Member<Vec<u8>> = xmlrpc::from_slice(&bytes).unwrap();
    assert_eq!(list.value, [1, 2]);
    // A map with a key that comes twice, and a structure with a field that is not its own.
    let response = |members: &str| {
        format!(
            "<methodResponse><params><param><value><struct>{members}</struct></value></param>\
             </params></methodResponse>"
        )
    };
    let one = "<member><name>name</name><value>1</value></member>";
    let other = "<member><name>other</name><value>1</value></member>";
    let twice = response(&format!("{one}{one}"));
    let error = xmlrpc::from_str::<BTreeMap<String, String>>(&twice).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate, "{error}");
    let error = xmlrpc::from_str::<Strict>(&twice).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate, "{error}");
    let unknown = response(&format!("{one}{other}"));
    let error = xmlrpc::from_str::<Strict>(&unknown).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown, "{error}");
}

/// What forms cannot carry.
#[test]
fn not_in_forms() {
    let text = "a".to_owned();
    unwritable! { form:
        // A form has keys.
        1;
        true;
        'a';
        text;
        Newtype(text.clone());
        // A list that is the whole form is one of pairs.
        vec![1];
        vec![vec![1, 2, 3]];
        vec![External::Unit];
        vec![("a", vec![1])];
        vec![inner()];
        Tuple(255, text.clone(), None);
        Untagged::Number(1);
        Untagged::List(vec![1]);
        // In a list or variant nothing can be missing.
        Member { value: vec![Some(1), None] };
        Member { value: Tuple(255, text, None) };
    }
    unreadable! { form:
        // What serde reads through a buffer has scalars that are strings.
        Flat: Flat { id: 1, inner: inner(), rest: BTreeMap::new() } => WrongType;
        Internal: Internal::Newtype(inner()) => WrongType;
        Internal: Internal::Struct { count: 1, inner: inner() } => WrongType;
        Untagged: Untagged::Inner(inner()) => InvalidValue;
    }
    // An untagged enum takes the variant for strings.
    let value = Member {
        value: Untagged::Number(-7),
    };
    let bytes = form::to_vec(&value).unwrap();
    let back: Member<Untagged> = form::from_slice(&bytes).unwrap();
    assert_eq!(back.value, Untagged::Text("-7".to_owned()));
    member!(Untagged: Untagged::Text("a".to_owned()));
    // A value has no types: null and empty lists are empty texts.
    let value = json::read_value("{\"a\": [1, {\"b\": true}], \"b\": null, \"c\": {\"d\": [[]]}}");
    let bytes = form::to_vec(&value.unwrap()).unwrap();
    let back: Value = form::from_slice(&bytes).unwrap();
    let expected = json::read_value(
        "{\"a\": [\"1\", {\"b\": \"true\"}], \"b\": \"\", \"c\": {\"d\": [\"\"]}}",
    );
    assert_eq!(back, expected.unwrap());
}

#[test]
fn own_types() {
    let own = || Own {
        text: Text::from("a text that is longer than what is stored inline"),
        blob: Blob::from(&[0, 1, 2, 255][..]),
        timestamp: "1985-04-12T23:20:50.52Z".parse().unwrap(),
        integer: "123456789012345678901234567890".parse().unwrap(),
        decimal: "-1.25".parse().unwrap(),
    };
    same!(Own: own(), [json, cbor, msgpack, xml, form]);
    // XML-RPC has whole seconds without a zone.
    let seconds: Timestamp = "1985-04-12T23:20:50Z".parse().unwrap();
    let timestamp = seconds.with_unzoned(true);
    same!(Own: Own { timestamp, ..own() }, [xmlrpc]);
    let value = json::read_value(r#"{"a": [1, -2.5, null, true, "x", 18446744073709551616]}"#);
    // MessagePack has strings for integers beyond 64 bits.
    same!(Value: value.unwrap(), [json, cbor]);
}

#[test]
fn borrowed_strings() {
    let value = Borrowed {
        plain: "a plain string",
        copied: Cow::Borrowed("b"),
        items: vec!["c", "d"],
    };
    let bytes = json::to_vec(&value).unwrap();
    assert_eq!(json::from_slice::<Borrowed<'_>>(&bytes).unwrap(), value);
    let text = json::to_string(&value).unwrap();
    assert_eq!(json::from_str::<Borrowed<'_>>(&text).unwrap(), value);
    let bytes = cbor::to_vec(&value).unwrap();
    assert_eq!(cbor::from_slice::<Borrowed<'_>>(&bytes).unwrap(), value);
    let bytes = xml::to_vec(&value).unwrap();
    assert_eq!(xml::from_slice::<Borrowed<'_>>(&bytes).unwrap(), value);
    let bytes = xmlrpc::to_vec(&value).unwrap();
    assert_eq!(xmlrpc::from_slice::<Borrowed<'_>>(&bytes).unwrap(), value);
    let value = Borrowed {
        plain: "plain",
        ..value
    };
    let bytes = form::to_vec(&value).unwrap();
    assert_eq!(form::from_slice::<Borrowed<'_>>(&bytes).unwrap(), value);
    // A string with escapes can only be copied.
    let text = r#"{"plain": "a", "copied": "\n", "items": []}"#;
    assert_eq!(json::from_str::<Borrowed<'_>>(text).unwrap().copied, "\n");
    let text = r#"{"plain": "\n", "copied": "a", "items": []}"#;
    let error = json::from_str::<Borrowed<'_>>(text).unwrap_err();
    assert_eq!((error.offset(), error.path()), (Some(10), "plain"));
}

/// Each wrong message, the kind of the error, its offset and its path.
#[test]
fn errors() {
    let strict = |text: &str| json::from_str::<Strict>(text).unwrap_err();
    for (text, kind, offset, path) in [
        (r#"{"name": "a", "more": 1}"#, ErrorKind::Unknown, 14, ""),
        (r#"{"name": "a", "name": "b"}"#, ErrorKind::Duplicate, 0, ""),
        (r#"{}"#, ErrorKind::Missing, 0, ""),
        (r#"{"name": 1}"#, ErrorKind::WrongType, 9, "name"),
        (r#"{"name": "a""#, ErrorKind::Truncated, 12, "name"),
        (r#"{"name": "a"} x"#, ErrorKind::Syntax, 14, ""),
    ] {
        let error = strict(text);
        let found = (error.kind(), error.offset(), error.path());
        assert_eq!(found, (kind, Some(offset), path), "{text}: {error}");
    }
    let map = json::from_str::<BTreeMap<String, i32>>(r#"{"a": 1, "b": 2, "a": 3}"#);
    assert_eq!(map.unwrap_err().kind(), ErrorKind::Duplicate);
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            json::to_vec(&value).unwrap_err().kind(),
            ErrorKind::Unwritable
        );
    }
    let key = BTreeMap::from([(vec![1], 1)]);
    assert_eq!(
        json::to_vec(&key).unwrap_err().kind(),
        ErrorKind::Unwritable
    );
}

/// What serde_json writes is read, and the other way round.
#[test]
fn as_serde_json() {
    macro_rules! agree {
        ($($type:ty: $value:expr;)*) => {
            $(
                let value: $type = $value;
                let own = json::to_string(&value).unwrap();
                assert_eq!(own, serde_json::to_string(&value).unwrap());
                assert_eq!(serde_json::from_str::<$type>(&own).unwrap(), value);
            )*
        };
    }
    let external = External::Struct {
        height: 1.0,
        inner: inner(),
    };
    agree! {
        External: external;
        Flat: Flat { id: 1, inner: inner(), rest: BTreeMap::new() };
        Adjacent: Adjacent::Tuple(1, "a".to_owned());
        Tuple: Tuple(1, "\u{7f}\u{2028}".to_owned(), Some(true));
        Numbers: Numbers {
            a: (i8::MIN, i8::MAX, u8::MAX),
            b: (i16::MIN, i16::MAX, u16::MAX),
            c: (i32::MIN, i32::MAX, u32::MAX),
            d: (i64::MIN, i64::MAX, u64::MAX),
            e: (0.1, -1.5, 1.25, -0.0),
        };
        BTreeMap<i32, Option<char>>: BTreeMap::from([(-1, None), (2, Some('x'))]);
    }
    let number: serde_json::Value = serde_json::from_str("[1, 2.5, -3]").unwrap();
    assert_eq!(json::to_vec(&number).unwrap(), b"[1,2.5,-3]");
    assert_eq!(
        json::from_slice::<serde_json::Value>(b"[1,2.5,-3]").unwrap(),
        number
    );
    // A number is no string, however long it is.
    let long = format!("1{}", "0".repeat(60));
    let error = json::from_str::<String>(&long).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
    assert!(serde_json::from_str::<String>(&long).is_err());
}

/// Keys that are numbers: those that JSON can have, and each once.
#[test]
fn numbers_as_keys() {
    for text in [
        r#"{"+5": 1}"#,
        r#"{"05": 1}"#,
        r#"{"-0": 1}"#,
        r#"{"1.0": 1}"#,
        r#"{" 5": 1}"#,
    ] {
        assert!(
            json::from_str::<BTreeMap<i32, i32>>(text).is_err(),
            "{text}"
        );
    }
    let read = json::from_str::<BTreeMap<i32, i32>>(r#"{"5": 1, "-5": 2}"#).unwrap();
    assert_eq!(read, BTreeMap::from([(5, 1), (-5, 2)]));
    struct Key(f64);
    impl Serialize for Key {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(self.0, 1)])
        }
    }
    assert_eq!(json::to_string(&Key(1.0)).unwrap(), r#"{"1.0":1}"#);
    assert_eq!(json::to_string(&Key(0.1)).unwrap(), r#"{"0.1":1}"#);
    let error = json::to_string(&Key(f64::NAN)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable);
}

/// Digits of an `f32` are rounded once, and a number out of its range is an error, as with a schema.
#[test]
fn floats_of_xmlrpc() {
    let read = |digits: &str| {
        xmlrpc::from_str::<f32>(&format!(
            "<methodResponse><params><param><value><double>{digits}</double></value></param></params></methodResponse>"
        ))
    };
    assert_eq!(read("1.5").unwrap(), 1.5);
    let halfway = "1.000000178813934326171875001";
    assert_eq!(read(halfway).unwrap(), halfway.parse::<f32>().unwrap());
    assert!(read("1e39").is_err());
}
