//! The functions of the rules engine on texts
//! ([standard library](https://smithy.io/2.0/additional-specs/rules-engine/standard-library.html)).

mod arn;
mod host;
mod url;

use std::borrow::Cow;
use std::rc::Rc;

pub(super) use arn::Arn;
pub(super) use host::{is_host_label, is_virtual_hostable_bucket};
pub(super) use url::Url;

/// `substring`: the bytes from `start` to `end`, counted from the end of the text if `reverse`. `None` if the text is
/// shorter or not ASCII.
pub(super) fn substring<'a>(
    text: &Cow<'a, str>,
    start: i64,
    end: i64,
    reverse: bool,
) -> Option<Cow<'a, str>> {
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    if start >= end || end > text.len() || !text.is_ascii() {
        return None;
    }
    let range = match reverse {
        true => text.len() - end..text.len() - start,
        false => start..end,
    };
    Some(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    })
}

/// `uriEncode`: percent-encodes all but the unreserved characters of RFC 3986, section 2.3.
pub(super) fn uri_encode(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_unreserved =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    if text.bytes().all(is_unreserved) {
        return text;
    }
    let mut encoded = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if is_unreserved(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for digit in [byte >> 4, byte & 0xf] {
                encoded.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    Cow::Owned(encoded)
}

/// `split`: the parts between `delimiter`, at most `limit` of them; 0 means no limit. `None` for an empty delimiter
/// and a negative limit, for which the specification has no result.
pub(super) fn split<'a>(
    text: &Cow<'a, str>,
    delimiter: &str,
    limit: i64,
) -> Option<Rc<[Cow<'a, str>]>> {
    let limit = usize::try_from(limit).ok()?;
    if delimiter.is_empty() {
        return None;
    }
    let limit = if limit == 0 { usize::MAX } else { limit };
    Some(match text {
        Cow::Borrowed(text) => text.splitn(limit, delimiter).map(Cow::Borrowed).collect(),
        Cow::Owned(text) => text
            .splitn(limit, delimiter)
            .map(|part| Cow::Owned(part.to_owned()))
            .collect(),
    })
}

/// A part of a text, borrowed if the text is.
fn part<'a>(text: &Cow<'a, str>, part: std::ops::Range<usize>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[part]),
        Cow::Owned(text) => Cow::Owned(text[part].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substrings_count_from_either_end() {
        let text = Cow::Borrowed("abcdefg");
        assert_eq!(substring(&text, 0, 4, false).as_deref(), Some("abcd"));
        assert_eq!(substring(&text, 0, 4, true).as_deref(), Some("defg"));
        assert_eq!(substring(&text, 1, 3, true).as_deref(), Some("ef"));
        for (start, end) in [(0, 8), (3, 3), (4, 3), (-1, 2)] {
            assert_eq!(substring(&text, start, end, false), None);
        }
        assert_eq!(substring(&Cow::Borrowed("\u{fdfd}"), 0, 2, false), None);
    }

    #[test]
    fn all_but_unreserved_characters_are_encoded() {
        let encode = |text: &'static str| uri_encode(Cow::Borrowed(text));
        assert!(matches!(encode("aZ0-_.~"), Cow::Borrowed("aZ0-_.~")));
        assert_eq!(encode("a b/\u{e9}%"), "a%20b%2F%C3%A9%25");
    }

    #[test]
    fn splits_have_a_limit() {
        let parts = |text: &'static str, limit| {
            split(&Cow::Borrowed(text), "--", limit).map(|parts| parts.join("|"))
        };
        assert_eq!(parts("a--b--c", 0).as_deref(), Some("a|b|c"));
        assert_eq!(parts("a--b--c", 1).as_deref(), Some("a--b--c"));
        assert_eq!(parts("a--b--c", 2).as_deref(), Some("a|b--c"));
        assert_eq!(parts("--a--", 0).as_deref(), Some("|a|"));
        assert_eq!(parts("", 0).as_deref(), Some(""));
        assert_eq!(parts("a", -1), None);
        assert_eq!(split(&Cow::Borrowed("a"), "", 0), None);
    }
}
