//! Strings as they stand in JSON text, and what they mean.

use std::borrow::Cow;

use polywire_text::escape::{self, LoneSurrogate};
use polywire_text::scan;

use super::reader::Reader;
use crate::{Error, Reason};

/// A string as it stands in JSON text: between its quotes, with its escapes.
///
/// It has been checked: its escapes are complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawString<'a> {
    /// What stands between the quotes.
    pub(crate) text: &'a str,
    pub(crate) spelling: Spelling,
}

/// How a string is spelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    /// Whether it has a backslash.
    pub(crate) escaped: bool,
    /// Whether it is spelled as `JSON.stringify` spells it.
    pub(crate) canonical: bool,
    /// Whether it has an escape of half a surrogate pair.
    pub(crate) lone_surrogate: bool,
}

impl Spelling {
    /// Nothing is escaped, and nothing has to be.
    pub(crate) const PLAIN: Self = Self {
        escaped: false,
        canonical: true,
        lone_surrogate: false,
    };

    /// The spelling of this and another string.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            escaped: self.escaped | other.escaped,
            canonical: self.canonical & other.canonical,
            lone_surrogate: self.lone_surrogate | other.lone_surrogate,
        }
    }
}

impl<'a> RawString<'a> {
    /// The offset of a byte of the decoded text, counted from the opening quote. 0 if there are
    /// escapes: the bytes are elsewhere then.
    pub(crate) fn offset(self, decoded: usize) -> usize {
        match self.spelling.escaped {
            false => 1 + decoded,
            true => 0,
        }
    }

    /// What it means. Half a surrogate pair becomes U+FFFD.
    #[inline(always)]
    pub(crate) fn decode(self) -> Cow<'a, str> {
        match self.spelling.escaped {
            false => Cow::Borrowed(self.text),
            true => decode(self.text),
        }
    }
}

/// Moves the cursor behind a string of any form, whose opening quote has been read.
#[inline(never)]
pub(super) fn skip(reader: &mut Reader<'_>) -> Result<Spelling, Error> {
    let bytes = reader.text.as_bytes();
    let mut at = reader.at;
    let mut spelling = Spelling::PLAIN;
    loop {
        at += scan::json_clean(&bytes[at..]);
        match bytes.get(at) {
            Some(b'"') => {
                reader.at = at + 1;
                return Ok(spelling);
            }
            Some(b'\\') => {
                spelling.escaped = true;
                let rest = &bytes[at..];
                match rest.get(1) {
                    Some(b'n' | b'"' | b'\\' | b'r' | b't' | b'b' | b'f') => at += 2,
                    _ => {
                        let escape = Escape::read(rest)
                            .map_err(|(reason, offset)| Error::new(reason, at + offset))?;
                        if escape.character.is_none() && !reader.profile.lone_surrogates {
                            return Err(Error::new(Reason::LoneSurrogate, at));
                        }
                        spelling.lone_surrogate |= escape.character.is_none();
                        spelling.canonical &= escape.is_canonical(rest);
                        at += escape.len;
                    }
                }
            }
            Some(_) if reader.profile.raw_control_characters => {
                spelling.canonical = false;
                at += 1;
            }
            Some(_) => return Err(Error::new(Reason::ControlCharacter, at)),
            None => return Err(Error::new(Reason::Truncated, at)),
        }
    }
}

/// An escape, which begins with a backslash.
pub(super) struct Escape {
    /// The character; `None` for half of a surrogate pair.
    pub(super) character: Option<char>,
    /// The number of bytes, with the backslash.
    pub(super) len: usize,
}

impl Escape {
    /// Reads the escape at the beginning of `bytes`, which begin with a backslash. An error has an
    /// offset.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, (Reason, usize)> {
        let short = |character| {
            Ok(Self {
                character: Some(character),
                len: 2,
            })
        };
        match bytes.get(1) {
            Some(b'"') => short('"'),
            Some(b'\\') => short('\\'),
            Some(b'/') => short('/'),
            Some(b'b') => short('\u{8}'),
            Some(b'f') => short('\u{c}'),
            Some(b'n') => short('\n'),
            Some(b'r') => short('\r'),
            Some(b't') => short('\t'),
            Some(b'u') => Self::read_unicode(bytes),
            Some(_) => Err((Reason::UnknownEscape, 0)),
            None => Err((Reason::Truncated, 1)),
        }
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair.
    fn read_unicode(bytes: &[u8]) -> Result<Self, (Reason, usize)> {
        let first = code_unit(bytes)?;
        if let Some(character) = char::from_u32(first) {
            return Ok(Self {
                character: Some(character),
                len: 6,
            });
        }
        // Only half a pair, unless the other half follows.
        if first < 0xdc00
            && bytes.get(6..8) == Some(b"\\u")
            && let second @ 0xdc00..0xe000 =
                code_unit(&bytes[6..]).map_err(|(reason, at)| (reason, at + 6))?
        {
            return Ok(Self {
                character: char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)),
                len: 12,
            });
        }
        Ok(Self {
            character: None,
            len: 6,
        })
    }

    /// Whether `JSON.stringify` spells it as at the beginning of `bytes`.
    pub(super) fn is_canonical(&self, bytes: &[u8]) -> bool {
        match self.character {
            Some('\u{8}' | '\t' | '\n' | '\u{c}' | '\r' | '"' | '\\') => self.len == 2,
            Some('\0'..='\x1f') | None => !bytes[2..self.len].iter().any(u8::is_ascii_uppercase),
            Some(_) => false,
        }
    }
}

/// The four digits of a `\u` escape.
fn code_unit(bytes: &[u8]) -> Result<u32, (Reason, usize)> {
    let mut value = 0;
    for at in 2..6 {
        let digit = match bytes.get(at) {
            Some(byte) => char::from(*byte).to_digit(16),
            None => return Err((Reason::Truncated, at)),
        };
        value = value << 4 | digit.ok_or((Reason::UnknownEscape, 0))?;
    }
    Ok(value)
}

/// What a checked raw string means. Half a surrogate pair becomes U+FFFD.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\\', raw.as_bytes()) {
        None => Cow::Borrowed(raw),
        Some(first) => Cow::Owned(decode_escapes(raw, first)),
    }
}

#[inline(never)]
fn decode_escapes(raw: &str, first: usize) -> String {
    let mut out = String::with_capacity(raw.len());
    if escape::push_unescaped_json_str(&mut out, raw, LoneSurrogate::Replace).is_ok() {
        return out;
    }
    // Control characters without an escape, which a lenient profile has accepted.
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (character, len) = match Escape::read(&rest.as_bytes()[at..]) {
            Ok(escape) => (
                escape.character.unwrap_or(char::REPLACEMENT_CHARACTER),
                escape.len,
            ),
            // The string has been checked; this is not reached.
            Err(_) => (char::REPLACEMENT_CHARACTER, 1),
        };
        out.push(character);
        rest = &rest[at + len..];
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    out
}
