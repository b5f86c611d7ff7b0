//! Numbers by example.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::number::{
    Float, Grammar, Integer, NotFinite, Spelling, integer_prefix, parse, parse_f32, parse_f64,
    parse_float, parse_i64, push_float,
};

#[test]
fn large_integers_are_distinguished() {
    assert_eq!(integer_prefix(b"9223372036854775808"), Integer::Large(19));
    assert_eq!(integer_prefix(b"-9223372036854775809x"), Integer::Large(20));
    assert_eq!(
        integer_prefix(b"-9223372036854775808]"),
        Integer::Small(i64::MIN, 20)
    );
    assert_eq!(
        integer_prefix(b"000000000000000000000001"),
        Integer::Small(1, 24)
    );
    // What a peer read as a long.
    assert_eq!(integer_prefix(b"25000000000000000000,"), Integer::Large(20));
    assert!(parse::<i64>(b"25000000000000000000", Grammar::Json).is_err());
}

#[test]
fn offsets_of_invalid_integers() {
    for (bad, offset) in [
        (&b""[..], 0),
        (b"-", 1),
        (b"+", 1),
        (b"+-1", 1),
        (b"--1", 1),
        (b"1 ", 1),
        (b" 1", 0),
        (b"0x1", 1),
        (b"1234567890123x5", 13),
    ] {
        assert_eq!(parse_i64(bad).unwrap_err().offset, offset, "{bad:?}");
    }
}

#[test]
fn words_and_digits() {
    assert!(parse_f64(b"NaN").unwrap().is_nan());
    for bad in [
        &b""[..],
        b"-",
        b"nan",
        b"inf",
        b"-NaN",
        b"1e",
        b"0x1",
        b"1 ",
        b"+Infinity",
        b".",
        b"+",
        b"-.",
        b"+-5",
        b"-+5",
        b".e1",
    ] {
        assert!(parse_f64(bad).is_err(), "{bad:?}");
    }
    for (text, value) in [
        (&b"1."[..], 1.0),
        (b".5", 0.5),
        (b"+5", 5.0),
        (b"-.5e1", -5.0),
        (b"+.5", 0.5),
        (b"007", 7.0),
    ] {
        assert_eq!(parse_f64(text), Ok(value), "{text:?}");
    }
    assert!(parse_f64(b"-0").unwrap().is_sign_negative());
    assert!(parse_f32(b"-0").unwrap().is_sign_negative());
}

fn written<F: Float>(value: F, spelling: Spelling) -> String {
    let mut out = Vec::new();
    push_float(&mut out, value, spelling).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn shortest() {
    for (value, expected) in [
        (-0.0, "-0"),
        (0.0, "0"),
        (0.1, "0.1"),
        (0.3, "0.3"),
        (12.75, "12.75"),
        (1e300, "1e+300"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(written(value, Spelling::SMITHY), expected);
    }
    assert_eq!(written(0.1_f32, Spelling::JSON), "0.1");
}

#[test]
fn plain() {
    for (value, expected) in [
        (-0.0, "-0".to_owned()),
        // What a peer wrote as 0.10000000000000001.
        (0.1, "0.1".to_owned()),
        (1e-7, "0.0000001".to_owned()),
        (-1.5e-9, "-0.0000000015".to_owned()),
        (1e16, format!("1{}", "0".repeat(16))),
        (f64::MAX, format!("17976931348623157{}", "0".repeat(292))),
        (5e-324, format!("0.{}5", "0".repeat(323))),
    ] {
        assert_eq!(written(value, Spelling::XML_RPC), expected);
    }
    assert_eq!(written(-f64::MIN_POSITIVE, Spelling::XML_RPC).len(), 327);
}

#[test]
fn words() {
    for (spelling, expected) in [
        (Spelling::SMITHY, ["NaN", "Infinity", "-Infinity"]),
        (Spelling::XML_SCHEMA, ["NaN", "INF", "-INF"]),
        (
            Spelling::SMITHY_JSON,
            ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""],
        ),
    ] {
        for (value, expected) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY]
            .into_iter()
            .zip(expected)
        {
            assert_eq!(written(value, spelling), expected);
            let read: f64 = parse_float(expected.as_bytes(), spelling).unwrap();
            assert!(read == value || read.is_nan() && value.is_nan());
        }
    }
    for spelling in [Spelling::JSON, Spelling::XML_RPC] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut out = b"kept".to_vec();
            assert_eq!(push_float(&mut out, value, spelling), Err(NotFinite));
            assert_eq!(out, b"kept");
        }
    }
}
