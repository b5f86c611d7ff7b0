//! The XML declaration, which XML and XML-RPC share.

use crate::snippet;

/// The encoding that a declaration names, to be shown, if `text` cannot be in it:
/// everything that is read is UTF-8. What a writer of another encoding escapes
/// down to ASCII is UTF-8 as well.
///
/// <https://www.w3.org/TR/xml/#charencoding>
pub(crate) fn foreign_encoding(declaration: &str, text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    other_encoding(declaration)
}

/// The encoding that a declaration names, to be shown, if it is none of those that are
/// UTF-8.
pub(crate) fn other_encoding(declaration: &str) -> Option<String> {
    let encoding = pseudo_attribute(declaration, "encoding")?;
    (!is_utf8(encoding)).then(|| encoding.chars().take(24).map(snippet::printable).collect())
}

/// Whether what is said to be in this encoding is UTF-8.
pub(crate) fn is_utf8(encoding: &str) -> bool {
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
