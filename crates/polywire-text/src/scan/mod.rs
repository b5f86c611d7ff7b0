//! Byte scanning, and runs: pre-encoded names that are compared and written
//! sixteen bytes at a time.
//!
//! A scan asks one question: how many bytes from here on are ordinary? The bytes
//! in between are then copied or borrowed whole.
//!
//! Each scan is a `Class`: the bytes that are not ordinary, said twice, once for
//! a byte and once for a block. Most answers are near, so the first 64 bytes
//! are looked at right where the scan is called, in blocks of sixteen, which any
//! x86-64 processor can do without asking which one it is. Whatever is longer goes
//! to a function of its own, which takes 64 bytes at a time where there is AVX2.
//! The last few bytes of an input are looked at together with some that were seen
//! before; only an input below eight bytes is looked at byte by byte.

mod class;
mod run;
mod tag;

pub use run::{Name, RUN_PADDING, Run};
pub use tag::{TAG, comes_again, in_tag, is_end_tag, line};

use crate::block::{Block, Block16};
use class::{Class, FormKey, FormValue, Json, NoName, NotPlainXml, Solid, Wide, XmlData, XmlText};

/// How many of the first bytes may stand in a JSON string as they are: all up
/// to the first `"`, `\` or control character (below 0x20).
///
/// ```
/// assert_eq!(polywire_text::scan::json_clean(b"a long enough run\" and more"), 17);
/// ```
#[inline]
#[must_use]
pub fn json_clean(bytes: &[u8]) -> usize {
    clean::<Json>(bytes)
}

/// How many of the first bytes are XML character data without markup: all up
/// to the first `<` or `&`, or a byte that a reader must look at (`\r`, which
/// it normalises, and control characters, which XML 1.0 forbids).
///
/// ```
/// assert_eq!(polywire_text::scan::xml_data(b"5 > 3\n</p>"), 6);
/// ```
#[inline]
#[must_use]
pub fn xml_data(bytes: &[u8]) -> usize {
    clean::<XmlData>(bytes)
}

/// As [`xml_data`], and ends at a `>` and at a byte 0xef too, with which what XML
/// forbids may end (`]]>`) or begin (U+FFFE, U+FFFF): what stands before is as it
/// should be.
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

/// How many of the first bytes are white space of JSON and XML: space, tab,
/// line feed, carriage return.
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

/// Where the white space of JSON and XML ends that begins at `at`.
///
/// ```
/// assert_eq!(polywire_text::scan::behind_space(b"{\n  \"a\"}", 1), 4);
/// ```
#[inline]
#[must_use]
pub fn behind_space(bytes: &[u8], at: usize) -> usize {
    // Mostly it is a line feed and some blanks: one byte and sixteen behind it, of which not
    // all are blanks, hold the end.
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<17>)
        && matches!(chunk[0], b'\n' | b' ')
    {
        let (halves, _) = chunk[1..].as_chunks::<16>();
        let blanks = Block16::load(&halves[0]).equals(b' ').mask();
        if blanks == 0xffff {
            return deep_space(bytes, at);
        }
        let end = 1 + blanks.trailing_ones() as usize;
        if chunk[end] > b' ' {
            return at + end;
        }
    }
    bytes.get(at..).map_or(at, |rest| at + white_space(rest))
}

/// As [`behind_space`], where sixteen blanks are known to stand behind the first.
#[inline(never)]
fn deep_space(bytes: &[u8], at: usize) -> usize {
    let at = at + 17;
    bytes.get(at..).map_or(at, |rest| at + white_space(rest))
}

/// How many of the first bytes may stand in a name of XML behind its first
/// character, or in a prefix: `NameChar` of production 4a of XML 1.0 without the
/// colon, but that everything beyond ASCII is taken.
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

/// How many of the first bytes are ASCII.
///
/// ```
/// assert_eq!(polywire_text::scan::ascii("Zürich".as_bytes()), 1);
/// ```
#[inline]
#[must_use]
pub fn ascii(bytes: &[u8]) -> usize {
    clean::<Wide>(bytes)
}

/// How many of the first bytes stand before the first `&`.
#[inline]
pub(crate) fn form_value(bytes: &[u8]) -> usize {
    clean::<FormValue>(bytes)
}

/// How many of the first bytes stand before the first `&` or `=`.
#[inline]
pub(crate) fn form_key(bytes: &[u8]) -> usize {
    clean::<FormKey>(bytes)
}

/// How many bytes are looked at before a scan leaves its caller.
const NEAR: usize = 64;

/// How many of the first bytes stand before one of the class.
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

/// The end of a scan: fewer than sixteen bytes from `at` on.
#[inline(always)]
fn last<C: Class>(bytes: &[u8], at: usize) -> usize {
    let len = bytes.len();
    if let Some(chunk) = bytes.last_chunk::<16>() {
        // Some of these were seen, and found clean.
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

/// Goes on behind the first [`NEAR`] bytes, which are clean.
#[inline(never)]
fn far<C: Class>(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has what the function needs.
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

/// The same, 64 bytes or more at a time.
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
        // Mostly there is nothing: one test for all.
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
    // There were 64 bytes before, so the last 64 are all there.
    match bytes.last_chunk::<64>() {
        Some(chunk) => bytes.len() - 64 + mask(chunk).trailing_zeros() as usize,
        None => at,
    }
}

/// A string of at most fifteen bytes, zeros behind it, if all may stand in a
/// JSON string as they are. One look instead of a loop, and in registers: what
/// has just been stored in pieces is slow to load whole.
#[inline]
pub(crate) fn short_json(bytes: &[u8]) -> Option<u128> {
    short::<Json>(bytes)
}

/// The same of XML: text that is written as it is.
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
    let behind = u32::MAX.checked_shl(len as u32).unwrap_or(0);
    let special = C::find(Block16::load(&word.to_le_bytes())).mask() & !behind;
    (len <= 15 && special == 0).then_some(word)
}

/// As [`xml_data`], of the first 32 bytes; 32 if there is nothing else.
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

/// How many of the first 32 bytes are plain text of XML: before what [`xml_text`] ends
/// at, and before tabs and line feeds.
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

/// Where there is something else than plain text of XML, in the first sixteen bytes: what
/// [`xml_text`] ends at, and tabs and line feeds, which are fewer steps to find.
#[inline(always)]
pub(crate) fn not_plain_xml(block: Block16) -> u32 {
    NotPlainXml::find(block).mask()
}

/// Whether all of these are XML text that is written as it is.
#[inline]
pub(crate) fn is_xml_clean(head: &[u8; 16], tail: &[u8; 16]) -> bool {
    let [head, tail] = [head, tail].map(|half| XmlText::find(Block16::load(half)));
    head.or(tail).mask() == 0
}

/// Whether the first `len` bytes of a window, all of them at most, are XML text that
/// is written as it is.
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

/// Whether the first `len` bytes of a window, all of them at most, may stand in a
/// JSON string as they are.
#[inline]
pub(crate) fn is_json_clean_window(window: &[u8; 24], len: usize) -> bool {
    let special = |at: usize| {
        let block = window.get(at..).and_then(<[u8]>::first_chunk);
        block.map_or(0, |block| Json::find(Block16::load(block)).mask())
    };
    let mut all = special(0);
    if len > 16 {
        // The eight bytes in the middle are looked at twice.
        all |= special(8) << 8;
    }
    (all | 1 << 24).trailing_zeros() as usize >= len
}

/// The length of the clean JSON string that ends at a quote within this window:
/// one look at all of it instead of a loop. `None` if there is no such quote.
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

/// Whether 64 bytes may stand in a JSON string as they are, see [`json_clean`]: for hexadecimal
/// digits, whose end is known.
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

/// The length of the string that ends at the first quote of this block; 16 if
/// there is none.
///
/// ```
/// assert_eq!(polywire_text::scan::before_quote(b"id\": \"recipe-003"), 2);
/// ```
#[inline]
#[must_use]
pub fn before_quote(block: &[u8; 16]) -> usize {
    (Block16::load(block).equals(b'"').mask() | 1 << 16).trailing_zeros() as usize
}

/// Which bytes are not ASCII: a bit each, the first lowest.
#[inline]
pub(crate) fn wide_mask(bytes: &[u8; 24]) -> u32 {
    let mask = |half: Option<&[u8; 16]>| half.map_or(0, |half| Block16::load(half).mask());
    mask(bytes.first_chunk()) | mask(bytes.last_chunk()) << 8
}

/// As [`json_clean`], for a block.
#[inline]
pub(crate) fn json_clean_block(block: &[u8; 16]) -> usize {
    (Json::find(Block16::load(block)).mask() | 1 << 16).trailing_zeros() as usize
}

/// Whether all of these may stand in a JSON string as they are. `N` is a multiple
/// of sixteen.
#[inline]
pub(crate) fn is_json_clean<const N: usize>(head: &[u8; N], tail: &[u8; N]) -> bool {
    let (head, tail) = (head.as_chunks::<16>().0, tail.as_chunks::<16>().0);
    let blocks = head
        .iter()
        .zip(tail)
        .map(|(head, tail)| Json::find(Block16::load(head)).or(Json::find(Block16::load(tail))));
    blocks.reduce(Block16::or).is_none_or(|all| all.mask() == 0)
}

/// Appends `bytes`; up to 32 of them by two overlapping moves of fixed width
/// instead of a call of `memcpy`.
///
/// ```
/// let mut out = b"one ".to_vec();
/// polywire_text::scan::push_bytes(&mut out, b"and two");
/// assert_eq!(out, b"one and two");
/// ```
#[inline]
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
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
        fn short_strings_end_where_all_do(window in "[a\\\\\"\u{1}é]{32}") {
            let window = window.as_bytes().first_chunk::<32>().unwrap();
            let end = json_clean(window);
            let expected = (window.get(end) == Some(&b'"')).then_some(end);
            prop_assert_eq!(short_json_string(window), expected);
        }

        #[test]
        fn space_ends_where_a_loop_ends(
            text in "[ \n\t\ra]{0,60}| {0,60}",
            at in 0..64_usize,
        ) {
            let bytes = text.as_bytes();
            let mut end = at;
            while bytes.get(end).is_some_and(|byte| !Solid::ends(*byte)) {
                end += 1;
            }
            prop_assert_eq!(behind_space(bytes, at), end);
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
