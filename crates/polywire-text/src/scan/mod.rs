//! Scanning, and pre-encoded names that are compared and written sixteen bytes at a time.
//!
//! A scan returns the number of bytes before the first special one, so that they can be copied or
//! borrowed as a whole.
//!
//! The special bytes of a scan are a `Class`, which is defined for single bytes and for blocks. The
//! first 64 bytes are scanned inline, in blocks of 16 (SSE2), as most results are short. A function
//! that is not inlined scans the rest, 64 or 128 bytes at a time with AVX2. The last block overlaps
//! the one before; inputs of fewer than eight bytes are scanned byte by byte.

mod class;
mod run;
mod tag;

pub use run::{Name, RUN_PADDING, Run};
pub use tag::{TAG, is_end_tag, next_tag, tag_contents, tag_repeats};

use crate::block::{Block, Block16};
use class::{Class, FormKey, FormValue, Json, NoName, NotPlainXml, Solid, XmlData, XmlText};

/// The number of bytes before the first that ends a JSON string or needs an escape: `"`, `\`, or a
/// control character (below 0x20).
///
/// ```
/// assert_eq!(polywire_text::scan::json_clean(b"a long enough run\" and more"), 17);
/// ```
#[inline]
#[must_use]
pub fn json_clean(bytes: &[u8]) -> usize {
    clean::<Json>(bytes)
}

/// The number of bytes before the first `<`, `&`, or control character other than tab and line
/// feed: `\r`, which readers normalize, or one that XML 1.0 forbids.
///
/// ```
/// assert_eq!(polywire_text::scan::xml_data(b"5 > 3\n</p>"), 6);
/// ```
#[inline]
#[must_use]
pub fn xml_data(bytes: &[u8]) -> usize {
    clean::<XmlData>(bytes)
}

/// Like [`xml_data`], but also stops at `>` and at 0xef, which may end `]]>` or start U+FFFE and
/// U+FFFF: the bytes before are valid text.
///
/// ```
/// assert_eq!(polywire_text::scan::xml_text(b"5 < 3"), 2);
/// assert_eq!(polywire_text::scan::xml_text(b"5]]>3"), 3);
/// ```
#[inline]
#[must_use]
pub fn xml_text(bytes: &[u8]) -> usize {
    clean::<XmlText>(bytes)
}

/// The number of bytes of white space (space, tab, line feed, carriage return) at the beginning.
///
/// ```
/// assert_eq!(polywire_text::scan::white_space(b"\r\n\t {}"), 4);
/// ```
#[inline]
#[must_use]
pub fn white_space(bytes: &[u8]) -> usize {
    match bytes {
        [first, rest @ ..] if !Solid::ends(*first) => clean::<Solid>(rest) + 1,
        _ => 0,
    }
}

/// The offset after the white space at `at`.
///
/// ```
/// assert_eq!(polywire_text::scan::skip_white_space(b"{\n  \"a\"}", 1), 4);
/// ```
#[inline]
#[must_use]
pub fn skip_white_space(bytes: &[u8], at: usize) -> usize {
    // Usually a line feed and fewer than 16 spaces.
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<17>)
        && matches!(chunk[0], b'\n' | b' ')
    {
        let (halves, _) = chunk[1..].as_chunks::<16>();
        let blanks = Block16::load(&halves[0]).equals(b' ').mask();
        if blanks == 0xffff {
            return long_white_space(bytes, at);
        }
        let end = 1 + blanks.trailing_ones() as usize;
        if chunk[end] > b' ' {
            return at + end;
        }
    }
    bytes.get(at..).map_or(at, |rest| at + white_space(rest))
}

/// [`skip_white_space`] for 16 spaces after the first byte.
#[inline(never)]
fn long_white_space(bytes: &[u8], at: usize) -> usize {
    let at = at + 17;
    bytes.get(at..).map_or(at, |rest| at + white_space(rest))
}

/// The number of bytes that may be in an XML name after its first character, or in a prefix:
/// production 4a (`NameChar`) of XML 1.0 without the colon, and with all characters other than
/// ASCII.
///
/// ```
/// use polywire_text::scan::xml_name;
///
/// assert_eq!(xml_name(b"soap:Body-1 id='2'>"), 4);
/// assert_eq!(xml_name(b"Body-1 id='2'>"), 6);
/// ```
#[inline]
#[must_use]
pub fn xml_name(bytes: &[u8]) -> usize {
    clean::<NoName>(bytes)
}

/// The number of bytes before the first `&`.
#[inline]
pub(crate) fn form_value(bytes: &[u8]) -> usize {
    clean::<FormValue>(bytes)
}

/// The number of bytes before the first `&` or `=`.
#[inline]
pub(crate) fn form_key(bytes: &[u8]) -> usize {
    clean::<FormKey>(bytes)
}

/// The number of bytes that are scanned inline.
const NEAR: usize = 64;

/// The number of bytes before the first of the class.
#[inline(always)]
fn clean<C: Class>(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        if at == NEAR {
            return far::<C>(bytes);
        }
        let mask = C::find(Block16::load(chunk)).mask();
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    last::<C>(bytes, at)
}

/// The end of a scan: fewer than 16 bytes at `at`.
#[inline(always)]
fn last<C: Class>(bytes: &[u8], at: usize) -> usize {
    let len = bytes.len();
    if let Some(chunk) = bytes.last_chunk::<16>() {
        // Overlaps bytes that are known to be clean.
        let mask = C::find(Block16::load(chunk)).mask();
        return len - 16 + (mask | 1 << 16).trailing_zeros() as usize;
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
        let both = u128::from(head) | u128::from(tail) << 64;
        let mask = C::find(Block16::load(&both.to_le_bytes())).mask();
        let found = (mask | 1 << 16).trailing_zeros() as usize;
        return if found < 8 { found } else { found + len - 16 };
    }
    let mut at = at;
    while at < len && !C::ends(bytes[at]) {
        at += 1;
    }
    at
}

/// Scans after the first [`NEAR`] bytes, which are clean.
#[inline(never)]
fn far<C: Class>(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has the features of the function.
        return unsafe { wide::<C>(token, bytes) };
    }
    let mut at = NEAR;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let mask = C::find(Block16::load(chunk)).mask();
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    last::<C>(bytes, at)
}

/// [`far`] with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn wide<C: Class>(token: crate::cpu::Avx2, bytes: &[u8]) -> usize {
    use crate::block::Block32;

    let find = |chunk: &[u8; 32]| C::find(Block32::load(token, chunk));
    let mask = |chunk: &[u8; 64]| {
        let (halves, _) = chunk.as_chunks::<32>();
        let (low, high) = (find(&halves[0]), find(&halves[1]));
        u64::from(low.mask()) | u64::from(high.mask()) << 32
    };
    let mut at = NEAR;
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
        let mask = mask(chunk);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 64;
    }
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<128>) {
        let (quarters, _) = chunk.as_chunks::<32>();
        let low = find(&quarters[0]).or(find(&quarters[1]));
        let high = find(&quarters[2]).or(find(&quarters[3]));
        // One test for all, as most blocks are clean.
        if low.or(high).mask() != 0 {
            let (halves, _) = chunk.as_chunks::<64>();
            return match mask(&halves[0]) {
                0 => at + 64 + mask(&halves[1]).trailing_zeros() as usize,
                mask => at + mask.trailing_zeros() as usize,
            };
        }
        at += 128;
    }
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
        let mask = mask(chunk);
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 64;
    }
    // Always `Some`, as there are more than 64 bytes.
    match bytes.last_chunk::<64>() {
        Some(chunk) => bytes.len() - 64 + mask(chunk).trailing_zeros() as usize,
        None => at,
    }
}

/// A string of at most 15 bytes that needs no escape in JSON, padded with zeros. Built in
/// registers: a load after several smaller stores would stall.
#[inline]
pub(crate) fn short_json(bytes: &[u8]) -> Option<u128> {
    short::<Json>(bytes)
}

/// A string of at most 15 bytes that needs no escape in XML, padded with zeros.
#[inline]
pub(crate) fn short_xml(bytes: &[u8]) -> Option<u128> {
    short::<NotPlainXml>(bytes)
}

#[inline(always)]
fn short<C: Class>(bytes: &[u8]) -> Option<u128> {
    let len = bytes.len();
    let word = if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
        u128::from(head) | u128::from(tail).checked_shl((len as u32 - 8) * 8)?
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        u128::from(u64::from(head) | u64::from(tail) << ((len - 4) * 8))
    } else if let [first, .., last] = bytes {
        let middle = u64::from(bytes[len / 2]) << (len / 2 * 8);
        u128::from(u64::from(*first) | middle | u64::from(*last) << ((len - 1) * 8))
    } else {
        u128::from(bytes.first().copied().unwrap_or(0))
    };
    let after = u32::MAX.checked_shl(len as u32).unwrap_or(0);
    let special = C::find(Block16::load(&word.to_le_bytes())).mask() & !after;
    (len <= 15 && special == 0).then_some(word)
}

/// As [`xml_data`], for a window of 32 bytes.
#[inline(always)]
pub(crate) fn short_xml_data(window: &[u8; 32]) -> usize {
    let (halves, _) = window.as_chunks::<16>();
    let mask = XmlData::find(Block16::load(&halves[0])).mask();
    if mask != 0 {
        return mask.trailing_zeros() as usize;
    }
    let mask = XmlData::find(Block16::load(&halves[1])).mask();
    16 + (mask | 1 << 16).trailing_zeros() as usize
}

/// As [`xml_text`], for a window of 32 bytes; also stops at tabs and line feeds.
#[inline(always)]
pub(crate) fn short_xml_text(window: &[u8; 32]) -> usize {
    let (halves, _) = window.as_chunks::<16>();
    let mask = not_plain_xml(Block16::load(&halves[0]));
    if mask != 0 {
        return mask.trailing_zeros() as usize;
    }
    let mask = not_plain_xml(Block16::load(&halves[1]));
    16 + (mask | 1 << 16).trailing_zeros() as usize
}

/// A bit per byte at which [`xml_text`] stops, or that is a tab or line feed, which saves
/// instructions.
#[inline(always)]
pub(crate) fn not_plain_xml(block: Block16) -> u32 {
    NotPlainXml::find(block).mask()
}

/// Whether no byte needs an escape in XML text.
#[inline]
pub(crate) fn is_xml_clean(head: &[u8; 16], tail: &[u8; 16]) -> bool {
    let [head, tail] = [head, tail].map(|half| XmlText::find(Block16::load(half)));
    head.or(tail).mask() == 0
}

/// Whether none of the first `len` bytes, at most 24, needs an escape in XML text. Also false for
/// tabs and line feeds.
#[inline(always)]
pub(crate) fn is_xml_clean_window(window: &[u8; 24], len: usize) -> bool {
    let special = |at: usize| {
        let block = window.get(at..).and_then(<[u8]>::first_chunk);
        block.map_or(0, |block| not_plain_xml(Block16::load(block)))
    };
    let mut all = special(0);
    if len > 16 {
        all |= special(8) << 8;
    }
    all & !u32::MAX.checked_shl(len as u32).unwrap_or(0) == 0
}

/// Whether none of the first `len` bytes, at most 24, needs an escape in a JSON string.
#[inline]
pub(crate) fn is_json_clean_window(window: &[u8; 24], len: usize) -> bool {
    let special = |at: usize| {
        let block = window.get(at..).and_then(<[u8]>::first_chunk);
        block.map_or(0, |block| Json::find(Block16::load(block)).mask())
    };
    let mut all = special(0);
    if len > 16 {
        // Overlaps the first block by eight bytes.
        all |= special(8) << 8;
    }
    (all | 1 << 24).trailing_zeros() as usize >= len
}

/// The length of a JSON string without escapes that ends within this window. `None` if it does not.
///
/// ```
/// let window = b"London\", \"country\": \"United King";
/// assert_eq!(polywire_text::scan::short_json_string(window), Some(6));
/// ```
#[inline]
#[must_use]
pub fn short_json_string(window: &[u8; 32]) -> Option<usize> {
    let (halves, _) = window.as_chunks::<16>();
    let low = Json::find(Block16::load(&halves[0])).mask();
    let len = match low {
        0 => {
            16 + Json::find(Block16::load(&halves[1]))
                .mask()
                .trailing_zeros() as usize
        }
        low => low.trailing_zeros() as usize,
    };
    (window.get(len) == Some(&b'"')).then_some(len)
}

/// Whether none of 64 bytes ends a JSON string or needs an escape: for hexadecimal of known length.
///
/// ```
/// use polywire_text::scan::is_json_clean_64;
///
/// assert!(is_json_clean_64(&[b'f'; 64]));
/// assert!(!is_json_clean_64(&[b'"'; 64]));
/// ```
#[inline]
#[must_use]
pub fn is_json_clean_64(bytes: &[u8; 64]) -> bool {
    let (blocks, _) = bytes.as_chunks::<16>();
    let find = |index: usize| Json::find(Block16::load(&blocks[index]));
    find(0).or(find(1)).or(find(2)).or(find(3)).mask() == 0
}

/// The number of bytes before the first quote; 16 if there is none.
///
/// ```
/// assert_eq!(polywire_text::scan::quote_offset(b"id\": \"recipe-003"), 2);
/// ```
#[inline]
#[must_use]
pub fn quote_offset(block: &[u8; 16]) -> usize {
    (Block16::load(block).equals(b'"').mask() | 1 << 16).trailing_zeros() as usize
}

/// A bit per byte that is not ASCII, the first lowest.
#[inline]
pub(crate) fn non_ascii_mask(bytes: &[u8; 24]) -> u32 {
    let mask = |half: Option<&[u8; 16]>| half.map_or(0, |half| Block16::load(half).mask());
    mask(bytes.first_chunk()) | mask(bytes.last_chunk()) << 8
}

/// As [`json_clean`], for a block of 16 bytes.
#[inline]
pub(crate) fn json_clean_block(block: &[u8; 16]) -> usize {
    (Json::find(Block16::load(block)).mask() | 1 << 16).trailing_zeros() as usize
}

/// Whether no byte needs an escape in a JSON string. `N` must be a multiple of 16.
#[inline]
pub(crate) fn is_json_clean<const N: usize>(head: &[u8; N], tail: &[u8; N]) -> bool {
    let (head, tail) = (head.as_chunks::<16>().0, tail.as_chunks::<16>().0);
    let blocks = head
        .iter()
        .zip(tail)
        .map(|(head, tail)| Json::find(Block16::load(head)).or(Json::find(Block16::load(tail))));
    blocks.reduce(Block16::or).is_none_or(|all| all.mask() == 0)
}

/// Appends `bytes`. Up to 32 bytes are copied by two overlapping moves of fixed width, without a
/// call of `memcpy`.
#[inline]
pub(crate) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    fn push_halves<const N: usize>(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let (Some(head), Some(tail)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else {
            return false;
        };
        let end = out.len() + bytes.len();
        out.extend_from_slice(head);
        out.truncate(end - N);
        out.extend_from_slice(tail);
        true
    }
    match bytes.len() {
        0..8 => {
            if !push_halves::<4>(out, bytes) {
                for byte in bytes {
                    out.push(*byte);
                }
            }
        }
        8..16 => _ = push_halves::<8>(out, bytes),
        16..=32 => _ = push_halves::<16>(out, bytes),
        _ => out.extend_from_slice(bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_strings_match_the_general_scan(window in "[a\\\\\"\u{1}é]{32}") {
            let window = window.as_bytes().first_chunk::<32>().unwrap();
            let end = json_clean(window);
            let expected = (window.get(end) == Some(&b'"')).then_some(end);
            prop_assert_eq!(short_json_string(window), expected);
        }

        #[test]
        fn white_space_matches_a_loop(
            text in "[ \n\t\ra]{0,60}| {0,60}",
            at in 0..64_usize,
        ) {
            let bytes = text.as_bytes();
            let mut end = at;
            while bytes.get(end).is_some_and(|byte| !Solid::ends(*byte)) {
                end += 1;
            }
            prop_assert_eq!(skip_white_space(bytes, at), end);
            let rest = bytes.get(at..).unwrap_or_default();
            prop_assert_eq!(white_space(rest), end - at);
        }
    }

    proptest! {
        #[test]
        fn push_bytes_appends(bytes in proptest::collection::vec(any::<u8>(), 0..70)) {
            let mut out = b"before".to_vec();
            push_bytes(&mut out, &bytes);
            prop_assert_eq!(&out[6..], &bytes[..]);
        }
    }
}
