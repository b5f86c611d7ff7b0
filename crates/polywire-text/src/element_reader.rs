//! Fast paths that read a short value followed by fixed bytes, such as an end tag. See
//! [`element_writer`](crate::element_writer) for writers.
//!
//! They load windows of fixed size. `None` means that the caller must take its slow path; it is not
//! an error.

use crate::block::{Block, Block16};
use crate::number::digits;
use crate::scan;

/// Whether `close` follows the first `len` bytes.
#[inline(always)]
pub(crate) fn ends<const CLOSE: usize>(bytes: &[u8], len: usize, close: &[u8; CLOSE]) -> bool {
    let rest = bytes.get(len..).and_then(<[u8]>::first_chunk);
    rest.is_some_and(|rest| same(rest, close))
}

/// Whether both are equal. Compares chunks of one width that may overlap; the compiler would use
/// chunks of several widths.
#[inline(always)]
fn same<const LEN: usize>(bytes: &[u8; LEN], others: &[u8; LEN]) -> bool {
    let word = |chunk: Option<&[u8; 8]>| chunk.map_or(0, |chunk| u64::from_le_bytes(*chunk));
    // The 16 bytes at `at`, or the last 16.
    let piece = |at: usize| {
        let at = at.min(LEN.saturating_sub(16));
        let [own, other] = [bytes, others].map(|all| all.get(at..)?.first_chunk());
        let equal = own.zip(other).map(|(own, other)| {
            let other = Block16::load(other);
            Block16::load(own).equals_block(other).mask() == 0xffff
        });
        equal.unwrap_or(false)
    };
    match LEN {
        9..=16 => {
            let first = word(bytes.first_chunk()) ^ word(others.first_chunk());
            let last = word(bytes.last_chunk()) ^ word(others.last_chunk());
            first | last == 0
        }
        17..=48 => piece(0) & piece(16) & piece(32),
        _ => bytes == others,
    }
}

/// Reads an integer of one to seven digits without a sign, followed by `close`. Returns it and its
/// length. Needs at least eight bytes.
///
/// ```
/// use polywire_text::element_reader;
///
/// assert_eq!(element_reader::integer(b"42</int>", b"</int>"), Some((42, 2)));
/// assert_eq!(element_reader::integer(b"-42</int>", b"</int>"), None);
/// ```
#[inline(always)]
#[must_use]
pub fn integer<const CLOSE: usize>(bytes: &[u8], close: &[u8; CLOSE]) -> Option<(u32, usize)> {
    let (value, len) = digits::short(bytes.first_chunk()?)?;
    ends(bytes, len, close).then_some((value, len))
}

/// Reads an integer of one to 15 digits with an optional `-`, followed by `close`. Returns it and
/// its length. Needs at least 17 bytes.
///
/// ```
/// use polywire_text::element_reader;
///
/// let bytes = b"-1234567890</int></value>";
/// assert_eq!(element_reader::long_integer(bytes, b"</int>"), Some((-1_234_567_890, 11)));
/// ```
#[inline]
#[must_use]
pub fn long_integer<const CLOSE: usize>(bytes: &[u8], close: &[u8; CLOSE]) -> Option<(i64, usize)> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let (value, len) = digits::up_to_15(bytes.get(sign..)?.first_chunk()?)?;
    let len = sign + len;
    let value = if sign == 1 { -value } else { value };
    ends(bytes, len, close).then_some((value, len))
}

/// Reads a number of at most seven digits, without sign and exponent, followed by `close`. Returns
/// it and its length.
///
/// ```
/// use polywire_text::element_reader;
///
/// assert_eq!(element_reader::double(b"679.96</double>", b"</double>"), Some((679.96, 6)));
/// assert_eq!(element_reader::double(b"1e9</double>", b"</double>"), None);
/// ```
#[inline(always)]
#[must_use]
pub fn double<const CLOSE: usize>(bytes: &[u8], close: &[u8; CLOSE]) -> Option<(f64, usize)> {
    // Mantissa and power are exact, so their quotient is the nearest double.
    const POWERS: [f64; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

    let start = digits::start(bytes)?;
    if start.open || !ends(bytes, start.len, close) {
        return None;
    }
    let value = f64::from(start.mantissa) / POWERS[start.places & 7];
    Some((value, start.len))
}

/// Reads XML text between `open`, at `at`, and `close`, if it needs no unescaping. Returns it and
/// its offset. It contains nothing that XML forbids. `open` and `close` must be ASCII; otherwise
/// the result is `None`.
///
/// ```
/// use polywire_text::element_reader;
///
/// assert_eq!(element_reader::xml_text("<a>London</a>", 0, b"<a>", b"</a>"), Some(("London", 3)));
/// assert_eq!(element_reader::xml_text("<a>R&amp;D</a>", 0, b"<a>", b"</a>"), None);
/// ```
#[inline(always)]
#[must_use]
pub fn xml_text<'a, const OPEN: usize, const CLOSE: usize>(
    document: &'a str,
    at: usize,
    open: &[u8; OPEN],
    close: &[u8; CLOSE],
) -> Option<(&'a str, usize)> {
    const {
        assert!(OPEN > 0 && CLOSE > 0, "text between nothing");
    }
    // Evaluated at compile time if both are constants.
    if !open[OPEN - 1].is_ascii() || !close[0].is_ascii() {
        return None;
    }
    let rest = document.as_bytes().get(at..)?;
    // One bounds check for all loads.
    if rest.len() < OPEN + 32 + CLOSE {
        return long_xml_text(document, at, open, close);
    }
    let (head, rest) = rest.split_first_chunk::<OPEN>()?;
    if !same(head, open) {
        return None;
    }
    let special = scan::not_plain_xml(Block16::load(rest.first_chunk()?));
    if special == 0 {
        return long_xml_text(document, at, open, close);
    }
    let len = special.trailing_zeros() as usize & 15;
    if !ends(rest, len, close) {
        return long_xml_text(document, at, open, close);
    }
    debug_assert!(document.get(at + OPEN..at + OPEN + len).is_some());
    // SAFETY: `rest` has at least 32 bytes, and `len < 16`. The bytes before and after the text are
    // those of `open` and `close`, which are ASCII, so the text consists of whole characters of a
    // `str`.
    let text = unsafe { std::str::from_utf8_unchecked(rest.get_unchecked(..len)) };
    Some((text, at + OPEN))
}

/// [`xml_text`] for any length.
#[inline(never)]
fn long_xml_text<'a, const OPEN: usize, const CLOSE: usize>(
    document: &'a str,
    at: usize,
    open: &[u8; OPEN],
    close: &[u8; CLOSE],
) -> Option<(&'a str, usize)> {
    let rest = document.as_bytes().get(at..)?.strip_prefix(open)?;
    let len = scan::xml_text(rest);
    if !ends(rest, len, close) {
        return None;
    }
    Some((document.get(at + OPEN..at + OPEN + len)?, at + OPEN))
}
