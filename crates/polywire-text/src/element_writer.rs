//! Fast paths that write a short value between fixed bytes, such as tags: `<int>`, a number,
//! `</int>`.
//!
//! One capacity check instead of three, and moves of fixed width: the value is copied with the
//! bytes after it, which the closing bytes then overwrite.

use crate::Text;
use crate::number::digits::{TEN_TO_8, TEN_TO_16, padded, trimmed};
use crate::scan;

/// Appends `open`, the first `len` bytes of the window and `close`.
#[inline(always)]
fn push_window<const OPEN: usize, const WIDTH: usize, const CLOSE: usize>(
    out: &mut Vec<u8>,
    open: &[u8; OPEN],
    window: &[u8; WIDTH],
    len: usize,
    close: &[u8; CLOSE],
) {
    let len = len.min(WIDTH);
    out.reserve(OPEN + WIDTH + CLOSE);
    // SAFETY: there is capacity for all three, and each write is within it, as `len <= WIDTH`. All
    // bytes up to the new length are initialised: `OPEN` by the first write, `len` by the second,
    // and `CLOSE` by the third.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        to.cast::<[u8; OPEN]>().write_unaligned(*open);
        to.add(OPEN).cast::<[u8; WIDTH]>().write_unaligned(*window);
        to.add(OPEN + len)
            .cast::<[u8; CLOSE]>()
            .write_unaligned(*close);
        out.set_len(out.len() + OPEN + len + CLOSE);
    }
}

/// Appends `open`, the number in decimal and `close`.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::element_writer::push_i64(&mut out, b"<int>", -42, b"</int>");
/// assert_eq!(out, b"<int>-42</int>");
/// ```
#[inline(always)]
pub fn push_i64<const OPEN: usize, const CLOSE: usize>(
    out: &mut Vec<u8>,
    open: &[u8; OPEN],
    value: i64,
    close: &[u8; CLOSE],
) {
    if (0..TEN_TO_8 as i64).contains(&value) {
        let (digits, len) = trimmed(value as u32);
        return push_window(out, open, &digits.to_le_bytes(), len, close);
    }
    push_long(out, open, value, close);
}

/// [`push_i64`] for negative numbers, and for more than eight digits.
#[inline(never)]
fn push_long<const OPEN: usize, const CLOSE: usize>(
    out: &mut Vec<u8>,
    open: &[u8; OPEN],
    value: i64,
    close: &[u8; CLOSE],
) {
    let magnitude = value.unsigned_abs();
    // The sign takes the space of a digit.
    if magnitude >= TEN_TO_16 / 10 {
        out.extend_from_slice(open);
        crate::number::push_i64(out, value);
        return out.extend_from_slice(close);
    }
    let (digits, len) = match magnitude < TEN_TO_8 {
        true => {
            let (digits, len) = trimmed(magnitude as u32);
            (u128::from(digits), len)
        }
        false => {
            let (high, low) = (magnitude / TEN_TO_8, magnitude % TEN_TO_8);
            let (digits, len) = trimmed(high as u32);
            let low = u128::from(padded(low as u32));
            (u128::from(digits) | low << (8 * len), len + 8)
        }
    };
    match value < 0 {
        true => {
            let text = digits << 8 | u128::from(b'-');
            push_window(out, open, &text.to_le_bytes(), len + 1, close);
        }
        false => push_window(out, open, &digits.to_le_bytes(), len, close),
    }
}

/// Appends `open`, the text and `close`, if the text has at most 15 bytes and needs no escapes.
/// Returns whether it did; if not, use [`escape::push_xml`](crate::escape::push_xml).
///
/// ```
/// use polywire_text::element_writer;
///
/// let mut out = Vec::new();
/// assert!(element_writer::push_xml(&mut out, b"<name>", "Oslo", b"</name>"));
/// assert!(!element_writer::push_xml(&mut out, b"<name>", "a < b", b"</name>"));
/// assert_eq!(out, b"<name>Oslo</name>");
/// ```
#[inline(always)]
#[must_use]
pub fn push_xml<const OPEN: usize, const CLOSE: usize>(
    out: &mut Vec<u8>,
    open: &[u8; OPEN],
    text: &str,
    close: &[u8; CLOSE],
) -> bool {
    match scan::short_xml(text.as_bytes()) {
        Some(word) => {
            push_window(out, open, &word.to_le_bytes(), text.len(), close);
            true
        }
        None => false,
    }
}

/// Like [`push_xml`], for an inline [`Text`].
///
/// ```
/// use polywire_text::{Text, element_writer};
///
/// let mut out = Vec::new();
/// let name = Text::from("Oslo, by the fjord");
/// assert!(element_writer::push_xml_text(&mut out, b"<name>", &name, b"</name>"));
/// assert_eq!(out, b"<name>Oslo, by the fjord</name>");
/// ```
#[inline(always)]
#[must_use]
pub fn push_xml_text<const OPEN: usize, const CLOSE: usize>(
    out: &mut Vec<u8>,
    open: &[u8; OPEN],
    text: &Text,
    close: &[u8; CLOSE],
) -> bool {
    match text.window() {
        Some((window, len)) if scan::is_xml_clean_window(window, len) => {
            push_window(out, open, window, len, close);
            true
        }
        _ => false,
    }
}
