//! Writing text and the values of attributes.

use super::{FORBIDDEN, XmlPlace, noncharacter};
use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Table, Word};
use crate::{Malformed, scan, utf8};

/// What is done about characters that XML 1.0 forbids, and about bytes that
/// are no characters at all.
///
/// A format that can carry bytes in another way, such as base64, uses
/// [`Refuse`](Self::Refuse) and does that on an error.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Forbidden {
    /// An error with the offset of the first. The default.
    #[default]
    Refuse,
    /// U+FFFD in the place of each character, and of each sequence of bytes
    /// that is not UTF-8, counted as Unicode recommends.
    Replace,
    /// Nothing in their place.
    Strip,
}

/// Appends `text` as XML character data, for use between tags: `&`, `<`, `>`
/// as `&amp;`, `&lt;`, `&gt;`, and carriage return as `&#13;`, since a reader
/// would turn a raw one into a line feed.
///
/// Reserves at most the length of the text and some hundred bytes, and as
/// much as `Vec` finds useful when that was too little.
///
/// # Errors
///
/// The offset of the first character that XML 1.0 forbids: a control character
/// below 0x20 other than tab, line feed and carriage return, or U+FFFE or
/// U+FFFF. Then `out` is as it was before.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_xml(&mut out, "a<b & c")?;
/// assert_eq!(out, b"a&lt;b &amp; c");
/// assert_eq!(polywire_text::escape::push_xml(&mut out, "\x1b[31m").unwrap_err().offset, 0);
/// assert_eq!(out, b"a&lt;b &amp; c");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn push_xml(out: &mut Vec<u8>, text: &str) -> Result<(), Malformed> {
    let bytes = text.as_bytes();
    if let Some(word) = scan::short_xml(bytes) {
        // A move of fixed width, and what is too much taken off again.
        let len = out.len() + bytes.len();
        out.extend_from_slice(&word.to_le_bytes());
        out.truncate(len);
        return Ok(());
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk())
        && bytes.len() <= 32
        && scan::is_xml_clean(head, tail)
    {
        scan::push_bytes(out, bytes);
        return Ok(());
    }
    push_any_xml(out, bytes)
}

#[inline(never)]
fn push_any_xml(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Malformed> {
    push_or_restore(out, bytes, push_text)
}

/// Appends `text` as the value of an attribute, without the quotes around it,
/// which may be of either kind: as [`push_xml`], and both quotes, tab and line
/// feed as `&quot;`, `&apos;`, `&#9;`, `&#10;`, since a reader would turn raw
/// tabs and line feeds into spaces.
///
/// # Errors
///
/// As [`push_xml`].
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_xml_attribute(&mut out, "say \"no\"\n")?;
/// assert_eq!(out, b"say &quot;no&quot;&#10;");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn push_xml_attribute(out: &mut Vec<u8>, text: &str) -> Result<(), Malformed> {
    push_or_restore(out, text.as_bytes(), push_attribute)
}

/// As [`push_xml`] and [`push_xml_attribute`], for bytes that may not be
/// UTF-8, and with a policy for what XML cannot carry.
///
/// # Errors
///
/// None but with [`Forbidden::Refuse`]: the offset of the first character that
/// XML 1.0 forbids or byte that is not UTF-8. Then `out` is as it was before.
///
/// ```
/// use polywire_text::escape::{Forbidden, XmlPlace, push_xml_bytes};
///
/// let mut out = Vec::new();
/// push_xml_bytes(&mut out, b"\x1b[1m<\xff>", XmlPlace::Text, Forbidden::Replace)?;
/// assert_eq!(out, "\u{fffd}[1m&lt;\u{fffd}&gt;".as_bytes());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn push_xml_bytes(
    out: &mut Vec<u8>,
    bytes: &[u8],
    place: XmlPlace,
    forbidden: Forbidden,
) -> Result<(), Malformed> {
    let push = match place {
        XmlPlace::Text => push_text,
        XmlPlace::Attribute => push_attribute,
    };
    let instead: &[u8] = match forbidden {
        Forbidden::Refuse => {
            // Of two errors the first one is told.
            let valid = match utf8::validate(bytes) {
                Ok(_) => bytes,
                Err(error) => &bytes[..error.offset],
            };
            let len = out.len();
            push_or_restore(out, valid, push)?;
            if valid.len() == bytes.len() {
                return Ok(());
            }
            out.truncate(len);
            return Err(Malformed::new(valid.len(), "UTF-8"));
        }
        Forbidden::Replace => "\u{fffd}".as_bytes(),
        Forbidden::Strip => b"",
    };
    if utf8::validate(bytes).is_ok() {
        push_instead(out, bytes, instead, push);
        return Ok(());
    }
    for chunk in bytes.utf8_chunks() {
        push_instead(out, chunk.valid().as_bytes(), instead, push);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(instead);
        }
    }
    Ok(())
}

/// Appends what is UTF-8 without U+FFFE and U+FFFF. Stops at a control
/// character that is forbidden and returns its offset.
type Push = fn(&mut Vec<u8>, &[u8]) -> Result<(), usize>;

/// Appends UTF-8, or nothing and the error.
#[inline]
fn push_or_restore(
    out: &mut Vec<u8>,
    bytes: &[u8],
    push: impl Fn(&mut Vec<u8>, &[u8]) -> Result<(), usize>,
) -> Result<(), Malformed> {
    let len = out.len();
    let end = noncharacter(bytes);
    let offset = match (push(out, &bytes[..end.unwrap_or(bytes.len())]), end) {
        (Ok(()), None) => return Ok(()),
        (Ok(()), Some(offset)) | (Err(offset), _) => offset,
    };
    out.truncate(len);
    Err(Malformed::new(offset, FORBIDDEN))
}

/// Appends UTF-8, and `instead` of each character that is forbidden.
fn push_instead(out: &mut Vec<u8>, mut bytes: &[u8], instead: &[u8], push: Push) {
    loop {
        let end = noncharacter(bytes);
        let mut part = &bytes[..end.unwrap_or(bytes.len())];
        while let Err(offset) = push(out, part) {
            out.extend_from_slice(instead);
            part = &part[offset + 1..];
        }
        let Some(end) = end else { return };
        out.extend_from_slice(instead);
        bytes = &bytes[end + '\u{fffe}'.len_utf8()..];
    }
}

/// `&`, `<`, `>` and carriage return, and what cannot be written.
const ESCAPES: [Word; 256] = {
    let mut words = Word::identity();
    let mut byte = 0;
    while byte < 0x20 {
        if byte != b'\t' as usize && byte != b'\n' as usize {
            words[byte] = Word::NONE;
        }
        byte += 1;
    }
    words[b'&' as usize] = Word::new(b"&amp;");
    words[b'<' as usize] = Word::new(b"&lt;");
    words[b'>' as usize] = Word::new(b"&gt;");
    words[b'\r' as usize] = Word::new(b"&#13;");
    words
};

static TEXT: Table = Table::new(ESCAPES);

static ATTRIBUTE: Table = {
    let mut words = ESCAPES;
    words[b'"' as usize] = Word::new(b"&quot;");
    words[b'\'' as usize] = Word::new(b"&apos;");
    words[b'\t' as usize] = Word::new(b"&#9;");
    words[b'\n' as usize] = Word::new(b"&#10;");
    Table::new(words)
};

#[inline]
fn push_text(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), usize> {
    let special = |block: Block| {
        let space = block.equals(b'\t').or(block.equals(b'\n'));
        markup_or_control(block).without(space)
    };
    rewrite::push(out, bytes, &TEXT, Some(special))
}

#[inline]
fn push_attribute(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), usize> {
    let special = |block: Block| {
        let quote = block.equals(b'"').or(block.equals(b'\''));
        markup_or_control(block).or(quote)
    };
    rewrite::push(out, bytes, &ATTRIBUTE, Some(special))
}

#[inline(always)]
fn markup_or_control(block: Block) -> Block {
    let markup = block.equals(b'<').or(block.equals(b'>'));
    markup.or(block.equals(b'&')).or(block.at_most(0x1f))
}
