//! JSON escapes, RFC 8259, section 7, byte by byte: see [`escape`](crate::escape).

use crate::Malformed;
use crate::escape::{JsonEnd, LoneSurrogate};

/// Escapes the contents of a JSON string.
#[must_use]
pub fn escape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in bytes {
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            0x08 => out.extend(b"\\b"),
            0x09 => out.extend(b"\\t"),
            0x0a => out.extend(b"\\n"),
            0x0c => out.extend(b"\\f"),
            0x0d => out.extend(b"\\r"),
            0x00..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(*byte),
        }
    }
    out
}

/// Escapes the contents of a JSON string as ASCII, with `\uxxxx` for all other characters.
#[must_use]
pub fn escape_ascii(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for character in text.chars() {
        if character.is_ascii() {
            out.extend(escape(&[character as u8]));
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.extend(format!("\\u{unit:04x}").bytes());
            }
        }
    }
    out
}

/// Unescapes the contents of a JSON string: all of `bytes`.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn unescape(bytes: &[u8], lone: LoneSurrogate) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | 0x00..0x20 => {
                return Err(Malformed::new(
                    at,
                    "an escape, since quotes and control characters cannot stand in a JSON string",
                ));
            }
            _ => at = character(&mut out, bytes, at, lone)?,
        }
    }
    Ok(out)
}

/// Unescapes up to the closing quote. Returns the result and the number of bytes read.
///
/// # Errors
///
/// The first byte that is wrong, or the end if there is no closing quote.
pub fn string(bytes: &[u8], lone: LoneSurrogate) -> Result<(Vec<u8>, usize), Malformed> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Ok((out, at + 1)),
            0x00..0x20 => return Err(control(at)),
            _ => at = character(&mut out, bytes, at, lone)?,
        }
    }
    Err(unclosed(at))
}

/// Finds the closing quote, and whether there is an escape before it.
///
/// # Errors
///
/// A control character, or the end if there is no closing quote.
pub fn string_end(bytes: &[u8]) -> Result<JsonEnd, Malformed> {
    let mut escaped = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Ok(JsonEnd { len: at, escaped }),
            0x00..0x20 => return Err(control(at)),
            b'\\' => {
                escaped = true;
                at += 1;
                if matches!(bytes.get(at), Some(0x00..0x20)) {
                    return Err(control(at));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    Err(unclosed(bytes.len()))
}

/// Appends the byte or the escape at `at`. Returns the offset after it.
fn character(
    out: &mut Vec<u8>,
    bytes: &[u8],
    at: usize,
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    if bytes[at] != b'\\' {
        out.push(bytes[at]);
        return Ok(at + 1);
    }
    let short = match bytes.get(at + 1) {
        Some(b'"') => b'"',
        Some(b'\\') => b'\\',
        Some(b'/') => b'/',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'n') => 0x0a,
        Some(b'r') => 0x0d,
        Some(b't') => 0x09,
        Some(b'u') => {
            let (found, next) = unicode(bytes, at, lone)?;
            out.extend(found.encode_utf8(&mut [0; 4]).bytes());
            return Ok(next);
        }
        _ => {
            return Err(Malformed::new(
                at + 1,
                "one of \" \\ / b f n r t u after a backslash",
            ));
        }
    };
    out.push(short);
    Ok(at + 2)
}

/// The character of `\uXXXX` or `\uXXXX\uXXXX` at `at`, and the offset after it.
fn unicode(bytes: &[u8], at: usize, lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
    let first = unit(bytes, at + 2)?;
    let second = match bytes.get(at + 6..at + 8) {
        Some(b"\\u") if (0xd800..0xdc00).contains(&first) => Some(unit(bytes, at + 8)?),
        _ => None,
    };
    if let Some(second) = second
        && let Some(Ok(pair)) = char::decode_utf16([first, second]).next()
    {
        return Ok((pair, at + 12));
    }
    match (char::from_u32(u32::from(first)), lone) {
        (Some(found), _) => Ok((found, at + 6)),
        (None, LoneSurrogate::Replace) => Ok((char::REPLACEMENT_CHARACTER, at + 6)),
        (None, _) if first >= 0xdc00 => Err(Malformed::new(
            at + 2,
            "the first half of a surrogate pair before its second",
        )),
        (None, _) => Err(Malformed::new(
            if second.is_some() { at + 8 } else { at + 6 },
            "the second half of a surrogate pair",
        )),
    }
}

/// Four hexadecimal digits.
fn unit(bytes: &[u8], at: usize) -> Result<u16, Malformed> {
    let mut unit = 0;
    for offset in at..at + 4 {
        let digit = bytes
            .get(offset)
            .and_then(|byte| char::from(*byte).to_digit(16))
            .ok_or(Malformed::new(offset, "four hexadecimal digits"))?;
        unit = unit * 16 + digit as u16;
    }
    Ok(unit)
}

fn control(at: usize) -> Malformed {
    Malformed::new(
        at,
        "an escape, since control characters cannot stand in a string",
    )
}

fn unclosed(at: usize) -> Malformed {
    Malformed::new(at, "the closing quote of a string")
}
