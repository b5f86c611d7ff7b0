//! XML escapes, character by character.

use crate::Malformed;
use crate::escape::{Forbidden, XmlPlace, XmlReading, is_xml};

const FORBIDDEN: &str = "a character that XML 1.0 allows";

/// As [`crate::escape::push_xml_bytes`].
///
/// # Errors
///
/// The same.
pub fn escaped(bytes: &[u8], place: XmlPlace, forbidden: Forbidden) -> Result<String, Malformed> {
    let mut out = String::new();
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_xml(character) {
                out.push_str(&escaped_character(character, place));
            } else {
                instead(&mut out, forbidden, Malformed::new(offset, FORBIDDEN))?;
            }
            offset += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            instead(&mut out, forbidden, Malformed::new(offset, "UTF-8"))?;
            offset += chunk.invalid().len();
        }
    }
    Ok(out)
}

fn escaped_character(character: char, place: XmlPlace) -> String {
    let attribute = place == XmlPlace::Attribute;
    match character {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '\r' => "&#13;".into(),
        '"' if attribute => "&quot;".into(),
        '\'' if attribute => "&apos;".into(),
        '\t' if attribute => "&#9;".into(),
        '\n' if attribute => "&#10;".into(),
        other => other.into(),
    }
}

fn instead(out: &mut String, forbidden: Forbidden, error: Malformed) -> Result<(), Malformed> {
    match forbidden {
        Forbidden::Reject => return Err(error),
        Forbidden::Replace => out.push('\u{fffd}'),
        Forbidden::Strip => {}
    }
    Ok(())
}

/// As [`crate::escape::unescape_xml`].
///
/// # Errors
///
/// The same.
pub fn unescaped(bytes: &[u8], place: XmlPlace, reading: XmlReading) -> Result<String, Malformed> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| Malformed::new(error.valid_up_to(), "UTF-8"))?;
    let strict = reading == XmlReading::Strict;
    let attribute = place == XmlPlace::Attribute;
    let mut out = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let offset = text.len() - rest.len();
        let error = |expected| Err(Malformed::new(offset, expected));
        let mut len = character.len_utf8();
        match character {
            '&' => {
                let (character, read) = reference(&rest[1..], strict)
                    .map_err(|error| Malformed::new(offset + 1 + error.offset, error.expected))?;
                out.push(character);
                len = 1 + read;
            }
            '<' => return error("&lt; for < in text"),
            ']' if strict && !attribute && rest.starts_with("]]>") => {
                return error("]]&gt; for ]]> in text");
            }
            '\r' | '\n' => {
                out.push(if attribute { ' ' } else { '\n' });
                len = if rest.starts_with("\r\n") { 2 } else { 1 };
            }
            '\t' if attribute => out.push(' '),
            other if strict && !is_xml(other) => return error(FORBIDDEN),
            other => out.push(other),
        }
        rest = &rest[len..];
    }
    Ok(out)
}

/// Reads a reference without its `&`. Returns the character and the number of bytes read.
fn reference(rest: &str, strict: bool) -> Result<(char, usize), Malformed> {
    for (name, character) in [
        ("lt;", '<'),
        ("gt;", '>'),
        ("amp;", '&'),
        ("quot;", '"'),
        ("apos;", '\''),
    ] {
        if rest.starts_with(name) {
            return Ok((character, name.len()));
        }
    }
    let (before, radix) = match rest {
        _ if rest.starts_with("#x") => (2, 16),
        _ if rest.starts_with('#') => (1, 10),
        _ => {
            return Err(Malformed::new(
                0,
                "one of lt; gt; amp; quot; apos; or # and a number after &",
            ));
        }
    };
    let digits: String = rest[before..]
        .chars()
        .take_while(|digit| digit.is_digit(radix))
        .collect();
    let end = before + digits.len();
    if digits.is_empty() || !rest[end..].starts_with(';') {
        return Err(Malformed::new(
            end,
            "the digits of a character reference and ;",
        ));
    }
    // A number that overflows is not a character either.
    let code = u32::from_str_radix(digits.trim_start_matches('0'), radix);
    let code = if digits.trim_start_matches('0').is_empty() {
        Ok(0)
    } else {
        code
    };
    match code.ok().and_then(char::from_u32) {
        Some(character) if is_xml(character) || !strict => Ok((character, end + 1)),
        _ => Err(Malformed::new(
            before,
            "the number of a character that XML 1.0 allows",
        )),
    }
}
