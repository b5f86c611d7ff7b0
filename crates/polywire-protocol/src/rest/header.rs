//! Header names, and lists in header values (RFC 9110, section 5.6.1).

use std::borrow::Cow;

use http::HeaderName;
use http::header::{CONNECTION, CONTENT_LENGTH, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use polywire_text::Malformed;

use crate::intern;
use crate::media::trim_whitespace;

/// A header that a member is bound to.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: HeaderName,
    pub(crate) kind: HeaderKind,
}

/// How a member that is bound to a header is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HeaderKind {
    /// A header about the connection (RFC 9110, section 7.6.1). A member must not set it, because
    /// that would break the framing of HTTP.
    Connection,
    /// `Content-Length`. The value must be the actual length.
    ContentLength,
    Other,
}

impl Header {
    /// Creates a header with a name from the model. Returns `None` if the name is invalid.
    pub(crate) fn new(name: &str) -> Option<Self> {
        intern::header_name(name).map(Self::of)
    }

    /// Creates a header with a name from a message. Returns `None` if the name is invalid.
    pub(crate) fn from_message(name: &str) -> Option<Self> {
        HeaderName::from_bytes(name.as_bytes()).ok().map(Self::of)
    }

    fn of(name: HeaderName) -> Self {
        const HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
        const LEGACY_HOP: [&str; 2] = ["keep-alive", "proxy-connection"];
        let kind = if name == CONTENT_LENGTH {
            HeaderKind::ContentLength
        } else if HOP.contains(&name) || LEGACY_HOP.contains(&name.as_str()) {
            HeaderKind::Connection
        } else {
            HeaderKind::Other
        };
        Self { name, kind }
    }
}

/// What the items of a list in a header are.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListItems {
    /// Dates of HTTP. Each contains one comma.
    HttpDates,
    /// Strings. They can be quoted.
    Strings,
    /// Other values. They contain no commas.
    Other,
}

/// Splits a header value into the items of a list. Empty items are omitted, unless they are quoted.
pub(super) fn split(value: &str, items: ListItems) -> Result<Vec<Cow<'_, str>>, Malformed> {
    match items {
        ListItems::Strings if value.contains('"') => split_quoted(value),
        ListItems::Strings | ListItems::Other => Ok(split_at_commas(value, 0)),
        ListItems::HttpDates => Ok(split_at_commas(value, 1)),
    }
}

/// Splits a list of items with this number of commas. The last item can have fewer: the parser of
/// its value rejects it.
fn split_at_commas(value: &str, commas_per_item: usize) -> Vec<Cow<'_, str>> {
    let commas = value.match_indices(',').map(|(at, _)| at);
    let separators = commas.skip(commas_per_item).step_by(commas_per_item + 1);
    let mut items = Vec::new();
    let mut start = 0;
    for end in separators.chain([value.len()]) {
        let item = trim_whitespace(&value[start..end]);
        if !item.is_empty() {
            items.push(Cow::Borrowed(item));
        }
        start = end + 1;
    }
    items
}

/// Splits a list in which some items are quoted strings.
fn split_quoted(value: &str) -> Result<Vec<Cow<'_, str>>, Malformed> {
    let bytes = value.as_bytes();
    let mut items = Vec::new();
    let mut at = 0;
    loop {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        if bytes.get(at) == Some(&b'"') {
            let start = at;
            let mut item = String::new();
            let mut characters = value[at + 1..].char_indices();
            loop {
                match characters.next() {
                    Some((_, '\\')) => match characters.next() {
                        Some((_, escaped)) => item.push(escaped),
                        None => return Err(Malformed::new(start, "a closing quote")),
                    },
                    Some((offset, '"')) => {
                        at += 1 + offset + 1;
                        break;
                    }
                    Some((_, character)) => item.push(character),
                    None => return Err(Malformed::new(start, "a closing quote")),
                }
            }
            items.push(Cow::Owned(item));
            while matches!(bytes.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
        } else {
            let end = value[at..]
                .find(',')
                .map_or(value.len(), |offset| at + offset);
            let item = trim_whitespace(&value[at..end]);
            if !item.is_empty() {
                items.push(Cow::Borrowed(item));
            }
            at = end;
        }
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(_) => return Err(Malformed::new(at, "a comma after a quoted string")),
            None => return Ok(items),
        }
    }
}

/// Appends an item of a list. Quotes it if it contains a comma or a quote, is empty, or has white
/// space at its ends.
pub(super) fn push_item(out: &mut Vec<u8>, item: &str) {
    if !item.contains([',', '"']) && !item.is_empty() && trim_whitespace(item) == item {
        return out.extend_from_slice(item.as_bytes());
    }
    out.push(b'"');
    for byte in item.bytes() {
        if matches!(byte, b'\\' | b'"') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let split =
            |value: &'static str| split(value, ListItems::Strings).map(|items| items.join("|"));
        assert_eq!(split("a, b ,c").unwrap(), "a|b|c");
        assert_eq!(split(r#""b,c", "\"def\"", a"#).unwrap(), "b,c|\"def\"|a");
        assert_eq!(split("").unwrap(), "");
        assert!(split(r#""a"#).is_err());
        assert!(split(r#""a" b"#).is_err());
        let quoted = |item: &str| {
            let mut out = Vec::new();
            push_item(&mut out, item);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(quoted("b c"), "b c");
        assert_eq!(quoted("b,c"), r#""b,c""#);
        assert_eq!(quoted(r#""def""#), r#""\"def\"""#);
        assert_eq!(quoted(r"a\,b"), r#""a\\,b""#);
        assert_eq!(quoted(" wide "), r#"" wide ""#);
        assert_eq!(quoted(""), r#""""#);
        assert_eq!(split(r#""", " wide ""#).unwrap(), "| wide ");
    }

    #[test]
    fn dates() {
        let date = "Mon, 16 Dec 2019 23:48:18 GMT";
        for (value, expected) in [
            (format!("{date}, {date}"), vec![date, date]),
            (date.to_owned(), vec![date]),
            (String::new(), vec![]),
            ("Mon, 1, tomorrow".to_owned(), vec!["Mon, 1", "tomorrow"]),
            ("Mon, 1,".to_owned(), vec!["Mon, 1"]),
            (",,,".to_owned(), vec![",", ","]),
        ] {
            assert_eq!(split(&value, ListItems::HttpDates).unwrap(), expected);
        }
    }
}
