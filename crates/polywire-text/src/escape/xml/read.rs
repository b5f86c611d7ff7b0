//! Reads text and attributes.

use std::borrow::Cow;

use super::reference::{named, reference};
use super::{XML_CHARACTER, XmlPlace, noncharacter};
use crate::Malformed;
use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Class, Piece, Reader};

/// Whether a reader accepts characters that XML 1.0 forbids.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum XmlReading {
    /// Rejects forbidden characters, raw or as references, and `]]>` in text. The default.
    #[default]
    Strict,
    /// Accepts control characters, U+FFFE, U+FFFF and `]]>`, which some servers write. Otherwise
    /// strict.
    Lenient,
}

/// Reads text or the value of an attribute without its quotes: productions 14 (`CharData`) and 10
/// (`AttValue`) of XML 1.0. Borrows text that contains no reference and no line end to normalize.
///
/// ```text
/// text      = *( reference / line-end / character )    ; neither "<" nor "]]>"
/// attribute = *( reference / line-end / character )    ; no "<"
/// reference = "&" ( "lt" / "gt" / "amp" / "quot" / "apos" ) ";"
///           / "&#" 1*DIGIT ";" / "&#x" 1*HEXDIG ";"
/// line-end  = CR LF / CR                               ; read as LF
/// ```
///
/// In an attribute, each tab, line feed and line end becomes a space, unless it is a reference
/// (section 3.3.3, for attributes without a declared type).
///
/// Allocates at most once, the length of `text` plus 32 bytes.
///
/// # Errors
///
/// The first byte that does not match. In a reference, the first such byte after the `&`.
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

/// [`unescape_xml`] after `clean` clean bytes.
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
    // SAFETY: `text` is UTF-8, and only ASCII bytes and references, which are ASCII, were replaced,
    // by the UTF-8 of whole characters.
    Ok(Cow::Owned(unsafe { String::from_utf8_unchecked(owned) }))
}

/// Reads `bytes`, whose first special byte is at `first`, and appends the result. `rare` is the
/// error of [`rare`].
fn push_from(
    out: &mut Vec<u8>,
    bytes: &[u8],
    first: usize,
    rare: Option<Malformed>,
    place: XmlPlace,
    reading: XmlReading,
) -> Result<(), Malformed> {
    // Reports the first of several errors, so reads up to the rare one.
    let end = rare.map_or(bytes.len(), |error| error.offset);
    let (bytes, first) = (&bytes[..end], first.min(end));
    match place {
        XmlPlace::Text => rewrite::push_shrunk(out, bytes, first, Text { reading }),
        XmlPlace::Attribute => rewrite::push_shrunk(out, bytes, first, Attribute { reading }),
    }?;
    rare.map_or(Ok(()), Err)
}

/// The number of bytes before the first that is special or may be part of a forbidden sequence.
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

/// The offset of the first special byte, which is not within the first `clean`.
#[inline]
fn first_special(bytes: &[u8], clean: usize, place: XmlPlace) -> usize {
    let rest = &bytes[clean..];
    match place {
        XmlPlace::Text => clean + TEXT.clean(rest, text_special),
        XmlPlace::Attribute => clean + ATTRIBUTE.clean(rest, attribute_special),
    }
}

/// The error at the first forbidden sequence of more than one byte: U+FFFE, U+FFFF, or `]]>` in
/// text. The sequence may start, but not end, within the first `clean` bytes.
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
        _ => XML_CHARACTER,
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
pub(super) static TEXT_OR_RARE: Class = Class::new(special(XmlPlace::Text, true));
static ATTRIBUTE: Class = Class::new(special(XmlPlace::Attribute, false));
static ATTRIBUTE_OR_RARE: Class = Class::new(special(XmlPlace::Attribute, true));

/// The special bytes. With `rare`, also those that end `]]>` or start U+FFFE and U+FFFF.
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

// SAFETY: a reference is longer than its character, and a line end of one or two bytes becomes one.
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
    fn common(self, word: u64) -> Option<(u8, usize)> {
        named(word)
    }
}

#[derive(Clone, Copy)]
struct Attribute {
    reading: XmlReading,
}

// SAFETY: as for `Text`; white space of one or two bytes becomes one.
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
            // Raw white space, as opposed to references.
            [b'\r', b'\n', ..] => Ok(Piece::byte(b' ', 2)),
            [b'\r' | b'\n' | b'\t', ..] => Ok(Piece::byte(b' ', 1)),
            _ => text_piece(bytes, self.reading),
        }
    }

    #[inline(always)]
    fn common(self, word: u64) -> Option<(u8, usize)> {
        match word as u8 {
            b'&' => named(word),
            b'\n' | b'\t' => Some((b' ', 0)),
            _ => None,
        }
    }
}

/// Reads at a special byte.
#[inline(always)]
fn text_piece(bytes: &[u8], reading: XmlReading) -> Result<Piece, Malformed> {
    match bytes {
        [b'&', ..] => reference(bytes, reading),
        [b'\r', b'\n', ..] => Ok(Piece::byte(b'\n', 2)),
        [b'\r', ..] => Ok(Piece::byte(b'\n', 1)),
        [b'<', ..] => Err(Malformed::new(0, "&lt; for < in text")),
        [byte, ..] if *byte == b'\t' || reading == XmlReading::Lenient => Ok(Piece::byte(*byte, 1)),
        _ => Err(Malformed::new(0, XML_CHARACTER)),
    }
}
