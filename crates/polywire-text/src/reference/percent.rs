//! Percent-encoding and forms, byte by byte.

use crate::Malformed;
use crate::percent::Plus;

/// As [`crate::percent::push_bytes`], with a set of the unreserved characters and `keep`.
#[must_use]
pub fn encoded(bytes: &[u8], keep: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if unreserved || keep.contains(byte) {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The serializer of the URL standard for a key or value of a form: encodes everything except ASCII
/// letters, digits, `*`, `-`, `.` and `_`, and writes a space as `+`.
#[must_use]
pub fn form_encoded(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(*byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// As [`crate::percent::decode_bytes`].
///
/// # Errors
///
/// The same.
pub fn decoded(bytes: &[u8], plus: Plus) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
                let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                    return Err(Malformed::new(at, "% and two hexadecimal digits"));
                };
                out.push((16 * high + low) as u8);
                at += 3;
            }
            b'+' if plus == Plus::Space => {
                out.push(b' ');
                at += 1;
            }
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Ok(out)
}

/// As [`crate::percent::decode`].
///
/// # Errors
///
/// The same.
pub fn decoded_text(text: &str, plus: Plus) -> Result<String, Malformed> {
    String::from_utf8(decoded(text.as_bytes(), plus)?).map_err(|error| {
        // Advances to the encoded form of the first invalid byte.
        let bad = error.utf8_error().valid_up_to();
        let mut offset = 0;
        for _ in 0..bad {
            offset += if text.as_bytes()[offset] == b'%' {
                3
            } else {
                1
            };
        }
        Malformed::new(offset, "percent-encoded UTF-8")
    })
}

/// As [`crate::form::pairs`]: key, value, and the offsets of both.
#[must_use]
pub fn pairs(form: &str) -> Vec<Result<(String, String, usize, usize), Malformed>> {
    let mut pairs = Vec::new();
    let mut offset = 0;
    for part in form.split('&') {
        if !part.is_empty() {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let equals = usize::from(part.contains('='));
            let value_offset = offset + key.len() + equals;
            let decoded = |text: &str, offset: usize| {
                decoded_text(text, Plus::Space)
                    .map_err(|error| Malformed::new(offset + error.offset, error.expected))
            };
            let key = decoded(key, offset);
            let value = decoded(value, value_offset);
            pairs.push(match (key, value) {
                (Ok(key), Ok(value)) => Ok((key, value, offset, value_offset)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            });
        }
        offset += part.len() + 1;
    }
    pairs
}
