//! serde types, both ways.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use polywire_codec::xmlrpc::{Envelope, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile, write_call};
use polywire_schema::{BigInteger, Blob, ErrorKind, Limits, Map, Timestamp, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{typed, value, written, written_value};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Everything {
    flag: bool,
    small: i8,
    wide: i64,
    natural: u32,
    float: f64,
    letter: char,
    text: String,
    bytes: Blob,
    when: Timestamp,
    list: Vec<i32>,
    pair: (i32, String),
    table: BTreeMap<String, f64>,
    absent: Option<i32>,
    present: Option<i32>,
    unit: Unit,
    newtype: Newtype,
    tuple: Tuple,
    structure: Shape,
    value: Value,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
enum Shape {
    Unit,
    Newtype(i32),
    Tuple(i32, i32),
    Structure { side: f64, name: Option<String> },
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
enum Unit {
    Metre,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Newtype(String);

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Tuple(bool, bool);

fn round<T: Serialize + DeserializeOwned + PartialEq + Debug>(one: &T, inside: &str) {
    assert_eq!(written(one).unwrap(), inside);
    assert_eq!(&typed::<T>(inside).unwrap(), one);
}

#[test]
fn every_type_comes_back() {
    round(&true, "<boolean>1</boolean>");
    round(&-128_i8, "<int>-128</int>");
    round(&i32::MAX, "<int>2147483647</int>");
    round(&(i64::from(i32::MAX) + 1), "<i8>2147483648</i8>");
    round(&i64::MIN, "<i8>-9223372036854775808</i8>");
    round(&7_u64, "<int>7</int>");
    round(&7_i128, "<int>7</int>");
    round(&0.1_f64, "<double>0.1</double>");
    round(&0.1_f32, "<double>0.1</double>");
    round(&'é', "<string>é</string>");
    round(&"a < b".to_owned(), "<string>a &lt; b</string>");
    round(&Blob::from(&b"abc"[..]), "<base64>YWJj</base64>");
    round(
        &Timestamp::parse_xmlrpc("20260102T03:04:05").unwrap(),
        "<dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>",
    );
    round(&None::<i32>, "<nil/>");
    round(&Some(1), "<int>1</int>");
    round(&(), "<nil/>");
    round(
        &vec![1, 2],
        "<array><data><value><int>1</int></value><value><int>2</int></value></data></array>",
    );
    round(
        &BTreeMap::from([("a".to_owned(), 1)]),
        "<struct><member><name>a</name><value><int>1</int></value></member></struct>",
    );
    round(
        &BTreeMap::from([(5, true)]),
        "<struct><member><name>5</name><value><boolean>1</boolean></value></member></struct>",
    );
    round(&Shape::Unit, "<string>Unit</string>");
    round(
        &Shape::Newtype(1),
        "<struct><member><name>Newtype</name><value><int>1</int></value></member></struct>",
    );
    round(
        &Shape::Structure {
            side: 1.5,
            name: None,
        },
        "<struct><member><name>Structure</name><value><struct><member><name>side</name>\
         <value><double>1.5</double></value></member></struct></value></member></struct>",
    );
    round(
        &Shape::Tuple(1, 2),
        "<struct><member><name>Tuple</name><value><array><data><value><int>1</int></value><value><int>2</int></value></data></array></value></member></struct>",
    );
}

#[test]
fn a_structure_of_everything() {
    let everything = Everything {
        flag: true,
        small: -1,
        wide: 1 << 40,
        natural: 4_000_000_000,
        float: -2.5,
        letter: 'x',
        text: "<&>\r\n".to_owned(),
        bytes: Blob::from(&[0_u8, 255][..]),
        when: Timestamp::new(1_795_293_000, 250_000_000),
        list: vec![],
        pair: (1, "two".to_owned()),
        table: BTreeMap::from([("a".to_owned(), 1.0), (String::new(), 2.0)]),
        absent: None,
        present: Some(5),
        unit: Unit::Metre,
        newtype: Newtype("new".to_owned()),
        tuple: Tuple(false, true),
        structure: Shape::Structure {
            side: 1.0,
            name: Some("n".to_owned()),
        },
        value: Value::Map(Map::from_iter([
            ("blob", Value::Blob(Blob::from(&b"b"[..]))),
            (
                "time",
                Value::Timestamp(Timestamp::parse_xmlrpc("20260102T03:04:05Z").unwrap()),
            ),
            ("nothing", Value::Null),
            ("list", Value::List(vec![1.into(), "x".into()])),
        ])),
    };
    let xml = written(&everything).unwrap();
    assert!(!xml.contains("absent"), "{xml}");
    let mut read: Everything = typed(&xml).unwrap();
    // XML-RPC's dates have no zone.
    assert!(read.when.is_unzoned());
    read.when = read.when.with_unzoned(false);
    if let Value::Map(map) = &mut read.value
        && let Some(Value::Timestamp(time)) = map.get_mut("time")
    {
        *time = time.with_unzoned(false);
    }
    assert_eq!(read, everything);
}

#[test]
fn values_ride_through_serde_unchanged() {
    for inside in [
        "<int>1</int>",
        "<i8>9007199254740993</i8>",
        "<ex:biginteger>123456789012345678901234567890</ex:biginteger>",
        "<ex:bigdecimal>1.10</ex:bigdecimal>",
        "<double>0.5</double>",
        "<boolean>0</boolean>",
        "<base64>YWJj</base64>",
        "<dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>",
        "<dateTime.iso8601>2026-01-02T03:04:05.5+01:00</dateTime.iso8601>",
        "<nil/>",
        "text",
        "<array><data><value><dateTime.iso8601>20260102T03:04:05</dateTime.iso8601></value>\
         <value><base64/></value></data></array>",
        "<struct><member><name>a</name><value><struct/></value></member></struct>",
    ] {
        let native = value(inside).unwrap();
        assert_eq!(typed::<Value>(inside).unwrap(), native, "{inside}");
        assert_eq!(
            typed::<Vec<Value>>(&format!(
                "<array><data><value>{inside}</value></data></array>"
            ))
            .unwrap(),
            std::slice::from_ref(&native)
        );
        if !matches!(native, Value::BigInteger(_) | Value::BigDecimal(_)) {
            assert_eq!(
                written(&native).unwrap(),
                written_value(&native),
                "{inside}"
            );
        }
    }
}

#[test]
fn what_other_crates_type_is_text() {
    // Dates are text by ISO 8601, with a zone only if they have one.
    let date = "<dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>";
    assert_eq!(typed::<String>(date).unwrap(), "2026-01-02T03:04:05");
    let date = "<dateTime.iso8601>20260102T03:04:05Z</dateTime.iso8601>";
    assert_eq!(typed::<String>(date).unwrap(), "2026-01-02T03:04:05Z");
    assert_eq!(
        typed::<serde_json::Value>(&format!(
            "<struct><member><name>a</name><value>{date}</value></member></struct>"
        ))
        .unwrap(),
        serde_json::json!({"a": "2026-01-02T03:04:05Z"})
    );
    let big: BigInteger = typed("<i8>5</i8>").unwrap();
    assert_eq!(big.as_str(), "5");
    let big: BigInteger = typed("<string>123456789012345678901</string>").unwrap();
    assert_eq!(big.as_str(), "123456789012345678901");
    let wide: u64 = typed("<ex:biginteger>18446744073709551615</ex:biginteger>").unwrap();
    assert_eq!(wide, u64::MAX);
}

/// Bytes as `serde_bytes` reads them: its visitor accepts text, too.
#[derive(Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl<'de> serde::de::Visitor<'de> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("byte array")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut items: A,
            ) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

#[test]
fn bytes_are_base64_or_numbers() {
    for inside in [
        "<base64>aGk=</base64>",
        "<base64 >aGk=\n</base64>",
        "<array><data><value><int>104</int></value><value><i4>105</i4></value></data></array>",
    ] {
        assert_eq!(typed::<Bytes>(inside).unwrap().0, b"hi", "{inside}");
    }
    for inside in [
        "<string>aGk=</string>",
        "<string>a&#71;k=</string>",
        "aGk=",
        "",
        "<bigdecimal>1.5</bigdecimal>",
        "<int>104</int>",
        "<dateTime.iso8601>20260102T03:04:05</dateTime.iso8601>",
        "<nil/>",
    ] {
        let error = typed::<Bytes>(inside).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{inside}: {error}");
        assert!(error.to_string().contains("expected bytes"), "{error}");
        assert!(error.offset().is_some(), "{error}");
    }
    let text = super::response("<string>aGk=</string>");
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let error = decoder.deserialize::<&[u8]>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
}

#[test]
fn numbers_are_not_strings() {
    let big = format!("<ex:biginteger>1{}</ex:biginteger>", "0".repeat(60));
    for inside in [
        "<int>5</int>",
        "<bigdecimal>1.5</bigdecimal>",
        "<ex:bigdecimal >5</ex:bigdecimal>",
        "<biginteger>5</biginteger>",
        "<double>1.5</double>",
        &big,
    ] {
        let errors = [
            typed::<String>(inside).unwrap_err(),
            typed::<char>(inside).unwrap_err(),
            typed::<std::borrow::Cow<'_, str>>(inside).unwrap_err(),
            typed::<Newtype>(inside).unwrap_err(),
            typed::<Option<String>>(inside).unwrap_err(),
            typed::<Vec<String>>(&format!(
                "<array><data><value>{inside}</value></data></array>"
            ))
            .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::WrongType, "{inside}: {error}");
            assert!(error.offset().is_some(), "{error}");
        }
        let error = typed::<String>(inside).unwrap_err().to_string();
        assert!(error.contains("expected a string"), "{error}");
    }
    // A type that accepts any value gets the digits.
    for (inside, digits) in [
        ("<bigdecimal>1.5</bigdecimal>", "1.5"),
        (&big, &big[15..76]),
    ] {
        let value: serde_json::Value = typed(inside).unwrap();
        assert_eq!(value, serde_json::json!(digits));
    }
}

#[test]
fn strings_are_borrowed_where_they_stand_as_they_are() {
    #[derive(Debug, Deserialize)]
    struct Borrowed<'a> {
        name: &'a str,
        #[serde(borrow)]
        other: std::borrow::Cow<'a, str>,
    }

    let text = super::response(
        "<struct><member><name>name</name><value><string>plain</string></value></member>\
         <member><name>other</name><value>a &amp; b</value></member></struct>",
    );
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let read: Borrowed<'_> = decoder.deserialize().unwrap();
    assert!(text.as_bytes().as_ptr_range().contains(&read.name.as_ptr()));
    assert_eq!((read.name, &*read.other), ("plain", "a & b"));
}

#[test]
fn flattened_and_untagged_types() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Outer {
        id: i32,
        #[serde(flatten)]
        rest: HashMap<String, Either>,
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
        List(Vec<i32>),
    }

    let xml = "<struct><member><name>id</name><value><int>1</int></value></member>\
        <member><name>n</name><value><i8>5000000000</i8></value></member>\
        <member><name>t</name><value>text</value></member>\
        <member><name>l</name><value><array><data><value><int>1</int></value></data></array>\
        </value></member></struct>";
    let read: Outer = typed(xml).unwrap();
    assert_eq!(read.rest["n"], Either::Number(5_000_000_000));
    assert_eq!(read.rest["t"], Either::Text("text".to_owned()));
    assert_eq!(read.rest["l"], Either::List(vec![1]));
    let again: Outer = typed(&written(&read).unwrap()).unwrap();
    assert_eq!(again, read);
}

/// Reads the parameters of a call.
fn parameters<T: DeserializeOwned>(values: &[Value]) -> Result<T, polywire_schema::Error> {
    let call = write_call("m", values).unwrap();
    let text = std::str::from_utf8(&call).unwrap();
    let (_, mut decoder) =
        XmlRpcDecoder::call_from_str(text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    decoder.deserialize_parameters()
}

#[test]
fn parameters_are_a_tuple() {
    let two = [Value::from(1), Value::from("b")];
    assert_eq!(parameters::<(i32, String)>(&two).unwrap(), (1, "b".into()));
    assert_eq!(parameters::<Vec<Value>>(&two).unwrap(), two);
    assert_eq!(
        parameters::<(i32, String, Option<i32>, Option<bool>)>(&two).unwrap(),
        (1, "b".into(), None, None)
    );
    assert!(parameters::<()>(&[]).is_ok());
    assert_eq!(parameters::<i32>(&two[..1]).unwrap(), 1);
    assert_eq!(parameters::<Option<i32>>(&[]).unwrap(), None);
    assert_eq!(
        parameters::<[i32; 2]>(&[1.into(), 2.into()]).unwrap(),
        [1, 2]
    );
    assert_eq!(
        parameters::<serde::de::IgnoredAny>(&two).unwrap(),
        serde::de::IgnoredAny
    );
}

#[test]
fn wrong_counts_of_parameters_are_told() {
    let told = |error: polywire_schema::Error| (error.kind(), error.message());
    let (kind, message) = told(parameters::<(i32, i32)>(&[1.into()]).unwrap_err());
    assert_eq!(kind, ErrorKind::Missing);
    assert!(
        message.contains("expected 2 parameters, found 1 parameter"),
        "{message}"
    );
    let (kind, message) = told(parameters::<(i32,)>(&[1.into(), 2.into()]).unwrap_err());
    assert_eq!(kind, ErrorKind::Unknown);
    assert!(message.contains("at most 1 parameter"), "{message}");
    let (_, message) = told(parameters::<()>(&[1.into()]).unwrap_err());
    assert!(message.contains("expected no parameters"), "{message}");
    let (_, message) = told(parameters::<i32>(&[]).unwrap_err());
    assert!(
        message.contains("expected 1 parameter, found none"),
        "{message}"
    );
    let (kind, message) = told(parameters::<(i32, i32)>(&[1.into(), "x".into()]).unwrap_err());
    assert_eq!(kind, ErrorKind::WrongType);
    assert!(
        message.contains("expected an integer of 32 bits, found `x`"),
        "{message}"
    );
}

#[test]
fn parameters_are_written_as_they_are_read() {
    let write = |write: &dyn Fn(&mut XmlRpcEncoder)| {
        let envelope = Envelope::Call {
            method: "m",
            positional: true,
        };
        let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
        write(&mut encoder);
        let call = String::from_utf8(encoder.finish().unwrap()).unwrap();
        let (_, parameters) = call.split_once("<params>").unwrap();
        parameters
            .strip_suffix("</params></methodCall>")
            .unwrap()
            .to_owned()
    };
    let one = "<param><value><int>1</int></value></param>";
    let text = "<param><value><string>b</string></value></param>";
    assert_eq!(
        write(&|to| to.serialize_parameters(&(1, "b")).unwrap()),
        format!("{one}{text}")
    );
    assert_eq!(
        write(&|to| to.serialize_parameters(&[1, 1]).unwrap()),
        format!("{one}{one}")
    );
    assert_eq!(write(&|to| to.serialize_parameters(&()).unwrap()), "");
    assert_eq!(write(&|to| to.serialize_parameters(&1).unwrap()), one);
    assert_eq!(write(&|to| to.serialize_parameters("b").unwrap()), text);
    assert_eq!(
        write(&|to| to.serialize_parameters(&([1],)).unwrap()),
        "<param><value><array><data><value><int>1</int></value></data></array></value></param>"
    );
    assert_eq!(
        write(&|to| to
            .serialize_parameters(&BTreeMap::from([("a", 1)]))
            .unwrap()),
        "<param><value><struct><member><name>a</name><value><int>1</int></value></member>\
         </struct></value></param>"
    );
}

#[test]
fn errors_name_their_place() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct City {
        name: String,
        population: u8,
    }
    fn city(members: &str) -> String {
        let city = format!("<struct>{members}</struct>");
        let cities = format!("<array><data><value>{city}</value></data></array>");
        let error = typed::<Vec<City>>(&cities).unwrap_err();
        error.to_string()
    }
    let name = "<member><name>name</name><value>Oslo</value></member>";
    let population = "<member><name>population</name><value><int>300</int></value></member>";

    let error = city(&format!("{name}{population}"));
    assert!(
        error.contains("invalid value: expected an integer from 0 to 255, found 300"),
        "{error}"
    );
    assert!(error.ends_with("in [0].population"), "{error}");
    let error = city(name);
    assert!(
        error.contains("missing: expected the member `population`"),
        "{error}"
    );
    let error = city(&format!("{name}{name}"));
    assert!(
        error.contains("given twice: expected each member once, found `name`"),
        "{error}"
    );
    let error = city("<member><name>nme</name><value>Oslo</value></member>");
    assert!(
        error.contains("unknown: expected one of `name`, `population`, found `nme`"),
        "{error}"
    );
    assert!(error.contains("at byte"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(typed::<i8>("<int>128</int>").is_err());
    assert!(typed::<u32>("<int>-1</int>").is_err());
    assert!(typed::<i32>("<string>1</string>").is_err());
    assert!(typed::<String>("<int>1</int>").is_err());
    assert!(typed::<()>("<int>1</int>").is_err());
    assert!(typed::<Blob>("<string>YWJj</string>").is_err());
    assert!(typed::<Timestamp>("<string>2026-01-02T03:04:05Z</string>").is_err());
    assert!(typed::<Vec<i32>>("<int>1</int>").is_err());
    let three = "<array><data><value><int>1</int></value><value><int>2</int></value>\
        <value><int>3</int></value></data></array>";
    assert!(typed::<(i32, i32)>(three).is_err());
    assert!(typed::<(i32, i32, i32, i32)>(three).is_err());
    // A map takes no member twice, whatever comes of it.
    let twice = "<struct><member><name>a</name><value><int>1</int></value></member>\
        <member><name>a</name><value><int>2</int></value></member></struct>";
    let error = typed::<HashMap<String, i32>>(twice).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert!(written(&u64::MAX).is_err());
    assert!(written(&BTreeMap::from([(vec![1], 1)])).is_err());
    assert!(written(&"\u{1b}").is_err());
    assert!(typed::<Shape>("<string>Circle</string>").is_err());
    assert!(typed::<Shape>("<string>Newtype</string>").is_err());
    assert!(typed::<Shape>("<struct/>").is_err());
}
