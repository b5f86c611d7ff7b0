//! JSON strings: raw text and decoding.

use std::borrow::Cow;

use polywire_text::escape::{self, LoneSurrogate};
use polywire_text::scan;

use super::reader::Reader;
use crate::{Error, Reason};

/// The raw contents of a JSON string: the validated text between the quotes, with escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawString<'a> {
    pub(crate) text: &'a str,
    pub(crate) spelling: Spelling,
}

/// How a string is written in JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    /// Whether the text contains an escape.
    pub(crate) escaped: bool,
    /// Whether `JSON.stringify` would write the same text.
    pub(crate) canonical: bool,
    /// Whether the text contains an escape of a lone surrogate.
    pub(crate) lone_surrogate: bool,
}

impl Spelling {
    /// Canonical and without escapes.
    pub(crate) const PLAIN: Self = Self {
        escaped: false,
        canonical: true,
        lone_surrogate: false,
    };

    /// Combines the spellings of two strings.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            escaped: self.escaped | other.escaped,
            canonical: self.canonical & other.canonical,
            lone_surrogate: self.lone_surrogate | other.lone_surrogate,
        }
    }
}

impl<'a> RawString<'a> {
    /// Returns the offset of a byte of the decoded text, relative to the opening quote. 0 if there
    /// are escapes, because they change the offsets.
    pub(crate) fn offset(self, decoded: usize) -> usize {
        match self.spelling.escaped {
            false => 1 + decoded,
            true => 0,
        }
    }

    /// Decodes the escapes. Lone surrogates become U+FFFD.
    #[inline(always)]
    pub(crate) fn decode(self) -> Cow<'a, str> {
        match self.spelling.escaped {
            false => Cow::Borrowed(self.text),
            true => decode(self.text),
        }
    }
}

/// Skips any string whose opening quote has been read.
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

/// An escape sequence.
pub(super) struct Escape {
    /// The character. `None` for a lone surrogate.
    pub(super) character: Option<char>,
    /// The length in bytes, with the backslash.
    pub(super) len: usize,
}

impl Escape {
    /// Reads the escape at the start of `bytes`. The first byte must be a backslash. An error
    /// contains its offset in `bytes`.
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

    /// Reads `\uXXXX`, or two of them that form a surrogate pair.
    fn read_unicode(bytes: &[u8]) -> Result<Self, (Reason, usize)> {
        let first = code_unit(bytes)?;
        if let Some(character) = char::from_u32(first) {
            return Ok(Self {
                character: Some(character),
                len: 6,
            });
        }
        // A lone surrogate, unless this is a high surrogate and a low surrogate follows.
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

    /// Whether `JSON.stringify` would write this escape as it is at the start of `bytes`.
    pub(super) fn is_canonical(&self, bytes: &[u8]) -> bool {
        match self.character {
            Some('\u{8}' | '\t' | '\n' | '\u{c}' | '\r' | '"' | '\\') => self.len == 2,
            Some('\0'..='\x1f') | None => !bytes[2..self.len].iter().any(u8::is_ascii_uppercase),
            Some(_) => false,
        }
    }
}

/// Parses the four digits of a `\u` escape.
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

/// Decodes the escapes of a validated raw string. Lone surrogates become U+FFFD.
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
    // The text contains unescaped control characters, which a lenient profile accepted.
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (character, len) = match Escape::read(&rest.as_bytes()[at..]) {
            Ok(escape) => (
                escape.character.unwrap_or(char::REPLACEMENT_CHARACTER),
                escape.len,
            ),
            // Unreachable: the string is valid.
            Err(_) => (char::REPLACEMENT_CHARACTER, 1),
        };
        out.push(character);
        rest = &rest[at + len..];
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    out
}
