//! Reading the inside of JSON strings.

use std::borrow::Cow;

use super::LoneSurrogate;
#[cfg(target_arch = "x86_64")]
use super::place::LONG;
use super::place::{Append, InPlace, Place};
use crate::{Malformed, scan, utf8};

/// Appends what the inside of a JSON string stands for, RFC 8259, section 7. All
/// of `bytes` is the inside of the string: there is no quote at its end.
///
/// Bytes from 0x80 on are taken as they are; where the input is UTF-8, so is the
/// output. It is never longer than the input, which is what is reserved for it.
///
/// # Errors
///
/// A quote or control character (below 0x20) without a backslash, what
/// [`json_escape`](super::json_escape) refuses, and half of a surrogate pair if
/// `lone` refuses it. The offset is the first that is wrong; `out` is what it was.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, push_unescaped_json};
///
/// let mut out = b"> ".to_vec();
/// push_unescaped_json(&mut out, br"a\n\ud83d\ude00", LoneSurrogate::Refuse)?;
/// assert_eq!(out, "> a\n😀".as_bytes());
///
/// let error = push_unescaped_json(&mut out, br"a\ud83d", LoneSurrogate::Refuse).unwrap_err();
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

/// As [`push_unescaped_json`], from a string to a string.
///
/// # Errors
///
/// As for [`push_unescaped_json`].
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, push_unescaped_json_str};
///
/// let mut out = String::new();
/// push_unescaped_json_str(&mut out, r"\u00fcber", LoneSurrogate::Refuse)?;
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
    // SAFETY: what was there was a string. What was appended is characters for
    // escapes, and what stood between them: escapes are ASCII, so it was cut out of
    // a string at ends of characters.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    result
}

/// As [`push_unescaped_json`], in place: returns how many of the first bytes are the
/// answer. What is behind them is of no meaning.
///
/// # Errors
///
/// As for [`push_unescaped_json`]; what then stands in `bytes` is of no meaning, up to the
/// offset of the error; behind it they are as they were.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, unescape_json_in_place};
///
/// let mut bytes = *br"a\tb";
/// let len = unescape_json_in_place(&mut bytes, LoneSurrogate::Refuse)?;
/// assert_eq!(&bytes[..len], b"a\tb");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn unescape_json_in_place(bytes: &mut [u8], lone: LoneSurrogate) -> Result<usize, Malformed> {
    let mut place = InPlace {
        bytes,
        from: 0,
        to: 0,
    };
    unescape::<false>(&mut place, lone)?;
    Ok(place.to)
}

/// Reads a JSON string whose opening quote has been read: appends what stands
/// before the closing quote, unescaped, and returns the number of bytes read, the
/// closing quote included. One pass; the vector grows with what is written, however
/// much stands behind the string.
///
/// # Errors
///
/// As for [`push_unescaped_json`], and at the end's offset if there is no closing quote;
/// `out` is what it was.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, read_json_string};
///
/// let mut out = Vec::new();
/// assert_eq!(read_json_string(&mut out, br#"a\"b", "more""#, LoneSurrogate::Refuse)?, 5);
/// assert_eq!(out, br#"a"b"#);
///
/// let error = read_json_string(&mut out, br#"a\"b"#, LoneSurrogate::Refuse).unwrap_err();
/// assert_eq!(error.to_string(), "expected the closing quote of a string at byte 4");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn read_json_string(
    out: &mut Vec<u8>,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    append::<true>(out, bytes, lone)
}

/// As [`read_json_string`], with UTF-8 validated.
///
/// # Errors
///
/// As for [`read_json_string`], and then at the first byte that is not UTF-8.
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, read_json_str};
///
/// let mut out = String::new();
/// assert_eq!(read_json_str(&mut out, br#"\u00fcber""#, LoneSurrogate::Refuse)?, 10);
/// assert_eq!(out, "über");
/// let error = read_json_str(&mut out, b"\\n\xff\"", LoneSurrogate::Refuse).unwrap_err();
/// assert_eq!(error.to_string(), "expected UTF-8 at byte 2");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn read_json_str(
    out: &mut String,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    let mut appended = std::mem::take(out).into_bytes();
    let before = appended.len();
    let result = read_json_string(&mut appended, bytes, lone).and_then(|read| {
        if utf8::validate(&appended[before..]).is_ok() {
            return Ok(read);
        }
        appended.truncate(before);
        // Escapes are ASCII and stand for whole characters, so the input is not
        // UTF-8 either.
        utf8::validate(&bytes[..read]).map(|_| read)
    });
    // SAFETY: what was there was a string, and what was appended has just been
    // validated, or cut off again (as `read_json_string` does on an error).
    *out = unsafe { String::from_utf8_unchecked(appended) };
    result
}

/// Reads a JSON string whose opening quote has been read: borrowed if it has no
/// escapes, which costs no allocation, else by one. Returns the number of bytes read too, the
/// closing quote included.
///
/// # Errors
///
/// As for [`read_json_str`].
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, json_string};
///
/// let (text, read) = json_string(br#"plain", "more""#, LoneSurrogate::Refuse)?;
/// assert_eq!((&*text, read), ("plain", 6));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn json_string(bytes: &[u8], lone: LoneSurrogate) -> Result<(Cow<'_, str>, usize), Malformed> {
    let Ok(end) = json_string_end(bytes) else {
        // Something is wrong; perhaps something before that, in an escape.
        return owned(bytes, 0, lone);
    };
    if !end.escaped {
        return Ok((
            Cow::Borrowed(utf8::validate(&bytes[..end.len])?),
            end.len + 1,
        ));
    }
    owned(bytes, end.len, lone)
}

/// As [`json_string`], from a `str`: nothing has to be validated.
///
/// # Errors
///
/// As for [`read_json_string`].
///
/// ```
/// use polywire_text::escape::{LoneSurrogate, json_str};
///
/// let (text, read) = json_str(r#"caf\u00e9", "more""#, LoneSurrogate::Refuse)?;
/// assert_eq!((&*text, read), ("café", 10));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn json_str(text: &str, lone: LoneSurrogate) -> Result<(Cow<'_, str>, usize), Malformed> {
    let bytes = text.as_bytes();
    // Where something is wrong, perhaps something before that is, in an escape.
    let (len, escaped) = json_string_end(bytes).map_or((0, true), |end| (end.len, end.escaped));
    if !escaped {
        return Ok((Cow::Borrowed(&text[..len]), len + 1));
    }
    let mut out = Vec::with_capacity(len);
    let read = read_json_string(&mut out, bytes, lone)?;
    // SAFETY: what was read is characters for escapes, and what stood between them:
    // escapes and quotes are ASCII, so it was cut out of a string at ends of
    // characters.
    Ok((
        Cow::Owned(unsafe { String::from_utf8_unchecked(out) }),
        read,
    ))
}

/// Unescapes `len` bytes and the quote behind them, at the cost of one allocation.
#[inline(never)]
fn owned(
    bytes: &[u8],
    len: usize,
    lone: LoneSurrogate,
) -> Result<(Cow<'_, str>, usize), Malformed> {
    let mut out = String::with_capacity(len);
    let read = read_json_str(&mut out, bytes, lone)?;
    Ok((Cow::Owned(out), read))
}

/// Where a JSON string ends, see [`json_string_end`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JsonEnd {
    /// The number of bytes before the closing quote.
    pub len: usize,
    /// Whether there is a backslash among them. If not, they stand for themselves.
    pub escaped: bool,
}

/// Where the JSON string ends whose opening quote has been read: for those who
/// borrow it, skip it or unescape it later.
///
/// Escapes are stepped over, not read: `\x` is an error only once somebody
/// unescapes it.
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

/// Goes on behind `at` clean bytes.
fn escaped_end(bytes: &[u8], mut at: usize) -> Result<JsonEnd, Malformed> {
    let escaped = bytes.get(at) == Some(&b'\\');
    #[cfg(target_arch = "x86_64")]
    if bytes.len() - at >= LONG
        && let Some(token) = crate::cpu::avx2()
    {
        // SAFETY: the token proves that the processor has what the function needs.
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

/// Appends up to the closing quote, or all of it if there is none.
fn append<const QUOTED: bool>(
    out: &mut Vec<u8>,
    bytes: &[u8],
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    let before = out.len();
    let mut place = Append { out, bytes, at: 0 };
    let result = unescape::<QUOTED>(&mut place, lone);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

/// Unescapes up to the closing quote, or all of it if there is none; returns how
/// many bytes were read.
#[inline]
fn unescape<const QUOTED: bool>(
    place: &mut impl Place,
    lone: LoneSurrogate,
) -> Result<usize, Malformed> {
    loop {
        place.plain();
        match place.rest() {
            [b'\\', ..] => place.escapes(lone)?,
            [] if !QUOTED => return Ok(place.at()),
            [b'"', ..] if QUOTED => return Ok(place.at() + 1),
            rest => return Err(wrong::<QUOTED>(place.at(), rest)),
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
