//! Reading text and the values of attributes.

use std::borrow::Cow;

use super::{FORBIDDEN, XmlPlace, is_xml, noncharacter};
use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Class, Piece, Reader};
use crate::{Malformed, utf8};

/// How strict a reader of XML is about characters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum XmlReading {
    /// As XML 1.0 says: what it forbids is an error, raw or as a reference,
    /// and so is `]]>` in text. The default.
    #[default]
    Strict,
    /// Control characters, U+FFFE, U+FFFF and `]]>` are taken as they come.
    /// There are servers that write them. Everything else is as strict.
    Lenient,
}

/// Reads character data or the value of an attribute; borrows what stands for
/// itself.
///
/// Read is, as the productions 14 `CharData` and 10 `AttValue` of XML 1.0 have
/// it but for the quotes around a value:
///
/// ```text
/// text      = *( reference / line-end / character )    ; neither "<" nor "]]>"
/// attribute = *( reference / line-end / character )    ; no "<"
/// reference = "&" ( "lt" / "gt" / "amp" / "quot" / "apos" ) ";"
///           / "&#" 1*DIGIT ";" / "&#x" 1*HEXDIG ";"
/// line-end  = CR LF / CR                               ; is a line feed
/// ```
///
/// In an attribute each tab, line feed and line end is a space, unless it is a
/// reference (section 3.3.3, for attributes without a declared type).
///
/// Allocates the length of `text` and 32 bytes more, once, or nothing.
///
/// # Errors
///
/// The offset of the first byte that does not fit, within a reference that of
/// the first byte behind the `&` that does not.
///
/// ```
/// use std::borrow::Cow;
/// use polywire_text::escape::{XmlPlace, XmlReading, unescape_xml};
///
/// let read = |text| unescape_xml(text, XmlPlace::Text, XmlReading::Strict);
/// assert_eq!(read("a &lt; b\r\n")?, "a < b\n");
/// assert!(matches!(read("plain")?, Cow::Borrowed("plain")));
/// assert_eq!(read("a&b;").unwrap_err().offset, 2);
/// assert_eq!(read("\x1b[1m").unwrap_err().offset, 0);
/// assert_eq!(unescape_xml("\x1b[1m", XmlPlace::Text, XmlReading::Lenient)?, "\x1b[1m");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn unescape_xml(
    text: &str,
    place: XmlPlace,
    reading: XmlReading,
) -> Result<Cow<'_, str>, Malformed> {
    let bytes = text.as_bytes();
    let clean = clean(bytes, place);
    if clean == bytes.len() {
        return Ok(Cow::Borrowed(text));
    }
    read_from(text, clean, place, reading)
}

/// As [`unescape_xml`], of text of which the first `clean` bytes are.
fn read_from(
    text: &str,
    clean: usize,
    place: XmlPlace,
    reading: XmlReading,
) -> Result<Cow<'_, str>, Malformed> {
    let bytes = text.as_bytes();
    let rare = rare(bytes, clean, place, reading);
    let first = first_special(bytes, clean, place);
    if first == bytes.len() && rare.is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let mut owned = Vec::new();
    push_from(&mut owned, bytes, first, rare, place, reading)?;
    // SAFETY: `text` is UTF-8. Whole ASCII bytes and references, which are
    // ASCII, were replaced by the UTF-8 of whole characters, and nothing else
    // was changed.
    Ok(Cow::Owned(unsafe { String::from_utf8_unchecked(owned) }))
}

/// As [`unescape_xml`], appended to `out`, for which the length of `bytes` and
/// 32 more are reserved.
///
/// # Errors
///
/// As [`unescape_xml`], and before everything else the offset of the first
/// byte that is not UTF-8. Then `out` is as it was before.
///
/// ```
/// use polywire_text::escape::{XmlPlace, XmlReading, push_unescaped_xml};
///
/// let mut out = b"=".to_vec();
/// push_unescaped_xml(&mut out, b"&#72;i\n", XmlPlace::Attribute, XmlReading::Strict)?;
/// assert_eq!(out, b"=Hi ");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn push_unescaped_xml(
    out: &mut Vec<u8>,
    bytes: &[u8],
    place: XmlPlace,
    reading: XmlReading,
) -> Result<(), Malformed> {
    utf8::validate(bytes)?;
    let clean = clean(bytes, place);
    let rare = rare(bytes, clean, place, reading);
    let first = first_special(bytes, clean, place);
    push_from(out, bytes, first, rare, place, reading)
}

/// As [`unescape_xml`], in place: what is read is never longer than what it is
/// read from. Returns how many of the first bytes it is; those behind are left
/// over. They are UTF-8.
///
/// # Errors
///
/// As [`push_unescaped_xml`]. Then `bytes` are a mixture of what has been read
/// and what has not: of no use.
///
/// ```
/// use polywire_text::escape::{XmlPlace, XmlReading, unescape_xml_in_place};
///
/// let mut bytes = *b"1 &lt; 2";
/// let len = unescape_xml_in_place(&mut bytes, XmlPlace::Text, XmlReading::Strict)?;
/// assert_eq!(&bytes[..len], b"1 < 2");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn unescape_xml_in_place(
    bytes: &mut [u8],
    place: XmlPlace,
    reading: XmlReading,
) -> Result<usize, Malformed> {
    utf8::validate(bytes)?;
    let clean = clean(bytes, place);
    let rare = rare(bytes, clean, place, reading);
    let first = first_special(bytes, clean, place);
    let end = rare.map_or(bytes.len(), |error| error.offset);
    let (bytes, first) = (&mut bytes[..end], first.min(end));
    let len = match place {
        XmlPlace::Text => rewrite::shrink(bytes, first, Text { reading }),
        XmlPlace::Attribute => rewrite::shrink(bytes, first, Attribute { reading }),
    }?;
    rare.map_or(Ok(len), Err)
}

/// Appends what `bytes` stand for; those before `first` stand for themselves.
/// On an error `out` is as it was.
fn push_from(
    out: &mut Vec<u8>,
    bytes: &[u8],
    first: usize,
    rare: Option<Malformed>,
    place: XmlPlace,
    reading: XmlReading,
) -> Result<(), Malformed> {
    let old = out.len();
    // Of several errors the first is told: what stands before the rare one is
    // read all the same.
    let end = rare.map_or(bytes.len(), |error| error.offset);
    let (bytes, first) = (&bytes[..end], first.min(end));
    match place {
        XmlPlace::Text => rewrite::push_shrunk(out, bytes, first, Text { reading }),
        XmlPlace::Attribute => rewrite::push_shrunk(out, bytes, first, Attribute { reading }),
    }?;
    match rare {
        None => Ok(()),
        Some(error) => {
            out.truncate(old);
            Err(error)
        }
    }
}

/// How many of the first bytes stand for themselves and begin nothing that is
/// forbidden.
#[inline]
fn clean(bytes: &[u8], place: XmlPlace) -> usize {
    let rare = |block: Block| block.equals(b'>').or(block.equals(0xef));
    match place {
        XmlPlace::Text => TEXT_OR_RARE.clean(bytes, |block| text_special(block).or(rare(block))),
        XmlPlace::Attribute => {
            ATTRIBUTE_OR_RARE.clean(bytes, |block| attribute_special(block).or(rare(block)))
        }
    }
}

/// Where the first byte stands that does not stand for itself, which is not
/// among the first `clean`.
#[inline]
fn first_special(bytes: &[u8], clean: usize, place: XmlPlace) -> usize {
    let rest = &bytes[clean..];
    match place {
        XmlPlace::Text => clean + TEXT.clean(rest, text_special),
        XmlPlace::Attribute => clean + ATTRIBUTE.clean(rest, attribute_special),
    }
}

/// The first thing that is forbidden and takes more than a byte to see:
/// U+FFFE, U+FFFF, and `]]>` in text. Its last or first byte is not among the
/// first `clean`.
#[inline]
fn rare(bytes: &[u8], clean: usize, place: XmlPlace, reading: XmlReading) -> Option<Malformed> {
    let found = match (reading, place) {
        (XmlReading::Lenient, _) => None,
        (XmlReading::Strict, XmlPlace::Attribute) => {
            noncharacter(&bytes[clean..]).map(|offset| clean + offset)
        }
        (XmlReading::Strict, XmlPlace::Text) => memchr::memchr2(b'>', 0xef, &bytes[clean..])
            .and_then(|first| rare_from(bytes, clean + first)),
    }?;
    let expected = match bytes[found] {
        b']' => "]]&gt; for ]]> in text",
        _ => FORBIDDEN,
    };
    Some(Malformed::new(found, expected))
}

fn rare_from(bytes: &[u8], first: usize) -> Option<usize> {
    memchr::memchr2_iter(b'>', 0xef, &bytes[first..]).find_map(|at| {
        let (before, from) = bytes.split_at(first + at);
        match from {
            [b'>', ..] => before.ends_with(b"]]").then(|| before.len() - 2),
            [_, 0xbf, 0xbe | 0xbf, ..] => Some(before.len()),
            _ => None,
        }
    })
}

static TEXT: Class = Class::new(special(XmlPlace::Text, false));
static TEXT_OR_RARE: Class = Class::new(special(XmlPlace::Text, true));
static ATTRIBUTE: Class = Class::new(special(XmlPlace::Attribute, false));
static ATTRIBUTE_OR_RARE: Class = Class::new(special(XmlPlace::Attribute, true));

/// The bytes that do not stand for themselves; with `rare`, those too that end
/// or begin something that is forbidden.
const fn special(place: XmlPlace, rare: bool) -> [bool; 256] {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    if matches!(place, XmlPlace::Text) {
        special[b'\t' as usize] = false;
        special[b'\n' as usize] = false;
    }
    special[b'&' as usize] = true;
    special[b'<' as usize] = true;
    special[b'>' as usize] = rare;
    special[0xef] = rare;
    special
}

#[inline(always)]
fn text_special(block: Block) -> Block {
    let space = block.equals(b'\t').or(block.equals(b'\n'));
    attribute_special(block).without(space)
}

#[inline(always)]
fn attribute_special(block: Block) -> Block {
    let markup = block.equals(b'<').or(block.equals(b'&'));
    markup.or(block.at_most(0x1f))
}

#[derive(Clone, Copy)]
struct Text {
    reading: XmlReading,
}

// SAFETY: a reference has more bytes than its character, and of a line end one
// byte is written for one or two that are there.
unsafe impl Reader for Text {
    #[inline(always)]
    fn class(self) -> &'static Class {
        &TEXT
    }

    #[inline(always)]
    fn special(self, block: Block) -> Block {
        text_special(block)
    }

    #[inline(always)]
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed> {
        text_piece(bytes, self.reading)
    }

    #[inline(always)]
    fn usual(self, word: u64) -> Option<(u8, usize)> {
        named(word)
    }
}

#[derive(Clone, Copy)]
struct Attribute {
    reading: XmlReading,
}

// SAFETY: as for `Text`; white space is one byte for one or two.
unsafe impl Reader for Attribute {
    #[inline(always)]
    fn class(self) -> &'static Class {
        &ATTRIBUTE
    }

    #[inline(always)]
    fn special(self, block: Block) -> Block {
        attribute_special(block)
    }

    #[inline(always)]
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed> {
        match bytes {
            [b'&', ..] => reference(bytes, self.reading),
            // White space that stands raw, not as a reference.
            [b'\r', b'\n', ..] => Ok(Piece::byte(b' ', 2)),
            [b'\r' | b'\n' | b'\t', ..] => Ok(Piece::byte(b' ', 1)),
            _ => text_piece(bytes, self.reading),
        }
    }

    #[inline(always)]
    fn usual(self, word: u64) -> Option<(u8, usize)> {
        match word as u8 {
            b'&' => named(word),
            b'\n' | b'\t' => Some((b' ', 0)),
            _ => None,
        }
    }
}

/// What stands at the beginning, which is a byte that does not stand for
/// itself.
#[inline(always)]
fn text_piece(bytes: &[u8], reading: XmlReading) -> Result<Piece, Malformed> {
    match bytes {
        [b'&', ..] => reference(bytes, reading),
        [b'\r', b'\n', ..] => Ok(Piece::byte(b'\n', 2)),
        [b'\r', ..] => Ok(Piece::byte(b'\n', 1)),
        [b'<', ..] => Err(Malformed::new(0, "&lt; for < in text")),
        [byte, ..] if *byte == b'\t' || reading == XmlReading::Lenient => Ok(Piece::byte(*byte, 1)),
        _ => Err(Malformed::new(0, FORBIDDEN)),
    }
}

/// A named reference as the first bytes of a word.
#[derive(Clone, Copy)]
struct Named {
    word: u64,
    mask: u64,
    byte: u8,
    /// How many bytes follow the `&`.
    more: u8,
}

/// The five entities, each where [`slot`] finds it, so that telling them apart
/// takes no branch that depends on which one it is.
static NAMED: [Named; 8] = {
    const NAMES: [(&[u8], u8); 5] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    let nothing = Named {
        word: u64::MAX,
        mask: 0,
        byte: 0,
        more: 0,
    };
    let mut named = [nothing; 8];
    let mut at = 0;
    while at < NAMES.len() {
        let (name, byte) = NAMES[at];
        let mut word = 0;
        let mut byte_at = 0;
        while byte_at < name.len() {
            word |= (name[byte_at] as u64) << (8 * byte_at);
            byte_at += 1;
        }
        assert!(named[slot(word)].mask == 0, "two names in one slot");
        named[slot(word)] = Named {
            word,
            mask: u64::MAX >> (64 - 8 * name.len()),
            byte,
            more: name.len() as u8 - 1,
        };
        at += 1;
    }
    named
};

/// The first four bytes, hashed to three bits.
#[inline(always)]
const fn slot(word: u64) -> usize {
    (word as u32).wrapping_mul(MULTIPLIER) as usize >> 29
}

/// Found by trying; that no two names share a slot is checked above.
const MULTIPLIER: u32 = 1746;

/// What a short text stands for that holds named references and nothing else that
/// does not stand for itself, at the beginning of the bytes that are given back, and
/// its length. `None` says nothing more.
#[inline]
pub(crate) fn short(text: &str) -> Option<([u8; SHORT], usize)> {
    let bytes = text.as_bytes();
    let mut out = [0; SHORT];
    let (mut from, mut to) = (0, 0);
    if bytes.len() > SHORT {
        return None;
    }
    while let Some(byte) = bytes.get(from) {
        let slot = out.get_mut(to)?;
        to += 1;
        from += 1;
        if !TEXT_OR_RARE.has(*byte) {
            *slot = *byte;
            continue;
        }
        // A named reference, as long as eight bytes are left; shorter ones are rare.
        let word = bytes.get(from - 1..)?.first_chunk();
        let (byte, more) = match word {
            Some(word) => named(u64::from_le_bytes(*word))?,
            None => {
                let mut word = [0; 8];
                let rest = &bytes[from - 1..];
                word[..rest.len()].copy_from_slice(rest);
                named(u64::from_le_bytes(word))?
            }
        };
        *slot = byte;
        from += more;
    }
    Some((out, to))
}

/// The longest text of [`short`].
pub(crate) const SHORT: usize = 64;

/// The byte that a word's named reference stands for, and how many bytes follow its
/// `&`.
#[inline(always)]
fn named(word: u64) -> Option<(u8, usize)> {
    let named = &NAMED[slot(word)];
    (word & named.mask == named.word).then_some((named.byte, usize::from(named.more)))
}

/// The reference at the beginning.
#[inline(always)]
fn reference(bytes: &[u8], reading: XmlReading) -> Result<Piece, Malformed> {
    if let Some(word) = bytes.first_chunk()
        && let Some((byte, more)) = named(u64::from_le_bytes(*word))
    {
        return Ok(Piece::byte(byte, more + 1));
    }
    let (character, len) = any_reference(&bytes[1..], reading)
        .map_err(|error| Malformed::new(1 + error.offset, error.expected))?;
    let mut piece = Piece::byte(0, 1 + len);
    piece.written = character.encode_utf8(&mut piece.bytes).len();
    Ok(piece)
}

/// Decodes one XML reference. `bytes` begins behind the `&`. Returns the
/// character and the number of bytes read, the `;` included. Only the five
/// entities of XML itself and character references are known: there are no
/// document types here.
///
/// # Errors
///
/// An unknown entity, a missing `;`, or a number that is no character of XML
/// 1.0.
///
/// ```
/// use polywire_text::escape::xml_reference;
///
/// assert_eq!(xml_reference(b"lt;b"), Ok(('<', 3)));
/// assert_eq!(xml_reference(b"#x1F600;"), Ok(('😀', 8)));
/// assert!(xml_reference(b"nbsp;").is_err());
/// ```
pub fn xml_reference(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    any_reference(bytes, XmlReading::Strict)
}

fn any_reference(bytes: &[u8], reading: XmlReading) -> Result<(char, usize), Malformed> {
    let (digits, radix, before) = match bytes {
        [b'#', b'x', digits @ ..] => (digits, 16, 2),
        [b'#', digits @ ..] => (digits, 10, 1),
        [b'l', b't', b';', ..] => return Ok(('<', 3)),
        [b'g', b't', b';', ..] => return Ok(('>', 3)),
        [b'a', b'm', b'p', b';', ..] => return Ok(('&', 4)),
        [b'q', b'u', b'o', b't', b';', ..] => return Ok(('"', 5)),
        [b'a', b'p', b'o', b's', b';', ..] => return Ok(('\'', 5)),
        _ => {
            let expected = "one of lt; gt; amp; quot; apos; or # and a number after &";
            return Err(Malformed::new(0, expected));
        }
    };
    let mut code: u32 = 0;
    let mut len = 0;
    while let Some(digit) = digits
        .get(len)
        .and_then(|byte| char::from(*byte).to_digit(radix))
    {
        // Saturates far beyond the last character instead of wrapping.
        code = code.saturating_mul(radix).saturating_add(digit);
        len += 1;
    }
    if len == 0 || digits.get(len) != Some(&b';') {
        let expected = "the digits of a character reference and ;";
        return Err(Malformed::new(before + len, expected));
    }
    match char::from_u32(code) {
        Some(character) if is_xml(character) || reading == XmlReading::Lenient => {
            Ok((character, before + len + 1))
        }
        _ => {
            let expected = "the number of a character that XML 1.0 allows";
            Err(Malformed::new(before, expected))
        }
    }
}
