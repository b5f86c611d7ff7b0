//! The input as integers and floating-point numbers.

use polywire_text::number::{
    Grammar, Integer, NonFinite, Spelling, decimal_prefix, integer_prefix, json_number, parse,
    parse_float, push, push_f64, push_float,
};
use polywire_text::reference::number as twin;

pub(crate) fn any(data: &[u8]) {
    for grammar in [Grammar::Json, Grammar::XmlSchema, Grammar::Plain] {
        integers(data, grammar);
        digits(data, grammar);
    }
    for spelling in [
        Spelling::JSON,
        Spelling::SMITHY_JSON,
        Spelling::SMITHY,
        Spelling::XML_SCHEMA,
        Spelling::XML_RPC,
    ] {
        match (
            parse_float::<f64>(data, spelling),
            twin::double(data, spelling),
        ) {
            (Ok(found), Ok(expected)) => {
                assert!(found == expected || found.is_nan() && expected.is_nan());
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }
    assert_eq!(json_number(data), twin::number(data, Grammar::Json));
    prefix(data);
    if let Some((bits, _)) = data.split_first_chunk() {
        written(u128::from_le_bytes(*bits));
    }
}

fn integers(data: &[u8], grammar: Grammar) {
    let expected = twin::integer(data, grammar).ok();
    let whole = expected.filter(|(len, _)| *len == data.len());
    let digits = whole.map(|(_, digits)| digits).unwrap_or_default();
    assert_eq!(parse::<i8>(data, grammar).ok(), digits.parse().ok());
    assert_eq!(parse::<u32>(data, grammar).ok(), digits.parse().ok());
    assert_eq!(parse::<i64>(data, grammar).ok(), digits.parse().ok());
    assert_eq!(parse::<u64>(data, grammar).ok(), digits.parse().ok());
    assert_eq!(parse::<i128>(data, grammar).ok(), digits.parse().ok());
}

/// The number at the beginning, as both floats.
fn digits(data: &[u8], grammar: Grammar) {
    let Ok((len, _)) = twin::number(data, grammar) else {
        return;
    };
    let number = &data[..len];
    let spelling = Spelling::new(grammar, NonFinite::Reject);
    let double = twin::double(number, spelling);
    assert_eq!(parse_float(number, spelling), double);
    let single = parse_float::<f32>(number, spelling).ok();
    let text = String::from_utf8_lossy(number);
    let expected = text.parse::<f32>().ok().filter(|value| value.is_finite());
    assert_eq!(single.map(f32::to_bits), expected.map(f32::to_bits));
}

/// The fast paths of the JSON decoder.
fn prefix(data: &[u8]) {
    let expected = match data.first() {
        Some(b'+') => None,
        _ => twin::integer(data, Grammar::XmlSchema).ok(),
    };
    let found = match integer_prefix(data) {
        Integer::None => None,
        Integer::Small(value, len) => Some((len, Some(value))),
        Integer::Large(len) => Some((len, None)),
    };
    assert_eq!(
        found,
        expected.map(|(len, digits)| (len, digits.parse().ok()))
    );
    if let Some(found) = decimal_prefix(data) {
        let (value, len) = found;
        let number = twin::number(data, Grammar::Json);
        assert_eq!(number.map(|(len, _)| len), Ok(len));
        assert_eq!(twin::double(&data[..len], Spelling::JSON), Ok(value));
    }
}

fn written(bits: u128) {
    let mut out = Vec::new();
    push(&mut out, bits);
    assert_eq!(out, bits.to_string().as_bytes());
    out.clear();
    push(&mut out, bits as i64);
    assert_eq!(out, (bits as i64).to_string().as_bytes());
    let value = f64::from_bits(bits as u64);
    out.clear();
    push_f64(&mut out, value);
    let read = parse_float::<f64>(&out, Spelling::SMITHY);
    assert!(read.is_ok_and(|read| read == value || read.is_nan() && value.is_nan()));
    out.clear();
    assert_eq!(
        push_float(&mut out, value, Spelling::XML_RPC).is_ok(),
        value.is_finite()
    );
    assert!(!value.is_finite() || parse_float(&out, Spelling::XML_RPC) == Ok(value));
    assert!(out.len() <= 327);
}
