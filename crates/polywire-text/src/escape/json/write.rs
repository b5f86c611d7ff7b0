//! Writing the inside of JSON strings.

use crate::{Text, scan};

/// Appends `text` as the inside of a JSON string, in the canonical form of
/// ECMAScript's `JSON.stringify` (which Nostr asks for too): the seven short
/// escapes, other control characters as lower-case `\u00xx`, everything else
/// as it is. Clean runs are copied whole.
///
/// Room is made for a sixteenth more than there is to write, and beyond that as the
/// vector grows by itself; at most some hundred bytes more than that are asked for.
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

/// As [`push_json`], for bytes that may not be UTF-8: every byte from 0x80 on is
/// written as it is.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json_bytes(&mut out, b"\"\xff\x1f");
/// assert_eq!(out, b"\\\"\xff\\u001f");
/// ```
#[inline]
pub fn push_json_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() >= LONG {
        return push_long(out, bytes);
    }
    let (clean, rest) = bytes.split_at(scan::json_clean(bytes));
    scan::push_bytes(out, clean);
    if !rest.is_empty() {
        // Few, so the guesses of a loop over clean runs would not pay.
        push_each(out, rest);
    }
}

/// From this length on a call of a function for wide registers pays.
const LONG: usize = 32;

/// Escapes at least [`LONG`] bytes.
#[inline(never)]
fn push_long(out: &mut Vec<u8>, bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has what the function needs.
        return unsafe { super::expand::push(token, out, bytes) };
    }
    out.reserve(bytes.len() + bytes.len() / 16 + 16);
    let mut rest = bytes;
    while let Some((clean, behind)) = rest.split_at_checked(scan::json_clean(rest) & !15) {
        out.extend_from_slice(clean);
        let Some((block, after)) = behind.split_first_chunk::<16>() else {
            return push_each(out, behind);
        };
        // Text has several special bytes together, or none for long.
        push_each(out, block);
        rest = after;
    }
}

/// Escapes a few bytes, each from the table, without looking at it first: a guess
/// at what it is would cost more than the work.
pub(super) fn push_each(out: &mut Vec<u8>, bytes: &[u8]) {
    const AT_ONCE: usize = 16;
    for bytes in bytes.chunks(AT_ONCE) {
        // As many bytes as escapes can have, and what the last store has above them.
        out.reserve(6 * bytes.len() + 2);
        let mut len = out.len();
        for byte in bytes {
            let escape = ESCAPES[usize::from(*byte)];
            // SAFETY: the escapes before this one are of at most six bytes each, and one
            // less than all, so these eight end at most two bytes behind six for each of
            // all, which is the capacity reserved.
            unsafe {
                let to = out.as_mut_ptr().add(len).cast::<[u8; 8]>();
                to.write_unaligned(escape.to_le_bytes());
            }
            len += (escape >> 56) as usize;
        }
        // SAFETY: all bytes up to here have just been stored, within the capacity.
        unsafe { out.set_len(len) };
    }
}

/// Escapes the beginning of `bytes` as the inside of a JSON string, in the form of [`push_json`], to
/// the beginning of `out`. For output that goes through a buffer of fixed size.
///
/// Returns the number of bytes that were read and the number that were written. Stops before 32 bytes,
/// or the rest, if fewer than 200 bytes of `out` are left. So it reads something if `out` has at least
/// 200 bytes, and all of `bytes` if `out` has 200 bytes more than six times as many. Bytes of `out` after the
/// written ones are unspecified.
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
        // SAFETY: the token proves that the processor has what the function needs.
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

/// Room for the escapes of 32 bytes, and for what the last store has above them.
pub(super) const BLOCK_ROOM: usize = 32 * 6 + 8;

/// Escapes at most 32 bytes from the table; returns how many bytes that makes.
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

/// Each byte as it stands in a JSON string: up to six bytes, the first one lowest,
/// and in the highest byte how many.
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

/// Appends a JSON string, quotes included, and then `end`: what stands between
/// a value and the next, or a key and its value.
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
        // SAFETY: there is capacity for both. A short text is of at most fifteen bytes,
        // so `end` stands within or right behind the sixteen before it, and all is
        // written up to where the vector ends then.
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
            push_any_string(out, bytes, end);
        }
    } else {
        push_long_string(out, bytes, end);
    }
}

/// As [`push_json_string`], for a string that is mostly inline: then it is looked at
/// and copied whole, whatever its length.
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
            // SAFETY: there is capacity for a quote, the window and two bytes more. `len`
            // is at most that of the window, so `end` stands within what is written or
            // right behind it, and all is written up to where the vector ends then.
            unsafe {
                let to = out.as_mut_ptr().add(out.len());
                to.write(b'"');
                to.add(1).cast::<[u8; 24]>().write_unaligned(*window);
                to.add(1 + len).cast::<[u8; 2]>().write_unaligned(end);
                out.set_len(out.len() + 1 + len + end.len());
            }
        }
        _ => push_other_text(out, text, end),
    }
}

/// As [`push_json_text`], for what is long or has something to escape.
#[inline(never)]
fn push_other_text(out: &mut Vec<u8>, text: &Text, end: [u8; 2]) {
    push_json_string(out, text, end);
}

/// As [`push_json_string`], for more than 32 bytes.
#[inline(never)]
fn push_long_string(out: &mut Vec<u8>, bytes: &[u8], end: [u8; 2]) {
    let is_clean = match bytes.len() {
        ..=64 => push_clean_string::<32>(out, bytes, end),
        65..=128 => push_clean_string::<64>(out, bytes, end),
        _ => false,
    };
    if !is_clean {
        push_any_string(out, bytes, end);
    }
}

fn push_any_string(out: &mut Vec<u8>, bytes: &[u8], end: [u8; 2]) {
    out.push(b'"');
    push_json_bytes(out, bytes);
    out.extend_from_slice(&end);
}

/// As [`push_json_string`], by two overlapping moves, if there are `HALF` to twice
/// `HALF` bytes with nothing to escape; else appends nothing and returns false.
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
    // SAFETY: there are `HALF` to twice `HALF` bytes, and there is capacity for them,
    // one byte before and two behind. All of these are written: the halves overlap or
    // meet.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        to.write(b'"');
        to.add(1).cast::<[u8; HALF]>().write_unaligned(*head);
        let behind = to.add(1 + len);
        behind.sub(HALF).cast::<[u8; HALF]>().write_unaligned(*tail);
        behind.cast::<[u8; 2]>().write_unaligned(end);
        out.set_len(out.len() + len + 3);
    }
    true
}

/// Appends `text` as the inside of a JSON string in ASCII: as [`push_json`], and
/// every character from U+0080 on as lower-case `\uxxxx`, or two of them. Python's
/// `json.dumps` and botocore write this form. U+007F is ASCII and stays.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json_ascii(&mut out, "\"é😀\n");
/// assert_eq!(out, br#"\"\u00e9\ud83d\ude00\n"#);
/// ```
pub fn push_json_ascii(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, other) = rest.split_at(scan::ascii(rest.as_bytes()));
        push_json(out, ascii);
        // Characters of other scripts stand together.
        let mut characters = other.chars();
        rest = loop {
            let behind = characters.as_str();
            match characters.next() {
                Some(character) if !character.is_ascii() => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        push_unit(out, *unit);
                    }
                }
                _ => break behind,
            }
        };
    }
}

/// Appends `\uxxxx`.
#[inline]
fn push_unit(out: &mut Vec<u8>, unit: u16) {
    let [high, low] = unit.to_be_bytes();
    let [a, b] = HEX_PAIRS[usize::from(high)];
    let [c, d] = HEX_PAIRS[usize::from(low)];
    out.extend_from_slice(&[b'\\', b'u', a, b, c, d]);
}

/// How many bytes [`push_json_bytes`] would append.
///
/// ```
/// assert_eq!(polywire_text::escape::json_escaped_len(b"a\"b\x01"), 1 + 2 + 1 + 6);
/// ```
#[must_use]
pub fn json_escaped_len(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= LONG
        && let Some(token) = crate::cpu::avx2()
    {
        // SAFETY: the token proves that the processor has what the function needs.
        return unsafe { super::expand::escaped_len(token, bytes) };
    }
    let len = |byte: &u8| (ESCAPES[usize::from(*byte)] >> 56) as usize;
    bytes.iter().map(len).sum()
}

/// Each byte in two digits.
static HEX_PAIRS: [[u8; 2]; 256] = {
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [HEX[byte >> 4], HEX[byte & 15]];
        byte += 1;
    }
    pairs
};

const HEX: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_strings_of_every_length() {
        for len in 0..40 {
            let clean = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq";
            let mut out = b"before".to_vec();
            push_json_string(&mut out, &clean[..len], *b"\",");
            assert_eq!(out, format!("before\"{}\",", &clean[..len]).as_bytes());
            // An inline string with something to escape behind its end, too.
            let window = format!("{}{}", &clean[..len], "\"\\\n".repeat(8));
            let inline = Text::inline_prefix(&window, len);
            for text in inline.into_iter().chain([Text::from(&clean[..len])]) {
                let mut out = b"before".to_vec();
                push_json_text(&mut out, &text, *b"\",");
                assert_eq!(out, format!("before\"{}\",", &clean[..len]).as_bytes());
            }
            // Something to escape at each place.
            for at in 0..len {
                let mut text = clean[..len].to_owned();
                text.replace_range(at..=at, "\"");
                let mut out = Vec::new();
                push_json_string(&mut out, &text, *b"\",");
                let escaped = text.replace('"', "\\\"");
                assert_eq!(out, format!("\"{escaped}\",").as_bytes());
                out.clear();
                push_json_text(&mut out, &Text::from(text), *b"\",");
                assert_eq!(out, format!("\"{escaped}\",").as_bytes());
            }
        }
    }
}
