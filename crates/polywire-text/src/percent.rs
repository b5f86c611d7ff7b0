//! Percent-encoding of URIs, RFC 3986, section 2.
//!
//! ```text
//! pct-encoded = "%" HEXDIG HEXDIG
//! unreserved  = ALPHA / DIGIT / "-" / "." / "_" / "~"
//! ```
//!
//! A [`Set`] has the bytes that are not encoded. All other bytes, of UTF-8 in the case of text,
//! become `%` and two upper-case digits.
//!
//! | for | set |
//! |---|---|
//! | a label of a path, a key or value of a query, the canonical form of SigV4 | [`UNRESERVED`] |
//! | a greedy label, an S3 key | [`PATH`] |
//! | a form as browsers write it | [`form::WHATWG`](crate::form::WHATWG) |
//!
//! Writers reserve the length of their input and at most 300 bytes; more only if there is more to
//! encode. Readers borrow if nothing is encoded, or allocate once: the length of their input plus
//! 32 bytes.

use std::borrow::Cow;
use std::fmt;

use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Class, Piece, Reader, Table, Word};
use crate::{Malformed, Text, utf8};

/// The unreserved characters of RFC 3986: `A-Z a-z 0-9 - . _ ~`.
pub static UNRESERVED: Set = Set::new(b"-._~", false);

/// The unreserved characters and `/`.
pub static PATH: Set = Set::new(b"-._~/", false);

/// The bytes that are not percent-encoded. A table of two kilobytes.
#[derive(Clone)]
pub struct Set {
    table: Table,
}

impl Set {
    /// ASCII letters, digits, and the bytes of `keep`, which must be graphic ASCII characters
    /// without `%`, so that the result is one line that can be decoded. With `space_as_plus`, a
    /// space is written as `+`, and `keep` must not contain `+`.
    pub const fn new(keep: &[u8], space_as_plus: bool) -> Self {
        let mut words = Word::identity();
        let mut at = 0;
        while at < words.len() {
            let byte = at as u8;
            if !byte.is_ascii_alphanumeric() {
                words[at] = encoded(byte);
            }
            at += 1;
        }
        let mut at = 0;
        while at < keep.len() {
            let byte = keep[at];
            assert!(byte.is_ascii_graphic() && byte != b'%' && !(space_as_plus && byte == b'+'));
            words[byte as usize] = Word::new(&[byte]);
            at += 1;
        }
        if space_as_plus {
            words[b' ' as usize] = Word::new(b"+");
        }
        Self {
            table: Table::new(words),
        }
    }
}

impl fmt::Debug for Set {
    /// The bytes that are not encoded, followed by ` +` if a space is written as `+`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.table.words();
        let kept = (0..0x80_u8).filter(|byte| words[usize::from(*byte)].is(*byte));
        let mut kept: String = kept.map(char::from).collect();
        if words[usize::from(b' ')].is(b'+') {
            kept.push_str(" +");
        }
        f.debug_tuple("Set").field(&kept).finish()
    }
}

const fn encoded(byte: u8) -> Word {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    Word::new(&[b'%', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]])
}

/// The meaning of `+` for readers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Plus {
    /// `+`, as in RFC 3986. The default.
    #[default]
    Literal,
    /// A space, as in forms and most queries.
    Space,
}

/// Appends `text`, percent-encoded by [`UNRESERVED`]: for a label, or a key or value of a query.
///
/// ```
/// let mut out = String::new();
/// polywire_text::percent::push(&mut out, "a b/ü");
/// assert_eq!(out, "a%20b%2F%C3%BC");
/// ```
pub fn push(out: &mut String, text: &str) {
    push_str(out, text, &UNRESERVED);
}

/// Appends `text`, percent-encoded by [`PATH`]: for a greedy label.
///
/// ```
/// let mut out = String::new();
/// polywire_text::percent::push_path(&mut out, "a b/ü");
/// assert_eq!(out, "a%20b/%C3%BC");
/// ```
pub fn push_path(out: &mut String, text: &str) {
    push_str(out, text, &PATH);
}

#[inline]
fn push_str(out: &mut String, text: &str, set: &Set) {
    // SAFETY: `push_bytes` only appends ASCII: bytes of a set, `%`, digits and `+`.
    push_bytes(unsafe { out.as_mut_vec() }, text.as_bytes(), set);
}

/// Appends any bytes, percent-encoded except for those in the set.
///
/// ```
/// use polywire_text::percent;
///
/// let mut out = b"key=".to_vec();
/// percent::push_bytes(&mut out, b"\xff 1", &percent::UNRESERVED);
/// assert_eq!(out, b"key=%FF%201");
/// ```
#[inline]
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8], set: &Set) {
    // Without AVX2, the table is as fast as a test of 16 bytes.
    let special = None::<fn(Block) -> Block>;
    let written = rewrite::push(out, bytes, &set.table, special);
    debug_assert!(written.is_ok(), "every byte can be encoded");
}

/// Whether `text` is inline and needs no encoding by [`UNRESERVED`] or [`PATH`]. The cost does not
/// depend on its length.
///
/// ```
/// use polywire_text::{Text, percent};
///
/// assert!(percent::is_inline_unreserved(&Text::from("plain-text_1.0~")));
/// assert!(!percent::is_inline_unreserved(&Text::from("a b")));
/// ```
#[inline]
#[must_use]
pub fn is_inline_unreserved(text: &Text) -> bool {
    let Some((window, len)) = text.window() else {
        return false;
    };
    let reserved = |at: usize| {
        let block = window.get(at..).and_then(<[u8]>::first_chunk);
        block.map_or(0, |block| !unreserved(Block::load(block)).mask() & 0xffff)
    };
    let mut all = reserved(0);
    if len > 16 {
        // Overlaps the first block by eight bytes.
        all |= reserved(8) << 8;
    }
    (all | 1 << 24).trailing_zeros() as usize >= len
}

/// The unreserved characters of a block.
#[inline(always)]
fn unreserved(block: Block) -> Block {
    let within = |block: Block, least: u8, most: u8| {
        let below = block.at_most(least - 1);
        block.at_most(most).without(below)
    };
    // Tests both cases at once: setting this bit turns only letters into letters.
    let letters = within(block.or(Block::load(&[0x20; 16])), b'a', b'z');
    // `-` to `9`, without `/`.
    let digits = within(block, b'-', b'9').without(block.equals(b'/'));
    letters
        .or(digits)
        .or(block.equals(b'_'))
        .or(block.equals(b'~'))
}

/// Decodes `%` followed by two hexadecimal digits of either case.
///
/// # Errors
///
/// A `%` without two digits, or a result that is not UTF-8: then the offset is that of the encoded
/// byte.
///
/// ```
/// use polywire_text::percent::decode;
///
/// assert_eq!(decode("a%20b")?, "a b");
/// assert_eq!(decode("50%").unwrap_err().offset, 2);
/// assert_eq!(decode("%C3%BC%FF").unwrap_err().offset, 6);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn decode(text: &str) -> Result<Cow<'_, str>, Malformed> {
    decode_with(text, Plus::Literal)
}

/// Like [`decode`], with `+` as a space, as browsers and many HTTP clients write queries.
///
/// # Errors
///
/// As [`decode`].
///
/// ```
/// assert_eq!(polywire_text::percent::decode_query("a+b%2B")?, "a b+");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn decode_query(text: &str) -> Result<Cow<'_, str>, Malformed> {
    decode_with(text, Plus::Space)
}

#[inline]
pub(crate) fn decode_with(text: &str, plus: Plus) -> Result<Cow<'_, str>, Malformed> {
    let first = first_special(text.as_bytes(), plus);
    if first == text.len() {
        return Ok(Cow::Borrowed(text));
    }
    decode_from(text, first, plus).map(Cow::Owned)
}

fn decode_from(text: &str, first: usize, plus: Plus) -> Result<String, Malformed> {
    let mut decoded = Vec::new();
    push_from(&mut decoded, text.as_bytes(), first, plus)?;
    if let Err(error) = utf8::validate(&decoded) {
        let offset = offset_of(text.as_bytes(), error.offset);
        return Err(Malformed::new(offset, "percent-encoded UTF-8"));
    }
    // SAFETY: validated above.
    Ok(unsafe { String::from_utf8_unchecked(decoded) })
}

/// Decodes to any bytes: the inverse of [`push_bytes`].
///
/// # Errors
///
/// A `%` without two digits.
///
/// ```
/// use polywire_text::percent::{Plus, decode_bytes};
///
/// assert_eq!(*decode_bytes(b"%ff+", Plus::Space)?, *b"\xff ");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn decode_bytes(bytes: &[u8], plus: Plus) -> Result<Cow<'_, [u8]>, Malformed> {
    let first = first_special(bytes, plus);
    if first == bytes.len() {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut decoded = Vec::new();
    push_from(&mut decoded, bytes, first, plus)?;
    Ok(Cow::Owned(decoded))
}

/// The offset of the first byte to decode.
#[inline]
fn first_special(bytes: &[u8], plus: Plus) -> usize {
    match plus {
        Plus::Literal => ESCAPES.clean(bytes, |block| Escapes.special(block)),
        Plus::Space => ESCAPES_AND_PLUS.clean(bytes, |block| EscapesAndPlus.special(block)),
    }
}

/// Decodes and appends. `first` is the offset of the first byte to decode.
fn push_from(out: &mut Vec<u8>, bytes: &[u8], first: usize, plus: Plus) -> Result<(), Malformed> {
    match plus {
        Plus::Literal => rewrite::push_shrunk(out, bytes, first, Escapes),
        Plus::Space => rewrite::push_shrunk(out, bytes, first, EscapesAndPlus),
    }
}

static ESCAPES: Class = Class::new(special(b"%"));
static ESCAPES_AND_PLUS: Class = Class::new(special(b"%+"));

const fn special(bytes: &[u8]) -> [bool; 256] {
    let mut special = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
}

#[derive(Clone, Copy)]
struct Escapes;

// SAFETY: three bytes, which are checked to exist, become one.
unsafe impl Reader for Escapes {
    #[inline(always)]
    fn class(self) -> &'static Class {
        &ESCAPES
    }

    #[inline(always)]
    fn special(self, block: Block) -> Block {
        block.equals(b'%')
    }

    #[inline(always)]
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed> {
        let [_, high, low, ..] = bytes else {
            return Err(Malformed::new(0, EXPECTED));
        };
        let (high, low) = (digit(*high), digit(*low));
        if high | low > 15 {
            return Err(Malformed::new(0, EXPECTED));
        }
        Ok(Piece::byte(high << 4 | low, 3))
    }

    #[inline(always)]
    fn common(self, word: u64) -> Option<(u8, usize)> {
        let [_, high, low, ..] = word.to_le_bytes();
        let (high, low) = (digit(high), digit(low));
        (high | low <= 15).then_some((high << 4 | low, 2))
    }
}

#[derive(Clone, Copy)]
struct EscapesAndPlus;

// SAFETY: as for `Escapes`, and `+` becomes one byte.
unsafe impl Reader for EscapesAndPlus {
    #[inline(always)]
    fn class(self) -> &'static Class {
        &ESCAPES_AND_PLUS
    }

    #[inline(always)]
    fn special(self, block: Block) -> Block {
        block.equals(b'%').or(block.equals(b'+'))
    }

    #[inline(always)]
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed> {
        match bytes.first() {
            Some(b'+') => Ok(Piece::byte(b' ', 1)),
            _ => Escapes.read(bytes),
        }
    }

    #[inline(always)]
    fn common(self, word: u64) -> Option<(u8, usize)> {
        match word as u8 {
            b'+' => Some((b' ', 0)),
            _ => Escapes.common(word),
        }
    }
}

const EXPECTED: &str = "% and two hexadecimal digits";

/// The value of a hexadecimal digit; 255 for any other byte.
#[inline]
fn digit(byte: u8) -> u8 {
    static DIGITS: [u8; 256] = {
        let mut digits = [0xff; 256];
        let mut value = 0;
        while value < 16 {
            digits[b"0123456789abcdef"[value] as usize] = value as u8;
            digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
            value += 1;
        }
        digits
    };
    DIGITS[usize::from(byte)]
}

/// The offset of the input after which `at` bytes are decoded.
#[cold]
fn offset_of(bytes: &[u8], at: usize) -> usize {
    let mut offset = 0;
    for _ in 0..at {
        offset += if bytes[offset] == b'%' { 3 } else { 1 };
    }
    offset
}
