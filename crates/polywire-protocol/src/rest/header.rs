//! Header names, and lists in header values (RFC 9110, section 5.6.1).

use std::borrow::Cow;

use http::HeaderName;
use http::header::{CONNECTION, CONTENT_LENGTH, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use polywire_schema::ShapeKind;
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

/// Splits a header value into the items of a list with elements of this kind.
///
/// Items of lists of strings can be quoted. An HTTP date contains one comma; `dates` is set for
/// lists of these.
pub(super) fn split<'de>(
    value: &Cow<'de, str>,
    kind: ShapeKind,
    dates: bool,
) -> Result<Vec<Cow<'de, str>>, Malformed> {
    let slice = |start: usize, end: usize| match value {
        Cow::Borrowed(value) => Cow::Borrowed(trim_whitespace(&value[start..end])),
        Cow::Owned(value) => Cow::Owned(trim_whitespace(&value[start..end]).to_owned()),
    };
    if dates {
        let mut items = Vec::new();
        let mut start = 0;
        let mut commas = value
            .match_indices(',')
            .map(|(at, _)| at)
            .chain([value.len()]);
        while let (Some(_), Some(end)) = (commas.next(), commas.next()) {
            items.push(slice(start, end));
            start = end + 1;
        }
        // The timestamp parser rejects an incomplete date.
        if start < value.len() {
            items.push(slice(start, value.len()));
        }
        return Ok(items);
    }
    if !matches!(kind, ShapeKind::String | ShapeKind::Enum) || !value.contains('"') {
        let mut items = Vec::new();
        let mut start = 0;
        for end in value
            .match_indices(',')
            .map(|(at, _)| at)
            .chain([value.len()])
        {
            items.push(slice(start, end));
            start = end + 1;
        }
        items.retain(|item| !item.is_empty());
        return Ok(items);
    }
    split_quoted(value)
}

/// Splits a list in which some items are quoted strings.
fn split_quoted<'de>(value: &str) -> Result<Vec<Cow<'de, str>>, Malformed> {
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
                items.push(Cow::Owned(item.to_owned()));
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
        let split = |value: &'static str| {
            split(&Cow::Borrowed(value), ShapeKind::String, false).map(|items| items.join("|"))
        };
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
        let value = Cow::Borrowed("Mon, 16 Dec 2019 23:48:18 GMT, Mon, 16 Dec 2019 23:48:18 GMT");
        let items = split(&value, ShapeKind::Timestamp, true).unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(items[1], "Mon, 16 Dec 2019 23:48:18 GMT");
        let halves = split(
            &Cow::Borrowed("Mon, 1, tomorrow"),
            ShapeKind::Timestamp,
            true,
        );
        assert_eq!(halves.unwrap(), ["Mon, 1", "tomorrow"]);
    }
}
