//! As integers and floating-point numbers.

use polywire_text::number::{
    Decimal, Grammar, Integer, NonFinite, Spelling, decimal_prefix, float_prefix, integer_prefix,
    json_number, parse, parse_float, push, push_f64, push_float,
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

/// A number of any length at the beginning.
fn digits(data: &[u8], grammar: Grammar) {
    let found = Decimal::prefix(data, grammar);
    let layout = found.map(|found| (found.as_bytes().len(), found.is_integer()));
    assert_eq!(layout, twin::number(data, grammar));
    let Ok(decimal) = found else { return };
    let text = String::from_utf8_lossy(decimal.as_bytes());

    let spelling = Spelling::new(grammar, NonFinite::Refuse);
    let double = twin::double(decimal.as_bytes(), spelling);
    let len = decimal.as_bytes().len();
    assert_eq!(
        float_prefix(data, grammar),
        double.map(|value| (value, len))
    );
    let single = float_prefix::<f32>(data, grammar).map(|(value, _)| value);
    let expected = text.parse::<f32>().ok().filter(|value| value.is_finite());
    assert_eq!(single.ok().map(f32::to_bits), expected.map(f32::to_bits));

    let mut canonical = Vec::new();
    decimal.push_canonical(&mut canonical);
    assert_eq!(canonical, twin::canonical(&text).as_bytes());
    // Endless exponents are all the same, but what they are moved by is not.
    let exponent = text.split(['e', 'E']).nth(1).unwrap_or_default();
    if exponent.len() < 18 {
        assert_eq!(Decimal::parse(&canonical, Grammar::Json), Ok(decimal));
    }
    let mut plain = Vec::new();
    if decimal.push_plain(&mut plain, 1000).is_ok() {
        assert_eq!(plain, twin::plain(&text).as_bytes());
        for grammar in [Grammar::Json, Grammar::XmlSchema, Grammar::Plain] {
            assert_eq!(Decimal::parse(&plain, grammar), Ok(decimal));
        }
        assert_eq!(
            decimal.to_int::<i64>(),
            decimal.is_whole().then(|| plain_integer(&plain)).flatten()
        );
    } else {
        assert!(plain.is_empty());
    }
}

fn plain_integer(plain: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(plain).ok()?;
    text.split('.').next()?.parse().ok()
}

/// What the JSON decoder tries first.
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
        assert_eq!(Ok(found), float_prefix(data, Grammar::Json));
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
