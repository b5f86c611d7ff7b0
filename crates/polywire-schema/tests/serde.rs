//! Tests of the serde implementations. The workspace enables `arbitrary_precision` of serde_json,
//! so serde_json passes numbers as maps with one entry.
#![expect(clippy::unwrap_used, reason = "test helpers may unwrap")]

use polywire_schema::{BigDecimal, BigInteger, Blob, Map, Text, Timestamp, Value};
use serde::de::value::{
    BytesDeserializer, Error, F64Deserializer, I128Deserializer, StrDeserializer, U128Deserializer,
};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

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
fn a_map_that_resembles_a_number_stays_a_map() {
    for json in [
        r#"{"$serde_json::private::Number": "one"}"#,
        r#"{"$serde_json::private::Number": "1", "b": 2}"#,
        r#"{"$serde_json::private::Number": true}"#,
        r#"{"number": "1"}"#,
    ] {
        assert!(read(json).as_map().is_some(), "{json}");
    }
}

/// A map in a message with the private key of serde_json stays a map.
#[test]
fn a_message_cannot_forge_numbers() {
    let json = r#"{"$serde_json::private::Number":"1"}"#;
    let map = Value::Map(Map::from_iter([("$serde_json::private::Number", "1")]));
    assert_eq!(read(json), map);
    assert_eq!(read(&json.replace('$', "\\u0024")), map);
    assert_eq!(
        serde_json::from_reader::<_, Value>(json.as_bytes()).unwrap(),
        map
    );
    let object = serde_json::Value::Object(serde_json::Map::from_iter([(
        "$serde_json::private::Number".to_owned(),
        "1".into(),
    )]));
    assert_eq!(Value::deserialize(&object).unwrap(), map);
    assert_eq!(serde_json::from_value::<Value>(object).unwrap(), map);
    assert!(serde_json::from_str::<BigInteger>(json).is_err());
    assert!(serde_json::from_str::<BigDecimal>(json).is_err());
    // The only exception: serde_json cannot borrow a string with escapes, so this map is
    // indistinguishable from a number.
    assert_eq!(read(&json.replace('1', "\\u0031")), Value::from(1));
}

#[test]
fn numbers_are_recognized_from_all_sources() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Any {
        Text(String),
        Other(Value),
    }
    #[derive(Debug, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        rest: Map,
    }

    let json = r#"{"a":[1,2.5,25000000000000000000000]}"#;
    let value = read(json);
    assert_eq!(value["a"][1], Value::from(2.5));
    let tree: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(Value::deserialize(&tree).unwrap(), value);
    assert_eq!(serde_json::from_value::<Value>(tree).unwrap(), value);
    assert_eq!(
        serde_json::from_reader::<_, Value>(json.as_bytes()).unwrap(),
        value
    );
    // serde buffers the content of flattened fields and untagged enums.
    let flat: Flat = serde_json::from_str(json).unwrap();
    assert_eq!(Value::Map(flat.rest), value);
    let any: Any = serde_json::from_str(json).unwrap();
    assert_eq!(any, Any::Other(value));
}

/// Other formats create enums from tags, with names from the message.
#[test]
fn a_message_cannot_forge_extended_values() {
    use serde::de::value::MapDeserializer;
    use serde::de::value::{
        BorrowedStrDeserializer, EnumAccessDeserializer, MapAccessDeserializer,
    };

    for name in [
        "$polywire::extended::Timestamp",
        "$polywire::extended::BigInteger",
        "$polywire::extended::BigDecimal",
        "Timestamp",
    ] {
        let name = name.to_owned();
        // Borrowed, like the names of extended values.
        let borrowed = BorrowedStrDeserializer::<Error>::new(&name);
        let unit = EnumAccessDeserializer::new(borrowed);
        assert!(Value::deserialize(unit).is_err(), "{name}");
        let entry = std::iter::once((borrowed, "1"));
        let map = MapDeserializer::<_, Error>::new(entry);
        let tagged = EnumAccessDeserializer::new(MapAccessDeserializer::new(map));
        assert!(Value::deserialize(tagged).is_err(), "{name}");
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
    // The order is preserved in both directions.
    assert_eq!(serde_json::to_string(&value).unwrap(), json);
    assert!(serde_json::from_str::<Value>(r#"{"a":1,"a":2}"#).is_err());
}

#[test]
fn types_that_json_does_not_have_are_written_as_text() {
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
        r#"{"when":"1970-01-01T00:00:00.5Z","bytes":"AQI=","big":"25000000000000000000"}"#
    );
}

/// Checks that `value` serializes to `json` and that `json` deserializes to `value`.
fn round_trips<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
    json: &str,
) {
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
}

#[test]
fn every_type_round_trips() {
    round_trips(&Text::from("\u{e9}\n"), "\"\u{e9}\\n\"");
    round_trips(&Blob::from(b"light work."), r#""bGlnaHQgd29yay4=""#);
    round_trips(&Blob::EMPTY, r#""""#);
    let instant = Timestamp::new(1_795_293_000, 250_000_000);
    round_trips(&instant, r#""2026-11-21T20:30:00.25Z""#);
    round_trips(&instant.with_unzoned(true), r#""2026-11-21T20:30:00.25""#);
    let big: BigInteger = "25000000000000000000".parse().unwrap();
    round_trips(&big, r#""25000000000000000000""#);
    let price: BigDecimal = "1.10".parse().unwrap();
    round_trips(&price, r#""1.10""#);
    let map = Map::from_iter([("b", Value::from(1)), ("a", Value::from("x"))]);
    round_trips(&map, r#"{"b":1,"a":"x"}"#);
}

#[test]
fn big_numbers_are_read_from_numbers_too() {
    let read = serde_json::from_str::<BigInteger>("25000000000000000000").unwrap();
    assert_eq!(read.as_str(), "25000000000000000000");
    let read = serde_json::from_str::<BigDecimal>("1.10").unwrap();
    assert_eq!(read.as_str(), "1.10");
    let double: F64Deserializer<Error> = 1.5.into_deserializer();
    assert_eq!(BigDecimal::deserialize(double).unwrap().as_str(), "1.5");
    let nan: F64Deserializer<Error> = f64::NAN.into_deserializer();
    assert!(BigDecimal::deserialize(nan).is_err());
}

#[test]
fn invalid_data_is_rejected() {
    fn rejects<T: DeserializeOwned + std::fmt::Debug>(json: &str) {
        let result = serde_json::from_str::<T>(json);
        assert!(result.is_err(), "{json} {result:?}");
    }
    rejects::<Blob>("\"a?==\"");
    rejects::<Blob>("[1,2]");
    rejects::<Timestamp>("\"2026-11-21\"");
    rejects::<Timestamp>("\"2026-11-21T20:30:00+0100\"");
    rejects::<Timestamp>("5");
    rejects::<BigInteger>("1.5");
    rejects::<BigInteger>("{}");
    rejects::<BigDecimal>("\"1.\"");
    rejects::<BigDecimal>("{\"a\": \"1\"}");
    rejects::<Map>("5");
    rejects::<Map>("[]");
    rejects::<Map>(r#"{"a":1,"a":2}"#);
    // The reader does not accept years of more than four digits.
    let far = Timestamp::new(253_402_300_800, 0);
    assert!(serde_json::to_string(&far).is_err());
}

/// The deserializers in serde are human-readable. The wrapper makes them binary.
#[test]
fn binary_formats_keep_bytes() {
    struct Binary<D>(D);

    impl<'de, D: serde::Deserializer<'de>> serde::Deserializer<'de> for Binary<D> {
        type Error = D::Error;

        fn deserialize_any<V: serde::de::Visitor<'de>>(
            self,
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            self.0.deserialize_any(visitor)
        }

        fn is_human_readable(&self) -> bool {
            false
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
            option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
            identifier ignored_any
        }
    }

    let bytes = BytesDeserializer::<Error>::new(b"\x00\xff");
    assert_eq!(Blob::deserialize(Binary(bytes)).unwrap(), *b"\x00\xff");
    let text = StrDeserializer::<Error>::new("AQI=");
    assert!(Blob::deserialize(Binary(text)).is_err());
}
