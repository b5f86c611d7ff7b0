//! Integers and floating-point numbers.
//!
//! Reading takes bytes and says how many of them were the number, or reads a
//! whole slice. Writing appends to the caller's buffer. Floating-point numbers
//! are written in the shortest form that reads back as the same number (by
//! zmij) and read exactly (by fast-float2).

use crate::Malformed;

/// The spelling of not-a-number in Smithy's text formats.
pub const NAN: &str = "NaN";
/// The spelling of positive infinity in Smithy's text formats.
pub const INFINITY: &str = "Infinity";
/// The spelling of negative infinity in Smithy's text formats.
pub const NEGATIVE_INFINITY: &str = "-Infinity";

/// A decimal integer at the beginning of some bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Integer {
    /// No digit where one was expected.
    None,
    /// An integer that fits 64 bits, and its length in bytes, sign included.
    Small(i64, usize),
    /// A longer one; its length in bytes. The digits are the value.
    Large(usize),
}

/// Reads `-`? and decimal digits from the beginning of `bytes`.
///
/// Leading zeros are read; formats that forbid them look themselves.
///
/// ```
/// use polywire_text::number::{Integer, integer_prefix};
///
/// assert_eq!(integer_prefix(b"-17,"), Integer::Small(-17, 3));
/// assert_eq!(integer_prefix(b"25000000000000000000"), Integer::Large(20));
/// assert_eq!(integer_prefix(b"-"), Integer::None);
/// ```
#[inline]
#[must_use]
pub fn integer_prefix(bytes: &[u8]) -> Integer {
    let negative = bytes.first() == Some(&b'-');
    let sign = usize::from(negative);
    let mut at = sign;
    let mut value: u64 = 0;
    // Eighteen digits cannot overflow; nearly every number has fewer.
    let end = bytes.len().min(sign + 18);
    while at < end {
        let digit = bytes[at].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + u64::from(digit);
        at += 1;
    }
    if at == sign {
        return Integer::None;
    }
    if at == sign + 18 && bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return long_integer(bytes, sign);
    }
    let value = value as i64;
    Integer::Small(if negative { -value } else { value }, at)
}

/// The rare integer of more than eighteen digits.
#[cold]
fn long_integer(bytes: &[u8], sign: usize) -> Integer {
    let digits = &bytes[sign..];
    let len = digits
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(digits.len());
    let mut value: Option<i64> = Some(0);
    for digit in &digits[..len] {
        let digit = i64::from(digit - b'0');
        value = value.and_then(|value| value.checked_mul(10));
        // Counted below zero, since i64::MIN has no positive twin.
        value = value.and_then(|value| value.checked_sub(digit));
    }
    if sign == 0 {
        value = value.and_then(i64::checked_neg);
    }
    match value {
        Some(value) => Integer::Small(value, sign + len),
        None => Integer::Large(sign + len),
    }
}

/// Reads all of `bytes` as an integer of 64 bits: a sign (`-` or `+`) and
/// decimal digits, leading zeros allowed, as XML Schema's `xs:long` has it.
///
/// # Errors
///
/// Where the first unexpected byte is, or that the number needs more bits.
///
/// ```
/// use polywire_text::number::parse_i64;
///
/// assert_eq!(parse_i64(b"+0042"), Ok(42));
/// assert_eq!(parse_i64(b"4x").unwrap_err().offset, 1);
/// assert!(parse_i64(b"9223372036854775808").is_err());
/// ```
#[inline]
pub fn parse_i64(bytes: &[u8]) -> Result<i64, Malformed> {
    let skip = usize::from(bytes.first() == Some(&b'+') && bytes.get(1) != Some(&b'-'));
    match integer_prefix(&bytes[skip..]) {
        Integer::Small(value, len) if skip + len == bytes.len() => Ok(value),
        Integer::Small(_, len) | Integer::Large(len) if skip + len < bytes.len() => {
            Err(Malformed::new(skip + len, "a decimal digit"))
        }
        Integer::None => {
            let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
            Err(Malformed::new(sign, "a decimal integer"))
        }
        _ => Err(Malformed::new(0, "an integer of at most 64 bits")),
    }
}

/// The length of the JSON number at the beginning of `bytes` by the grammar of
/// RFC 8259, section 6, and whether it is an integer (no fraction, no
/// exponent).
///
/// # Errors
///
/// The offset at which the grammar was left, and what it asked for.
///
/// ```
/// use polywire_text::number::json_number;
///
/// assert_eq!(json_number(b"-0.5e+3]"), Ok((7, false)));
/// assert_eq!(json_number(b"12]"), Ok((2, true)));
/// assert_eq!(json_number(b"01").unwrap_err().offset, 1);
/// assert_eq!(json_number(b"1.").unwrap_err().offset, 2);
/// ```
pub fn json_number(bytes: &[u8]) -> Result<(usize, bool), Malformed> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 {
        return Err(Malformed::new(sign, "a digit"));
    }
    if whole > 1 && bytes[sign] == b'0' {
        return Err(Malformed::new(sign + 1, "no digit after a leading zero"));
    }
    let mut end = sign + whole;
    let mut integer = true;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction == 0 {
            return Err(Malformed::new(end + 1, "a digit after the decimal point"));
        }
        end += 1 + fraction;
        integer = false;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent == 0 {
            return Err(Malformed::new(end + 1 + sign, "a digit of the exponent"));
        }
        end += 1 + sign + exponent;
        integer = false;
    }
    Ok((end, integer))
}

/// Reads a plain decimal number from the beginning of `bytes`: the common case
/// of JSON's grammar, in one pass. `None` says nothing but that the number is
/// not so common (an exponent, many digits) or no number.
///
/// With a mantissa below 2^53 and a power of ten up to 10^22 both are doubles
/// without error, so one division gives the nearest double (W. D. Clinger, "How
/// to read floating point numbers accurately", 1990).
///
/// ```
/// use polywire_text::number::decimal_prefix;
///
/// assert_eq!(decimal_prefix(b"-12.75,"), Some((-12.75, 6)));
/// assert_eq!(decimal_prefix(b"1e5"), None);
/// assert_eq!(decimal_prefix(b"01"), None);
/// ```
#[inline]
#[must_use]
pub fn decimal_prefix(bytes: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let mut mantissa: u64 = 0;
    let mut at = sign;
    let mut digits = |at: &mut usize| {
        let start = *at;
        while let Some(digit) = bytes.get(*at).map(|byte| byte.wrapping_sub(b'0'))
            && digit <= 9
        {
            // Wraps only beyond nineteen digits, which are refused below.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            *at += 1;
        }
        *at - start
    };
    let whole = digits(&mut at);
    if whole == 0 || (whole > 1 && bytes[sign] == b'0') {
        return None;
    }
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        fraction = digits(&mut at);
        if fraction == 0 {
            return None;
        }
    }
    if whole + fraction > 18 || mantissa >> 53 != 0 || matches!(bytes.get(at), Some(b'e' | b'E')) {
        return None;
    }
    let value = mantissa as f64 / POWERS_OF_TEN[fraction];
    Some((if sign == 1 { -value } else { value }, at))
}

/// 10^0 to 10^17: exact.
static POWERS_OF_TEN: [f64; 18] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17,
];

/// Reads all of `bytes` as a floating-point number: decimal digits with an
/// optional sign (`-` or `+`), point and exponent, or one of the words `NaN`,
/// `Infinity` and `-Infinity`. Of the digits before and behind the point either
/// may be missing, as XML Schema's `xs:double` has it: `1.`, `.5`, `+5`; formats
/// that forbid those look themselves ([`json_number`]). No other words, no
/// white space, no hexadecimal.
///
/// # Errors
///
/// Offset 0 if `bytes` is not such a number, or if it is beyond the largest
/// number of its width: digits are never read as infinity.
///
/// ```
/// use polywire_text::number::parse_f64;
///
/// assert_eq!(parse_f64(b"1e-07"), Ok(1e-7));
/// assert_eq!(parse_f64(b"-Infinity"), Ok(f64::NEG_INFINITY));
/// assert!(parse_f64(b"inf").is_err());
/// assert!(parse_f64(b"1e400").is_err());
/// ```
pub fn parse_f64(bytes: &[u8]) -> Result<f64, Malformed> {
    parse_float(bytes, f64::NAN, f64::INFINITY)
}

/// As [`parse_f64`], rounded once to 32 bits.
///
/// # Errors
///
/// As [`parse_f64`].
pub fn parse_f32(bytes: &[u8]) -> Result<f32, Malformed> {
    parse_float(bytes, f32::NAN, f32::INFINITY)
}

fn parse_float<F: fast_float2::FastFloat + std::ops::Neg<Output = F> + PartialEq + Copy>(
    bytes: &[u8],
    nan: F,
    infinity: F,
) -> Result<F, Malformed> {
    let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
    // fast-float2 reads words of its own; a digit or point must come first.
    if matches!(unsigned.first(), Some(b'0'..=b'9' | b'.'))
        || matches!(bytes, [b'+', b'0'..=b'9' | b'.', ..])
    {
        let value: F = fast_float2::parse(bytes).map_err(|_| not_a_float())?;
        if value == infinity || value == -infinity {
            return Err(Malformed::new(0, "a number within the range of its type"));
        }
        return Ok(value);
    }
    match bytes {
        b"NaN" => Ok(nan),
        b"Infinity" => Ok(infinity),
        b"-Infinity" => Ok(-infinity),
        _ => Err(not_a_float()),
    }
}

#[cold]
fn not_a_float() -> Malformed {
    Malformed::new(0, "a decimal number")
}

/// Appends `value` in decimal.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push_i64(&mut out, -9_223_372_036_854_775_808);
/// assert_eq!(out, b"-9223372036854775808");
/// ```
#[inline]
pub fn push_i64(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_u64(out, value.unsigned_abs());
}

/// Appends `value` in decimal.
#[inline]
pub fn push_u64(out: &mut Vec<u8>, value: u64) {
    if value < 10 {
        out.push(b'0' + value as u8);
        return;
    }
    // Digits fill the first twenty bytes from the right; the window that
    // starts at the first digit is then copied at a fixed width and cut.
    let mut digits = [0_u8; 40];
    let mut first = 20;
    let mut rest = value;
    while rest >= 100 {
        let pair = (rest % 100) as usize * 2;
        rest /= 100;
        first -= 2;
        digits[first] = PAIRS[pair];
        digits[first + 1] = PAIRS[pair + 1];
    }
    if rest >= 10 {
        let pair = rest as usize * 2;
        first -= 2;
        digits[first] = PAIRS[pair];
        digits[first + 1] = PAIRS[pair + 1];
    } else {
        first -= 1;
        digits[first] = b'0' + rest as u8;
    }
    let old = out.len();
    match digits.get(first..).and_then(<[u8]>::first_chunk::<20>) {
        Some(window) => {
            out.extend_from_slice(window);
            out.truncate(old + 20 - first);
        }
        // Not reached: `first` is at most 19.
        None => out.extend_from_slice(&digits[..20]),
    }
}

/// "00" to "99".
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut value = 0;
    while value < 100 {
        pairs[value * 2] = b'0' + (value / 10) as u8;
        pairs[value * 2 + 1] = b'0' + (value % 10) as u8;
        value += 1;
    }
    pairs
};

/// Appends exactly `width` decimal digits of `value`, with leading zeros.
/// Higher digits are lost; callers pass values that fit.
pub(crate) fn push_padded(out: &mut Vec<u8>, value: u32, width: u32) {
    let mut divisor = 10_u32.pow(width - 1);
    for _ in 0..width {
        out.push(b'0' + (value / divisor % 10) as u8);
        divisor /= 10;
    }
}

/// Appends the shortest decimal that reads back as `value`; `NaN`, `Infinity`
/// and `-Infinity` as those words, for the caller to quote or refuse. A whole
/// number has no fraction: `5`, not `5.0`.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push_f64(&mut out, 0.1);
/// out.push(b' ');
/// polywire_text::number::push_f64(&mut out, 5.0);
/// assert_eq!(out, b"0.1 5");
/// ```
pub fn push_f64(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        return push_word(out, value.is_nan(), value.is_sign_negative());
    }
    push_decimal(out, zmij::Buffer::new().format_finite(value));
}

/// As [`push_f64`], shortest for 32 bits.
pub fn push_f32(out: &mut Vec<u8>, value: f32) {
    if !value.is_finite() {
        return push_word(out, value.is_nan(), value.is_sign_negative());
    }
    push_decimal(out, zmij::Buffer::new().format_finite(value));
}

fn push_decimal(out: &mut Vec<u8>, decimal: &str) {
    let decimal = decimal.strip_suffix(".0").unwrap_or(decimal);
    out.extend_from_slice(decimal.as_bytes());
}

#[cold]
fn push_word(out: &mut Vec<u8>, nan: bool, negative: bool) {
    let word = match (nan, negative) {
        (true, _) => NAN,
        (false, false) => INFINITY,
        (false, true) => NEGATIVE_INFINITY,
    };
    out.extend_from_slice(word.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_at_the_edges() {
        for value in [0, 1, 9, 10, 99, 100, 12_345, i64::MAX, i64::MIN, -1, -10] {
            let text = written(|out| push_i64(out, value));
            assert_eq!(text, value.to_string());
            assert_eq!(parse_i64(text.as_bytes()), Ok(value));
        }
        assert_eq!(integer_prefix(b"9223372036854775808"), Integer::Large(19));
        assert_eq!(integer_prefix(b"-9223372036854775809x"), Integer::Large(20));
        assert_eq!(
            integer_prefix(b"000000000000000000000001"),
            Integer::Small(1, 24)
        );
        assert_eq!(written(|out| push_u64(out, u64::MAX)), u64::MAX.to_string());
        for bad in [&b""[..], b"-", b"+", b"+-1", b"--1", b"1 ", b" 1", b"0x1"] {
            assert!(parse_i64(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn floats_by_name_and_by_digits() {
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
        for bad in [&b"."[..], b"+", b"-.", b"+-5", b"-+5", b".e1"] {
            assert!(parse_f64(bad).is_err(), "{bad:?}");
        }
        assert_eq!(written(|out| push_f64(out, -0.0)), "-0");
        assert_eq!(written(|out| push_f32(out, 0.1)), "0.1");
        assert_eq!(written(|out| push_f64(out, f64::NEG_INFINITY)), "-Infinity");
        assert_eq!(written(|out| push_f64(out, 1e300)), "1e+300");
    }

    proptest! {
        #[test]
        fn integers_round_trip(value: i64) {
            let text = written(|out| push_i64(out, value));
            prop_assert_eq!(&text, &value.to_string());
            prop_assert_eq!(parse_i64(text.as_bytes()), Ok(value));
        }

        #[test]
        fn floats_round_trip(bits: u64) {
            let value = f64::from_bits(bits);
            let read = parse_f64(written(|out| push_f64(out, value)).as_bytes()).unwrap();
            prop_assert!(read == value || (read.is_nan() && value.is_nan()));
            let value = f32::from_bits(bits as u32);
            let read = parse_f32(written(|out| push_f32(out, value)).as_bytes()).unwrap();
            prop_assert!(read == value || (read.is_nan() && value.is_nan()));
        }

        #[test]
        fn plain_decimals_are_read_exactly(text in "-?[0-9]{1,12}(\\.[0-9]{1,9})?[eE,]?") {
            if let Some((value, len)) = decimal_prefix(text.as_bytes()) {
                prop_assert_eq!(value.to_bits(), text[..len].parse::<f64>().unwrap().to_bits());
                prop_assert_eq!(json_number(text.as_bytes()).map(|(len, _)| len), Ok(len));
            }
        }

        #[test]
        fn padded_is_format(value in 0..10_000_u32) {
            prop_assert_eq!(written(|out| push_padded(out, value, 4)), format!("{value:04}"));
        }
    }
}
