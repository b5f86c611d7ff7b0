//! Escapes of XML.

use super::push_clean;
use crate::{Malformed, scan};

/// Appends `text` as XML character data, for use between tags: `&`, `<`, `>`
/// as `&amp;`, `&lt;`, `&gt;`, and carriage return as `&#13;`, since a reader
/// would turn a raw one into a line feed.
///
/// # Errors
///
/// The offset of the first character that XML 1.0 forbids: a control character
/// below 0x20 other than tab, line feed and carriage return, or U+FFFE or
/// U+FFFF. What came before it has been appended.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_xml(&mut out, "a<b & c")?;
/// assert_eq!(out, b"a&lt;b &amp; c");
/// assert_eq!(polywire_text::escape::push_xml(&mut out, "\x1b[31m").unwrap_err().offset, 0);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
pub fn push_xml(out: &mut Vec<u8>, text: &str) -> Result<(), Malformed> {
    // U+FFFE and U+FFFF begin with 0xef; text of other scripts rarely does.
    match memchr::memmem::find(text.as_bytes(), b"\xef\xbf") {
        None => push_xml_escaped(out, text.as_bytes()),
        Some(_) => push_xml_apart(out, text.as_bytes()),
    }
}

/// As [`push_xml`], for text without U+FFFE and U+FFFF.
#[inline]
fn push_xml_escaped(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Malformed> {
    let mut at = 0;
    loop {
        let clean = scan::xml_clean(&bytes[at..]);
        push_clean(out, &bytes[at..], clean);
        at += clean;
        let Some(special) = bytes.get(at) else {
            return Ok(());
        };
        let reference: &[u8] = match special {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'\r' => b"&#13;",
            _ => return Err(Malformed::new(at, FORBIDDEN)),
        };
        out.extend_from_slice(reference);
        at += 1;
    }
}

/// As [`push_xml`], for text that may hold U+FFFE or U+FFFF.
#[cold]
fn push_xml_apart(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Malformed> {
    let found = bytes
        .windows(3)
        .position(|three| matches!(three, [0xef, 0xbf, 0xbe | 0xbf]));
    let before = &bytes[..found.unwrap_or(bytes.len())];
    push_xml_escaped(out, before)?;
    match found {
        None => Ok(()),
        Some(offset) => Err(Malformed::new(offset, FORBIDDEN)),
    }
}

const FORBIDDEN: &str = "a character that XML 1.0 allows";

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
    const NAMED: [(&[u8], char); 5] = [
        (b"lt;", '<'),
        (b"gt;", '>'),
        (b"amp;", '&'),
        (b"quot;", '"'),
        (b"apos;", '\''),
    ];
    let Some(number) = bytes.strip_prefix(b"#") else {
        for (name, character) in NAMED {
            if bytes.starts_with(name) {
                return Ok((character, name.len()));
            }
        }
        return Err(Malformed::new(
            0,
            "one of lt; gt; amp; quot; apos; or # and a number after &",
        ));
    };
    let (digits, radix, before) = match number.strip_prefix(b"x") {
        Some(digits) => (digits, 16, 2),
        None => (number, 10, 1),
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
        return Err(Malformed::new(
            before + len,
            "the digits of a character reference and ;",
        ));
    }
    match char::from_u32(code) {
        Some(character) if is_xml(character) => Ok((character, before + len + 1)),
        _ => Err(Malformed::new(
            before,
            "the number of a character that XML 1.0 allows",
        )),
    }
}

/// Whether XML 1.0 (fifth edition, production 2) allows the character.
#[must_use]
pub const fn is_xml(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The readable twin of `push_xml`: what is appended, and the offset of the
    /// first character that is forbidden.
    fn slow_xml(text: &str) -> (String, Option<usize>) {
        let forbidden = text
            .char_indices()
            .find(|(_, character)| !is_xml(*character))
            .map(|(offset, _)| offset);
        let before = &text[..forbidden.unwrap_or(text.len())];
        let escaped = before
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        (escaped.replace('\r', "&#13;"), forbidden)
    }

    #[test]
    fn xml_forbids_noncharacters() {
        assert_eq!(
            push_xml(&mut Vec::new(), "a\u{fffe}").unwrap_err().offset,
            1
        );
        for (text, before, offset) in [
            ("a\u{fffe}b\u{1}", "a", 1),
            ("a\u{1}b\u{fffe}", "a", 1),
            ("<\u{ffff}", "&lt;", 1),
            ("\u{fffd}\u{ffff}", "\u{fffd}", 3),
        ] {
            let mut out = Vec::new();
            assert_eq!(push_xml(&mut out, text).unwrap_err().offset, offset);
            assert_eq!(out, before.as_bytes());
        }
        assert!(push_xml(&mut Vec::new(), "a\u{fffd}").is_ok());
        assert!(xml_reference(b"#0;").is_err());
        assert!(xml_reference(b"#xD800;").is_err());
        assert!(xml_reference(b"#99999999999999999999;").is_err());
        assert!(xml_reference(b"#12").is_err());
        assert!(xml_reference(b"lt").is_err());
    }

    proptest! {
        #[test]
        fn xml_agrees_with_its_twin(text in "[\\x08-\\x30<>&a-zé\u{fffe}\u{fffd}😀]{0,40}") {
            let mut out = Vec::new();
            let offset = push_xml(&mut out, &text).err().map(|error| error.offset);
            prop_assert_eq!((String::from_utf8(out).unwrap(), offset), slow_xml(&text));
        }
    }
}
