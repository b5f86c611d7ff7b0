//! The XML declaration.

use polywire_text::Malformed;

use crate::snippet;

/// What is expected of the encoding in a declaration.
pub(crate) const EXPECTED_ENCODING: &str = "the encoding UTF-8";

/// The length of the XML declaration that a text begins with, by the grammar; 0 if it
/// begins with none.
///
/// ```text
/// [23] XMLDecl      ::= '<?xml' VersionInfo EncodingDecl? SDDecl? S? '?>'
/// [24] VersionInfo  ::= S 'version' Eq ("'" VersionNum "'" | '"' VersionNum '"')
/// [26] VersionNum   ::= '1.' [0-9]+
/// [80] EncodingDecl ::= S 'encoding' Eq ('"' EncName '"' | "'" EncName "'" )
/// [81] EncName      ::= [A-Za-z] ([A-Za-z0-9._] | '-')*
/// [32] SDDecl       ::= S 'standalone' Eq (("'" ('yes' | 'no') "'") | ('"' ('yes' | 'no') '"'))
/// ```
///
/// <https://www.w3.org/TR/xml/#NT-XMLDecl>
pub(crate) fn len(text: &str) -> Result<usize, Malformed> {
    let Some(inside) = text.strip_prefix("<?xml") else {
        return Ok(0);
    };
    // A processing instruction whose target begins with `xml`.
    if !inside.starts_with(is_space) && !inside.starts_with('?') {
        return Ok(0);
    }
    let wrong = |rest: &str, expected| Malformed::new(text.len() - rest.len(), expected);
    let mut rest = inside;
    for part in &PARTS {
        let at = rest.trim_start_matches(is_space);
        match at.strip_prefix(part.name) {
            Some(after) if at.len() < rest.len() => {
                rest = part
                    .skip_value(after)
                    .map_err(|at| wrong(at, part.expected))?;
            }
            _ if part.is_required => return Err(wrong(at, part.expected)),
            _ => {}
        }
    }
    let at = rest.trim_start_matches(is_space);
    match at.strip_prefix("?>") {
        Some(rest) => Ok(text.len() - rest.len()),
        None => Err(wrong(
            at,
            "version, encoding and standalone in this order, and ?> after the XML declaration",
        )),
    }
}

/// A part of an XML declaration.
struct DeclarationPart {
    name: &'static str,
    is_required: bool,
    is_valid: fn(&str) -> bool,
    expected: &'static str,
}

/// The parts in the order of the grammar.
const PARTS: [DeclarationPart; 3] = [
    DeclarationPart {
        name: "version",
        is_required: true,
        is_valid: |value| {
            let minor = value.strip_prefix("1.").unwrap_or_default();
            !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())
        },
        expected: "version=\"1.0\" in the XML declaration",
    },
    DeclarationPart {
        name: "encoding",
        is_required: false,
        is_valid: |value| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            value.starts_with(|first: char| first.is_ascii_alphabetic())
                && value.bytes().all(is_part)
        },
        expected: "the name of an encoding in the XML declaration",
    },
    DeclarationPart {
        name: "standalone",
        is_required: false,
        is_valid: |value| matches!(value, "yes" | "no"),
        expected: "yes or no for standalone in the XML declaration",
    },
];

impl DeclarationPart {
    /// Checks the value of this part, whose name has been read. Returns the text after the value, or as
    /// the error, the text from the mistake on.
    fn skip_value<'a>(&self, after: &'a str) -> Result<&'a str, &'a str> {
        let after = after.trim_start_matches(is_space);
        let after = after.strip_prefix('=').ok_or(after)?;
        let after = after.trim_start_matches(is_space);
        let quote = after.chars().next();
        let quote = quote
            .filter(|quote| matches!(quote, '"' | '\''))
            .ok_or(after)?;
        let (value, rest) = after[1..].split_once(quote).ok_or("")?;
        match (self.is_valid)(value) {
            true => Ok(rest),
            false => Err(&after[1..]),
        }
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// The declared encoding, for an error, if it is not UTF-8 and `text` is not ASCII. A text that is
/// all ASCII is accepted with any declared encoding.
///
/// <https://www.w3.org/TR/xml/#charencoding>
pub(crate) fn conflicting_encoding(declaration: &str, text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    non_utf8_encoding(declaration)
}

/// The declared encoding, for an error, if it is not UTF-8.
pub(crate) fn non_utf8_encoding(declaration: &str) -> Option<String> {
    let encoding = pseudo_attribute(declaration, "encoding")?;
    (!is_utf8_compatible(encoding))
        .then(|| encoding.chars().take(24).map(snippet::printable).collect())
}

/// Whether text in this encoding is valid UTF-8.
pub(crate) fn is_utf8_compatible(encoding: &str) -> bool {
    let known = ["utf-8", "utf8", "us-ascii", "ascii"];
    known
        .iter()
        .any(|known| encoding.eq_ignore_ascii_case(known))
}

/// The value of a pseudo-attribute.
pub(crate) fn pseudo_attribute<'a>(declaration: &'a str, name: &str) -> Option<&'a str> {
    let after = declaration.split(name).nth(1)?.trim_start();
    let after = after.strip_prefix('=')?.trim_start();
    let quote = after
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    after[1..].split(quote).next()
}
