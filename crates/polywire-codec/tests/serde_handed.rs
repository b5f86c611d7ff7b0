//! What formats of ours hand to a `Value` beyond serde's types: no message makes it up,
//! and no other type sees it.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::cbor;
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{BigDecimal, BigInteger, Error, Limits, Map, Timestamp, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Names by which types and formats know each other, or did.
const NAMES: [&str; 9] = [
    "$serde_json::private::Number",
    "$polywire::private::Timestamp",
    "$polywire::private::BigDecimal",
    "$polywire::handed::Timestamp",
    "$polywire::handed::BigInteger",
    "$polywire::handed::BigDecimal",
    "$polywire::Timestamp",
    "$polywire::BigInteger",
    "$polywire::Value",
];

const TEXTS: [&str; 3] = ["1", "1.5", "2026-01-02T03:04:05Z"];

fn xmlrpc<T: DeserializeOwned>(inside: &str) -> Result<T, Error> {
    let text = format!(
        "<methodResponse><params><param><value>{inside}</value></param></params></methodResponse>"
    );
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// A text string of CBOR, in the ways that it can be spelled.
fn spelled(text: &str) -> [Vec<u8>; 4] {
    let short = cbor::to_vec(text).unwrap();
    let wide = [&[0x7a, 0, 0, 0, text.len() as u8], text.as_bytes()].concat();
    let (begin, rest) = text.split_at(1);
    let chunks = [
        &[0x7f, 0x61][..],
        begin.as_bytes(),
        &[0x78, rest.len() as u8],
        rest.as_bytes(),
        &[0xff],
    ]
    .concat();
    let tagged = [&[0xd9, 0xd9, 0xf7], &short[..]].concat();
    [short, wide, chunks, tagged]
}

/// Every spelling of a structure whose only member has such a name, as a type.
fn every_spelling<T: DeserializeOwned>(mut see: impl FnMut(&str, &str, Result<T, Error>)) {
    for name in NAMES {
        for text in TEXTS {
            for value in [
                format!("<string>{text}</string>"),
                text.to_owned(),
                format!("<string><![CDATA[{text}]]></string>"),
                format!("<string>&#{};{}</string>", text.as_bytes()[0], &text[1..]),
            ] {
                for name_as in [
                    name.to_owned(),
                    format!("<![CDATA[{name}]]>"),
                    format!("&#36;{}", &name[1..]),
                ] {
                    see(
                        name,
                        text,
                        xmlrpc(&format!(
                            "<struct><member><name>{name_as}</name><value>{value}</value></member>\
                         </struct>"
                        )),
                    );
                }
            }
            for key in spelled(name) {
                for value in spelled(text) {
                    let map = [&[0xa1], &key[..], &value[..]].concat();
                    see(name, text, cbor::from_slice(&map));
                    let map = [&[0xbf], &key[..], &value[..], &[0xff]].concat();
                    see(name, text, cbor::from_slice(&map));
                }
            }
        }
    }
}

#[test]
fn a_sender_makes_no_numbers_and_timestamps_of_structures() {
    every_spelling::<Value>(|name, text, value| {
        let map = Value::Map(Map::from_iter([(name, text)]));
        assert_eq!(value.unwrap(), map, "{name} {text}");
    });
    every_spelling::<Map>(|name, text, map| {
        assert_eq!(map.unwrap(), Map::from_iter([(name, text)]));
    });
    every_spelling::<BTreeMap<String, Value>>(|name, text, map| {
        assert_eq!(map.unwrap()[name], Value::from(text));
    });
    every_spelling::<BigInteger>(|name, text, value| assert!(value.is_err(), "{name} {text}"));
    every_spelling::<BigDecimal>(|name, text, value| assert!(value.is_err(), "{name} {text}"));
    every_spelling::<Timestamp>(|name, text, value| assert!(value.is_err(), "{name} {text}"));
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum NumberOr<T> {
    Number(i64),
    Other(T),
}

#[derive(Debug, Deserialize)]
struct Rest {
    #[serde(flatten)]
    rest: Value,
}

/// Types that keep what they read before they know what it is lend it to those within.
#[test]
fn a_sender_makes_no_numbers_through_types_that_keep_what_they_read() {
    every_spelling::<NumberOr<Value>>(|name, text, read| {
        let map = Value::Map(Map::from_iter([(name, text)]));
        assert_eq!(read.unwrap(), NumberOr::Other(map), "{name} {text}");
    });
    every_spelling::<Rest>(|name, text, read| {
        let map = Value::Map(Map::from_iter([(name, text)]));
        assert_eq!(read.unwrap().rest, map, "{name} {text}");
    });
    every_spelling::<NumberOr<BigInteger>>(|name, text, read| {
        assert!(read.is_err(), "{name} {text}");
    });
}

/// Through serde, a value of CBOR is what it is without.
#[test]
fn values_come_whole_through_serde() {
    let big = "123456789012345678901234567890123456789012345678901234567890";
    let all = Value::List(vec![
        Value::Timestamp(Timestamp::new(-1, 250_000_000)),
        Value::BigInteger(big.parse().unwrap()),
        Value::BigInteger(u64::MAX.to_string().parse().unwrap()),
        Value::BigInteger(i128::MIN.to_string().parse().unwrap()),
        Value::BigDecimal("1.10".parse().unwrap()),
        Value::Map(Map::from_iter([("when", Timestamp::new(5, 0))])),
    ]);
    let bytes = cbor::write_value(&all).unwrap();
    let read: Value = cbor::from_slice(&bytes).unwrap();
    assert_eq!(read, cbor::read_value(&bytes).unwrap());
    assert_eq!(read.as_list().unwrap()[1], all.as_list().unwrap()[1]);
    let inside: Vec<BTreeMap<String, Value>> = cbor::from_slice(
        &cbor::write_value(&Value::List(vec![all.as_list().unwrap()[5].clone()])).unwrap(),
    )
    .unwrap();
    assert_eq!(inside[0]["when"], Value::Timestamp(Timestamp::new(5, 0)));
    // A year that no text has is a timestamp all the same.
    let far = [0xc1, 0x1b, 0, 0, 1, 0, 0, 0, 0, 0];
    assert_eq!(
        cbor::from_slice::<Value>(&far).unwrap(),
        cbor::read_value(&far).unwrap()
    );
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Signed(i64),
    Unsigned(u64),
    Text(String),
    Map(BTreeMap<String, Either>),
}

/// The same integer in both formats, read as a type that takes whatever comes.
fn integer<T: DeserializeOwned + PartialEq + Debug>(digits: &str) -> T {
    let xmlrpc: T = xmlrpc(&format!("<ex:biginteger>{digits}</ex:biginteger>")).unwrap();
    let bytes = cbor::write_value(&Value::BigInteger(digits.parse().unwrap())).unwrap();
    assert_eq!(cbor::from_slice::<T>(&bytes).unwrap(), xmlrpc, "{digits}");
    xmlrpc
}

#[test]
fn big_integers_are_the_smallest_type_that_has_room() {
    assert_eq!(integer::<Either>("5"), Either::Signed(5));
    let (least, most) = (i64::MIN.to_string(), u64::MAX.to_string());
    assert_eq!(integer::<Either>(&least), Either::Signed(i64::MIN));
    assert_eq!(integer::<Either>(&most), Either::Unsigned(u64::MAX));
    // serde keeps no wider ones for enums that try one variant after the other; beyond
    // those it has, digits are text.
    let wide = "1234567890123456789012345678901234567890";
    assert_eq!(integer::<Either>(wide), Either::Text(wide.to_owned()));
    assert_eq!(integer::<i128>(&i128::MIN.to_string()), i128::MIN);
    assert_eq!(integer::<u128>(&u128::MAX.to_string()), u128::MAX);
    assert_eq!(integer::<BigInteger>(wide).as_str(), wide);
    assert_eq!(
        integer::<Value>(wide),
        Value::BigInteger(wide.parse().unwrap())
    );
}

/// A bignum that would fit a plain integer is that integer to everybody.
#[test]
fn a_small_bignum_is_an_integer() {
    let five = [0xc2, 0x41, 5];
    assert_eq!(
        cbor::from_slice::<Either>(&five).unwrap(),
        Either::Signed(5)
    );
    assert_eq!(cbor::from_slice::<Value>(&five).unwrap(), Value::from(5));
    assert_eq!(cbor::from_slice::<u8>(&five).unwrap(), 5);
}

#[test]
fn no_other_type_sees_what_is_handed_to_values() {
    let digits = "1234567890123456789012345678901234567890";
    for inside in [
        format!("<ex:biginteger>{digits}</ex:biginteger>"),
        "<ex:bigdecimal>1.10</ex:bigdecimal>".to_owned(),
        "<dateTime.iso8601>20260102T03:04:05Z</dateTime.iso8601>".to_owned(),
    ] {
        let text = match xmlrpc(&inside).unwrap() {
            serde_json::Value::String(text) => text,
            other => panic!("{other:?}"),
        };
        let value: Value = xmlrpc(&inside).unwrap();
        let bytes = cbor::write_value(&value).unwrap();
        match value {
            Value::Timestamp(_) => assert_eq!(text, "2026-01-02T03:04:05Z"),
            Value::BigInteger(value) => assert_eq!(text, value.as_str()),
            Value::BigDecimal(value) => assert_eq!(text, value.as_str()),
            other => panic!("{other:?}"),
        }
        let json: serde_json::Value = cbor::from_slice(&bytes).unwrap();
        assert_eq!(json, serde_json::Value::String(text.clone()));
        assert_eq!(
            cbor::from_slice::<Either>(&bytes).unwrap(),
            Either::Text(text)
        );
    }
}

/// serde_json writes its numbers as structures where it keeps their digits, as it does
/// in this workspace.
#[test]
fn numbers_of_serde_json_are_written_as_numbers() {
    use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};

    let text = r#"{"a":[1,-2.5,1e2],"b":9007199254740993,"c":{"d":1}}"#;
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    let expected: Value = serde_json::from_str(text).unwrap();

    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    encoder.serialize(&json).unwrap();
    let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
    let inside = text.split_once("<param><value>").unwrap().1;
    let inside = inside.split_once("</value></param></params>").unwrap().0;
    assert_eq!(xmlrpc::<Value>(inside).unwrap(), expected, "{text}");

    let bytes = cbor::to_vec(&json).unwrap();
    assert_eq!(cbor::read_value(&bytes).unwrap(), expected);
    // A number of itself.
    assert_eq!(cbor::to_vec(&json["b"]).unwrap()[0], 0x1b);
}
