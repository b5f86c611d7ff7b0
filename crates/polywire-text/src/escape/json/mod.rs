//! Escapes of JSON strings, RFC 8259, section 7.
//!
//! ```text
//! string    = quote *char quote
//! char      = unescaped / "\" ( quote / "\" / "/" / "b" / "f" / "n" / "r" / "t" / "u" 4HEXDIG )
//! unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
//! ```
//!
//! Writers use the canonical form of ECMAScript's `JSON.stringify`, which Nostr requires because it
//! hashes the text: `\"` `\\` `\b` `\t` `\n` `\f` `\r`, other control characters as lower-case
//! `\u00xx`, and all other characters unescaped, including `/` and U+007F. Readers accept exactly
//! the grammar.
//!
//! With AVX2 the cost hardly depends on the number of escapes: see `expand` for writing and
//! `compact` for reading. Otherwise, and for a few bytes, clean runs are copied and special bytes
//! are looked up in tables. `\uxxxx` escapes often come in groups, so another one is expected
//! directly after one.

#[cfg(target_arch = "x86_64")]
mod compact;
#[cfg(target_arch = "x86_64")]
mod expand;
mod read;
mod unescape;
mod write;

pub(crate) use read::read_json_string;
pub use read::{JsonEnd, json_str, json_string_end, push_unescaped_json, push_unescaped_json_str};
pub(crate) use write::push_json_bytes;
pub use write::{json_to_slice, push_json, push_json_string, push_json_text};

use crate::Malformed;

/// What to do with one half of a surrogate pair, such as `\ud83d` without `\ude00` after it. It is
/// not a character and has no UTF-8.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, json_str};
///
/// let text = r#"\ud83d!""#;
/// assert!(json_str(text, LoneSurrogate::Reject).is_err());
/// assert_eq!(json_str(text, LoneSurrogate::Replace)?.0, "\u{fffd}!");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum LoneSurrogate {
    /// Reject it. The default.
    #[default]
    Reject,
    /// Replace it by U+FFFD, as JavaScript does when it encodes such a string.
    Replace,
}

/// Decodes one JSON escape, without its backslash, at the beginning of `bytes`. Returns the
/// character and the number of bytes read. A surrogate pair is one character of eleven bytes.
///
/// # Errors
///
/// An unknown escape, a `\u` without four hexadecimal digits, or one half of a surrogate pair.
///
/// ```
/// use polywire_text::escape::json_escape;
///
/// assert_eq!(json_escape(b"n rest"), Ok(('\n', 1)));
/// assert_eq!(json_escape(br"ud83d\ude00"), Ok(('😀', 11)));
/// assert_eq!(json_escape(b"ud83d rest").unwrap_err().expected, "the second half of a surrogate pair");
/// ```
pub fn json_escape(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    one(bytes, LoneSurrogate::Reject)
}

/// As [`json_escape`], with a choice of [`LoneSurrogate`].
#[inline]
fn one(bytes: &[u8], lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
    if let [b'u', a, b, c, d, ..] = bytes
        && let Some(character) = char::from_u32(value([*a, *b, *c, *d]))
    {
        return Ok((character, 5));
    }
    slow(bytes, lone)
}

/// The slow path of [`one`]: escapes other than a character in four digits.
#[inline(never)]
fn slow(bytes: &[u8], lone: LoneSurrogate) -> Result<(char, usize), Malformed> {
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
    // It is a surrogate: D800 to DBFF are first halves, DC00 to DFFF second ones.
    let alone = |offset, expected| match lone {
        LoneSurrogate::Reject => Err(Malformed::new(offset, expected)),
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
    // Ten bits of each half, above the first plane: always a character.
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

/// The error at the first byte that is not a digit.
#[cold]
fn no_hex4(bytes: &[u8], at: usize) -> Malformed {
    let is_digit = |offset: &usize| bytes.get(*offset).is_some_and(u8::is_ascii_hexdigit);
    let offset = (at..at + 4).find(|offset| !is_digit(offset));
    Malformed::new(offset.unwrap_or(at), DIGITS)
}

/// The value of four hexadecimal digits; larger than any character if one of them is not a digit.
#[inline]
fn value(digits: [u8; 4]) -> u32 {
    let [a, b, c, d] = digits.map(|digit| DIGIT[usize::from(digit)]);
    a << 12 | b << 8 | c << 4 | d
}

/// The value of each hexadecimal digit. Other bytes have bits 19 and 31 set, so that one of them is
/// above the 21 bits of a character after a shift by 0, 4, 8 or 12.
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
