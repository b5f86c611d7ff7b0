//! The same tests for every format: typed shapes and `Value` go through the
//! same encoders and decoders and mean the same.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod shapes;
mod support;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_codec::{Dynamic, Message, Sink, Slot, Typed};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decode, Encode, Error, ErrorKind, LimitKind, Limits, Map,
    Member, Text, Timestamp, Value,
};
use shapes::{
    Bucket, Choice, Collections, Line, Named, Node, PutThing, QueryInput, Rank, Scalars, Strict,
    Suit, WIDE, Wide, root, samples,
};
use support::{
    Format, decode, decode_dyn, decode_from, decode_lenient, decode_limited, document, encode,
    encode_dyn, for_every_format,
};

for_every_format! {
    every_shape,
    every_scalar_at_its_edges,
    timestamps,
    floats,
    big_numbers,
    members_in_any_order,
    unknown_members,
    nulls,
    nulls_in_dense_collections,
    null_documents,
    null_documents_in_collections,
    empty_collections,
    unicode,
    strings_of_every_length,
    keys_of_every_length,
    strings_are_shared_or_inline,
    strings_are_borrowed,
    small_parts_of_large_bodies_are_copied,
    duplicates,
    duplicates_among_many_members,
    duplicates_behind_nested_values,
    duplicate_keys,
    unions,
    variants_that_the_model_does_not_have,
    required_members,
    limits_on_bytes,
    limits_on_depth,
    limits_on_items,
    limits_on_strings,
    the_deepest_nesting,
    messages_and_sinks,
    values_that_do_not_fit,
    variants_that_cannot_be_written,
}

/// Typed and `Value`, monomorphised and `dyn`, both ways. Values are compared
/// as they are shown, since NaN equals nothing.
fn check<F: Format, T>(value: &T, at: Member<'_>) -> Vec<u8>
where
    T: Encode + for<'de> Decode<'de> + Debug,
{
    let bytes = encode::<F, T>(value, at).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert_eq!(encode_dyn::<F, T>(value, at).unwrap(), bytes);

    let shown = format!("{value:?}");
    let typed: T = decode::<F, T>(&bytes, at).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(format!("{typed:?}"), shown, "{text}");
    let typed: T = decode_dyn::<F, T>(&bytes, at).unwrap();
    assert_eq!(format!("{typed:?}"), shown, "{text}");

    let dynamic: Value = decode_dyn::<F, Value>(&bytes, at).unwrap();
    let again = encode_dyn::<F, Value>(&dynamic, at).unwrap();
    assert_eq!(String::from_utf8_lossy(&again), text);
    assert_eq!(again, bytes);
    let dynamic: Value = decode::<F, Value>(&bytes, at).unwrap();
    assert_eq!(encode::<F, Value>(&dynamic, at).unwrap(), bytes);
    bytes
}

fn every_shape<F: Format>() {
    check::<F, _>(&samples::scalars(), root("Scalars"));
    check::<F, _>(&Scalars::default(), root("Scalars"));
    check::<F, _>(&samples::node(), root("Node"));
    check::<F, _>(&samples::collections(), root("Collections"));
    check::<F, _>(&samples::wide(), root("Wide"));
    let strict = Strict {
        id: Text::from("id"),
        items: Some(vec![Strict::default()]),
        ..Strict::default()
    };
    check::<F, _>(&strict, root("Strict"));
    let named = Named {
        city_id: Some(Text::from("1")),
        plain: Some(Text::from("2")),
        quoted: Some(Text::from("3")),
        first: Some(Text::from("4")),
        second: Some(Text::from("5")),
        long: Some(Text::from("6")),
    };
    check::<F, _>(&named, root("Named"));
    // Traits of other formats and locations mean nothing to these.
    let bucket = Bucket {
        labels: Some(BTreeMap::from([(Text::from("k"), Text::from("v"))])),
        prefixes: Some(vec![Text::from("p")]),
        ..Bucket::default()
    };
    check::<F, _>(&bucket, root("Bucket"));
    let query = QueryInput {
        flat: Some(vec![Text::from("p")]),
        ..QueryInput::default()
    };
    check::<F, _>(&query, root("QueryInput"));
    let thing = PutThing {
        id: Text::from("id"),
        node: Node::named("node"),
        title: Some(Text::from("title")),
        etag: Some(Text::from("etag")),
        since: Some(samples::INSTANT),
        tags: Some(Vec::new()),
        meta: Some(BTreeMap::new()),
        limit: Some(1),
        filters: Some(BTreeMap::new()),
        status: Some(200),
    };
    check::<F, _>(&thing, root("PutThing"));
}

fn every_scalar_at_its_edges<F: Format>() {
    let at = root("Scalars");
    for byte in [i8::MIN, -1, 0, 1, i8::MAX] {
        check::<F, _>(&with(|scalars| scalars.byte = Some(byte)), at);
    }
    for short in [i16::MIN, -129, 255, i16::MAX] {
        check::<F, _>(&with(|scalars| scalars.short = Some(short)), at);
    }
    for integer in [i32::MIN, -32_769, 65_535, 65_536, i32::MAX] {
        check::<F, _>(&with(|scalars| scalars.integer = Some(integer)), at);
        check::<F, _>(&with(|scalars| scalars.rank = Some(Rank(integer))), at);
    }
    let longs = [
        i64::MIN,
        i64::MIN + 1,
        -(1 << 32),
        3_000_000_000,
        1 << 53,
        (1 << 53) + 1,
        999_999_999_999_999_999,
        1_000_000_000_000_000_000,
        i64::MAX,
    ];
    for long in longs {
        check::<F, _>(&with(|scalars| scalars.long = Some(long)), at);
    }
    for boolean in [true, false] {
        check::<F, _>(&with(|scalars| scalars.boolean = Some(boolean)), at);
    }
    for suit in [
        Suit::Clubs,
        Suit::Unknown(Text::from("SWORDS")),
        Suit::Unknown(Text::EMPTY),
    ] {
        check::<F, _>(&with(|scalars| scalars.suit = Some(suit.clone())), at);
    }
    for len in (0..70).chain([255, 256, 1000, 65_536]) {
        let blob: Vec<u8> = (0..len).map(|index| (index * 7) as u8).collect();
        let blob = Blob::from(blob);
        check::<F, _>(&with(|scalars| scalars.blob = Some(blob.clone())), at);
    }
}

/// Scalars with one member set.
fn with(set: impl FnOnce(&mut Scalars)) -> Scalars {
    let mut scalars = Scalars::default();
    set(&mut scalars);
    scalars
}

fn timestamps<F: Format>() {
    let at = root("Scalars");
    let instants = [
        Timestamp::EPOCH,
        Timestamp::new(-1, 0),
        Timestamp::new(-1, 500_000_000),
        Timestamp::new(1_795_293_000, 0),
        samples::INSTANT,
        Timestamp::new(951_825_600, 1_000_000),
        Timestamp::new(4_102_444_800, 123_456_000),
        // 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
        Timestamp::new(-62_135_596_800, 0),
        Timestamp::new(253_402_300_799, 0),
    ];
    for instant in instants {
        let scalars = Scalars {
            time: Some(instant),
            date_time: Some(instant),
            epoch_seconds: Some(instant),
            http_date: Some(instant),
            ..Scalars::default()
        };
        check::<F, _>(&scalars, at);
    }
    // Nanoseconds live where the form is decimal; in CBOR a double tells
    // microseconds.
    let nanoseconds = with(|scalars| scalars.time = Some(Timestamp::new(1_795_293_000, 1)));
    if F::NAME == "CBOR" {
        let bytes = encode::<F, _>(&nanoseconds, at).unwrap();
        let read: Scalars = decode::<F, _>(&bytes, at).unwrap();
        assert_eq!(read.time, Some(Timestamp::new(1_795_293_000, 0)));
    } else {
        check::<F, _>(&nanoseconds, at);
    }
}

fn floats<F: Format>() {
    let at = root("Scalars");
    let doubles = [
        0.0,
        -0.0,
        0.1,
        1.0,
        -1.5,
        1e-7,
        1e21,
        1e300,
        5e-324,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        1.0 / 3.0,
        9_007_199_254_740_993.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for double in doubles {
        let bytes = check::<F, _>(&with(|scalars| scalars.double = Some(double)), at);
        let read: Scalars = decode::<F, _>(&bytes, at).unwrap();
        // The sign of zero, too.
        if !double.is_nan() {
            assert_eq!(read.double.unwrap().to_bits(), double.to_bits());
        }
    }
    let floats = [
        0.0,
        -0.0,
        0.1,
        16_777_217.0,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        8.589_973e9,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    for float in floats {
        let bytes = check::<F, _>(&with(|scalars| scalars.float = Some(float)), at);
        let read: Scalars = decode::<F, _>(&bytes, at).unwrap();
        if !float.is_nan() {
            assert_eq!(read.float.unwrap().to_bits(), float.to_bits());
        }
    }
    // A whole number may stand for a double.
    let whole = document::<F>(&Value::from(Map::from_iter([
        ("double", 3_i64),
        ("float", -3),
    ])));
    let read: Scalars = decode::<F, _>(&whole, at).unwrap();
    assert_eq!((read.double, read.float), (Some(3.0), Some(-3.0)));
    // A double that is no float: refused, not infinity.
    let large = document::<F>(&Value::from(Map::from_iter([("float", 1e300)])));
    let error = decode::<F, Scalars>(&large, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
    let error = decode::<F, Value>(&large, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
}

fn big_numbers<F: Format>() {
    let at = root("Scalars");
    let digits = "9".repeat(200);
    let integers = [
        "0".to_owned(),
        "-1".to_owned(),
        i64::MAX.to_string(),
        i64::MIN.to_string(),
        "9223372036854775808".to_owned(),
        "-9223372036854775809".to_owned(),
        u64::MAX.to_string(),
        "18446744073709551616".to_owned(),
        "-18446744073709551616".to_owned(),
        "-18446744073709551617".to_owned(),
        "25000000000000000000".to_owned(),
        format!("-1{}", "0".repeat(199)),
        format!("-{digits}"),
        digits,
    ];
    for integer in &integers {
        let big: BigInteger = integer.parse().unwrap();
        check::<F, _>(&with(|scalars| scalars.big_integer = Some(big.clone())), at);
        // As a decimal, whose digits are kept.
        let decimal: BigDecimal = integer.parse().unwrap();
        check::<F, _>(
            &with(|scalars| scalars.big_decimal = Some(decimal.clone())),
            at,
        );
    }
    let decimals = [
        "0.1",
        "1.10",
        "-0.005",
        "0.00",
        "123456789012345678901234567890.123456789",
        "5e3",
        "5e-100",
        "-7e1000000",
    ];
    for decimal in decimals {
        let decimal: BigDecimal = decimal.parse().unwrap();
        check::<F, _>(
            &with(|scalars| scalars.big_decimal = Some(decimal.clone())),
            at,
        );
    }
    // CBOR keeps the number and its precision, not its spelling.
    for (spelling, in_cbor) in [
        ("1.5e3", "15e2"),
        ("1E+2", "1e2"),
        ("1.50E-70", "150e-72"),
        ("-0.0", "0.0"),
    ] {
        let decimal: BigDecimal = spelling.parse().unwrap();
        let bytes = encode::<F, _>(&with(|scalars| scalars.big_decimal = Some(decimal)), at);
        let read: Scalars = decode::<F, _>(&bytes.unwrap(), at).unwrap();
        let expected = if F::NAME == "CBOR" { in_cbor } else { spelling };
        assert_eq!(read.big_decimal.unwrap().as_str(), expected);
    }
    // What is too big for 64 bits is no long.
    if F::NAME != "XML-RPC" {
        let big: BigInteger = "25000000000000000000".parse().unwrap();
        let bytes = document::<F>(&Value::from(Map::from_iter([("long", Value::from(big))])));
        let error = decode::<F, Scalars>(&bytes, at).unwrap_err();
        assert_eq!(error.path(), "long");
        assert!(error.to_string().contains("an integer"), "{error}");
    }
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

fn nulls<F: Format>() {
    // A null member is one that is not there.
    let at = root("Scalars");
    let all = at.target().members().map(|member| member.name());
    let nulls: Vec<(Text, Value)> = all
        .filter(|name| *name != "document")
        .map(|name| (Text::from(name), Value::Null))
        .collect();
    let bytes = document::<F>(&Value::Map(Map::from_entries(nulls).unwrap()));
    assert_eq!(
        decode::<F, Scalars>(&bytes, at).unwrap(),
        Scalars::default()
    );
    assert_eq!(
        decode::<F, Value>(&bytes, at).unwrap(),
        Value::Map(Map::new())
    );
    // A required member as well.
    let bytes = document::<F>(&Value::from(Map::from_iter([("name", Value::Null)])));
    let error = decode::<F, Node>(&bytes, root("Node")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    // And a variant of a union: the other one counts.
    let union = Map::from_iter([("number", Value::Null), ("text", Value::from("x"))]);
    let bytes = document::<F>(&Value::Map(union));
    let choice: Choice = decode::<F, _>(&bytes, root("Choice")).unwrap();
    assert_eq!(choice, Choice::Text(Text::from("x")));
    // A null written of a value is left out.
    let value = Value::from(Map::from_iter([
        ("byte", Value::Null),
        ("string", Value::from("x")),
    ]));
    assert_eq!(
        encode::<F, _>(&value, at).unwrap(),
        encode::<F, _>(&with(|scalars| scalars.string = Some(Text::from("x"))), at).unwrap()
    );
}

fn nulls_in_dense_collections<F: Format>() {
    let at = root("Collections");
    let list = Value::List(vec![Value::from("a"), Value::Null, Value::from("b")]);
    let map = Map::from_iter([("a", Value::from(1)), ("b", Value::Null)]);
    for (name, value) in [("dense", list), ("counts", Value::Map(map))] {
        let value = Value::from(Map::from_iter([(name, value)]));
        let bytes = document::<F>(&value);
        // A server refuses them, a client leaves them out.
        for error in [
            decode::<F, Collections>(&bytes, at).unwrap_err(),
            decode::<F, Value>(&bytes, at).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
        }
        let read: Collections = decode_lenient::<F, _>(&bytes, at).unwrap();
        let dynamic: Value = decode_lenient::<F, _>(&bytes, at).unwrap();
        assert_eq!(
            encode::<F, _>(&read, at).unwrap(),
            encode::<F, _>(&dynamic, at).unwrap()
        );
        match name {
            "dense" => assert_eq!(read.dense.unwrap(), ["a", "b"]),
            _ => assert_eq!(read.counts.unwrap(), BTreeMap::from([(Text::from("a"), 1)])),
        }
        // And they are never written.
        let error = encode::<F, _>(&value, at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongType, "{error}");
    }
}

fn null_documents<F: Format>() {
    // A document may be null, which is not the same as not there.
    let at = root("Scalars");
    check::<F, _>(&with(|scalars| scalars.document = Some(Value::Null)), at);
    let inner = Value::List(vec![Value::Null]);
    check::<F, _>(&with(|scalars| scalars.document = Some(inner)), at);
}

fn null_documents_in_collections<F: Format>() {
    // A client leaves nulls out of dense collections, but a null document is a
    // document.
    let at = root("Collections");
    let collections = Collections {
        dense: Some(vec![Text::from("a")]),
        documents: Some(vec![Value::Null, Value::from(1), Value::Null]),
        documents_by_key: Some(BTreeMap::from([
            (Text::from("a"), Value::Null),
            (Text::from("b"), Value::from(2)),
        ])),
        ..Collections::default()
    };
    let bytes = check::<F, _>(&collections, at);
    let read: Collections = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(read, collections);
    let read: Value = decode_lenient::<F, _>(&bytes, at).unwrap();
    assert_eq!(encode::<F, _>(&read, at).unwrap(), bytes);
    // And in a document.
    let document = Value::from(Map::from_iter([
        ("list", Value::List(vec![Value::Null, Value::from(1)])),
        ("map", Value::from(Map::from_iter([("a", Value::Null)]))),
    ]));
    let bytes = self::document::<F>(&document);
    let read: Value = decode_lenient::<F, _>(&bytes, Member::DOCUMENT).unwrap();
    assert_eq!(read, document);
}

fn empty_collections<F: Format>() {
    let collections = Collections {
        dense: Some(Vec::new()),
        sparse: Some(Vec::new()),
        matrix: Some(vec![Vec::new()]),
        counts: Some(BTreeMap::new()),
        sparse_counts: Some(BTreeMap::new()),
        nodes: Some(BTreeMap::new()),
        blobs: Some(vec![Blob::EMPTY]),
        documents: Some(vec![
            Value::Map(Map::new()),
            Value::List(Vec::new()),
            Value::from(""),
        ]),
        sparse_nodes: Some(vec![None]),
        grouped: Some(BTreeMap::from([(Text::EMPTY, Vec::new())])),
        ..Collections::default()
    };
    check::<F, _>(&collections, root("Collections"));
    check::<F, _>(&Collections::default(), root("Collections"));
    check::<F, _>(&Choice::Empty, root("Choice"));
    check::<F, _>(&Choice::List(vec![Choice::Empty; 3]), root("Choice"));
}

fn unicode<F: Format>() {
    let at = root("Scalars");
    let texts = [
        "\u{80}\u{7ff}\u{800}\u{fffd}\u{10000}\u{10ffff}",
        "Zürich, 東京, Москва, \u{1f600}\u{1f468}\u{200d}\u{1f469}",
        "\u{d7ff}\u{e000}\u{2028}\u{2029}\u{7f}\u{85}\u{feff}",
        "tab\tnew line\ncarriage return\rboth\r\n",
        " leading and trailing ",
        "   ",
        "\n",
        "<![CDATA[x]]> &amp; &#13; <!-- x --> ]]>",
        "</value></string>\"\\\"\\u0041\\",
    ];
    for text in texts {
        check::<F, _>(&with(|scalars| scalars.string = Some(Text::from(text))), at);
        let keyed = Collections {
            counts: Some(BTreeMap::from([(Text::from(text), 1)])),
            ..Collections::default()
        };
        check::<F, _>(&keyed, root("Collections"));
    }
    // What XML cannot carry the others do.
    for text in ["\0", "a\u{1b}[31m", "\u{1f}", "\u{8}\u{c}", "\u{fffe}"] {
        let scalars = with(|scalars| scalars.string = Some(Text::from(text)));
        if F::NAME == "XML-RPC" {
            let error = encode::<F, _>(&scalars, at).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
        } else {
            check::<F, _>(&scalars, at);
        }
    }
}

/// Strings of this length: plain, and with what needs an escape at the
/// beginning, in the middle and at the end.
fn strings(len: usize) -> Vec<String> {
    let mut strings = vec!["x".repeat(len)];
    for special in ["\"", "\\", "<", "&", "\n", "\r", "\t", "é", "\u{1f600}"] {
        if special.len() > len {
            continue;
        }
        let rest = len - special.len();
        for before in [0, rest / 2, rest] {
            let (before, after) = ("x".repeat(before), "y".repeat(rest - before));
            strings.push(format!("{before}{special}{after}"));
        }
    }
    strings
}

const LENGTHS: [usize; 17] = [
    0, 1, 7, 8, 15, 16, 17, 21, 22, 23, 24, 31, 32, 33, 100, 65_536, 100_000,
];

fn strings_of_every_length<F: Format>() {
    let at = root("Scalars");
    for len in LENGTHS {
        for string in strings(len) {
            let text = Text::from(string.as_str());
            let scalars = with(|scalars| scalars.string = Some(text));
            let bytes = encode::<F, _>(&scalars, at).unwrap();
            let read: Scalars = decode::<F, _>(&bytes, at).unwrap();
            assert!(read.string.unwrap() == string, "{len} bytes");
            let dynamic: Value = decode::<F, _>(&bytes, Member::DOCUMENT).unwrap();
            assert!(dynamic["string"].as_str() == Some(&string), "{len} bytes");
        }
    }
}

fn keys_of_every_length<F: Format>() {
    let at = root("Collections");
    for len in LENGTHS {
        for string in strings(len) {
            let counts = BTreeMap::from([(Text::from(string.as_str()), 5)]);
            let collections = Collections {
                counts: Some(counts),
                ..Collections::default()
            };
            let bytes = encode::<F, _>(&collections, at).unwrap();
            assert!(decode::<F, Collections>(&bytes, at).unwrap() == collections);
            // As the key of a member that nobody knows.
            let read: Scalars = decode::<F, _>(&bytes, root("Scalars")).unwrap();
            assert_eq!(read, Scalars::default());
        }
    }
}

fn lies_in(body: &Body, text: &str) -> bool {
    let body = body.as_bytes().as_ptr_range();
    body.contains(&text.as_ptr())
}

fn strings_are_shared_or_inline<F: Format>() {
    let at = root("Scalars");
    for len in LENGTHS {
        for string in strings(len) {
            let scalars = with(|scalars| scalars.string = Some(Text::from(string.as_str())));
            let body = Body::from(encode::<F, _>(&scalars, at).unwrap());
            let escapes: &[char] = match F::NAME {
                "JSON" => &['"', '\\', '\n', '\r', '\t'],
                "XML-RPC" => &['<', '&', '\r'],
                _ => &[],
            };
            let verbatim = !string.contains(escapes);
            let read: Scalars = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
            let document: Value =
                decode_from::<F, _>(&body, Member::DOCUMENT, false, &Limits::DEFAULT).unwrap();
            let Value::String(other) = &document["string"] else {
                panic!("a string");
            };
            for text in [&read.string.unwrap(), other] {
                assert_eq!(text.is_inline(), len <= 22, "{len} bytes");
                assert_eq!(lies_in(&body, text), len > 22 && verbatim, "{len} bytes");
                if lies_in(&body, text) {
                    assert!(text.is_shared());
                }
            }
        }
    }
}

fn strings_are_borrowed<F: Format>() {
    let at = root("Line");
    for (text, borrowed) in [
        ("", true),
        ("short", true),
        ("a string that is longer than any inline form", true),
        ("é\u{1f600}", true),
        ("\" and < \r", F::NAME == "CBOR"),
    ] {
        let line = Line {
            key: Some(Cow::Borrowed(text)),
            value: None,
        };
        let body = Body::from(encode::<F, _>(&line, at).unwrap());
        assert_eq!(encode_dyn::<F, _>(&line, at).unwrap(), body.as_bytes());
        let read: Line<'_> = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
        assert_eq!(read, line);
        let key = read.key.unwrap();
        assert_eq!(matches!(key, Cow::Borrowed(_)), borrowed, "{text:?}");
        if borrowed && !text.is_empty() {
            assert!(lies_in(&body, &key));
        }
    }
}

fn small_parts_of_large_bodies_are_copied<F: Format>() {
    let long = "x".repeat(40);
    let collections = Collections {
        dense: Some(vec![
            Text::from(long.as_str()),
            Text::from("y".repeat(1 << 20)),
        ]),
        ..Collections::default()
    };
    let at = root("Collections");
    let body = Body::from(encode::<F, _>(&collections, at).unwrap());
    let read: Collections = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
    let dense = read.dense.unwrap();
    assert!(!lies_in(&body, &dense[0]) && !dense[0].is_inline());
    assert!(lies_in(&body, &dense[1]));
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

/// The error must say which limit it was, and how the limit is called.
fn limited<T: Debug>(result: Result<T, Error>, limit: LimitKind, setting: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(limit), "{error}");
    assert!(error.is_limit());
    assert!(error.to_string().contains(setting), "{error}");
}

fn limits_on_bytes<F: Format>() {
    let at = root("Node");
    let bytes = encode::<F, _>(&samples::node(), at).unwrap();
    let limits = Limits::DEFAULT.with_bytes(bytes.len());
    decode_limited::<F, Node>(&bytes, at, &limits).unwrap();
    let most = bytes.len() - 1;
    let limits = Limits::DEFAULT.with_bytes(most);
    let result = decode_limited::<F, Node>(&bytes, at, &limits);
    limited(result, LimitKind::Bytes(most), "Limits::bytes");
    // Nothing is done with what is too long: it may be no text at all.
    let limits = Limits::DEFAULT.with_bytes(10);
    let result = decode_limited::<F, Node>(&[0xff; 11], at, &limits);
    limited(result, LimitKind::Bytes(10), "Limits::bytes");
    if F::NAME == "XML-RPC" {
        let body = Body::from(vec![0xff; 11]);
        let result = XmlRpcDecoder::call(&body, XmlRpcProfile::DEFAULT, &limits);
        limited(result, LimitKind::Bytes(10), "Limits::bytes");
    }
}

fn limits_on_depth<F: Format>() {
    let mut value = Value::List(Vec::new());
    for _ in 0..4 {
        value = Value::from(Map::from_iter([("left", Value::List(vec![value]))]));
    }
    let bytes = document::<F>(&value);
    let skipped = document::<F>(&Value::from(Map::from_iter([("unknown", value)])));
    let limits = Limits::DEFAULT.with_depth(9);
    decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
    let limits = Limits::DEFAULT.with_depth(8);
    let result = decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits);
    limited(result, LimitKind::Depth(8), "Limits::depth");
    // What is skipped counts as well.
    let at = root("Scalars");
    let limits = Limits::DEFAULT.with_depth(10);
    decode_limited::<F, Scalars>(&skipped, at, &limits).unwrap();
    let limits = Limits::DEFAULT.with_depth(9);
    let result = decode_limited::<F, Scalars>(&skipped, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");

    // Siblings do not add up.
    let many = Value::List(vec![Value::List(Vec::new()); 100]);
    let limits = Limits::DEFAULT.with_depth(2);
    decode_limited::<F, Value>(&document::<F>(&many), Member::DOCUMENT, &limits).unwrap();

    let at = root("Node");
    let mut node = Node::named("leaf");
    for _ in 0..9 {
        node = Node {
            left: Some(Box::new(node)),
            ..Node::default()
        };
    }
    let bytes = encode::<F, _>(&node, at).unwrap();
    let limits = Limits::DEFAULT.with_depth(10);
    assert_eq!(
        decode_limited::<F, Node>(&bytes, at, &limits).unwrap(),
        node
    );
    let limits = Limits::DEFAULT.with_depth(9);
    let result = decode_limited::<F, Node>(&bytes, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");
    let result = decode_limited::<F, Value>(&bytes, at, &limits);
    limited(result, LimitKind::Depth(9), "Limits::depth");
}

fn limits_on_items<F: Format>() {
    // A list of three, of which one holds two. The member that holds it counts
    // where it is an entry of a map, or unknown to the shape.
    let at = root("Collections");
    let matrix = Collections {
        matrix: Some(vec![vec![1, 2], Vec::new(), Vec::new()]),
        ..Collections::default()
    };
    let bytes = encode::<F, _>(&matrix, at).unwrap();
    for (at, items) in [(at, 5), (Member::DOCUMENT, 6), (root("Scalars"), 6)] {
        let limits = Limits::DEFAULT.with_items(items);
        decode_limited::<F, Value>(&bytes, at, &limits).unwrap();
        let limits = Limits::DEFAULT.with_items(items - 1);
        let result = decode_limited::<F, Value>(&bytes, at, &limits);
        limited(result, LimitKind::Items(items - 1), "Limits::items");
    }
    let limits = Limits::DEFAULT.with_items(4);
    let result = decode_limited::<F, Collections>(&bytes, at, &limits);
    limited(result, LimitKind::Items(4), "Limits::items");
    // Entries of maps are items.
    let map = document::<F>(&Value::from(Map::from_iter([("a", 1), ("b", 2)])));
    let limits = Limits::DEFAULT.with_items(1);
    let result = decode_limited::<F, Value>(&map, Member::DOCUMENT, &limits);
    limited(result, LimitKind::Items(1), "Limits::items");
}

fn limits_on_strings<F: Format>() {
    let at = root("Scalars");
    for string in [
        "x".repeat(100),
        "é".repeat(50),
        format!("{}\"<&", "x".repeat(97)),
    ] {
        let scalars = with(|scalars| scalars.string = Some(Text::from(string.as_str())));
        let bytes = encode::<F, _>(&scalars, at).unwrap();
        let unknown = document::<F>(&Value::from(Map::from_iter([("unknown", string.clone())])));
        let key = document::<F>(&Value::from(Map::from_iter([(string, 1)])));
        for bytes in [bytes, unknown, key] {
            let limits = Limits::DEFAULT.with_string(100);
            decode_limited::<F, Scalars>(&bytes, at, &limits).unwrap();
            decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
            let limits = Limits::DEFAULT.with_string(99);
            let result = decode_limited::<F, Scalars>(&bytes, at, &limits);
            limited(result, LimitKind::StringLength(99), "Limits::string");
            let result = decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits);
            limited(result, LimitKind::StringLength(99), "Limits::string");
        }
    }
    let digits = "7".repeat(100);
    for scalars in [
        with(|scalars| scalars.blob = Some(Blob::from(vec![0; 100]))),
        with(|scalars| scalars.big_integer = Some(digits.parse().unwrap())),
        with(|scalars| scalars.big_decimal = Some(digits.parse().unwrap())),
        with(|scalars| scalars.big_decimal = Some(format!("-{}e5", &digits[3..]).parse().unwrap())),
        with(|scalars| {
            let big: BigInteger = digits.parse().unwrap();
            scalars.document = Some(Value::List(vec![Value::from(big)]));
        }),
    ] {
        let bytes = encode::<F, _>(&scalars, at).unwrap();
        let limits = Limits::DEFAULT.with_string(99);
        let result = decode_limited::<F, Scalars>(&bytes, at, &limits);
        limited(result, LimitKind::StringLength(99), "Limits::string");
        if scalars.blob.is_none() {
            let limits = Limits::DEFAULT.with_string(100);
            decode_limited::<F, Scalars>(&bytes, at, &limits).unwrap();
        }
    }
    // Numbers have the size of their type, however long they are written.
    let scalars = Scalars {
        long: Some(i64::MIN),
        double: Some(-1.234_567_890_123_456_7e-300),
        float: Some(-1.234_567_8),
        ..Scalars::default()
    };
    let bytes = encode::<F, _>(&scalars, at).unwrap();
    let limits = Limits::DEFAULT.with_string(6);
    let read: Scalars = decode_limited::<F, _>(&bytes, at, &limits).unwrap();
    assert_eq!(read, scalars);
    decode_limited::<F, Value>(&bytes, Member::DOCUMENT, &limits).unwrap();
}

/// As deep as a limit may be set, on the stack of an ordinary thread.
fn the_deepest_nesting<F: Format>() {
    let limits = Limits::DEFAULT.with_depth(u32::MAX);
    assert_eq!(limits.depth(), 512);
    let at = root("Node");
    let mut node = Node::named("leaf");
    for _ in 1..512 {
        node = Node {
            left: Some(Box::new(node)),
            ..Node::default()
        };
    }
    let bytes = encode::<F, _>(&node, at).unwrap();
    assert_eq!(
        decode_limited::<F, Node>(&bytes, at, &limits).unwrap(),
        node
    );
    let value: Value = decode_limited::<F, _>(&bytes, at, &limits).unwrap();
    assert_eq!(encode::<F, _>(&value, at).unwrap(), bytes);
    let unknown: Scalars = decode_limited::<F, _>(&bytes, root("Scalars"), &limits).unwrap();
    assert_eq!(unknown, Scalars::default());
    // The error at the bottom has a path that is cut.
    let limits = Limits::DEFAULT.with_depth(511);
    let error = decode_limited::<F, Node>(&bytes, at, &limits).unwrap_err();
    assert!(error.path().starts_with("left.left.") && error.path().len() < 200);
}

/// What a protocol does: it knows neither the type nor, for `Value`, the
/// shape.
fn messages_and_sinks<F: Format>() {
    let at = root("Node");
    let node = samples::node();
    let bytes = encode::<F, _>(&node, at).unwrap();
    let value: Value = decode::<F, _>(&bytes, at).unwrap();
    for message in [&Typed(&node) as &dyn Message, &Dynamic(&value)] {
        let mut encoder = F::encoder();
        message.encode_any(at, &mut encoder);
        assert_eq!(F::written(encoder).unwrap(), bytes);
    }
    let body = Body::from(bytes);
    let mut slot = Slot::<Node>::new();
    let mut decoder = F::decoder(&body, false, &Limits::DEFAULT).unwrap();
    slot.decode_any(at, &mut decoder).unwrap();
    slot.finish(at, &mut decoder).unwrap();
    F::finish(&mut decoder).unwrap();
    assert_eq!(slot.into_value(), Some(node));
    let mut map = Map::new();
    let mut decoder = F::decoder(&body, false, &Limits::DEFAULT).unwrap();
    map.decode_any(at, &mut decoder).unwrap();
    map.finish(at, &mut decoder).unwrap();
    assert_eq!(Value::Map(map), value);
    // A part without the required member is found out at the end.
    let body = Body::from(document::<F>(&Value::Map(Map::new())));
    let mut decoder = F::decoder(&body, false, &Limits::DEFAULT).unwrap();
    let mut slot = Slot::<Node>::new();
    slot.decode_any(at, &mut decoder).unwrap();
    let error = slot.finish(at, &mut decoder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
}

fn values_that_do_not_fit<F: Format>() {
    let at = root("Scalars");
    let list = || Value::List(Vec::new());
    for (name, value, kind) in [
        ("byte", Value::from(128), ErrorKind::InvalidValue),
        ("short", Value::from(-32_769), ErrorKind::InvalidValue),
        ("integer", Value::from(1_i64 << 31), ErrorKind::InvalidValue),
        ("rank", Value::from(1_i64 << 31), ErrorKind::InvalidValue),
        ("long", Value::from(1.5), ErrorKind::WrongType),
        ("float", Value::from(1e300), ErrorKind::InvalidValue),
        ("double", Value::from("1"), ErrorKind::WrongType),
        ("boolean", Value::from(1), ErrorKind::WrongType),
        ("string", Value::from(1), ErrorKind::WrongType),
        ("blob", list(), ErrorKind::WrongType),
        ("time", Value::from(1), ErrorKind::WrongType),
        ("nothing", Value::from(1), ErrorKind::Unknown),
    ] {
        let value = Value::from(Map::from_iter([(name, value)]));
        let error = encode::<F, _>(&value, at).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(encode::<F, _>(&list(), at).is_err());
    assert!(encode::<F, _>(&Map::new(), root("Counts")).is_err());
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
