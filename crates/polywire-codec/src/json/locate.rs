//! The path of an offset in a document, for errors.
//!
//! The document is read again from the start to the offset. Everything before the offset is known to
//! be well formed, so it is enough to follow brackets, keys and commas.

use std::borrow::Cow;

use polywire_text::escape::{self, LoneSurrogate};

use crate::path::Path;

/// The path of the value at `offset`.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut path = Path::default();
    let mut at = 0;
    let mut key: Option<Cow<'_, str>> = None;
    while at < offset.min(bytes.len()) {
        match bytes[at] {
            b'{' => path.enter_map(),
            b'[' => path.enter_list(),
            b'}' | b']' => path.leave(),
            b',' => path.next(),
            b':' => {
                if let Some(key) = key.take() {
                    path.key(&key);
                }
            }
            b'"' => {
                let (string, len) = string(&text[at + 1..]);
                at += len;
                key = Some(string);
            }
            _ => {}
        }
        at += 1;
    }
    path.to_string()
}

/// The string after an opening quote, and the length up to and including the closing quote. A
/// malformed string is the subject of the error, so nothing after it is needed.
fn string(text: &str) -> (Cow<'_, str>, usize) {
    escape::json_str(text, LoneSurrogate::Replace).unwrap_or((Cow::Borrowed(""), text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let text = r#"{"a": [1, {"b\n": 2, "c": [[3]]}], "d": 4}"#;
        for (needle, expected) in [
            ("1", "a[0]"),
            ("2", "a[1].b\u{b7}"),
            ("3", "a[1].c[0][0]"),
            ("4", "d"),
        ] {
            assert_eq!(path(text, text.find(needle).unwrap()), expected);
        }
        // Strings that look like structure, and halves of surrogate pairs.
        let text = r#"{"\ud83d\"}]": ["\\", "[{\"", 5], "\ud83d\ude00": 6}"#;
        assert_eq!(path(text, text.find('5').unwrap()), "\u{fffd}\"}][2]");
        assert_eq!(path(text, text.find(": 6").unwrap() + 2), "\u{1f600}");
        assert_eq!(path(text, 0), "");
        assert_eq!(path(text, 1000), "");
    }
}
