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
//! is there, or what `Vec` makes of that when it grows. Readers allocate at most
//! the length of their input, and nothing where they can borrow.

use std::borrow::Cow;

use crate::rewrite::{self, Piece, Table};
use crate::{Malformed, scan, utf8};

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
pub struct Set {
    table: Table,
}

impl Set {
    /// The unreserved characters of RFC 3986: `A-Z a-z 0-9 - . _ ~`.
    #[must_use]
    pub const fn unreserved() -> Self {
        let mut table = Table::identity();
        let mut high = [[0; 3]; 128];
        let mut at = 0;
        while at < 128 {
            let byte = at as u8;
            if !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.' | b'_' | b'~') {
                table = table.with(byte, &encoded(byte));
            }
            high[at] = encoded(byte | 0x80);
            at += 1;
        }
        Self {
            table: table.with_high(&high),
        }
    }

    /// The set and these bytes. `%` and what is not ASCII are in no set, so
    /// that what is written can be read; asking for them changes nothing.
    #[must_use]
    pub const fn keeping(mut self, bytes: &[u8]) -> Self {
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii() && bytes[at] != b'%' {
                self.table = self.table.with(bytes[at], &[bytes[at]]);
            }
            at += 1;
        }
        self
    }

    /// The set without these bytes, which are ASCII; others are in no set.
    #[must_use]
    pub const fn encoding(mut self, bytes: &[u8]) -> Self {
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii() {
                self.table = self.table.with(bytes[at], &encoded(bytes[at]));
            }
            at += 1;
        }
        self
    }

    /// The set, with `+` for a space, and so without `+`.
    #[must_use]
    pub const fn space_as_plus(self) -> Self {
        let mut set = self.encoding(b"+");
        set.table = set.table.with(b' ', b"+");
        set
    }
}

const fn encoded(byte: u8) -> [u8; 3] {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]]
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
    let table = &set.table;
    let written = rewrite::push(out, bytes, table, |bytes| {
        let stays = bytes.iter().take_while(|byte| table.keeps(**byte));
        stays.count()
    });
    debug_assert!(written.is_ok(), "every byte can be encoded");
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
    let mut decoded = text.as_bytes().to_vec();
    let len = shrink(&mut decoded, first, plus)?;
    decoded.truncate(len);
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
    let mut decoded = bytes.to_vec();
    let len = shrink(&mut decoded, first, plus)?;
    decoded.truncate(len);
    Ok(Cow::Owned(decoded))
}

/// As [`decode_bytes`], appended to `out`, for which at most the length of
/// `bytes` is reserved.
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
    let old = out.len();
    out.extend_from_slice(bytes);
    let first = first_special(bytes, plus);
    match shrink(&mut out[old..], first, plus) {
        Ok(len) => {
            out.truncate(old + len);
            Ok(())
        }
        Err(error) => {
            out.truncate(old);
            Err(error)
        }
    }
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
    shrink(bytes, first, plus)
}

/// How many of the first bytes stand for themselves.
#[inline]
fn first_special(bytes: &[u8], plus: Plus) -> usize {
    let space = space(plus);
    scan::clean(
        bytes,
        |block| block.equals(b'%').or(block.equals(space)),
        |byte| byte == b'%' || byte == space,
    )
}

/// The byte that is a space: `%`, which is looked for anyway, if none is.
#[inline]
const fn space(plus: Plus) -> u8 {
    match plus {
        Plus::Literal => b'%',
        Plus::Space => b'+',
    }
}

/// Decodes in place from `first` on.
fn shrink(bytes: &mut [u8], first: usize, plus: Plus) -> Result<usize, Malformed> {
    let space = space(plus);
    rewrite::shrink(
        bytes,
        first,
        |block| block.equals(b'%').or(block.equals(space)),
        |byte| byte == b'%' || byte == space,
        |bytes| match bytes {
            [b'%', high, low, ..] => {
                let (high, low) = (digit(*high), digit(*low));
                if high | low > 15 {
                    return Err(Malformed::new(0, DIGITS));
                }
                Ok(Piece::byte(high << 4 | low, 3))
            }
            [b'+', ..] => Ok(Piece::byte(b' ', 1)),
            _ => Err(Malformed::new(0, DIGITS)),
        },
    )
}

const DIGITS: &str = "% and two hexadecimal digits";

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
