//! Escapes of XML 1.0 (fifth edition), both ways.
//!
//! # Writing
//!
//! | character | in text | in an attribute's value |
//! |---|---|---|
//! | `&` `<` `>` | `&amp;` `&lt;` `&gt;` | the same |
//! | `"` `'` | as they are | `&quot;` `&apos;` |
//! | carriage return | `&#13;` | the same |
//! | tab, line feed | as they are | `&#9;` `&#10;` |
//! | anything else that XML allows | as it is | the same |
//!
//! `>` is always escaped, so that `]]>` never stands in text (section 2.4). A
//! reader turns a raw carriage return into a line feed (section 2.11) and, in
//! an attribute, tabs and line feeds into spaces (section 3.3.3), so that they
//! have to be references there. The controls from U+007F to U+009F and U+2028
//! are characters like others in XML 1.0.
//!
//! What XML 1.0 does not allow, even as a reference, are the control
//! characters below U+0020 other than those three, surrogates, U+FFFE and
//! U+FFFF (production 2). What is done about those is for the caller to say:
//! [`Forbidden`].
//!
//! # Reading
//!
//! Character data goes up to a tag, a comment, a processing instruction or
//! CDATA, which the caller has found: here is only what stands between. It has
//! references to characters and to the five entities that XML itself knows;
//! there are no document types, so no others. Line ends become line feeds.

mod read;
mod write;

pub(crate) use read::short;
pub use read::{
    XmlReading, push_unescaped_xml, unescape_xml, unescape_xml_in_place, xml_reference,
};
pub use write::{Forbidden, push_xml, push_xml_attribute, push_xml_bytes};

/// Where text stands in a document, which decides what may not stand in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum XmlPlace {
    /// Character data: between tags.
    Text,
    /// The value of an attribute, between quotes of either kind.
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

const FORBIDDEN: &str = "a character that XML 1.0 allows";

/// The offset of the first U+FFFE or U+FFFF in UTF-8. Both begin with 0xef,
/// which text of most scripts does not hold.
#[inline]
fn noncharacter(bytes: &[u8]) -> Option<usize> {
    // A search has to be set up, which short text does not pay for.
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
