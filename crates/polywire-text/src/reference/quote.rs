//! Quoted strings, byte by byte: see [`quote`](crate::quote).

use crate::escape::LoneSurrogate;
use crate::hex::Case;
use crate::{Malformed, reference};

/// The end of the JSON white space at `at`.
pub(crate) fn white(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && b" \t\n\r".contains(&bytes[at]) {
        at += 1;
    }
    at
}

/// `text` in quotes.
#[must_use]
pub fn quote(text: &[u8]) -> Vec<u8> {
    [b"\"", &reference::json::escape(text)[..], b"\""].concat()
}

/// The string at `at`, after optional white space, and its end.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn unquote(bytes: &[u8], at: usize, lone: LoneSurrogate) -> Result<(String, usize), Malformed> {
    let inside = opening(bytes, at)?;
    let string = reference::json::string(&bytes[inside..], lone);
    // An error before the first byte that is not UTF-8 has precedence.
    let seen = match &string {
        Ok((_, read)) => *read,
        Err(error) => error.offset,
    };
    let seen = &bytes[inside..][..seen];
    let valid = std::str::from_utf8(seen).map_err(|error| error.valid_up_to());
    match (string, valid) {
        (Ok((text, read)), Ok(_)) => {
            let text = String::from_utf8(text).map_err(|_| Malformed::new(inside, "UTF-8"))?;
            Ok((text, inside + read))
        }
        (Err(error), Ok(_)) => Err(Malformed::new(inside + error.offset, error.expected)),
        (_, Err(offset)) => Err(Malformed::new(inside + offset, "UTF-8")),
    }
}

/// The key at `at`, after optional white space, and the offset after its colon.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn key(bytes: &[u8], at: usize, lone: LoneSurrogate) -> Result<(String, usize), Malformed> {
    let (name, end) = unquote(bytes, at, lone)?;
    let colon = white(bytes, end);
    if bytes.get(colon) != Some(&b':') {
        return Err(Malformed::new(colon, ": behind a key"));
    }
    Ok((name, colon + 1))
}

/// The boolean at `at`, after optional white space, and its end.
///
/// # Errors
///
/// The first byte that is not white space.
pub fn boolean(bytes: &[u8], at: usize) -> Result<(bool, usize), Malformed> {
    let start = white(bytes, at);
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = bytes[start..].iter().take_while(is_word).count();
    match &bytes[start..start + len] {
        b"true" => Ok((true, start + len)),
        b"false" => Ok((false, start + len)),
        _ => Err(Malformed::new(start, "true or false")),
    }
}

/// The quoted hexadecimal at `at`, after optional white space, of `size` bytes if given, and its
/// end.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn hex(
    bytes: &[u8],
    at: usize,
    size: Option<usize>,
    case: Case,
) -> Result<(Vec<u8>, usize), Malformed> {
    let inside = opening(bytes, at)?;
    let len = bytes[inside..].iter().position(|byte| *byte == b'"');
    let end = len.map_or(bytes.len(), |len| inside + len);
    let decoded = reference::hex::decode(&bytes[inside..end], size, case)
        .map_err(|error| Malformed::new(inside + error.offset, error.expected))?;
    if end == bytes.len() {
        return Err(Malformed::new(end, "the closing quote of a string"));
    }
    Ok((decoded, end + 1))
}

/// The offset after the opening quote.
fn opening(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    let quote = white(bytes, at);
    if bytes.get(quote) != Some(&b'"') {
        return Err(Malformed::new(quote, "a string in double quotes"));
    }
    Ok(quote + 1)
}
