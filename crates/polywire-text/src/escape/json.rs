//! Escapes of JSON strings.

use super::push_clean;
use crate::{Malformed, scan};

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
    let mut rest = text.as_bytes();
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

fn push_json_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
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

/// Decodes one JSON escape, RFC 8259, section 7. `bytes` begins behind the
/// backslash. Returns the character and the number of bytes read; a surrogate
/// pair is one character of eleven bytes.
///
/// # Errors
///
/// An unknown escape, a `\u` without four hexadecimal digits, or half of a
/// surrogate pair. Offsets count from the beginning of `bytes`.
///
/// ```
/// use polywire_text::escape::json_escape;
///
/// assert_eq!(json_escape(b"n rest"), Ok(('\n', 1)));
/// assert_eq!(json_escape(br"ud83d\ude00"), Ok(('😀', 11)));
/// assert_eq!(json_escape(b"ud83d rest").unwrap_err().expected, "the second half of a surrogate pair");
/// ```
pub fn json_escape(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    let character = match bytes.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes),
        _ => {
            return Err(Malformed::new(
                0,
                "one of \" \\ / b f n r t u after a backslash",
            ));
        }
    };
    Ok((character, 1))
}

fn unicode_escape(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    let first = hex4(bytes, 1)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    // What is no character is a surrogate: D800-DBFF come first, DC00-DFFF second.
    if first >= 0xdc00 {
        return Err(Malformed::new(
            1,
            "the first half of a surrogate pair before its second",
        ));
    }
    if bytes.get(5..7) != Some(br"\u") {
        return Err(Malformed::new(5, "the second half of a surrogate pair"));
    }
    let second = hex4(bytes, 7)?;
    if !(0xdc00..0xe000).contains(&second) {
        return Err(Malformed::new(7, "the second half of a surrogate pair"));
    }
    // Ten bits of each half above the first plane: always a character.
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Ok((character, 11))
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    let mut value = 0;
    for offset in at..at + 4 {
        let digit = bytes
            .get(offset)
            .and_then(|byte| char::from(*byte).to_digit(16));
        let digit = digit.ok_or(Malformed::new(offset, "four hexadecimal digits"))?;
        value = value * 16 + digit;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The readable twin of `push_json`.
    fn slow_json(text: &str) -> String {
        text.chars()
            .map(|character| match character {
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\u{8}' => "\\b".to_owned(),
                '\t' => "\\t".to_owned(),
                '\n' => "\\n".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                '\r' => "\\r".to_owned(),
                '\0'..='\u{1f}' => format!("\\u{:04x}", u32::from(character)),
                other => other.to_string(),
            })
            .collect()
    }

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

    #[test]
    fn surrogates() {
        assert!(json_escape(br"udc00").is_err());
        assert!(json_escape(br"ud800\u0041").is_err());
        assert!(json_escape(br"ud800\udc0").is_err());
        assert!(json_escape(br"u00g0").is_err());
        assert!(json_escape(b"").is_err());
        assert!(json_escape(b"x").is_err());
    }

    proptest! {
        #[test]
        fn json_agrees_with_its_twin(text in "[\\x00-\\x30\"\\\\a-zé😀]{0,60}") {
            let mut out = Vec::new();
            push_json(&mut out, &text);
            prop_assert_eq!(String::from_utf8(out).unwrap(), slow_json(&text));
        }

        #[test]
        fn every_character_has_an_escape(character: char) {
            let mut units = [0; 2];
            let mut text = String::new();
            for unit in character.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04X}"));
            }
            prop_assert_eq!(json_escape(&text.as_bytes()[1..]), Ok((character, text.len() - 1)));
        }
    }
}
