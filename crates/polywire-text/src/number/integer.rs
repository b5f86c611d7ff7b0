//! Reads and writes integers.

use super::digits::{self, TEN_TO_8, TEN_TO_16};
use super::grammar::Grammar;
use crate::Malformed;

/// The integers `i8` to `i128` and `u8` to `u128`.
///
/// Sealed: use [`parse`] and [`push`].
pub trait Int: Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed: Sized {
        /// The expectation of the error if a number does not fit.
        const EXPECTED: &'static str;
        /// The value of `digits`, which must not be empty. `None` if it does not fit, or if a byte
        /// is not a digit.
        fn whole(negative: bool, digits: &[u8]) -> Option<Self>;
        /// The value, if it fits.
        fn small(value: u64) -> Option<Self>;
        fn push(self, out: &mut Vec<u8>);
    }
}

/// The result of [`integer_prefix`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Integer {
    /// There is no digit.
    None,
    /// An integer that fits `i64`, and its length in bytes, including the sign.
    Small(i64, usize),
    /// The length in bytes of a larger integer.
    Large(usize),
}

/// Reads an optional `-` and decimal digits, with leading zeros, at the beginning of `bytes`.
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
    match digits::prefix(bytes) {
        Some((value, len)) => Integer::Small(value as i64, len),
        None => long_integer(bytes),
    }
}

/// The slow path of [`integer_prefix`]: a sign, more than 18 digits, or the end of the input.
#[inline(never)]
fn long_integer(bytes: &[u8]) -> Integer {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if negative && let Some((value, len)) = digits::prefix(digits) {
        return Integer::Small(-(value as i64), 1 + len);
    }
    let sign = bytes.len() - digits.len();
    let (value, end) = run_64(bytes, sign);
    match value.and_then(|value| signed_64(negative, value)) {
        _ if end == sign => Integer::None,
        Some(value) => Integer::Small(value, end),
        None => Integer::Large(end),
    }
}

/// Reads all of `bytes` as an integer. `-0` is zero, also for unsigned types. [`Grammar::Plain`] is
/// equal to [`Grammar::XmlSchema`].
///
/// # Errors
///
/// The first byte that does not match the grammar; offset 0 and the range of the type if the number
/// does not fit.
///
/// ```
/// use polywire_text::number::{Grammar, parse};
///
/// assert_eq!(parse::<u16>(b"8080", Grammar::Json), Ok(8080));
/// assert_eq!(parse::<i8>(b"-0128", Grammar::XmlSchema), Ok(-128));
/// let error = parse::<i8>(b"128", Grammar::Json).unwrap_err();
/// assert_eq!(error.expected, "an integer from -128 to 127");
/// assert_eq!(parse::<i64>(b"4x", Grammar::Json).unwrap_err().offset, 1);
/// assert!(parse::<i32>(b"007", Grammar::Json).is_err());
/// ```
#[inline]
pub fn parse<T: Int>(bytes: &[u8], grammar: Grammar) -> Result<T, Malformed> {
    // Most integers have few digits.
    if let Some(value) = digits::tiny(bytes).and_then(T::small) {
        return Ok(value);
    }
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] if grammar != Grammar::Json => (false, digits),
        digits => (false, digits),
    };
    let allowed = match digits {
        [] => false,
        [b'0', _, ..] => grammar != Grammar::Json,
        _ => true,
    };
    if allowed && let Some(value) = T::whole(negative, digits) {
        return Ok(value);
    }
    Err(explain(bytes, grammar, T::EXPECTED))
}

/// The error of an integer that could not be read.
#[cold]
fn explain(bytes: &[u8], grammar: Grammar, expected: &'static str) -> Malformed {
    let signed = match bytes.first() {
        Some(b'-') => true,
        Some(b'+') => grammar != Grammar::Json,
        _ => false,
    };
    let sign = usize::from(signed);
    let end = digits::end(bytes, sign);
    if end == sign {
        return Malformed::new(sign, "a decimal integer");
    }
    if grammar == Grammar::Json && end - sign > 1 && bytes[sign] == b'0' {
        return Malformed::new(sign + 1, "no digit after a leading zero");
    }
    if end < bytes.len() {
        return Malformed::new(end, "a decimal digit");
    }
    Malformed::new(0, expected)
}

/// Reads all of `bytes` as the `xs:long` of XML Schema: an optional sign (`-` or `+`) and decimal
/// digits, with leading zeros.
///
/// # Errors
///
/// As [`parse`].
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
    parse(bytes, Grammar::XmlSchema)
}

/// The value of `digits`. `None` if it does not fit, if there are no digits, or if a byte is not a
/// digit.
#[inline]
pub(super) fn whole<T: Int>(negative: bool, digits: &[u8]) -> Option<T> {
    if digits.is_empty() {
        return None;
    }
    T::whole(negative, digits)
}

/// The value of `digits`, which must not be empty.
#[inline]
fn whole_64(digits: &[u8]) -> Option<u64> {
    match digits.len() {
        ..=8 => digits::up_to_8(digits),
        9..=16 => digits::up_to_16(digits),
        _ => digits::beyond_16(digits),
    }
}

/// The value of the digits at `at`, or `None` if it does not fit, and their end.
#[inline]
fn run_64(bytes: &[u8], at: usize) -> (Option<u64>, usize) {
    let (mut rest, mut value) = (&bytes[at..], 0);
    digits::run(&mut rest, &mut value);
    let end = bytes.len() - rest.len();
    if end - at > 19 {
        return (digits::beyond_16(&bytes[at..end]), end);
    }
    (Some(value), end)
}

#[inline]
fn whole_128(digits: &[u8]) -> Option<u128> {
    match digits.len() {
        ..=19 => whole_64(digits).map(u128::from),
        _ => digits::beyond_64_bits(digits),
    }
}

/// Defines a function that applies a sign to a value, if the result fits.
macro_rules! signed_value {
    ($name:ident, $unsigned:ident, $signed:ident) => {
        #[inline(always)]
        fn $name(negative: bool, value: $unsigned) -> Option<$signed> {
            match value as $signed {
                value @ 0.. if negative => Some(-value),
                value @ 0.. => Some(value),
                // The minimum cannot be negated.
                $signed::MIN if negative => Some($signed::MIN),
                _ => None,
            }
        }
    };
}

signed_value!(signed_64, u64, i64);
signed_value!(signed_128, u128, i128);

/// Appends `value` in decimal: at most 40 bytes.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push(&mut out, i8::MIN);
/// out.push(b' ');
/// polywire_text::number::push(&mut out, u128::MAX);
/// assert_eq!(out, b"-128 340282366920938463463374607431768211455");
/// ```
#[inline]
pub fn push<T: Int>(out: &mut Vec<u8>, value: T) {
    value.push(out);
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
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::number::push_u64(&mut out, 42);
/// assert_eq!(out, b"42");
/// ```
#[inline]
pub fn push_u64(out: &mut Vec<u8>, value: u64) {
    if value < TEN_TO_8 {
        push_trimmed(out, value as u32);
    } else if value < TEN_TO_16 {
        push_trimmed(out, (value / TEN_TO_8) as u32);
        push_eight(out, (value % TEN_TO_8) as u32);
    } else {
        push_trimmed(out, (value / TEN_TO_16) as u32);
        push_sixteen(out, value % TEN_TO_16);
    }
}

fn push_u128(out: &mut Vec<u8>, value: u128) {
    const TEN_TO_16: u128 = digits::TEN_TO_16 as u128;
    if let Ok(value) = u64::try_from(value) {
        return push_u64(out, value);
    }
    let (high, low) = (value / TEN_TO_16, (value % TEN_TO_16) as u64);
    match u64::try_from(high) {
        Ok(high) => push_u64(out, high),
        Err(_) => {
            push_u64(out, (high / TEN_TO_16) as u64);
            push_sixteen(out, (high % TEN_TO_16) as u64);
        }
    }
    push_sixteen(out, low);
}

/// Appends a number below 10^8, by a copy of fixed width that is truncated.
#[inline]
fn push_trimmed(out: &mut Vec<u8>, value: u32) {
    let (text, len) = digits::trimmed(value);
    let old = out.len();
    out.extend_from_slice(&text.to_le_bytes());
    out.truncate(old + len);
}

#[inline]
fn push_eight(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&digits::padded(value).to_le_bytes());
}

/// Appends the 16 digits of a number below 10^16.
#[inline]
fn push_sixteen(out: &mut Vec<u8>, value: u64) {
    push_eight(out, (value / TEN_TO_8) as u32);
    push_eight(out, (value % TEN_TO_8) as u32);
}

/// Implements `Int` for a type by functions of the widest type of its kind: to read it, to narrow
/// it and apply the sign, and to write it.
macro_rules! int {
    ($int:ident, $expected:literal, $whole:ident, $narrow:expr, $push:expr) => {
        impl Int for $int {}

        impl sealed::Sealed for $int {
            const EXPECTED: &'static str = concat!("an integer from ", $expected);

            #[inline]
            fn whole(negative: bool, digits: &[u8]) -> Option<Self> {
                $whole(digits).and_then(|value| $narrow(negative, value))
            }

            #[inline]
            fn small(value: u64) -> Option<Self> {
                Self::try_from(value).ok()
            }

            #[inline]
            fn push(self, out: &mut Vec<u8>) {
                $push(out, self);
            }
        }
    };
}

macro_rules! signed {
    ($($int:ident $signed:ident $wide:ident $whole:ident $push:ident $expected:literal)*) => {$(
        int!(
            $int, $expected, $whole,
            |negative: bool, value: $wide| {
                $signed(negative, value).and_then(|value| $int::try_from(value).ok())
            },
            |out: &mut Vec<u8>, value: $int| {
                if value < 0 {
                    out.push(b'-');
                }
                $push(out, $wide::from(value.unsigned_abs()));
            }
        );
    )*};
}

macro_rules! unsigned {
    ($($int:ident $wide:ident $whole:ident $push:ident $expected:literal)*) => {$(
        int!(
            $int, $expected, $whole,
            |negative: bool, value: $wide| {
                let value = $int::try_from(value).ok()?;
                (!negative || value == 0).then_some(value)
            },
            |out: &mut Vec<u8>, value: $int| $push(out, $wide::from(value))
        );
    )*};
}

signed! {
    i8 signed_64 u64 whole_64 push_u64 "-128 to 127"
    i16 signed_64 u64 whole_64 push_u64 "-32768 to 32767"
    i32 signed_64 u64 whole_64 push_u64 "-2147483648 to 2147483647"
    i64 signed_64 u64 whole_64 push_u64 "-9223372036854775808 to 9223372036854775807"
    i128 signed_128 u128 whole_128 push_u128 "-2^127 to 2^127 - 1"
}

unsigned! {
    u8 u64 whole_64 push_u64 "0 to 255"
    u16 u64 whole_64 push_u64 "0 to 65535"
    u32 u64 whole_64 push_u64 "0 to 4294967295"
    u64 u64 whole_64 push_u64 "0 to 18446744073709551615"
    u128 u128 whole_128 push_u128 "0 to 2^128 - 1"
}
