//! Escapes of JSON strings, both ways: RFC 8259, section 7.
//!
//! ```text
//! string    = quote *char quote
//! char      = unescaped / "\" ( quote / "\" / "/" / "b" / "f" / "n" / "r" / "t" / "u" 4HEXDIG )
//! unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
//! ```
//!
//! Writing has one canonical form, that of ECMAScript's `JSON.stringify`, which Nostr
//! asks for byte by byte since it hashes what was written: `\"` `\\` `\b` `\t` `\n` `\f`
//! `\r`, other control characters as `\u00xx` in lower case, and everything else as it
//! is, `/` and U+007F included. Reading takes every form of the grammar and no other.
//!
//! Where there is AVX2 the cost hardly depends on how many bytes are escaped: see
//! `expand` for writing and `compact` for reading. Elsewhere, and for a few bytes,
//! clean runs are copied and what stands between them is looked up in tables. Escapes
//! of four digits come in crowds (control characters, or another script in ASCII), so
//! one is looked for right behind another, and near it, before anything wide is set up.

#[cfg(target_arch = "x86_64")]
mod compact;
#[cfg(target_arch = "x86_64")]
mod expand;
mod place;
mod read;
mod write;

pub use read::{
    JsonEnd, json_str, json_string, json_string_end, push_unescaped_json, push_unescaped_json_str,
    read_json_str, read_json_string, unescape_json_in_place,
};
pub use write::{
    json_escaped_len, json_to_slice, push_json, push_json_ascii, push_json_bytes, push_json_string,
    push_json_text,
};

use crate::Malformed;

/// What becomes of half a surrogate pair (`\ud83d` without `\ude00` behind it, or
/// the other way round), which is no character and has no UTF-8.
///
/// There is no way to keep one: what comes out of this crate's readers is UTF-8
/// wherever what went in was.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, json_string};
///
/// let bytes = br#"\ud83d!""#;
/// assert!(json_string(bytes, LoneSurrogate::Refuse).is_err());
/// assert_eq!(json_string(bytes, LoneSurrogate::Replace)?.0, "\u{fffd}!");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum LoneSurrogate {
    /// It is an error. The default.
    #[default]
    Refuse,
    /// Each becomes U+FFFD, the replacement character, as in a JavaScript that
    /// encodes such a string.
    Replace,
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
    one(bytes, LoneSurrogate::Refuse)
}

/// As [`json_escape`], by policy.
#[inline]
fn one(bytes: &[u8], lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
    if let [b'u', a, b, c, d, ..] = bytes
        && let Some(character) = char::from_u32(value([*a, *b, *c, *d]))
    {
        return Ok((character, 5));
    }
    rare(bytes, lone)
}

/// As [`one`], for what is not a character in four digits.
#[inline(never)]
fn rare(bytes: &[u8], lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
    let character = match bytes.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, lone),
        _ => return Err(Malformed::new(0, ESCAPE)),
    };
    Ok((character, 1))
}

const ESCAPE: &str = "one of \" \\ / b f n r t u after a backslash";
const DIGITS: &str = "four hexadecimal digits";
const FIRST_HALF: &str = "the first half of a surrogate pair before its second";
const SECOND_HALF: &str = "the second half of a surrogate pair";

fn unicode_escape(bytes: &[u8], lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
    let first = hex4(bytes, 1)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    // What is no character is a surrogate: D800-DBFF come first, DC00-DFFF second.
    let alone = |offset, expected| match lone {
        LoneSurrogate::Refuse => Err(Malformed::new(offset, expected)),
        LoneSurrogate::Replace => Ok((char::REPLACEMENT_CHARACTER, 5)),
    };
    if first >= 0xdc00 {
        return alone(1, FIRST_HALF);
    }
    if bytes.get(5..7) != Some(br"\u") {
        return alone(5, SECOND_HALF);
    }
    let second = hex4(bytes, 7)?;
    if !(0xdc00..0xe000).contains(&second) {
        return alone(7, SECOND_HALF);
    }
    // Ten bits of each half above the first plane: always a character.
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Ok((character, 11))
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        Some(digits) if value(*digits) <= 0xffff => Ok(value(*digits)),
        _ => Err(no_hex4(bytes, at)),
    }
}

/// The first that is no digit.
#[cold]
fn no_hex4(bytes: &[u8], at: usize) -> Malformed {
    let is_digit = |offset: &usize| bytes.get(*offset).is_some_and(u8::is_ascii_hexdigit);
    let offset = (at..at + 4).find(|offset| !is_digit(offset));
    Malformed::new(offset.unwrap_or(at), DIGITS)
}

/// The value of four hexadecimal digits; above the last character if one is none.
#[inline]
fn value(digits: [u8; 4]) -> u32 {
    let [a, b, c, d] = digits.map(|digit| DIGIT[usize::from(digit)]);
    a << 12 | b << 8 | c << 4 | d
}

/// The value of each hexadecimal digit. What is none has two bits, of which one is
/// above the last character (21 bits) wherever the digit stands: moved up by 4 to 12
/// bits it is the lower one, else the upper one.
static DIGIT: [u32; 256] = {
    let mut values = [1 << 31 | 1 << 19; 256];
    let mut byte = 0;
    while byte < 256 {
        if let Some(value) = (byte as u8 as char).to_digit(16) {
            values[byte] = value;
        }
        byte += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
