//! Integers of every width, both ways.

use super::digits::{self, TEN_TO_8, TEN_TO_16};
use super::grammar::Grammar;
use crate::Malformed;

/// The integers of a fixed width: `i8` to `i128`, `u8` to `u128`.
///
/// Sealed: what it can do are the functions [`parse`], [`prefix`] and [`push`].
pub trait Int: Copy + sealed::Sealed {}

mod sealed {
    pub trait Sealed: Sized {
        /// What is expected where a number does not fit.
        const EXPECTED: &'static str;
        /// All of `digits`, of which there is one, with the sign before them.
        /// `None` if they do not fit, or if there is a byte that is no digit.
        fn whole(negative: bool, digits: &[u8]) -> Option<Self>;
        /// A number of few digits, if it fits.
        fn small(value: u64) -> Option<Self>;
        /// The digits from `at` on, and where they end.
        fn run(negative: bool, bytes: &[u8], at: usize) -> (Option<Self>, usize);
        fn push(self, out: &mut Vec<u8>);
    }
}

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
/// Leading zeros are read; formats that forbid them look themselves. Does not
/// allocate.
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

/// An integer with a sign, of more than eighteen digits, or at the end of the
/// input.
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
    match sealed::Sealed::run(negative, bytes, sign) {
        (_, end) if end == sign => Integer::None,
        (Some(value), end) => Integer::Small(value, end),
        (None, end) => Integer::Large(end),
    }
}

/// Reads all of `bytes` as an integer by `grammar`; [`Grammar::Plain`] is for
/// integers what [`Grammar::XmlSchema`] is. `-0` is zero, for types without a
/// sign too.
///
/// # Errors
///
/// Where the grammar was left; or offset 0 and the range of the type, if the
/// number is beyond it. It never wraps and never saturates.
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
    // What most integers are, in any grammar.
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

/// Why an integer could not be read.
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

/// Reads an integer from the beginning of `bytes`, as far as there are digits,
/// and says how many bytes it took. What stands behind it is the caller's: in
/// JSON a point or an exponent there belongs to the same number.
///
/// # Errors
///
/// As [`parse`].
///
/// ```
/// use polywire_text::number::{Grammar, prefix};
///
/// assert_eq!(prefix::<u8>(b"192.168", Grammar::Json), Ok((192, 3)));
/// assert_eq!(prefix::<u8>(b"256", Grammar::Json).unwrap_err().expected, "an integer from 0 to 255");
/// ```
#[inline]
pub fn prefix<T: Int>(bytes: &[u8], grammar: Grammar) -> Result<(T, usize), Malformed> {
    let (negative, sign) = match bytes.first() {
        Some(b'-') => (true, 1),
        Some(b'+') if grammar != Grammar::Json => (false, 1),
        _ => (false, 0),
    };
    let first = bytes.get(sign).copied().unwrap_or_default();
    let zeros = first == b'0' && bytes.get(sign + 1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_digit() && !(zeros && grammar == Grammar::Json) {
        let (value, end) = T::run(negative, bytes, sign);
        return match value {
            Some(value) => Ok((value, end)),
            None => Err(Malformed::new(0, T::EXPECTED)),
        };
    }
    Err(explain(bytes, grammar, T::EXPECTED))
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
    parse(bytes, Grammar::XmlSchema)
}

/// All of `digits` with the sign before them; `None` if they do not fit, or if
/// there is none, or something else.
#[inline]
pub(super) fn whole<T: Int>(negative: bool, digits: &[u8]) -> Option<T> {
    if digits.is_empty() {
        return None;
    }
    T::whole(negative, digits)
}

/// All of `digits`, of which there is one.
#[inline]
fn whole_64(digits: &[u8]) -> Option<u64> {
    match digits.len() {
        ..=8 => digits::up_to_8(digits),
        9..=16 => digits::up_to_16(digits),
        _ => digits::beyond_16(digits),
    }
}

/// The digits from `at` on, and where they end. `None` if they need more than 64
/// bits.
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

fn run_128(bytes: &[u8], at: usize) -> (Option<u128>, usize) {
    let end = digits::end(bytes, at);
    (whole_128(&bytes[at..end]), end)
}

/// Appends `value` in decimal: `-` and digits, as every grammar here takes it.
/// At most 40 bytes; reserves at most 24 beyond what it writes.
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

/// The digits of a number below 10^8, copied at a fixed width and cut.
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

/// Sixteen digits of a number below 10^16.
#[inline]
fn push_sixteen(out: &mut Vec<u8>, value: u64) {
    push_eight(out, (value / TEN_TO_8) as u32);
    push_eight(out, (value % TEN_TO_8) as u32);
}

/// `Int` for a type, through the widest one of its kind: how to read that, to
/// narrow it with the sign applied, and to write it.
macro_rules! int {
    ($int:ident, $expected:literal, $whole:ident, $run:ident, $narrow:expr, $push:expr) => {
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
            fn run(negative: bool, bytes: &[u8], at: usize) -> (Option<Self>, usize) {
                let (value, end) = $run(bytes, at);
                (value.and_then(|value| $narrow(negative, value)), end)
            }

            #[inline]
            fn push(self, out: &mut Vec<u8>) {
                $push(out, self);
            }
        }
    };
}

macro_rules! signed {
    ($($int:ident $same:ident $wide:ident $whole:ident $run:ident $push:ident $expected:literal)*) => {$(
        int!(
            $int, $expected, $whole, $run,
            |negative: bool, value: $wide| {
                // Of the widest type the least number, which has no positive
                // twin, is the only one whose digits do not fit without a sign.
                let value = match value as $same {
                    value @ 0.. if negative => -value,
                    value @ 0.. => value,
                    $same::MIN if negative => $same::MIN,
                    _ => return None,
                };
                $int::try_from(value).ok()
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
    ($($int:ident $wide:ident $whole:ident $run:ident $push:ident $expected:literal)*) => {$(
        int!(
            $int, $expected, $whole, $run,
            |negative: bool, value: $wide| {
                let value = $int::try_from(value).ok()?;
                (!negative || value == 0).then_some(value)
            },
            |out: &mut Vec<u8>, value: $int| $push(out, $wide::from(value))
        );
    )*};
}

signed! {
    i8 i64 u64 whole_64 run_64 push_u64 "-128 to 127"
    i16 i64 u64 whole_64 run_64 push_u64 "-32768 to 32767"
    i32 i64 u64 whole_64 run_64 push_u64 "-2147483648 to 2147483647"
    i64 i64 u64 whole_64 run_64 push_u64 "-9223372036854775808 to 9223372036854775807"
    i128 i128 u128 whole_128 run_128 push_u128 "-2^127 to 2^127 - 1"
}

unsigned! {
    u8 u64 whole_64 run_64 push_u64 "0 to 255"
    u16 u64 whole_64 run_64 push_u64 "0 to 65535"
    u32 u64 whole_64 run_64 push_u64 "0 to 4294967295"
    u64 u64 whole_64 run_64 push_u64 "0 to 18446744073709551615"
    u128 u128 whole_128 run_128 push_u128 "0 to 2^128 - 1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_tell_large_from_small() {
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
    fn what_is_no_integer_is_told_where() {
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
}
