//! Escapes of JSON strings and XML character data, both ways.

use crate::{Malformed, scan};

/// Appends `text` as the inside of a JSON string, in the canonical form of
/// ECMAScript's `JSON.stringify` (which Nostr asks for too): the seven short
/// escapes, other control characters as lower-case `\u00xx`, everything else
/// as it is. Clean runs are copied whole.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json(&mut out, "a\"b\\c\n\u{1}é");
/// assert_eq!(out, "a\\\"b\\\\c\\n\\u0001é".as_bytes());
/// ```
#[inline]
pub fn push_json(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let clean = scan::json_clean(rest);
        push_clean(out, rest, clean);
        let Some(special) = rest.get(clean) else {
            return;
        };
        push_json_escape(out, *special);
        rest = &rest[clean + 1..];
    }
}

/// Appends a JSON string, quotes included, and then `end`: what stands between
/// a value and the next, or a key and its value.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::escape::push_json_string(&mut out, "key", *b"\":");
/// polywire_text::escape::push_json_string(&mut out, "a\nvalue", *b"\",");
/// assert_eq!(out, br#""key":"a\nvalue","#);
/// ```
#[inline]
pub fn push_json_string(out: &mut Vec<u8>, text: &str, end: [u8; 2]) {
    if let Some(clean) = scan::short_json(text.as_bytes()) {
        let len = out.len() + 1 + text.len();
        out.extend_from_slice(&(clean << 8 | u128::from(b'"')).to_le_bytes());
        out.truncate(len);
        out.extend_from_slice(&end);
        return;
    }
    out.push(b'"');
    push_json(out, text);
    out.extend_from_slice(&end);
}

/// Appends the first `len` bytes of `window`; short ones at a fixed width
/// where the window allows it.
#[inline]
fn push_clean(out: &mut Vec<u8>, window: &[u8], len: usize) {
    scan::Run::new(window, len).push_to(out);
}

fn push_json_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&digits);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Decodes one JSON escape, RFC 8259, section 7. `bytes` begins behind the
/// backslash. Returns the character and the number of bytes read; a surrogate
/// pair is one character of eleven bytes.
///
/// # Errors
///
/// An unknown escape, a `\u` without four hexadecimal digits, or half of a
/// surrogate pair. Offsets count from the beginning of `bytes`.
///
/// ```
/// use polywire_text::escape::json_escape;
///
/// assert_eq!(json_escape(b"n rest"), Ok(('\n', 1)));
/// assert_eq!(json_escape(br"ud83d\ude00"), Ok(('😀', 11)));
/// assert_eq!(json_escape(b"ud83d rest").unwrap_err().expected, "the second half of a surrogate pair");
/// ```
pub fn json_escape(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    let character = match bytes.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes),
        _ => {
            return Err(Malformed::new(
                0,
                "one of \" \\ / b f n r t u after a backslash",
            ));
        }
    };
    Ok((character, 1))
}

fn unicode_escape(bytes: &[u8]) -> Result<(char, usize), Malformed> {
    let first = hex4(bytes, 1)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    // What is no character is a surrogate: D800-DBFF come first, DC00-DFFF second.
    if first >= 0xdc00 {
        return Err(Malformed::new(
            1,
            "the first half of a surrogate pair before its second",
        ));
    }
    if bytes.get(5..7) != Some(br"\u") {
        return Err(Malformed::new(5, "the second half of a surrogate pair"));
    }
    let second = hex4(bytes, 7)?;
    if !(0xdc00..0xe000).contains(&second) {
        return Err(Malformed::new(7, "the second half of a surrogate pair"));
    }
    // Ten bits of each half above the first plane: always a character.
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Ok((character, 11))
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, Malformed> {
    let mut value = 0;
    for offset in at..at + 4 {
        let digit = bytes
            .get(offset)
            .and_then(|byte| char::from(*byte).to_digit(16));
        let digit = digit.ok_or(Malformed::new(offset, "four hexadecimal digits"))?;
        value = value * 16 + digit;
    }
    Ok(value)
}

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

    /// The readable twin of `push_json`.
    fn slow_json(text: &str) -> String {
        text.chars()
            .map(|character| match character {
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\u{8}' => "\\b".to_owned(),
                '\t' => "\\t".to_owned(),
                '\n' => "\\n".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                '\r' => "\\r".to_owned(),
                '\0'..='\u{1f}' => format!("\\u{:04x}", u32::from(character)),
                other => other.to_string(),
            })
            .collect()
    }

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
    fn json_strings_of_every_length() {
        for len in 0..40 {
            let clean = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq";
            let mut out = b"before".to_vec();
            push_json_string(&mut out, &clean[..len], *b"\",");
            assert_eq!(out, format!("before\"{}\",", &clean[..len]).as_bytes());
            // Something to escape at each place.
            for at in 0..len {
                let mut text = clean[..len].to_owned();
                text.replace_range(at..=at, "\"");
                let mut out = Vec::new();
                push_json_string(&mut out, &text, *b"\",");
                let escaped = text.replace('"', "\\\"");
                assert_eq!(out, format!("\"{escaped}\",").as_bytes());
            }
        }
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

    #[test]
    fn surrogates() {
        assert!(json_escape(br"udc00").is_err());
        assert!(json_escape(br"ud800\u0041").is_err());
        assert!(json_escape(br"ud800\udc0").is_err());
        assert!(json_escape(br"u00g0").is_err());
        assert!(json_escape(b"").is_err());
        assert!(json_escape(b"x").is_err());
    }

    proptest! {
        #[test]
        fn json_agrees_with_its_twin(text in "[\\x00-\\x30\"\\\\a-zé😀]{0,60}") {
            let mut out = Vec::new();
            push_json(&mut out, &text);
            prop_assert_eq!(String::from_utf8(out).unwrap(), slow_json(&text));
        }

        #[test]
        fn xml_agrees_with_its_twin(text in "[\\x08-\\x30<>&a-zé\u{fffe}\u{fffd}😀]{0,40}") {
            let mut out = Vec::new();
            let offset = push_xml(&mut out, &text).err().map(|error| error.offset);
            prop_assert_eq!((String::from_utf8(out).unwrap(), offset), slow_xml(&text));
        }

        #[test]
        fn every_character_has_an_escape(character: char) {
            let mut units = [0; 2];
            let mut text = String::new();
            for unit in character.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04X}"));
            }
            prop_assert_eq!(json_escape(&text.as_bytes()[1..]), Ok((character, text.len() - 1)));
        }
    }
}
