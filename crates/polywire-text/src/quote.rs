//! Quoted strings, keys and booleans: parts of JSON (RFC 8259, sections 3, 4 and 7), for programs
//! that read and write JSON by hand.
//!
//! ```text
//! string  = white `"` characters `"`
//! key     = string white ":"
//! boolean = white ( "true" / "false" )
//! white   = *( " " / "\t" / "\n" / "\r" )
//! ```
//!
//! Writers append the canonical form of [`escape::push_json`], without white space. Readers skip
//! white space before the value, validate UTF-8, and return the value and the rest of the input.

use std::borrow::Cow;

use crate::block::{Block, Block16};
use crate::escape::{self, LoneSurrogate};
use crate::{Malformed, hex, scan, utf8};

pub(crate) const STRING: &str = "a string in double quotes";
const BOOLEAN: &str = "true or false";
const COLON: &str = ": behind a key";
const CLOSING: &str = "the closing quote of a string";

/// Appends `text` in quotes.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::quote::push(&mut out, "a \"word\"");
/// assert_eq!(out, br#""a \"word\"""#);
/// ```
#[inline]
pub fn push(out: &mut Vec<u8>, text: &str) {
    // That function is fast with two bytes at the end.
    escape::push_json_string(out, text, *b"\",");
    out.pop();
}

/// Appends any bytes in quotes. Bytes of 0x80 and above are not changed.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::quote::push_bytes(&mut out, b"a\n\xff");
/// assert_eq!(out, b"\"a\\n\xff\"");
/// ```
#[inline]
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    escape::push_json_bytes(out, bytes);
    out.push(b'"');
}

/// Appends `name` in quotes and a colon.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::quote::push_key(&mut out, "kind");
/// assert_eq!(out, br#""kind":"#);
/// ```
#[inline]
pub fn push_key(out: &mut Vec<u8>, name: &str) {
    escape::push_json_string(out, name, *b"\":");
}

/// Appends `true` or `false`.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::quote::push_bool(&mut out, false);
/// assert_eq!(out, b"false");
/// ```
#[inline]
pub fn push_bool(out: &mut Vec<u8>, value: bool) {
    // One store of eight bytes, without a branch.
    const WORDS: [[u8; 8]; 2] = [*b"false   ", *b"true    "];
    out.reserve(8);
    // SAFETY: there is capacity for the eight bytes, and the length grows by at most five of them.
    unsafe {
        let end = out.as_mut_ptr().add(out.len()).cast::<[u8; 8]>();
        end.write_unaligned(WORDS[usize::from(value)]);
        out.set_len(out.len() + 5 - usize::from(value));
    }
}

/// Appends `bytes` as lower-case hexadecimal in quotes.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::quote::push_hex(&mut out, &[0xc0, 0xff]);
/// assert_eq!(out, br#""c0ff""#);
/// ```
#[inline]
pub fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(hex::encoded_len(bytes.len()) + 2);
    out.push(b'"');
    hex::push(out, bytes);
    out.push(b'"');
}

/// Reads a string and appends it to `out`. Returns the rest of the input.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::quote;
///
/// let mut out = String::from("> ");
/// let rest = quote::read(&mut out, br#" "a\tb", 1"#, LoneSurrogate::Reject)?;
/// assert_eq!((out.as_str(), rest), ("> a\tb", &b", 1"[..]));
/// let error = quote::read(&mut out, br#" "a\"#, LoneSurrogate::Reject).unwrap_err();
/// assert_eq!(error.offset, 4);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// The first byte that is wrong: no quotes, an invalid escape, a control character, or bytes that
/// are not UTF-8. `out` is unchanged.
#[inline]
pub fn read<'a>(
    out: &mut String,
    bytes: &'a [u8],
    lone: LoneSurrogate,
) -> Result<&'a [u8], Malformed> {
    let inside = after_quote(bytes)?;
    match append_str(out, inside, lone) {
        Ok(read) => Ok(&inside[read..]),
        Err(error) => Err(first_wrong(error, bytes, inside)),
    }
}

/// Reads a string. Returns it, borrowed if it has no escapes, and the rest of the input.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::quote;
///
/// let (text, rest) = quote::unquote(br#""kind":1"#, LoneSurrogate::Reject)?;
/// assert_eq!((&*text, rest), ("kind", &b":1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As [`read`].
#[inline]
pub fn unquote(bytes: &[u8], lone: LoneSurrogate) -> Result<(Cow<'_, str>, &[u8]), Malformed> {
    let inside = after_quote(bytes)?;
    if let Some((text, rest)) = short(inside) {
        return Ok((Cow::Borrowed(text), rest));
    }
    let clean = scan::json_clean(inside);
    let result = match inside.get(clean) {
        Some(b'"') => utf8::validate(&inside[..clean]).map(|text| (Cow::Borrowed(text), clean + 1)),
        _ => {
            // Unescaping never makes it longer.
            let most = escape::json_string_end(inside).map_or(0, |end| end.len);
            let mut text = String::with_capacity(most);
            append_str(&mut text, inside, lone).map(|read| (Cow::Owned(text), read))
        }
    };
    match result {
        Ok((text, read)) => Ok((text, &inside[read..])),
        Err(error) => Err(first_wrong(error, bytes, inside)),
    }
}

/// Reads a key and its colon. Returns the key, borrowed if it has no escapes, and the rest of the
/// input.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::quote;
///
/// let (name, rest) = quote::read_key(br#" "kind" : 1"#, LoneSurrogate::Reject)?;
/// assert_eq!((&*name, rest), ("kind", &b" 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As [`read`], or no colon after the string and white space.
#[inline]
pub fn read_key(bytes: &[u8], lone: LoneSurrogate) -> Result<(Cow<'_, str>, &[u8]), Malformed> {
    let (name, rest) = unquote(bytes, lone)?;
    let rest = &rest[scan::white_space(rest)..];
    match rest {
        [b':', rest @ ..] => Ok((name, rest)),
        _ => Err(Malformed::new(bytes.len() - rest.len(), COLON)),
    }
}

/// Reads `true` or `false`. Returns it and the rest of the input.
///
/// ```
/// use polywire_text::quote;
///
/// assert_eq!(quote::read_bool(b" true]"), Ok((true, &b"]"[..])));
/// assert_eq!(quote::read_bool(b" TRUE]").unwrap_err().offset, 1);
/// ```
///
/// # Errors
///
/// Anything else, including `true` and `false` followed by a letter, a digit or `_`.
#[inline]
pub fn read_bool(bytes: &[u8]) -> Result<(bool, &[u8]), Malformed> {
    let token = &bytes[scan::white_space(bytes)..];
    let (value, rest) = match token {
        [b't', b'r', b'u', b'e', rest @ ..] => (true, rest),
        [b'f', b'a', b'l', b's', b'e', rest @ ..] => (false, rest),
        _ => return Err(Malformed::new(bytes.len() - token.len(), BOOLEAN)),
    };
    match rest {
        [b'0'..=b'9' | b'A'..=b'Z' | b'_' | b'a'..=b'z', ..] => {
            Err(Malformed::new(bytes.len() - token.len(), BOOLEAN))
        }
        _ => Ok((value, rest)),
    }
}

/// Reads quoted hexadecimal and appends the bytes to `out`. Returns the rest of the input.
///
/// ```
/// use polywire_text::{hex::Case, quote};
///
/// let mut out = Vec::new();
/// assert_eq!(quote::read_hex(&mut out, br#""c0ff", 1"#, Case::Lower)?, b", 1");
/// assert_eq!(out, [0xc0, 0xff]);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// No quotes, a byte that is not a digit of this case (escapes are not read), or an odd number of
/// digits. `out` is unchanged.
#[inline]
pub fn read_hex<'a>(
    out: &mut Vec<u8>,
    bytes: &'a [u8],
    case: hex::Case,
) -> Result<&'a [u8], Malformed> {
    let inside = after_quote(bytes)?;
    // The first quote ends the digits, as there are no escapes.
    let end = memchr::memchr(b'"', inside);
    let digits = end.map_or(inside, |end| &inside[..end]);
    match (hex::push_decoded(out, digits, case), end) {
        (Ok(()), Some(end)) => Ok(&inside[end + 1..]),
        (Ok(()), None) => {
            out.truncate(out.len() - digits.len() / 2);
            Err(Malformed::new(bytes.len(), CLOSING))
        }
        (Err(error), _) => Err(relocate(error, bytes, inside)),
    }
}

/// Reads `N` bytes of quoted hexadecimal. Returns them and the rest of the input.
///
/// ```
/// use polywire_text::{hex::Case, quote};
///
/// let (key, rest) = quote::read_hex_array(br#""c0ff", 1"#, Case::Lower)?;
/// assert_eq!((key, rest), ([0xc0, 0xff], &b", 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As [`read_hex`], or another number of bytes.
#[inline]
pub fn read_hex_array<const N: usize>(
    bytes: &[u8],
    case: hex::Case,
) -> Result<([u8; N], &[u8]), Malformed> {
    let mut out = [0; N];
    let decode = |digits: &[u8]| hex::decode_to_slice(digits, &mut out, case);
    let rest = read_hex_of(bytes, N, case, decode)?;
    Ok((out, rest))
}

/// Reads `size` bytes of quoted hexadecimal by `decode`, which receives twice as many bytes and
/// must check them. Returns the rest of the input.
#[inline(always)]
pub(crate) fn read_hex_of<'a>(
    bytes: &'a [u8],
    size: usize,
    case: hex::Case,
    decode: impl FnOnce(&'a [u8]) -> Result<(), Malformed>,
) -> Result<&'a [u8], Malformed> {
    let inside = after_quote(bytes)?;
    let len = size.saturating_mul(2);
    match inside.split_at_checked(len) {
        Some((digits, [b'"', rest @ ..])) if decode(digits).is_ok() => Ok(rest),
        _ => Err(wrong_hex(bytes, inside, len, case)),
    }
}

/// The error of quoted hexadecimal that should have `len` digits.
#[cold]
fn wrong_hex(bytes: &[u8], inside: &[u8], len: usize, case: hex::Case) -> Malformed {
    let digits = inside.split(|byte| *byte == b'"').next().unwrap_or(inside);
    match hex::check(digits, len, case) {
        Ok(()) => Malformed::new(bytes.len(), CLOSING),
        Err(error) => relocate(error, bytes, inside),
    }
}

/// Fast path for a string of fewer than 16 bytes of ASCII without escapes, as most keys are: one
/// test. Returns it and the rest of the input. `None` for any other input.
#[inline(always)]
fn short(inside: &[u8]) -> Option<(&str, &[u8])> {
    let block = Block16::load(inside.first_chunk()?);
    // The mask of a block has the high bit of each byte, which is set if the byte is not ASCII.
    let ends = special(block).or(block).mask() | 1 << 16;
    match inside.split_at_checked(ends.trailing_zeros() as usize) {
        Some((text, [b'"', rest @ ..])) => {
            // SAFETY: the mask has no bit set for these bytes, so they are ASCII.
            Some((unsafe { str::from_utf8_unchecked(text) }, rest))
        }
        _ => None,
    }
}

/// The bytes that end a string or need an escape.
#[inline(always)]
pub(crate) fn special(block: Block16) -> Block16 {
    let control = block.at_most(0x1f);
    block.equals(b'"').or(block.equals(b'\\')).or(control)
}

/// The number of escapes that are read one by one, before the code for many escapes pays.
const FEW: usize = 4;

/// As [`escape::read_json_string`], faster if there are few escapes. Does not validate UTF-8.
#[inline]
pub(crate) fn append(
    out: &mut Vec<u8>,
    inside: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    let before = out.len();
    let mut at = 0;
    for _ in 0..FEW {
        let rest = &inside[at..];
        let clean = scan::json_clean(rest);
        if clean > 0 {
            scan::push_bytes(out, &rest[..clean]);
            at += clean;
        }
        match &rest[clean..] {
            [b'"', ..] => return Ok(at + 1),
            [b'\\', escaped, ..] if short_escape(*escaped) != 0 => {
                out.push(short_escape(*escaped));
                at += 2;
            }
            [b'\\', escape @ ..] => match escape::json_escape(escape) {
                Ok((character, read)) => {
                    at += 1 + read;
                    if character.is_ascii() {
                        out.push(character as u8);
                        continue;
                    }
                    scan::push_bytes(out, character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                // An error, or a lone surrogate that may be replaced.
                Err(_) => break,
            },
            _ => break,
        }
    }
    // The rest starts outside of an escape.
    escape::read_json_string(out, &inside[at..], lone)
        .map(|read| at + read)
        .map_err(|error| {
            out.truncate(before);
            relocate(error, inside, &inside[at..])
        })
}

/// The meaning of the letter of a short escape; 0 for any other byte.
#[inline]
const fn short_escape(byte: u8) -> u8 {
    match byte {
        b'"' | b'/' | b'\\' => byte,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => 0,
    }
}

/// Reads an escape without its backslash, if it is ASCII. Returns the character and the number of
/// bytes read. `None` for other characters and errors.
#[inline(always)]
pub(crate) fn ascii_escape(escape: &[u8]) -> Option<(u8, usize)> {
    match escape {
        [b'u', b'0', b'0', high @ b'0'..=b'7', low, ..] => {
            let low = match low {
                b'0'..=b'9' => low - b'0',
                b'a'..=b'f' => low - b'a' + 10,
                b'A'..=b'F' => low - b'A' + 10,
                _ => return None,
            };
            Some(((high - b'0') << 4 | low, 5))
        }
        [byte, ..] if short_escape(*byte) != 0 => Some((short_escape(*byte), 1)),
        _ => None,
    }
}

/// [`append`], with validation of UTF-8. In case of an error, `out` is unchanged.
#[inline]
fn append_str(out: &mut String, inside: &[u8], lone: LoneSurrogate) -> Result<usize, Malformed> {
    let mut bytes = std::mem::take(out).into_bytes();
    let before = bytes.len();
    let result = append(&mut bytes, inside, lone).and_then(|read| {
        if utf8::validate(&bytes[before..]).is_ok() {
            return Ok(read);
        }
        bytes.truncate(before);
        // Escapes are ASCII and become whole characters, so the input is not UTF-8 either.
        utf8::validate(&inside[..read]).map(|_| read)
    });
    // SAFETY: the old contents are a string, and the new ones were validated, or removed (by
    // `append`, too).
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    result
}

/// The input after the opening quote.
#[inline]
pub(crate) fn after_quote(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let token = &bytes[scan::white_space(bytes)..];
    match token {
        [b'"', inside @ ..] => Ok(inside),
        _ => Err(Malformed::new(bytes.len() - token.len(), STRING)),
    }
}

/// An error after an opening quote, or that of invalid UTF-8 before it, which is validated last.
#[cold]
fn first_wrong(error: Malformed, bytes: &[u8], inside: &[u8]) -> Malformed {
    let before = utf8::validate(inside.get(..error.offset).unwrap_or(inside));
    relocate(before.err().unwrap_or(error), bytes, inside)
}

/// Converts an error in `part`, which is the end of `bytes`, to one in `bytes`.
#[cold]
pub(crate) fn relocate(error: Malformed, bytes: &[u8], part: &[u8]) -> Malformed {
    error.shifted(bytes.len() - part.len())
}
