//! Writes text and attributes.

use super::{XML_CHARACTER, XmlPlace, noncharacter};
use crate::block::{Block as _, Block16 as Block};
use crate::rewrite::{self, Table, Word};
use crate::{Malformed, scan, utf8};

/// What to do with characters that XML 1.0 forbids, and with bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Forbidden {
    /// Reject the text. The default.
    #[default]
    Reject,
    /// Replace each character, and each invalid sequence of UTF-8 (as Unicode recommends), by
    /// U+FFFD.
    Replace,
    /// Remove them.
    Strip,
}

/// Appends `text`, escaped for use between tags: `&`, `<`, `>` and carriage returns.
///
/// Reserves the length of the text and at most 300 bytes; more only if there are more escapes.
///
/// # Errors
///
/// The first character that XML 1.0 forbids: a control character below 0x20 other than tab, line
/// feed and carriage return, U+FFFE or U+FFFF. `out` is unchanged.
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
        // A copy of fixed width is faster, so copies 16 bytes and truncates.
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
    push_long_xml(out, bytes)
}

#[inline(never)]
fn push_long_xml(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Malformed> {
    push_or_restore(out, bytes, push_text)
}

/// Appends `text`, escaped for the value of an attribute in quotes of either kind: as [`push_xml`],
/// and also both quotes, tabs and line feeds.
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

/// Like [`push_xml`] and [`push_xml_attribute`], for any bytes, with a choice of [`Forbidden`].
///
/// # Errors
///
/// Only with [`Forbidden::Reject`]: the first character that XML 1.0 forbids, or byte that is not
/// UTF-8. `out` is unchanged.
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
        Forbidden::Reject => {
            // Reports the first of two errors.
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
        push_replacing(out, bytes, instead, push);
        return Ok(());
    }
    for chunk in bytes.utf8_chunks() {
        push_replacing(out, chunk.valid().as_bytes(), instead, push);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(instead);
        }
    }
    Ok(())
}

/// Appends escaped UTF-8 that contains neither U+FFFE nor U+FFFF. The error is the offset of a
/// forbidden control character, at which it stops.
type Push = fn(&mut Vec<u8>, &[u8]) -> Result<(), usize>;

/// Appends escaped UTF-8, or nothing in case of an error.
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
    Err(Malformed::new(offset, XML_CHARACTER))
}

/// Appends escaped UTF-8, with each forbidden character replaced by `instead`.
fn push_replacing(out: &mut Vec<u8>, mut bytes: &[u8], instead: &[u8], push: Push) {
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

/// The escapes of text. Forbidden characters have none.
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
