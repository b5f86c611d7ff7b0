//! Every shape and every kind of scalar, there and back.

use std::collections::BTreeMap;

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{DecodeAny, DecodeWith, Dynamic, Message, NoFormats, Sink, Slot, Typed};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, ErrorKind, Limits, Map, Text, Timestamp, Value,
};

use crate::shapes::{
    Bucket, Named, Node, PutThing, QueryInput, Rank, Scalars, Strict, Suit, root, samples,
};
use crate::support::{Format, decode, document, encode, for_every_format, for_xml_too};
use crate::{check, with};

for_every_format! {
    every_shape,
    every_scalar_at_its_edges,
    timestamps,
    floats,
    big_numbers,
    messages_and_sinks,
    values_that_do_not_fit,
}

for_xml_too! {
    every_scalar_at_its_edges,
    timestamps,
    values_that_do_not_fit,
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

/// Where a message or a sink has no code of its own for a format, it goes through
/// the copy that all formats share.
#[test]
fn shared_copies() {
    let at = root("Node");
    let node = samples::node();
    let own: &dyn Message = &Typed::new(&node);
    let shared: &dyn Message = &Typed::<_, NoFormats>::with_formats(&node);
    let profile = JsonProfile::DEFAULT;
    let [own, shared] = [own, shared].map(|message| {
        let mut encoder = JsonEncoder::new(profile, Vec::new());
        message.write(at, &mut encoder);
        encoder.finish().unwrap()
    });
    assert_eq!(own, shared);
    let body = Body::from(own);
    let mut slot = Slot::<Node, NoFormats>::with_formats();
    let mut decoder = JsonDecoder::from_body(&body, profile, &Limits::DEFAULT).unwrap();
    assert!(slot.decode_with(at, &mut decoder).is_none());
    let sink: &mut dyn Sink<'_> = &mut slot;
    sink.read(at, &mut decoder).unwrap();
    sink.finish(at, &mut decoder).unwrap();
    assert_eq!(slot.into_value().as_ref(), Some(&node));
    // What has been put together takes no more.
    let mut slot = Slot::<Node>::new();
    let mut decoder = JsonDecoder::from_body(&body, profile, &Limits::DEFAULT).unwrap();
    let sink: &mut dyn Sink<'_> = &mut slot;
    sink.read(at, &mut decoder).unwrap();
    sink.finish(at, &mut decoder).unwrap();
    let mut decoder = JsonDecoder::from_body(&body, profile, &Limits::DEFAULT).unwrap();
    let error = sink.read(at, &mut decoder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(slot.into_value(), Some(node));
}

/// What a protocol does: it knows neither the type nor, for `Value`, the
/// shape.
fn messages_and_sinks<F: Format>() {
    let at = root("Node");
    let node = samples::node();
    let bytes = encode::<F, _>(&node, at).unwrap();
    let value: Value = decode::<F, _>(&bytes, at).unwrap();
    for message in [&Typed::new(&node) as &dyn Message, &Dynamic(&value)] {
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
