//! Percent-encoding of URIs, RFC 3986, section 2.
//!
//! ```text
//! pct-encoded = "%" HEXDIG HEXDIG
//! unreserved  = ALPHA / DIGIT / "-" / "." / "_" / "~"
//! ```
//!
//! Which bytes stay is a [`Set`]; everything else becomes `%` and two
//! upper-case digits, byte by byte, so that text goes through UTF-8. Two sets
//! stand here; others are a line:
//!
//! | for | set |
//! |---|---|
//! | a label of a path, a key or value of a query, SigV4's canonical form | [`UNRESERVED`] |
//! | a greedy label, an S3 key | [`PATH`] |
//! | a form as browsers write it | [`form::WHATWG`](crate::form::WHATWG) |
//! | a path's segment with all that RFC 3986 lets stand there | `Set::unreserved().keeping(b"!$&'()*+,;=:@")` |
//!
//! Writers reserve at most the length of their input and 300 bytes beyond what
//! is there, or what `Vec` makes of that when it grows. Readers allocate
//! the length of their input and 32 bytes more, once, and nothing where they can
//! borrow.

use std::borrow::Cow;
use std::fmt;

use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Class, Piece, Reader, Table, Word};
use crate::{Malformed, Text, utf8};

/// The unreserved characters of RFC 3986: `A-Z a-z 0-9 - . _ ~`.
pub static UNRESERVED: Set = Set::unreserved();

/// The unreserved characters and `/`.
pub static PATH: Set = Set::unreserved().keeping(b"/");

/// The bytes that stay as they are when everything else is percent-encoded.
///
/// A set is two kilobytes, to be made when compiling and kept in a `static`.
///
/// ```
/// use polywire_text::percent::{self, Set};
///
/// static SEGMENT: Set = Set::unreserved().keeping(b"!$&'()*+,;=:@");
///
/// let mut out = Vec::new();
/// percent::push_bytes(&mut out, b"a=b/50%\xff", &SEGMENT);
/// assert_eq!(out, b"a=b%2F50%25%FF");
/// ```
#[derive(Clone)]
pub struct Set {
    table: Table,
}

impl Set {
    /// The unreserved characters of RFC 3986: `A-Z a-z 0-9 - . _ ~`.
    #[must_use]
    pub const fn unreserved() -> Self {
        let mut words = Word::identity();
        let mut at = 0;
        while at < words.len() {
            let byte = at as u8;
            if !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.' | b'_' | b'~') {
                words[at] = encoded(byte);
            }
            at += 1;
        }
        Self {
            table: Table::new(words),
        }
    }

    /// The set and these bytes. `%`, control characters and what is not ASCII
    /// are in no set, and `+` and a space are in none that has `+` for a space:
    /// what is written can be read again, and is one line. Asking for them
    /// changes nothing.
    #[must_use]
    pub const fn keeping(self, bytes: &[u8]) -> Self {
        let mut words = self.table.words();
        let plus = words[b' ' as usize].is(b'+');
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            let keep = match byte {
                b'%' => false,
                b' ' | b'+' => !plus,
                _ => byte.is_ascii_graphic(),
            };
            if keep {
                words[byte as usize] = Word::new(&[byte]);
            }
            at += 1;
        }
        Self {
            table: Table::new(words),
        }
    }

    /// The set without these bytes. A space that was `+` is `%20` then.
    #[must_use]
    pub const fn encoding(self, bytes: &[u8]) -> Self {
        let mut words = self.table.words();
        let mut at = 0;
        while at < bytes.len() {
            words[bytes[at] as usize] = encoded(bytes[at]);
            at += 1;
        }
        Self {
            table: Table::new(words),
        }
    }

    /// The set, with `+` for a space, and so without `+`.
    #[must_use]
    pub const fn space_as_plus(self) -> Self {
        let mut words = self.encoding(b"+").table.words();
        words[b' ' as usize] = Word::new(b"+");
        Self {
            table: Table::new(words),
        }
    }
}

impl fmt::Debug for Set {
    /// The bytes that stay, and ` +` behind them if a space is `+`.
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

/// What `+` is when reading.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Plus {
    /// `+`, as RFC 3986 has it. The default.
    #[default]
    Literal,
    /// A space, as forms have it, and so most queries.
    Space,
}

/// Appends `text`, every byte percent-encoded but the unreserved ones
/// (`A-Z a-z 0-9 - . _ ~`): for a label or a query key or value.
///
/// ```
/// let mut out = String::new();
/// polywire_text::percent::push(&mut out, "a b/ü");
/// assert_eq!(out, "a%20b%2F%C3%BC");
/// ```
pub fn push(out: &mut String, text: &str) {
    push_str(out, text, &UNRESERVED);
}

/// As [`push`], but `/` stays: for a greedy label.
///
/// ```
/// let mut out = String::new();
/// polywire_text::percent::push_path(&mut out, "a b/ü");
/// assert_eq!(out, "a%20b/%C3%BC");
/// ```
pub fn push_path(out: &mut String, text: &str) {
    push_str(out, text, &PATH);
}

/// As [`push`], with a set of the caller's.
///
/// ```
/// use polywire_text::{form, percent};
///
/// let mut out = String::new();
/// percent::push_str(&mut out, "a b", &form::WHATWG);
/// assert_eq!(out, "a+b");
/// ```
#[inline]
pub fn push_str(out: &mut String, text: &str, set: &Set) {
    // SAFETY: what is appended is ASCII: bytes of the set, which has no others,
    // `%`, digits, and `+`. What is there stays.
    push_bytes(unsafe { out.as_mut_vec() }, text.as_bytes(), set);
}

/// Appends bytes of any kind, percent-encoded but for those in the set.
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
    // Without wide registers the table is as quick as any look at the set.
    let special = None::<fn(Block) -> Block>;
    let written = rewrite::push(out, bytes, &set.table, special);
    debug_assert!(written.is_ok(), "every byte can be encoded");
}

/// Whether a string is inline and all of it is unreserved, so that nothing in it
/// has to be encoded by [`UNRESERVED`] or [`PATH`]: one look, whatever its length.
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
        // The eight bytes in the middle are looked at twice.
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
    // Both cases at once. What becomes a letter thereby is one.
    let letters = within(block.or(Block::load(&[0x20; 16])), b'a', b'z');
    // `-`, `.`, `/` and the digits, without the slash.
    let digits = within(block, b'-', b'9').without(block.equals(b'/'));
    letters
        .or(digits)
        .or(block.equals(b'_'))
        .or(block.equals(b'~'))
}

/// Decodes `%` and two hexadecimal digits of either case. Borrows where there
/// are none.
///
/// # Errors
///
/// A `%` without two digits, or a result that is not UTF-8: then the offset is
/// that of what stands for its first bad byte.
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

/// As [`decode`], and `+` is a space, as browsers and many HTTP clients write
/// it in queries.
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
    // SAFETY: it has just been seen that this is UTF-8.
    Ok(unsafe { String::from_utf8_unchecked(decoded) })
}

/// Decodes to bytes of any kind. Borrows where nothing is encoded.
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

/// As [`decode_bytes`], appended to `out`, for which the length of `bytes`
/// and 32 more are reserved.
///
/// # Errors
///
/// A `%` without two digits. Then `out` is as it was before.
///
/// ```
/// use polywire_text::percent::{Plus, push_decoded};
///
/// let mut out = b"=".to_vec();
/// push_decoded(&mut out, b"1%2B1", Plus::Space)?;
/// assert_eq!(out, b"=1+1");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn push_decoded(out: &mut Vec<u8>, bytes: &[u8], plus: Plus) -> Result<(), Malformed> {
    push_from(out, bytes, first_special(bytes, plus), plus)
}

/// As [`decode_bytes`], in place. Returns how many of the first bytes have been
/// decoded to; those behind are left over.
///
/// # Errors
///
/// A `%` without two digits. Then `bytes` are a mixture of what has been read
/// and what has not: of no use.
///
/// ```
/// use polywire_text::percent::{Plus, decode_in_place};
///
/// let mut bytes = *b"a%2Fb";
/// let len = decode_in_place(&mut bytes, Plus::Literal)?;
/// assert_eq!(&bytes[..len], b"a/b");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn decode_in_place(bytes: &mut [u8], plus: Plus) -> Result<usize, Malformed> {
    let first = first_special(bytes, plus);
    match plus {
        Plus::Literal => rewrite::shrink(bytes, first, Escapes),
        Plus::Space => rewrite::shrink(bytes, first, EscapesAndPlus),
    }
}

/// How many of the first bytes stand for themselves.
#[inline]
fn first_special(bytes: &[u8], plus: Plus) -> usize {
    match plus {
        Plus::Literal => ESCAPES.clean(bytes, |block| Escapes.special(block)),
        Plus::Space => ESCAPES_AND_PLUS.clean(bytes, |block| EscapesAndPlus.special(block)),
    }
}

/// Decodes to the end of `out`; everything before `first` stands for itself.
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

// SAFETY: one byte is written for three that have been seen.
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
    fn usual(self, word: u64) -> Option<(u8, usize)> {
        let [_, high, low, ..] = word.to_le_bytes();
        let (high, low) = (digit(high), digit(low));
        (high | low <= 15).then_some((high << 4 | low, 2))
    }
}

#[derive(Clone, Copy)]
struct EscapesAndPlus;

// SAFETY: as for `Escapes`, and one byte for one `+`.
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
    fn usual(self, word: u64) -> Option<(u8, usize)> {
        match word as u8 {
            b'+' => Some((b' ', 0)),
            _ => Escapes.usual(word),
        }
    }
}

const EXPECTED: &str = "% and two hexadecimal digits";

/// The value of a hexadecimal digit; 255 if it is none.
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

/// Where that stands which `at` bytes have been decoded before.
#[cold]
fn offset_of(bytes: &[u8], at: usize) -> usize {
    let mut offset = 0;
    for _ in 0..at {
        offset += if bytes[offset] == b'%' { 3 } else { 1 };
    }
    offset
}
