//! Writes text as a quoted string, a text block or a doc comment: the most readable that keeps
//! every character.

use polywire_text::escape;

/// Appends a quoted string.
pub(super) fn quote(out: &mut String, text: &str) {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'"');
    // The IDL has all escapes that JSON has.
    escape::push_json(&mut quoted, text);
    quoted.push(b'"');
    out.push_str(&String::from_utf8_lossy(&quoted));
}

/// Whether a text block is more readable and keeps the text exactly.
///
/// A block loses white space at the ends of lines and the indentation that all lines share, so text
/// with these is quoted.
pub(super) fn wants_block(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    if !body.contains('\n') || text.contains('\r') {
        return false;
    }
    let keeps_ends = body.split('\n').all(|line| !line.ends_with([' ', '\t']));
    // The line of the closing quotes counts, if it is a separate line. Tabs are written as escapes
    // and are not indentation.
    let mut lines = body.split('\n').filter(|line| !line.is_empty());
    keeps_ends && (text.ends_with('\n') || lines.any(|line| !line.starts_with(' ')))
}

/// Appends a text block whose lines are indented by `indent` levels.
pub(super) fn block(out: &mut String, text: &str, indent: usize) {
    out.push_str("\"\"\"");
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        out.push('\n');
        // The last line holds the closing quotes.
        if is_last || !line.is_empty() {
            for _ in 0..indent {
                out.push_str("    ");
            }
        }
        block_line(out, line, is_last);
    }
    out.push_str("\"\"\"");
}

fn block_line(out: &mut String, line: &str, is_last: bool) {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let run = rest.len() - rest.trim_start_matches('"').len();
            // Three of them, or some before the closing ones, would end the block.
            let ends_block = run >= 3 || (is_last && run == rest.len());
            let quote = if ends_block { "\\\"" } else { "\"" };
            (0..run).for_each(|_| out.push_str(quote));
            rest = &rest[run..];
            continue;
        }
        if c == '\\' || c.is_ascii_control() {
            let mut escaped = Vec::new();
            escape::push_json(&mut escaped, &rest[..1]);
            out.push_str(&String::from_utf8_lossy(&escaped));
        } else {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// Whether the text can be written as doc comments. White space at the end of a line would be
/// removed by editors and formatters.
pub(super) fn fits_docs(text: &str) -> bool {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_ascii_control() || c == '\x7f';
    text.chars().all(is_plain) && !text.split('\n').any(|line| line.ends_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idl::text;

    #[test]
    fn blocks_keep_every_character() {
        for text in [
            "a\nb",
            "a\nb\n",
            "\na\n\n\nb",
            "a\n  b\n\n",
            "  a\n  b\n",
            "  a\nb",
            "a \"\" \"\"\" \"\"\"\" b\n\"c\"",
            "a\n\"\"\"",
            "a\\\nb\\n\n\tc\u{1}é😀",
            "\ta\n\tb",
        ] {
            assert!(wants_block(text), "{text:?}");
            for indent in [0, 2] {
                let mut out = String::new();
                block(&mut out, text, indent);
                assert_eq!(text::block(&out).as_deref(), Ok(text), "{out}");
            }
        }
        for text in ["", "a", "a\n", "a \nb", "a\r\nb", " a\n b", "\n\n"] {
            assert!(!wants_block(text), "{text:?}");
            let mut out = String::new();
            quote(&mut out, text);
            assert_eq!(text::quoted(&out).as_deref(), Ok(text), "{out}");
        }
    }
}
