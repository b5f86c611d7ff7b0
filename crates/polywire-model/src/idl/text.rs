//! The text of quoted strings, text blocks and doc comments.

use polywire_text::escape::json_escape;

/// An error in a string: the offset from the start of the token, and what was expected there.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct TextError {
    pub(super) offset: usize,
    pub(super) expected: &'static str,
}

/// The text of a quoted string, quotes included.
pub(super) fn quoted(token: &str) -> Result<String, TextError> {
    unescape(&token[1..token.len() - 1], 1)
}

/// The text of a text block, `"""` included.
///
/// ```text
/// TextBlock = ThreeDquotes *SP NL *TextBlockContent ThreeDquotes
/// ```
/// The indentation that all lines share is not part of the text. Lines of white space do not count,
/// except for the last one: closing quotes further to the left keep indentation. White space at the
/// ends of lines is removed. Tabs are text. Escapes are decoded last, so that `\n` survives.
pub(super) fn block(token: &str) -> Result<String, TextError> {
    let inner = &token[3..token.len() - 3];
    let Some((first, content)) = inner.split_once('\n') else {
        return Err(TextError {
            offset: 3,
            expected: "a line break after `\"\"\"`",
        });
    };
    if !first.trim_matches([' ', '\t', '\r', ',']).is_empty() {
        return Err(TextError {
            offset: 3,
            expected: "a line break after `\"\"\"`",
        });
    }
    let lines: Vec<&str> = content
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let last = lines.len() - 1;
    let indent = lines
        .iter()
        .enumerate()
        .filter(|(index, line)| *index == last || !line.trim_matches(' ').is_empty())
        .map(|(_, line)| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let mut text = String::with_capacity(content.len());
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        // White space is ASCII, so the cut is at a character boundary.
        text.push_str(line.get(indent..).unwrap_or_default().trim_end_matches(' '));
    }
    // Offsets in the trimmed text would be wrong, so errors are reported at the start.
    unescape(&text, 0).map_err(|error| TextError { offset: 0, ..error })
}

/// The text of one `///` line.
pub(super) fn doc_line(token: &str) -> &str {
    let line = token.strip_prefix("///").unwrap_or(token);
    line.strip_prefix(' ')
        .unwrap_or(line)
        .trim_end_matches('\r')
}

/// ```text
/// EscapedChar = "\" ( "\" / "'" / DQUOTE / "/" / "b" / "f" / "n" / "r" / "t"
///                   / "u" 4HEXDIG / NL )
/// ```
/// A line break after a backslash is not part of the text. The other escapes are those of JSON, and
/// `\'`.
fn unescape(text: &str, base: usize) -> Result<String, TextError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '\r']) {
        out.push_str(&rest[..at]);
        let offset = base + (text.len() - rest.len()) + at;
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\r') {
            // CRLF and CR are line breaks, too.
            rest = after.strip_prefix('\n').unwrap_or(after);
            out.push('\n');
            continue;
        }
        let after = &rest[1..];
        if let Some(next) = after.strip_prefix('\'') {
            out.push('\'');
            rest = next;
            continue;
        }
        if after.starts_with(['\r', '\n']) {
            let next = after.strip_prefix('\r').unwrap_or(after);
            rest = next.strip_prefix('\n').unwrap_or(next);
            continue;
        }
        let (c, length) = json_escape(after.as_bytes()).map_err(|_| TextError {
            offset,
            expected: match after.starts_with('u') {
                true => "\\u with four hex digits, surrogates in pairs",
                false => {
                    "an escape: \\\\ \\\" \\' \\/ \\b \\f \\n \\r \\t \\uXXXX, or a line break"
                }
            },
        })?;
        out.push(c);
        rest = &after[length..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_strings() {
        assert_eq!(
            quoted(r#""a\n\"\u00e9\ud83d\ude00\'\/""#).unwrap(),
            "a\n\"é😀'/"
        );
        assert_eq!(quoted("\"a\\\n b\r\nc\"").unwrap(), "a b\nc");
        assert_eq!(quoted(r#""ab\q""#).unwrap_err().offset, 3);
        assert!(quoted(r#""\ud800""#).is_err());
        assert!(quoted(r#""\u12""#).is_err());
    }

    #[test]
    fn text_blocks() {
        assert_eq!(
            block("\"\"\"\n    a\n      b\n\n    c\"\"\"").unwrap(),
            "a\n  b\n\nc"
        );
        assert_eq!(block("\"\"\"\n    a\n    \"\"\"").unwrap(), "a\n");
        assert_eq!(block("\"\"\"\n    a  \n  \"\"\"").unwrap(), "  a\n");
        assert_eq!(
            block("\"\"\"\r\n  a\\n \r\n  b\\\r\n  c\"\"\"").unwrap(),
            "a\n\nbc"
        );
        assert_eq!(block("\"\"\"\n  a\\\n  b\"\"\"").unwrap(), "ab");
        assert_eq!(block("\"\"\"\n\"\"\"").unwrap(), "");
        assert_eq!(
            block("\"\"\"\n \ta \t\n  \tb  \n \"\"\"").unwrap(),
            "\ta \t\n \tb\n"
        );
        assert!(block("\"\"\"a\"\"\"").is_err());
    }
}
