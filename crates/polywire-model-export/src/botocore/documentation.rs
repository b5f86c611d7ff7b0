//! Converts documentation to HTML, from which botocore generates help texts.
//!
//! Documentation in Smithy is CommonMark, which can contain HTML. Models of AWS have mostly HTML.
//! Text that begins with a tag is not changed. In other text, paragraphs and `code` are converted.

use std::fmt::Write;

pub(super) fn html(text: &str) -> String {
    if text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let mut html = String::with_capacity(text.len() + 16);
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let paragraph: Vec<&str> = lines
            .by_ref()
            .skip_while(|line| line.trim().is_empty())
            .take_while(|line| !line.trim().is_empty())
            .collect();
        if !paragraph.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(html, "<p>{}</p>", code(&paragraph.join("\n")));
        }
    }
    html
}

/// Converts pairs of backticks to code. An unpaired backtick is kept.
fn code(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((inside, behind)) = after.split_once('`') else {
            break;
        };
        html.push_str(before);
        let inside = inside.replace('&', "&amp;").replace('<', "&lt;");
        // Writing to a string cannot fail.
        let _ = write!(html, "<code>{inside}</code>");
        rest = behind;
    }
    html.push_str(rest);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_code() {
        assert_eq!(html("<p>As it is, `so`</p>"), "<p>As it is, `so`</p>");
        assert_eq!(html(""), "");
        assert_eq!(
            html("One\nline, `a<b`.\n\n\nTwo `x.\n"),
            "<p>One\nline, <code>a&lt;b</code>.</p><p>Two `x.</p>"
        );
    }
}
