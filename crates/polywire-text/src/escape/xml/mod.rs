//! Escapes of XML 1.0 (fifth edition).
//!
//! # Writing
//!
//! | character | in text | in an attribute |
//! |---|---|---|
//! | `&` `<` `>` | `&amp;` `&lt;` `&gt;` | the same |
//! | `"` `'` | unescaped | `&quot;` `&apos;` |
//! | carriage return | `&#13;` | the same |
//! | tab, line feed | unescaped | `&#9;` `&#10;` |
//! | any other character of XML | unescaped | the same |
//!
//! `>` is always escaped, because text must not contain `]]>` (section 2.4). Carriage returns, and
//! tabs and line feeds in attributes, are references, because readers normalize them otherwise
//! (sections 2.11 and 3.3.3).
//!
//! XML 1.0 forbids the other control characters below U+0020, surrogates, U+FFFE and U+FFFF, also
//! as references (production 2). [`Forbidden`] selects what writers do about them. U+007F to U+009F
//! and U+2028 are allowed.
//!
//! # Reading
//!
//! Readers receive the text between tags, comments, processing instructions and CDATA sections.
//! They resolve character references and the five predefined entities; there are no document types,
//! so no other entities. Line ends become line feeds.

mod read;
mod reference;
mod write;

pub use read::{XmlReading, unescape_xml};
pub(crate) use reference::short;
pub use write::{Forbidden, push_xml, push_xml_attribute, push_xml_bytes};

/// Where text is in a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum XmlPlace {
    /// Between tags.
    Text,
    /// In the value of an attribute, between quotes of either kind.
    Attribute,
}

/// Whether XML 1.0 (fifth edition, production 2) allows the character.
///
/// ```
/// use polywire_text::escape::is_xml;
///
/// assert!(is_xml('\u{85}') && is_xml('\t') && is_xml('\u{fffd}'));
/// assert!(!is_xml('\u{1b}') && !is_xml('\0') && !is_xml('\u{fffe}'));
/// ```
#[must_use]
pub const fn is_xml(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// [`Malformed::expected`](crate::Malformed::expected) of the error for a character that XML
/// forbids.
pub const XML_CHARACTER: &str = "a character that XML 1.0 allows";

/// The offset of the first U+FFFE or U+FFFF in UTF-8. Both start with 0xef, which is rare in most
/// scripts.
#[inline]
fn noncharacter(bytes: &[u8]) -> Option<usize> {
    // Starting a search does not pay for short text.
    if bytes.len() <= 32 && bytes.is_ascii() {
        return None;
    }
    let first = memchr::memchr(0xef, bytes)?;
    noncharacter_from(bytes, first)
}

#[cold]
fn noncharacter_from(bytes: &[u8], first: usize) -> Option<usize> {
    memchr::memmem::find_iter(&bytes[first..], b"\xef\xbf")
        .map(|at| first + at)
        .find(|at| matches!(bytes.get(at + 2), Some(0xbe | 0xbf)))
}
