//! `Text`, `Blob` and `Timestamp` through serde.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt;

use polywire_text::{Blob, Text, Timestamp};
use serde::de::value::{
    BytesDeserializer, Error, SeqDeserializer, StrDeserializer, StringDeserializer,
};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::ser::Serialize;

const LONG: &str = "a string of more than twenty-three bytes";

/// The output of `Serialize` through `fmt::Formatter`, the serializer of the standard library.
struct Shown<T>(T);

impl<T: Serialize> fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

/// A binary format that only has bytes.
enum Binary<'a> {
    Bytes(&'a [u8]),
    Owned(Vec<u8>),
    List(Vec<u8>),
}

impl<'de> Deserializer<'de> for Binary<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Bytes(bytes) => visitor.visit_bytes(bytes),
            Self::Owned(bytes) => visitor.visit_byte_buf(bytes),
            Self::List(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.into_iter())),
        }
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn text_is_a_string() {
    for string in ["", "London", LONG] {
        assert_eq!(Shown(Text::from(string)).to_string(), string);
        let borrowed: StrDeserializer<'_, Error> = string.into_deserializer();
        assert_eq!(Text::deserialize(borrowed).unwrap(), string);
        let owned: StringDeserializer<Error> = string.to_owned().into_deserializer();
        assert_eq!(Text::deserialize(owned).unwrap(), string);
        let bytes: BytesDeserializer<'_, Error> = string.as_bytes().into_deserializer();
        assert_eq!(Text::deserialize(bytes).unwrap(), string);
        let owned = Binary::Owned(string.into());
        assert_eq!(Text::deserialize(owned).unwrap(), string);
    }
    let character: serde::de::value::CharDeserializer<Error> = 'é'.into_deserializer();
    assert_eq!(Text::deserialize(character).unwrap(), "é");
}

#[test]
fn text_is_nothing_else() {
    let number: serde::de::value::U32Deserializer<Error> = 7_u32.into_deserializer();
    let error = Text::deserialize(number).unwrap_err().to_string();
    assert_eq!(error, "invalid type: integer `7`, expected a string");
    let error = Text::deserialize(Binary::Bytes(b"ab\xff")).unwrap_err();
    assert_eq!(error.to_string(), "expected UTF-8 at byte 2");
}

#[test]
fn a_blob_is_base64_for_people() {
    assert_eq!(
        Shown(Blob::from(b"\x01\x02\x03\xff")).to_string(),
        "AQID/w=="
    );
    let text: StrDeserializer<'_, Error> = "AQID/w==".into_deserializer();
    assert_eq!(Blob::deserialize(text).unwrap(), b"\x01\x02\x03\xff");
    let text: StrDeserializer<'_, Error> = "AQ?=".into_deserializer();
    assert!(Blob::deserialize(text).is_err());
}

#[test]
fn a_blob_is_bytes_for_machines() {
    for bytes in [&[][..], &[1, 2, 3], LONG.as_bytes()] {
        assert_eq!(Blob::deserialize(Binary::Bytes(bytes)).unwrap(), bytes);
        assert_eq!(
            Blob::deserialize(Binary::Owned(bytes.into())).unwrap(),
            bytes
        );
        assert_eq!(
            Blob::deserialize(Binary::List(bytes.into())).unwrap(),
            bytes
        );
    }
}

#[test]
fn a_timestamp_is_a_string_by_rfc_3339() {
    let instant = Timestamp::new(1_795_293_000, 250_000_000);
    for (instant, expected) in [
        (instant, "2026-11-21T20:30:00.25Z"),
        (instant.with_unzoned(true), "2026-11-21T20:30:00.25"),
    ] {
        assert_eq!(Shown(instant).to_string(), expected);
        let text: StrDeserializer<'_, Error> = expected.into_deserializer();
        assert_eq!(Timestamp::deserialize(text).unwrap(), instant);
    }
    // Other formats are rejected.
    for text in ["20261121T20:30:00", "2026-11-21 20:30:00", "1795293000"] {
        let text: StrDeserializer<'_, Error> = text.into_deserializer();
        assert!(Timestamp::deserialize(text).is_err());
    }
}

#[test]
fn forms_of_a_timestamp() {
    let read = |text: &str| {
        let text: StrDeserializer<'_, Error> = text.into_deserializer();
        Timestamp::deserialize(text)
    };
    for instant in [
        Timestamp::new(0, 0),
        Timestamp::new(1_795_293_000, 5_000_000),
    ] {
        for unzoned in [false, true] {
            let instant = instant.with_unzoned(unzoned);
            let text = Shown(instant).to_string();
            assert_eq!(text.ends_with('Z'), !unzoned);
            assert_eq!(read(&text).unwrap(), instant);
        }
    }
    assert_eq!(
        read("2026-11-21T21:30:00+01:00").unwrap(),
        Timestamp::new(1_795_293_000, 0)
    );
    // Dates of XML-RPC that are not RFC 3339, and other text.
    for text in [
        "20261121T20:30:00",
        "20261121T20:30:00Z",
        "2026-02-31T00:00:00",
        "2026",
        "",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
