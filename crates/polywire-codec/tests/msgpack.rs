//! MessagePack: its specification, its peers, and what is invalid.

mod shapes;

use std::collections::BTreeMap;

use polywire_codec::msgpack::{self, MsgPackDecoder, MsgPackEncoder, MsgPackProfile};
use polywire_codec::{Dynamic, Message, Sink, Typed};
use polywire_schema::{
    BigInteger, Blob, Decode, Encode, ErrorKind, LimitKind, Limits, Map, Member, Timestamp, Value,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use shapes::{Node, root, samples};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|digit| *digit != ' ').collect();
    let pair = |pair: &[char]| {
        let byte = u8::from_str_radix(&pair.iter().collect::<String>(), 16);
        byte.unwrap_or_else(|error| unreachable!("{text}: {error}"))
    };
    digits.chunks(2).map(pair).collect()
}

/// The formats of the specification, at the ends of their ranges: the message, and its value.
#[test]
fn formats_of_the_specification() {
    let long = |len: usize| Value::from("x".repeat(len).as_str());
    let bytes = |len: usize| Value::Blob(Blob::from(vec![7; len]));
    let list = |len: usize| Value::List(vec![Value::Null; len]);
    let str_of = |head: &str, len: usize| [hex(head), vec![b'x'; len]].concat();
    let bin_of = |head: &str, len: usize| [hex(head), vec![7; len]].concat();
    let list_of = |head: &str, len: usize| [hex(head), vec![0xc0; len]].concat();
    for (message, value) in [
        (hex("c0"), Value::Null),
        (hex("c2"), Value::Boolean(false)),
        (hex("c3"), Value::Boolean(true)),
        (hex("00"), Value::Integer(0)),
        (hex("7f"), Value::Integer(127)),
        (hex("cc 80"), Value::Integer(128)),
        (hex("cc ff"), Value::Integer(255)),
        (hex("cd 0100"), Value::Integer(256)),
        (hex("cd ffff"), Value::Integer(65_535)),
        (hex("ce 00010000"), Value::Integer(65_536)),
        (hex("ce ffffffff"), Value::Integer(u32::MAX.into())),
        (hex("cf 0000000100000000"), Value::Integer(1 << 32)),
        (hex("cf 7fffffffffffffff"), Value::Integer(i64::MAX)),
        (
            hex("cf ffffffffffffffff"),
            Value::BigInteger("18446744073709551615".parse().unwrap()),
        ),
        (hex("ff"), Value::Integer(-1)),
        (hex("e0"), Value::Integer(-32)),
        (hex("d0 df"), Value::Integer(-33)),
        (hex("d0 80"), Value::Integer(-128)),
        (hex("d1 ff7f"), Value::Integer(-129)),
        (hex("d1 8000"), Value::Integer(-32_768)),
        (hex("d2 ffff7fff"), Value::Integer(-32_769)),
        (hex("d2 80000000"), Value::Integer(i32::MIN.into())),
        (
            hex("d3 ffffffff7fffffff"),
            Value::Integer(i64::from(i32::MIN) - 1),
        ),
        (hex("d3 8000000000000000"), Value::Integer(i64::MIN)),
        (hex("ca 3fc00000"), Value::Float(1.5)),
        (hex("cb 3ff8000000000000"), Value::Double(1.5)),
        (hex("a0"), long(0)),
        (str_of("bf", 31), long(31)),
        (str_of("d9 20", 32), long(32)),
        (str_of("d9 ff", 255), long(255)),
        (str_of("da 0100", 256), long(256)),
        (str_of("da ffff", 65_535), long(65_535)),
        (str_of("db 00010000", 65_536), long(65_536)),
        (bin_of("c4 00", 0), bytes(0)),
        (bin_of("c4 ff", 255), bytes(255)),
        (bin_of("c5 0100", 256), bytes(256)),
        (bin_of("c5 ffff", 65_535), bytes(65_535)),
        (bin_of("c6 00010000", 65_536), bytes(65_536)),
        (hex("90"), list(0)),
        (list_of("9f", 15), list(15)),
        (list_of("dc 0010", 16), list(16)),
        (list_of("dc ffff", 65_535), list(65_535)),
        (list_of("dd 00010000", 65_536), list(65_536)),
        (hex("80"), Value::Map(Map::new())),
        (hex("81 a161 01"), Value::Map(Map::from_iter([("a", 1)]))),
        (
            hex("d6 ff 00000001"),
            Value::Timestamp(Timestamp::new(1, 0)),
        ),
        (
            hex("d6 ff ffffffff"),
            Value::Timestamp(Timestamp::new(u32::MAX.into(), 0)),
        ),
        (
            hex("d7 ff 0000000100000000"),
            Value::Timestamp(Timestamp::new(1 << 32, 0)),
        ),
        (
            hex("d7 ff 0000000400000001"),
            Value::Timestamp(Timestamp::new(1, 1)),
        ),
        (
            hex("d7 ff ee6b27ff ffffffff"),
            Value::Timestamp(Timestamp::new((1 << 34) - 1, 999_999_999)),
        ),
        (
            hex("c7 0c ff 00000000 0000000400000000"),
            Value::Timestamp(Timestamp::new(1 << 34, 0)),
        ),
        (
            hex("c7 0c ff 00000001 ffffffffffffffff"),
            Value::Timestamp(Timestamp::new(-1, 1)),
        ),
    ] {
        let read = msgpack::read_value(&message).unwrap();
        assert_eq!(read, value);
        assert_eq!(msgpack::write_value(&value).unwrap(), message);
    }
    // Other forms of the same values are read.
    for (message, value) in [
        (hex("d3 0000000000000001"), Value::Integer(1)),
        (hex("cd 0001"), Value::Integer(1)),
        (hex("d9 01 61"), Value::from("a")),
        (hex("dd 00000001 c0"), list(1)),
        (
            hex("df 00000001 a161 c0"),
            Value::Map(Map::from_iter([("a", Value::Null)])),
        ),
        (
            hex("c7 04 ff 00000001"),
            Value::Timestamp(Timestamp::new(1, 0)),
        ),
        (
            hex("c9 00000004 ff 00000001"),
            Value::Timestamp(Timestamp::new(1, 0)),
        ),
    ] {
        assert_eq!(msgpack::read_value(&message).unwrap(), value);
    }
}

/// Each invalid message, the kind of its error, its offset and its path.
#[test]
fn errors() {
    for (message, kind, offset, path) in [
        ("", ErrorKind::Truncated, 0, ""),
        ("c1", ErrorKind::Syntax, 0, ""),
        ("cd 01", ErrorKind::Truncated, 2, ""),
        ("a2 61", ErrorKind::Truncated, 1, ""),
        ("c0 c0", ErrorKind::Syntax, 1, ""),
        ("a1 ff", ErrorKind::Characters, 1, ""),
        ("93 01", ErrorKind::Truncated, 0, ""),
        ("92 01 c1", ErrorKind::Syntax, 2, "[1]"),
        ("81 a161 92 01 a2ff61", ErrorKind::Characters, 6, "a[1]"),
        ("82 a161 90 a162 c1", ErrorKind::Syntax, 6, "b"),
        ("82 a161 01 a161 02", ErrorKind::Duplicate, 7, ""),
        ("81 01 02", ErrorKind::WrongType, 1, ""),
        ("dd ffffffff", ErrorKind::Truncated, 0, ""),
        ("d4 01 00", ErrorKind::WrongType, 0, ""),
        ("d4 ff 00", ErrorKind::InvalidValue, 0, ""),
        ("d7 ff ffffffff 00000000", ErrorKind::InvalidValue, 0, ""),
    ] {
        let error = msgpack::read_value(&hex(message)).unwrap_err();
        let found = (error.kind(), error.offset(), error.path());
        assert_eq!(found, (kind, Some(offset), path), "{message}: {error}");
    }
    let deep = [0x91].repeat(10_000);
    let error = msgpack::read_value(&deep).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Limit(LimitKind::Depth(_))),
        "{error}"
    );
}

fn write(message: &dyn Message) -> Vec<u8> {
    let mut encoder = MsgPackEncoder::new(Vec::new());
    message.write(root("Node"), &mut encoder);
    encoder.finish().unwrap_or_default()
}

fn read<'de>(bytes: &'de [u8], sink: &mut dyn Sink<'de>) -> Result<(), polywire_schema::Error> {
    let profile = MsgPackProfile::DEFAULT;
    let mut decoder = MsgPackDecoder::from_slice(bytes, profile, &Limits::DEFAULT)?;
    sink.read(root("Node"), &mut decoder)?;
    decoder.finish()?;
    sink.finish(root("Node"), &mut decoder)
}

/// A structure with a member of every type, typed and as a map.
#[test]
fn by_schema() {
    let node = samples::node();
    let bytes = write(&Typed::new(&node));
    let mut slot = polywire_codec::Slot::<Node>::new();
    read(&bytes, &mut slot).unwrap();
    assert_eq!(slot.into_value(), Some(node));
    let mut map = Map::new();
    read(&bytes, &mut map).unwrap();
    assert_eq!(write(&Dynamic(&Value::Map(map))), bytes);
    // Names are told from a longer message by an independent reader.
    assert!(rmpv::decode::read_value(&mut &*bytes).unwrap().is_map());
}

/// Every truncation and every change of one byte gives a value or an error.
#[test]
fn truncated_and_changed() {
    let bytes = write(&Typed::new(&samples::node()));
    for end in 0..bytes.len() {
        let mut map = Map::new();
        let error = read(&bytes[..end], &mut map).unwrap_err();
        assert!(error.offset().unwrap() <= end, "{error}");
        assert!(msgpack::read_value(&bytes[..end]).is_err());
    }
    for at in 0..bytes.len() {
        for byte in 0..=255 {
            let mut changed = bytes.clone();
            changed[at] = byte;
            let mut map = Map::new();
            let _ = read(&changed, &mut map);
            let _ = msgpack::read_value(&changed);
            let _ = msgpack::from_slice::<BTreeMap<String, Untyped>>(&changed);
        }
    }
}

/// Whatever comes.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only read")]
enum Untyped {
    Number(i64),
    Fraction(f64),
    Text(String),
    List(Vec<Untyped>),
    Map(BTreeMap<String, Untyped>),
    Nothing(()),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Record {
    name: String,
    count: u64,
    ratio: f64,
    parts: Vec<(i8, Option<f32>)>,
    unit: Unit,
    kind: Kind,
    map: BTreeMap<i16, bool>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Unit;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Kind {
    Unit,
    Newtype(i64),
    Tuple(u8, String),
    Struct { a: char },
}

fn record() -> impl Strategy<Value = Record> {
    let kind = prop_oneof![
        Just(Kind::Unit),
        any::<i64>().prop_map(Kind::Newtype),
        (any::<u8>(), ".{0,40}").prop_map(|(a, b)| Kind::Tuple(a, b)),
        any::<char>().prop_map(|a| Kind::Struct { a }),
    ];
    let parts = prop::collection::vec((any::<i8>(), any::<Option<i16>>()), 0..20);
    let parts = parts.prop_map(|parts| {
        let float = |part: Option<i16>| part.map(f32::from);
        parts.into_iter().map(|(a, b)| (a, float(b))).collect()
    });
    let map = prop::collection::btree_map(any::<i16>(), any::<bool>(), 0..20);
    (".{0,300}", any::<u64>(), any::<i32>(), parts, kind, map).prop_map(
        |(name, count, ratio, parts, kind, map)| Record {
            name,
            count,
            ratio: ratio.into(),
            parts,
            unit: Unit,
            kind,
            map,
        },
    )
}

proptest! {
    /// What we write is what `rmp_serde` writes, and each reads the other.
    #[test]
    fn as_rmp_serde(record in record()) {
        let own = msgpack::to_vec(&record).unwrap();
        prop_assert_eq!(&own, &rmp_serde::to_vec_named(&record).unwrap());
        prop_assert_eq!(&rmp_serde::from_slice::<Record>(&own).unwrap(), &record);
        prop_assert_eq!(&msgpack::from_slice::<Record>(&own).unwrap(), &record);
        // Structures as arrays, which is what it writes unless told otherwise.
        let arrays = rmp_serde::to_vec(&record).unwrap();
        prop_assert_eq!(&msgpack::from_slice::<Record>(&arrays).unwrap(), &record);
    }

    /// Any bytes: what we accept as a value, an independent reader accepts too.
    #[test]
    fn as_rmpv(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        if msgpack::read_value(&bytes).is_ok() {
            let mut rest = &*bytes;
            prop_assert!(rmpv::decode::read_value(&mut rest).is_ok());
            prop_assert!(rest.is_empty());
        }
    }
}

#[test]
fn big_numbers() {
    let digits = "123456789012345678901234567890";
    let value = Value::BigInteger(digits.parse::<BigInteger>().unwrap());
    let mut encoder = MsgPackEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    let bytes = encoder.finish().unwrap();
    let profile = MsgPackProfile::DEFAULT;
    let mut decoder = MsgPackDecoder::from_slice(&bytes, profile, &Limits::DEFAULT).unwrap();
    let back = BigInteger::decode(Member::DOCUMENT, &mut decoder).unwrap();
    assert_eq!(back.as_str(), digits);
}

/// Two spellings of a key are one key.
#[test]
fn keys_come_once() {
    for message in [
        "82 a161 01 a161 02",
        "82 a161 01 d90161 02",
        "82 a161 01 da000161 02",
    ] {
        let error = msgpack::from_slice::<BTreeMap<String, u8>>(&hex(message)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Duplicate, "{message}");
        assert!(error.to_string().contains("`a` twice"), "{error}");
    }
    for message in ["82 01 01 cc01 02", "82 ff 01 d0ff 02", "82 01 01 d10001 02"] {
        let error = msgpack::from_slice::<BTreeMap<i8, u8>>(&hex(message)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Duplicate, "{message}");
    }
}

/// A list or map whose length the type does not announce.
#[test]
fn lengths_that_are_not_known_before() {
    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    for len in [0, 1, 15, 16, 300] {
        let rest: BTreeMap<String, u8> = (0..len).map(|key: u32| (key.to_string(), 1)).collect();
        let own = msgpack::to_vec(&Flat { rest: rest.clone() }).unwrap();
        assert_eq!(own, msgpack::to_vec(&rest).unwrap());
    }
}

/// Integers whose width is not the shortest, and those that end too early.
#[test]
fn integers_of_serde() {
    assert_eq!(
        msgpack::from_slice::<u16>(&hex("d3 0000000000000007")).unwrap(),
        7
    );
    assert_eq!(
        msgpack::from_slice::<u64>(&hex("cf ffffffffffffffff")).unwrap(),
        u64::MAX
    );
    for (message, offset) in [("cd", 1), ("cd 01", 2), ("", 0)] {
        let error = msgpack::from_slice::<u16>(&hex(message)).unwrap_err();
        let found = (error.kind(), error.offset());
        assert_eq!(
            found,
            (ErrorKind::Truncated, Some(offset)),
            "{message}: {error}"
        );
    }
}
