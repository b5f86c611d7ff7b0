//! Unescapes the contents of JSON strings.

use std::borrow::Cow;

use super::LoneSurrogate;
#[cfg(target_arch = "x86_64")]
use super::unescape::LONG;
use super::unescape::Unescaper;
use crate::{Malformed, scan};

/// Unescapes `bytes`, the contents of a JSON string without its quotes, and appends the result.
///
/// Bytes of 0x80 and above are copied, so the output is UTF-8 if the input is. Reserves the length
/// of the input, which the output never exceeds.
///
/// # Errors
///
/// A quote or control character (below 0x20) without a backslash, an invalid escape, or a lone
/// surrogate if `lone` rejects it. `out` is unchanged.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, push_unescaped_json};
///
/// let mut out = b"> ".to_vec();
/// push_unescaped_json(&mut out, br"a\n\ud83d\ude00", LoneSurrogate::Reject)?;
/// assert_eq!(out, "> a\n😀".as_bytes());
///
/// let error = push_unescaped_json(&mut out, br"a\ud83d", LoneSurrogate::Reject).unwrap_err();
/// assert_eq!(error.to_string(), "expected the second half of a surrogate pair at byte 7");
/// push_unescaped_json(&mut out, br"a\ud83d", LoneSurrogate::Replace)?;
/// assert_eq!(out, "> a\n😀a\u{fffd}".as_bytes());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn push_unescaped_json(
    out: &mut Vec<u8>,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<(), Malformed> {
    out.reserve(bytes.len());
    append::<false>(out, bytes, lone).map(|_| ())
}

/// Like [`push_unescaped_json`], for strings.
///
/// # Errors
///
/// As [`push_unescaped_json`].
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, push_unescaped_json_str};
///
/// let mut out = String::new();
/// push_unescaped_json_str(&mut out, r"\u00fcber", LoneSurrogate::Reject)?;
/// assert_eq!(out, "über");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn push_unescaped_json_str(
    out: &mut String,
    text: &str,
    lone: LoneSurrogate,
) -> Result<(), Malformed> {
    let mut bytes = std::mem::take(out).into_bytes();
    let result = push_unescaped_json(&mut bytes, text.as_bytes(), lone);
    // SAFETY: the old contents are a string. The new ones are characters, for escapes, and parts of
    // a string between ASCII bytes, which are whole characters.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    result
}

/// Unescapes a JSON string whose opening quote has been read, and appends the result. Returns the
/// number of bytes read, including the closing quote. The reserve does not depend on the bytes
/// after the string.
///
/// # Errors
///
/// As [`push_unescaped_json`], or no closing quote. `out` is unchanged.
pub(crate) fn read_json_string(
    out: &mut Vec<u8>,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    append::<true>(out, bytes, lone)
}

/// Reads a JSON string whose opening quote has been read. Returns it, borrowed if it has no
/// escapes, and the number of bytes read, including the closing quote. Allocates at most once.
///
/// # Errors
///
/// As [`push_unescaped_json`], or no closing quote.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, json_str};
///
/// let (text, read) = json_str(r#"caf\u00e9", "more""#, LoneSurrogate::Reject)?;
/// assert_eq!((&*text, read), ("café", 10));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn json_str(text: &str, lone: LoneSurrogate) -> Result<(Cow<'_, str>, usize), Malformed> {
    let bytes = text.as_bytes();
    // If there is no end, an escape before it may be invalid, which the slow path reports first.
    let (len, escaped) = json_string_end(bytes).map_or((0, true), |end| (end.len, end.escaped));
    if !escaped {
        return Ok((Cow::Borrowed(&text[..len]), len + 1));
    }
    let mut out = Vec::with_capacity(len);
    let read = read_json_string(&mut out, bytes, lone)?;
    // SAFETY: the result is characters, for escapes, and parts of a string between ASCII bytes,
    // which are whole characters.
    Ok((
        Cow::Owned(unsafe { String::from_utf8_unchecked(out) }),
        read,
    ))
}

/// The end of a JSON string: see [`json_string_end`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JsonEnd {
    /// The number of bytes before the closing quote.
    pub len: usize,
    /// Whether they contain a backslash. If not, they need no unescaping.
    pub escaped: bool,
}

/// Finds the end of a JSON string whose opening quote has been read, to borrow it, skip it or
/// unescape it later. Escapes are skipped and not checked: `\x` is not an error here.
///
/// # Errors
///
/// A control character, or no closing quote.
///
/// ```
/// use polywire_text::escape::{JsonEnd, json_string_end};
///
/// assert_eq!(json_string_end(br#"plain", 1"#), Ok(JsonEnd { len: 5, escaped: false }));
/// assert_eq!(json_string_end(br#"a\"b", 1"#), Ok(JsonEnd { len: 4, escaped: true }));
/// assert_eq!(json_string_end(br#"a\""#).unwrap_err().offset, 3);
/// ```
#[inline]
pub fn json_string_end(bytes: &[u8]) -> Result<JsonEnd, Malformed> {
    let clean = scan::json_clean(bytes);
    if bytes.get(clean) == Some(&b'"') {
        return Ok(JsonEnd {
            len: clean,
            escaped: false,
        });
    }
    escaped_end(bytes, clean)
}

/// The slow path of [`json_string_end`], after `at` clean bytes.
fn escaped_end(bytes: &[u8], mut at: usize) -> Result<JsonEnd, Malformed> {
    let escaped = bytes.get(at) == Some(&b'\\');
    #[cfg(target_arch = "x86_64")]
    if bytes.len() - at >= LONG
        && let Some(token) = crate::cpu::avx2()
    {
        // SAFETY: the token proves that the processor has the features of the function.
        at += unsafe { super::compact::end(token, &bytes[at..]) };
        at += scan::json_clean(&bytes[at..]);
    }
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(JsonEnd { len: at, escaped }),
            Some(b'\\') => match bytes.get(at + 1) {
                Some(0x20..) => at += 2,
                Some(_) => return Err(Malformed::new(at + 1, CONTROL)),
                None => return Err(Malformed::new(at + 1, CLOSING)),
            },
            Some(_) => return Err(Malformed::new(at, CONTROL)),
            None => return Err(Malformed::new(at, CLOSING)),
        }
        at += scan::json_clean(&bytes[at..]);
    }
}

const UNESCAPED: &str =
    "an escape, since quotes and control characters cannot stand in a JSON string";
const CONTROL: &str = "an escape, since control characters cannot stand in a string";
const CLOSING: &str = "the closing quote of a string";

/// Unescapes up to the closing quote, or to the end if `QUOTED` is false. Returns the number of
/// bytes read.
fn append<const QUOTED: bool>(
    out: &mut Vec<u8>,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    let before = out.len();
    let mut unescaper = Unescaper { out, bytes, at: 0 };
    let result = unescape::<QUOTED>(&mut unescaper, lone);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

#[inline]
fn unescape<const QUOTED: bool>(
    unescaper: &mut Unescaper<'_>,
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    loop {
        unescaper.plain();
        match unescaper.rest() {
            [b'\\', ..] => unescaper.escapes(lone)?,
            [] if !QUOTED => return Ok(unescaper.at),
            [b'"', ..] if QUOTED => return Ok(unescaper.at + 1),
            rest => return Err(wrong::<QUOTED>(unescaper.at, rest)),
        }
    }
}

#[cold]
fn wrong<const QUOTED: bool>(at: usize, rest: &[u8]) -> Malformed {
    let expected = match rest {
        [] => CLOSING,
        _ if QUOTED => CONTROL,
        _ => UNESCAPED,
    };
    Malformed::new(at, expected)
}
