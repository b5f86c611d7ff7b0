//! Names of headers, and lists in their values, RFC 9110, section 5.6.1.

use std::borrow::Cow;

use http::HeaderName;
use http::header::{CONNECTION, CONTENT_LENGTH, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use polywire_schema::ShapeKind;
use polywire_text::Malformed;

use crate::kept;
use crate::media::trim_whitespace;

/// The header of a member.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: HeaderName,
    pub(crate) role: Role,
}

/// What a header is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Role {
    /// The connection: what a message says there would break the next one.
    Connection,
    /// The length of the body.
    Length,
    Other,
}

impl Header {
    /// The header of a member: a name of the model. `None` if it cannot be one.
    pub(crate) fn new(name: &str) -> Option<Self> {
        kept::header_name(name).map(Self::of)
    }

    /// A header whose name a message gives. `None` if it cannot be one.
    pub(crate) fn given(name: &str) -> Option<Self> {
        HeaderName::from_bytes(name.as_bytes()).ok().map(Self::of)
    }

    fn of(name: HeaderName) -> Self {
        // RFC 9110, section 7.6.1.
        const HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
        const OLDER: [&str; 2] = ["keep-alive", "proxy-connection"];
        let role = if name == CONTENT_LENGTH {
            Role::Length
        } else if HOP.contains(&name) || OLDER.contains(&name.as_str()) {
            Role::Connection
        } else {
            Role::Other
        };
        Self { name, role }
    }
}

/// Splits a header value into the items of a list of this kind.
///
/// Strings may be quoted. HTTP dates hold a comma each.
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
        // Half a date is for the reader of dates to refuse.
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
    quoted(value)
}

/// A list in which some items are quoted strings.
fn quoted<'de>(value: &str) -> Result<Vec<Cow<'de, str>>, Malformed> {
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

/// Appends an item of a list, quoted if it must be: also where it would be
/// trimmed or skipped otherwise.
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
