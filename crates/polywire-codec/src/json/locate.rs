//! Where in a document an offset lies: the path of an error.
//!
//! Reads the document again from the start, token by token, up to the offset.
//! What lies before it has been read once without an error, so this is no
//! second parser: it only follows brackets, keys and commas.

use polywire_text::{escape, scan};

use crate::path::Path;

/// The path of the value at `offset`.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut path = Path::default();
    let mut at = 0;
    let mut key: Option<String> = None;
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

/// The string behind an opening quote, and the bytes up to and with its
/// closing quote.
fn string(text: &str) -> (String, usize) {
    let bytes = text.as_bytes();
    let mut string = String::new();
    let mut at = 0;
    loop {
        let clean = scan::json_clean(&bytes[at..]);
        string.push_str(text.get(at..at + clean).unwrap_or_default());
        at += clean;
        match bytes.get(at) {
            Some(b'\\') => match escape::json_escape(&bytes[at + 1..]) {
                Ok((character, len)) => {
                    string.push(character);
                    at += 1 + len;
                }
                Err(_) => return (string, at + 1),
            },
            Some(b'"') => return (string, at + 1),
            Some(_) => at += 1,
            None => return (string, at),
        }
    }
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
        assert_eq!(path(text, 0), "");
        assert_eq!(path(text, 1000), "");
    }
}
