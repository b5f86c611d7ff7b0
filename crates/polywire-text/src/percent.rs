//! Percent-encoding of URIs, RFC 3986, section 2.

use std::borrow::Cow;

use crate::{Malformed, utf8};

/// Appends `text`, every byte percent-encoded but the unreserved ones
/// (`A-Z a-z 0-9 - . _ ~`): for a label or a query key or value.
///
/// ```
/// let mut out = String::new();
/// polywire_text::percent::push(&mut out, "a b/ü");
/// assert_eq!(out, "a%20b%2F%C3%BC");
/// ```
pub fn push(out: &mut String, text: &str) {
    push_keeping(out, text, |_| false);
}

/// As [`push`], but `/` stays: for a greedy label.
pub fn push_path(out: &mut String, text: &str) {
    push_keeping(out, text, |byte| byte == b'/');
}

fn push_keeping(out: &mut String, text: &str, keep: impl Fn(u8) -> bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') || keep(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Decodes `%` and two hexadecimal digits. Borrows where there are none.
///
/// # Errors
///
/// A `%` without two digits, or a result that is not UTF-8.
///
/// ```
/// use polywire_text::percent::decode;
///
/// assert_eq!(decode("a%20b")?, "a b");
/// assert_eq!(decode("50%").unwrap_err().offset, 2);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn decode(text: &str) -> Result<Cow<'_, str>, Malformed> {
    decode_with(text, false)
}

/// As [`decode`], and `+` is a space, as browsers and many HTTP clients write
/// it in queries.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_query(text: &str) -> Result<Cow<'_, str>, Malformed> {
    decode_with(text, true)
}

fn decode_with(text: &str, plus_is_space: bool) -> Result<Cow<'_, str>, Malformed> {
    let special = |byte: &u8| *byte == b'%' || (plus_is_space && *byte == b'+');
    let bytes = text.as_bytes();
    let Some(first) = bytes.iter().position(special) else {
        return Ok(Cow::Borrowed(text));
    };
    let mut decoded = Vec::with_capacity(bytes.len());
    decoded.extend_from_slice(&bytes[..first]);
    let mut at = first;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let digit = |at: usize| {
                    bytes
                        .get(at)
                        .and_then(|byte| char::from(*byte).to_digit(16))
                };
                let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                    return Err(Malformed::new(at, "% and two hexadecimal digits"));
                };
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            b'+' if plus_is_space => {
                decoded.push(b' ');
                at += 1;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    match utf8::validate(&decoded) {
        Ok(text) => Ok(Cow::Owned(text.to_owned())),
        Err(_) => Err(Malformed::new(first, "percent-encoded UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bad_input_is_named() {
        assert_eq!(decode("ab%4").unwrap_err().offset, 2);
        assert_eq!(decode("%zz").unwrap_err().offset, 0);
        assert!(decode("%ff").is_err());
        assert_eq!(decode("a+b").unwrap(), "a+b");
        assert_eq!(decode_query("a+b%2B").unwrap(), "a b+");
    }

    proptest! {
        #[test]
        fn round_trips(text in any::<String>()) {
            let mut encoded = String::new();
            push(&mut encoded, &text);
            prop_assert_eq!(decode(&encoded).unwrap(), text.as_str());
            encoded.clear();
            push_path(&mut encoded, &text);
            prop_assert_eq!(decode(&encoded).unwrap(), text.as_str());
        }
    }
}
