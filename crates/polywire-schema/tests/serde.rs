//! `Value` and its parts through serde, with the serde_json of this workspace,
//! which has `arbitrary_precision`: it gives numbers as maps of one entry.

use polywire_schema::{Blob, Map, Timestamp, Value};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, I128Deserializer, U128Deserializer};

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[test]
fn numbers_are_numbers() {
    for (json, expected) in [
        ("0", Value::from(0)),
        ("-0", Value::Double(-0.0)),
        ("-17", Value::from(-17)),
        ("9223372036854775807", Value::from(i64::MAX)),
        (
            "25000000000000000000000",
            Value::BigInteger("25000000000000000000000".parse().unwrap()),
        ),
        ("1.5", Value::from(1.5)),
        ("1e3", Value::from(1000.0)),
        ("1e400", Value::BigDecimal("1e+400".parse().unwrap())),
    ] {
        assert_eq!(read(json), expected, "{json}");
        let nested = read(&format!("{{\"a\": [{json}]}}"));
        assert_eq!(nested["a"][0], expected, "{json}");
    }
    let zero = read("-0").as_f64().unwrap();
    assert!(zero.is_sign_negative());
}

#[test]
fn a_map_that_only_looks_like_a_number_stays_one() {
    for json in [
        r#"{"$serde_json::private::Number": "one"}"#,
        r#"{"$serde_json::private::Number": "1", "b": 2}"#,
        r#"{"$serde_json::private::Number": true}"#,
        r#"{"number": "1"}"#,
    ] {
        assert!(read(json).as_map().is_some(), "{json}");
    }
}

#[test]
fn integers_of_128_bits() {
    let big: I128Deserializer<Error> = i128::MIN.into_deserializer();
    assert_eq!(
        Value::deserialize(big).unwrap(),
        Value::BigInteger(i128::MIN.to_string().parse().unwrap())
    );
    let big: U128Deserializer<Error> = u128::MAX.into_deserializer();
    assert_eq!(
        Value::deserialize(big).unwrap(),
        Value::BigInteger(u128::MAX.to_string().parse().unwrap())
    );
    let small: I128Deserializer<Error> = (-5_i128).into_deserializer();
    assert_eq!(Value::deserialize(small).unwrap(), Value::from(-5));
}

#[test]
fn everything_else_keeps_its_type() {
    let json = r#"{"b":[true,null,"text"],"a":{}}"#;
    let value = read(json);
    assert_eq!(value["b"][0], Value::from(true));
    assert!(value["b"][1].is_null());
    // In the order of the document, both ways.
    assert_eq!(serde_json::to_string(&value).unwrap(), json);
    assert!(serde_json::from_str::<Value>(r#"{"a":1,"a":2}"#).is_err());
}

#[test]
fn what_json_has_no_form_for_is_written_as_text() {
    let map = Map::from_iter([
        ("when", Value::from(Timestamp::new(0, 500_000_000))),
        ("bytes", Value::from(Blob::from(b"\x01\x02"))),
        (
            "big",
            Value::BigInteger("25000000000000000000".parse().unwrap()),
        ),
    ]);
    assert_eq!(
        serde_json::to_string(&map).unwrap(),
        r#"{"when":"1970-01-01T00:00:00.5Z","bytes":[1,2],"big":"25000000000000000000"}"#
    );
}
