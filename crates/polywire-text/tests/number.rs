//! Numbers, compared with the reference implementation and the standard library.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use polywire_text::Malformed;
use polywire_text::number::{
    self, Float, Grammar, Int, Integer, NonFinite, Spelling, decimal_prefix, integer_prefix,
    json_number, parse, parse_float, push, push_float,
};
use polywire_text::reference::number as slow;
use proptest::prelude::*;

const GRAMMARS: [Grammar; 3] = [Grammar::Json, Grammar::XmlSchema, Grammar::Plain];
const WORDS: [NonFinite; 4] = [
    NonFinite::Reject,
    NonFinite::Smithy,
    NonFinite::SmithyQuoted,
    NonFinite::XmlSchema,
];

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    // After other bytes, and without spare capacity.
    let mut out = b"before".to_vec();
    out.shrink_to_fit();
    write(&mut out);
    String::from_utf8(out).unwrap().split_off("before".len())
}

/// One type, compared with the digits of the reference.
fn integer_of<T: Int + FromStr + Debug + PartialEq>(bytes: &[u8], grammar: Grammar) {
    let expected = slow::integer(bytes, grammar);
    let fitting = |value: String| value.parse::<T>().ok();
    let beyond = |malformed: Malformed| {
        assert_eq!(malformed.offset, 0, "{bytes:?}");
        assert!(malformed.expected.starts_with("an integer from "));
    };
    match (parse::<T>(bytes, grammar), expected) {
        (Ok(value), Ok((end, digits))) => {
            assert_eq!(
                (Some(value), bytes.len()),
                (fitting(digits), end),
                "{bytes:?}"
            );
        }
        (Err(malformed), Ok((end, digits))) if end == bytes.len() => {
            assert_eq!(fitting(digits), None, "{bytes:?}");
            beyond(malformed);
        }
        (Err(malformed), Ok((end, _))) => {
            assert_eq!(
                malformed,
                Malformed::new(end, "a decimal digit"),
                "{bytes:?}"
            );
        }
        (found, Err(expected)) => assert_eq!(found.unwrap_err(), expected, "{bytes:?}"),
    }
}

/// All readers.
fn read(bytes: &[u8]) {
    for grammar in GRAMMARS {
        integer_of::<i8>(bytes, grammar);
        integer_of::<u8>(bytes, grammar);
        integer_of::<i16>(bytes, grammar);
        integer_of::<u16>(bytes, grammar);
        integer_of::<i32>(bytes, grammar);
        integer_of::<u32>(bytes, grammar);
        integer_of::<i64>(bytes, grammar);
        integer_of::<u64>(bytes, grammar);
        integer_of::<i128>(bytes, grammar);
        integer_of::<u128>(bytes, grammar);
        if let Ok((len, _)) = slow::number(bytes, grammar) {
            let spelling = Spelling::new(grammar, NonFinite::Reject);
            let number = &bytes[..len];
            let expected = slow::double(number, spelling);
            assert_eq!(parse_float(number, spelling), expected, "{bytes:?}");
            single(number, spelling);
        }
        for words in WORDS {
            let spelling = Spelling::new(grammar, words);
            match (
                parse_float::<f64>(bytes, spelling),
                slow::double(bytes, spelling),
            ) {
                (Ok(found), Ok(expected)) => {
                    assert!(found == expected || found.is_nan() && expected.is_nan());
                    assert_eq!(found.is_sign_negative(), expected.is_sign_negative());
                }
                (found, expected) => assert_eq!(found, expected, "{bytes:?}"),
            }
        }
    }
    assert_eq!(json_number(bytes), slow::number(bytes, Grammar::Json));
    if let Some((value, len)) = decimal_prefix(bytes) {
        let number = slow::number(bytes, Grammar::Json);
        assert_eq!(number.map(|(len, _)| len), Ok(len));
        assert_eq!(slow::double(&bytes[..len], Spelling::JSON), Ok(value));
    }
    let found = match integer_prefix(bytes) {
        Integer::None => None,
        Integer::Small(value, len) => Some((Some(value), len)),
        Integer::Large(len) => Some((None, len)),
    };
    let expected = match bytes.first() {
        Some(b'+') => None,
        // With leading zeros, but without a plus.
        _ => slow::integer(bytes, Grammar::XmlSchema).ok(),
    };
    let expected = expected.map(|(len, digits)| (digits.parse().ok(), len));
    assert_eq!(found, expected, "{bytes:?}");
}

/// 32 bits, rounded once.
fn single(bytes: &[u8], spelling: Spelling) {
    let text = std::str::from_utf8(bytes).unwrap();
    let expected = text.parse::<f32>().unwrap();
    match parse_float::<f32>(bytes, spelling) {
        Ok(value) => assert_eq!(value.to_bits(), expected.to_bits(), "{text}"),
        Err(_) => assert!(expected.is_infinite(), "{text}"),
    }
}

fn float_round_trips<F: Float + Display + Debug + FromStr>(value: F, finite: bool) {
    for (spelling, plain) in [
        (Spelling::JSON, false),
        (Spelling::SMITHY_JSON, false),
        (Spelling::SMITHY, false),
        (Spelling::XML_SCHEMA, false),
        (Spelling::XML_RPC, true),
    ] {
        let mut out = Vec::new();
        let result = push_float(&mut out, value, spelling);
        if !finite && spelling.non_finite == NonFinite::Reject {
            assert!(result.is_err() && out.is_empty());
            continue;
        }
        result.unwrap();
        let read: F = parse_float(&out, spelling).unwrap();
        // As text, since not-a-number equals nothing.
        assert_eq!(format!("{read:?}"), format!("{value:?}"));
        let text = String::from_utf8(out).unwrap();
        if finite {
            // As short as the standard library has it.
            // The last digit is another where two are as near.
            let expected = value.to_string();
            let digits = |text| slow::canonical(text).split('e').next().map(str::len);
            assert_eq!(digits(&text), digits(&expected));
            if plain {
                assert_eq!(
                    text,
                    slow::plain(&written(|out| {
                        push_float(out, value, Spelling::JSON).unwrap();
                    }))
                );
            }
        }
        assert!(text.len() <= if plain { 327 } else { 24 });
    }
}

#[test]
fn every_length_with_every_byte_at_every_place() {
    for len in 0..=48 {
        let digits: Vec<u8> = (0..len).map(|at| b'0' + (at * 7 + 3) as u8 % 10).collect();
        read(&digits);
        for at in 0..len {
            for byte in [
                b'/', b':', b'.', b'e', b'-', b'+', b' ', 0, 0x80, 0xb0, 0xff,
            ] {
                let mut bytes = digits.clone();
                bytes[at] = byte;
                read(&bytes);
            }
        }
    }
}

#[test]
fn zeros_and_nines() {
    for len in 1..=45 {
        for fill in [b'0', b'9'] {
            for sign in ["", "-", "+"] {
                let mut text = sign.as_bytes().to_vec();
                text.extend(std::iter::repeat_n(fill, len));
                read(&text);
                text.push(b'7');
                read(&text);
                text[sign.len()] = b'1';
                read(&text);
            }
        }
    }
}

#[test]
fn the_ends_of_every_range() {
    fn around<T: Int + Display + FromStr + Debug + PartialEq>(least: T, most: T) {
        for end in [least, most] {
            let text = end.to_string();
            assert_eq!(parse::<T>(text.as_bytes(), Grammar::Json), Ok(end));
            assert_eq!(written(|out| push(out, end)), text);
            // One farther from zero, by hand, and a digit more.
            let (before, last) = text.split_at(text.len() - 1);
            let farther = last.parse::<u8>().unwrap() + 1;
            for text in [format!("{before}{farther}"), format!("{text}0")] {
                if text != "10" && text != "01" && text != "00" && text != "1" {
                    let error = parse::<T>(text.as_bytes(), Grammar::Json).unwrap_err();
                    assert!(error.expected.starts_with("an integer from "), "{text}");
                }
                integer_of::<T>(text.as_bytes(), Grammar::Json);
                integer_of::<T>(format!("{text},").as_bytes(), Grammar::XmlSchema);
            }
        }
    }
    around(i8::MIN, i8::MAX);
    around(u8::MIN, u8::MAX);
    around(i16::MIN, i16::MAX);
    around(u16::MIN, u16::MAX);
    around(i32::MIN, i32::MAX);
    around(u32::MIN, u32::MAX);
    around(i64::MIN, i64::MAX);
    around(u64::MIN, u64::MAX);
    around(i128::MIN, i128::MAX);
    around(u128::MIN, u128::MAX);
}

// A peer reads this as a long, without an error.
#[test]
fn integers_beyond_64_bits_are_rejected() {
    let text = b"25000000000000000000";
    assert!(parse::<i64>(text, Grammar::Json).is_err());
    assert!(parse::<u64>(text, Grammar::Json).is_err());
    assert_eq!(integer_prefix(text), Integer::Large(20));
    assert_eq!(
        parse(text, Grammar::Json),
        Ok(25_000_000_000_000_000_000_i128)
    );
}

#[test]
fn hard_floats() {
    for text in [
        "9007199254740993",
        "9007199254740992.9999999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "3.4028235e38",
        "3.4028236e38",
        "1.401298464324817e-45",
        "7.006492321624085e-46",
        "1e-400",
        "1e400",
        "0e400",
        "0e-99999999999999999999",
        "1e-00000000000000000000007",
        "16777217",
        "1.00000017881393432617187499",
        "1.00000017881393432617187500",
        "1.00000017881393432617187501",
        "7205759403792793199999e-5",
        "9355950000000000000.00000000000000000000000000000000001844674407370955161600000",
        "1e-07",
        "0.10000000000000001",
    ] {
        read(text.as_bytes());
        read(format!("-{text}").as_bytes());
    }
}

#[test]
fn every_power_of_ten_and_two() {
    for exponent in -345..=310 {
        for digits in [
            "1",
            "9007199254740993",
            "1234567890123456789",
            "18446744073709551615",
        ] {
            read(format!("{digits}e{exponent}").as_bytes());
        }
    }
    for exponent in 0..2047_u64 {
        for mantissa in [0, 1, (1 << 52) - 1] {
            float_round_trips(f64::from_bits(exponent << 52 | mantissa), true);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        read(&bytes);
    }

    #[test]
    fn nearly_numbers(text in "[-+]{0,2}[0-9]{0,25}(\\.[0-9]{0,25})?([eE][-+]?[0-9]{0,5})?.?") {
        read(text.as_bytes());
    }

    #[test]
    fn long_ones(text in "-?[1-9][0-9]{0,500}(\\.[0-9]{1,300})?([eE][-+]?[0-9]{1,40})?,?") {
        read(text.as_bytes());
    }

    #[test]
    fn words(text in "[-+]?(NaN|INF|Infinity|inf|nan|\"NaN\"|\"-?Infinity\"),?") {
        read(text.as_bytes());
    }

    #[test]
    fn integers_are_written(bits: u128, narrow in 0..128_u32) {
        let value = bits >> narrow;
        prop_assert_eq!(written(|out| push(out, value)), value.to_string());
        let value = bits as i128 >> narrow;
        prop_assert_eq!(written(|out| push(out, value)), value.to_string());
        prop_assert_eq!(written(|out| push(out, value as i64)), (value as i64).to_string());
        prop_assert_eq!(written(|out| push(out, value as u64)), (value as u64).to_string());
        prop_assert_eq!(written(|out| push(out, value as i32)), (value as i32).to_string());
        prop_assert_eq!(written(|out| push(out, value as u32)), (value as u32).to_string());
        prop_assert_eq!(written(|out| push(out, value as i16)), (value as i16).to_string());
        prop_assert_eq!(written(|out| push(out, value as i8)), (value as i8).to_string());
    }

    #[test]
    fn floats_are_written(bits: u64) {
        let value = f64::from_bits(bits);
        float_round_trips(value, value.is_finite());
        let value = f32::from_bits(bits as u32);
        float_round_trips(value, value.is_finite());
    }

    #[test]
    fn seventeen_digits(unit in -1e6..1e6_f64, single: f32) {
        float_round_trips(unit, true);
        read(unit.to_string().as_bytes());
        read(single.to_string().as_bytes());
    }

}

#[test]
fn writers_append() {
    let mut out = Vec::new();
    number::push_u64(&mut out, 7);
    number::push_i64(&mut out, -10_000_000_000);
    number::push_f64(&mut out, f64::NAN);
    number::push_f32(&mut out, 0.5);
    assert_eq!(out, b"7-10000000000NaN0.5");
}
