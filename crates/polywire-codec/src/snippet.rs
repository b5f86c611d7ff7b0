//! Excerpts of the input for errors.

/// The maximum number of bytes of the input in an error.
const MAX_LEN: usize = 24;

/// The JSON token at `offset`, shortened and printable. The excerpt is limited to one token, because
/// the input after it may be confidential and must not appear in a log.
#[cold]
pub(crate) fn json(input: &[u8], offset: usize) -> String {
    token(input, offset, |rest| match rest[0] {
        b'"' => {
            let mut escaped = false;
            let inside = rest[1..].iter().position(|&byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            });
            inside.map_or(rest.len(), |len| len + 2)
        }
        b'{' | b'}' | b'[' | b']' | b':' | b',' => 1,
        _ => {
            let ends = |byte: &u8| b"{}[]:,\" \t\r\n".contains(byte);
            rest.iter().position(ends).unwrap_or(rest.len())
        }
    })
}

/// The XML tag at `offset`, or the text up to the next tag. An element that contains only text is
/// shown up to its end tag. Like [`json`].
#[cold]
pub(crate) fn xml(input: &[u8], offset: usize) -> String {
    token(input, offset, |rest| {
        let until = |byte, rest: &[u8]| memchr::memchr(byte, rest).unwrap_or(rest.len());
        if rest[0] != b'<' {
            return until(b'<', rest);
        }
        let tag = (until(b'>', rest) + 1).min(rest.len());
        let text = tag + until(b'<', &rest[tag..]);
        let is_start = !matches!(rest.get(1), Some(b'/' | b'!' | b'?')) && rest[tag - 1] == b'>';
        if is_start && !rest[..tag].ends_with(b"/>") && rest[text..].starts_with(b"</") {
            return (text + until(b'>', &rest[text..]) + 1).min(rest.len());
        }
        tag
    })
}

/// The input from `offset` to the end, for input that is one token. Like [`json`].
#[cold]
pub(crate) fn rest(input: &[u8], offset: usize) -> String {
    token(input, offset, <[u8]>::len)
}

fn token(input: &[u8], offset: usize, len: impl FnOnce(&[u8]) -> usize) -> String {
    let Some(rest) = input.get(offset..).filter(|rest| !rest.is_empty()) else {
        return "the end of the input".to_owned();
    };
    let rest = &rest[..len(rest).max(1)];
    let cut = rest.len().min(MAX_LEN);
    let text = String::from_utf8_lossy(&rest[..cut]);
    let mut shown: String = text.chars().map(printable).collect();
    if rest.len() > cut {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

/// Replaces a control character with a dot, because it must not reach a terminal or a log.
pub(crate) fn printable(character: char) -> char {
    if character.is_control() {
        '\u{b7}'
    } else {
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token() {
        for (input, token) in [
            (r#"[ "hunter2", 1]"#, "`[`"),
            (r#""a\"b", "hunter2""#, r#"`"a\"b"`"#),
            (r#""a\\", "hunter2""#, r#"`"a\\"`"#),
            (
                r#""open, and never closed by a quote"#,
                r#"`"open, and never closed ...`"#,
            ),
            (r#"1.5,"hunter2""#, "`1.5`"),
            ("true}", "`true`"),
            (",1", "`,`"),
            (" 1", "` `"),
            ("\u{1}", "`\u{b7}`"),
            ("", "the end of the input"),
        ] {
            assert_eq!(json(input.as_bytes(), 0), token, "{input}");
        }
        for (input, token) in [
            ("<value><string>hunter2", "`<value>`"),
            ("<int>128</int><string>hunter2", "`<int>128</int>`"),
            ("<int/>hunter2</value>", "`<int/>`"),
            ("<a>hunter2", "`<a>`"),
            ("12</int><string>hunter2", "`12`"),
            ("</a>hunter2", "`</a>`"),
            ("no tag", "`no tag`"),
            ("<open", "`<open`"),
            ("", "the end of the input"),
        ] {
            assert_eq!(xml(input.as_bytes(), 0), token, "{input}");
        }
    }
}
