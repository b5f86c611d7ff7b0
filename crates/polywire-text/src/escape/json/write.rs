//! Writing the inside of JSON strings.

use super::super::push_clean;
use crate::scan;

/// Appends `text` as the inside of a JSON string, in the canonical form of
/// ECMAScript's `JSON.stringify` (which Nostr asks for too): the seven short
/// escapes, other control characters as lower-case `\u00xx`, everything else
/// as it is. Clean runs are copied whole.
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
    let mut rest = bytes;
    loop {
        let clean = scan::json_clean(rest);
        push_clean(out, rest, clean);
        let Some(special) = rest.get(clean) else {
            return;
        };
        push_json_escape(out, *special);
        rest = &rest[clean + 1..];
    }
}

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
        let len = out.len() + 1 + text.len();
        out.extend_from_slice(&(clean << 8 | u128::from(b'"')).to_le_bytes());
        out.truncate(len);
        out.extend_from_slice(&end);
        return;
    }
    out.push(b'"');
    push_json(out, text);
    out.extend_from_slice(&end);
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
    for character in text.chars() {
        if character.is_ascii() {
            push_json(out, character.encode_utf8(&mut [0; 4]));
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.extend_from_slice(b"\\u");
            for byte in unit.to_be_bytes() {
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
}

/// How many bytes [`push_json_bytes`] would append.
///
/// ```
/// assert_eq!(polywire_text::escape::json_escaped_len(b"a\"b\x01"), 1 + 2 + 1 + 6);
/// ```
#[must_use]
pub fn json_escaped_len(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' | 0x08 | 0x09 | 0x0a | 0x0c | 0x0d => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum()
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn push_json_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&digits);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

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
            // Something to escape at each place.
            for at in 0..len {
                let mut text = clean[..len].to_owned();
                text.replace_range(at..=at, "\"");
                let mut out = Vec::new();
                push_json_string(&mut out, &text, *b"\",");
                let escaped = text.replace('"', "\\\"");
                assert_eq!(out, format!("\"{escaped}\",").as_bytes());
            }
        }
    }
}
