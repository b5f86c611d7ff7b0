//! Escapes the contents of JSON strings.

use crate::{Text, scan};

/// Appends `text` as the contents of a JSON string, without quotes, in the canonical form of
/// ECMAScript's `JSON.stringify`, which Nostr requires, too.
///
/// Reserves the length of `text`, a sixteenth of it, and at most about 100 bytes; more only if
/// there are more escapes.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json(&mut out, "a\"b\\c\n\u{1}é");
/// assert_eq!(out, "a\\\"b\\\\c\\n\\u0001é".as_bytes());
/// ```
#[inline]
pub fn push_json(out: &mut Vec<u8>, text: &str) {
    push_json_bytes(out, text.as_bytes());
}

/// Like [`push_json`], for any bytes: those of 0x80 and above are copied.
#[inline]
pub(crate) fn push_json_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() >= LONG {
        return push_long(out, bytes);
    }
    let (clean, rest) = bytes.split_at(scan::json_clean(bytes));
    scan::push_bytes(out, clean);
    if !rest.is_empty() {
        // A loop over clean runs would be mispredicted too often for this few bytes.
        push_each(out, rest);
    }
}

/// From this length on, the call of an AVX2 function pays.
const LONG: usize = 32;

/// Escapes at least [`LONG`] bytes.
#[inline(never)]
fn push_long(out: &mut Vec<u8>, bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has the features of the function.
        return unsafe { super::expand::push(token, out, bytes) };
    }
    out.reserve(bytes.len() + bytes.len() / 16 + 16);
    let mut rest = bytes;
    while let Some((clean, dirty)) = rest.split_at_checked(scan::json_clean(rest) & !15) {
        out.extend_from_slice(clean);
        let Some((block, after)) = dirty.split_first_chunk::<16>() else {
            return push_each(out, dirty);
        };
        // Special bytes come in groups, or rarely.
        push_each(out, block);
        rest = after;
    }
}

/// Escapes a few bytes by the table, without branches on their values, which would be mispredicted.
pub(super) fn push_each(out: &mut Vec<u8>, bytes: &[u8]) {
    const AT_ONCE: usize = 16;
    for bytes in bytes.chunks(AT_ONCE) {
        // The longest escapes, and the two unused bytes of the last store.
        out.reserve(6 * bytes.len() + 2);
        let mut len = out.len();
        for byte in bytes {
            let escape = ESCAPES[usize::from(*byte)];
            // SAFETY: each earlier escape has at most six bytes, so this store of eight ends within
            // the reserved six bytes per escape plus two.
            unsafe {
                let to = out.as_mut_ptr().add(len).cast::<[u8; 8]>();
                to.write_unaligned(escape.to_le_bytes());
            }
            len += (escape >> 56) as usize;
        }
        // SAFETY: the loop has stored all bytes up to here, within the capacity.
        unsafe { out.set_len(len) };
    }
}

/// Escapes as [`push_json`], from the beginning of `bytes` to the beginning of `out`, for output
/// through a buffer of fixed size. Returns the number of bytes read and the number of bytes
/// written.
///
/// It stops when fewer than 200 bytes of `out` are left, so it reads something if `out` has 200
/// bytes, and everything if `out` has `6 * bytes.len() + 200` bytes. The rest of `out` is
/// unspecified.
///
/// ```
/// use polywire_text::escape::json_to_slice;
///
/// let mut out = [0; 256];
/// let (read, written) = json_to_slice(b"two\nlines", &mut out);
/// assert_eq!(read, 9);
/// assert_eq!(&out[..written], br"two\nlines");
/// ```
#[inline]
#[must_use]
pub fn json_to_slice(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    // Most keys and words are short and have nothing to escape.
    if let Some(clean) = scan::short_json(bytes)
        && let Some(room) = out.first_chunk_mut::<16>()
    {
        *room = clean.to_le_bytes();
        return (bytes.len(), bytes.len());
    }
    long_to_slice(bytes, out)
}

#[inline(never)]
fn long_to_slice(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= LONG
        && let Some(token) = crate::cpu::avx2()
    {
        // SAFETY: the token proves that the processor has the features of the function.
        let (blocks, bytes_written) = unsafe { super::expand::blocks_to_slice(token, bytes, out) };
        (read, written) = (32 * blocks, bytes_written);
    }
    for block in bytes[read..].chunks(32) {
        let Some(room) = out[written..].first_chunk_mut::<BLOCK_ROOM>() else {
            break;
        };
        written += each_to_slice(block, room);
        read += block.len();
    }
    (read, written)
}

/// Space for the escapes of 32 bytes, and the unused bytes of the last store.
pub(super) const BLOCK_ROOM: usize = 32 * 6 + 8;

/// Escapes at most 32 bytes by the table. Returns the number of bytes written.
pub(super) fn each_to_slice(block: &[u8], room: &mut [u8; BLOCK_ROOM]) -> usize {
    let mut len = 0;
    for byte in block.iter().take(32) {
        let escape = ESCAPES[usize::from(*byte)];
        if let Some(to) = room[len..].first_chunk_mut::<8>() {
            *to = escape.to_le_bytes();
        }
        len += (escape >> 56) as usize;
    }
    len
}

/// Each byte in a JSON string: up to six bytes, the first one lowest, and their number in the
/// highest byte.
static ESCAPES: [u64; 256] = {
    let mut escapes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let short = match byte as u8 {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            _ => 0,
        };
        let text = if short != 0 {
            [b'\\', short, 0, 0, 0, 0, 0, 2]
        } else if byte < 0x20 {
            let [high, low] = [HEX[byte >> 4], HEX[byte & 15]];
            [b'\\', b'u', b'0', b'0', high, low, 0, 6]
        } else {
            [byte as u8, 0, 0, 0, 0, 0, 0, 1]
        };
        escapes[byte] = u64::from_le_bytes(text);
        byte += 1;
    }
    escapes
};

/// Appends `text` as a JSON string, with an opening quote and `end`: the closing quote and one
/// byte, such as a comma.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json_string(&mut out, "key", *b"\":");
/// polywire_text::escape::push_json_string(&mut out, "a\nvalue", *b"\",");
/// assert_eq!(out, br#""key":"a\nvalue","#);
/// ```
#[inline]
pub fn push_json_string(out: &mut Vec<u8>, text: &str, end: [u8; 2]) {
    if let Some(clean) = scan::short_json(text.as_bytes()) {
        let quoted = (clean << 8 | u128::from(b'"')).to_le_bytes();
        let len = text.len();
        out.reserve(quoted.len() + end.len());
        // SAFETY: there is capacity for both. A short text has at most 15 bytes, so `end` is
        // written within or directly after the 16 bytes of `quoted`, and all bytes up to the new
        // length are initialised.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            to.cast::<[u8; 16]>().write_unaligned(quoted);
            to.add(1 + len).cast::<[u8; 2]>().write_unaligned(end);
            out.set_len(out.len() + 1 + len + end.len());
        }
        return;
    }
    let bytes = text.as_bytes();
    if bytes.len() <= 32 {
        if !push_clean_string::<16>(out, bytes, end) {
            push_escaped_string(out, bytes, end);
        }
    } else {
        push_long_string(out, bytes, end);
    }
}

/// Like [`push_json_string`], faster for an inline [`Text`], which is checked and copied as a
/// whole.
///
/// ```
/// use polywire_text::{Text, escape};
///
/// let mut out = Vec::new();
/// escape::push_json_text(&mut out, &Text::from("a\nvalue"), *b"\",");
/// assert_eq!(out, br#""a\nvalue","#);
/// ```
#[inline]
pub fn push_json_text(out: &mut Vec<u8>, text: &Text, end: [u8; 2]) {
    match text.window() {
        Some((window, len)) if scan::is_json_clean_window(window, len) => {
            out.reserve(1 + window.len() + end.len());
            // SAFETY: there is capacity for a quote, the window and two bytes. `len` is at most the
            // length of the window, so `end` is written within or directly after it, and all bytes
            // up to the new length are initialised.
            unsafe {
                let to = out.as_mut_ptr().add(out.len());
                to.write(b'"');
                to.add(1).cast::<[u8; 24]>().write_unaligned(*window);
                to.add(1 + len).cast::<[u8; 2]>().write_unaligned(end);
                out.set_len(out.len() + 1 + len + end.len());
            }
        }
        _ => push_text_slow(out, text, end),
    }
}

/// The slow path of [`push_json_text`].
#[inline(never)]
fn push_text_slow(out: &mut Vec<u8>, text: &Text, end: [u8; 2]) {
    push_json_string(out, text, end);
}

/// [`push_json_string`] for more than 32 bytes.
#[inline(never)]
fn push_long_string(out: &mut Vec<u8>, bytes: &[u8], end: [u8; 2]) {
    let is_clean = match bytes.len() {
        ..=64 => push_clean_string::<32>(out, bytes, end),
        65..=128 => push_clean_string::<64>(out, bytes, end),
        _ => false,
    };
    if !is_clean {
        push_escaped_string(out, bytes, end);
    }
}

fn push_escaped_string(out: &mut Vec<u8>, bytes: &[u8], end: [u8; 2]) {
    out.push(b'"');
    push_json_bytes(out, bytes);
    out.extend_from_slice(&end);
}

/// [`push_json_string`] by two overlapping moves, for `HALF` to `2 * HALF` bytes without escapes.
/// Otherwise appends nothing and returns false.
#[inline]
fn push_clean_string<const HALF: usize>(out: &mut Vec<u8>, bytes: &[u8], end: [u8; 2]) -> bool {
    let len = bytes.len();
    let (Some(head), Some(tail)) = (bytes.first_chunk::<HALF>(), bytes.last_chunk::<HALF>()) else {
        return false;
    };
    if len > 2 * HALF || !scan::is_json_clean(head, tail) {
        return false;
    }
    out.reserve(1 + 2 * HALF + 2);
    // SAFETY: there is capacity for `2 * HALF` bytes, one before and two after. All bytes up to the
    // new length are initialised: the two halves overlap or meet, as `len` is at most `2 * HALF`.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        to.write(b'"');
        to.add(1).cast::<[u8; HALF]>().write_unaligned(*head);
        let closing = to.add(1 + len);
        closing
            .sub(HALF)
            .cast::<[u8; HALF]>()
            .write_unaligned(*tail);
        closing.cast::<[u8; 2]>().write_unaligned(end);
        out.set_len(out.len() + len + 3);
    }
    true
}

const HEX: &[u8; 16] = b"0123456789abcdef";
