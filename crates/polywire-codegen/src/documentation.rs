//! Converts the documentation of models to rustdoc Markdown.
//!
//! Smithy documentation is CommonMark, which may contain HTML. AWS models use only HTML. The result
//! is Markdown without HTML, without links to Rust items, and without code blocks that rustdoc
//! would compile.

/// Converts documentation to Markdown for rustdoc.
pub(crate) fn markdown(text: &str) -> String {
    let text = text.trim();
    let mut writer = Writer::default();
    match is_html(text) {
        true => html(text, &mut writer),
        false => return plain(text),
    }
    writer.finish()
}

/// Whether the text contains HTML tags.
fn is_html(text: &str) -> bool {
    [
        "<p>", "<p ", "<ul>", "<li>", "<a ", "<code>", "<i>", "<b>", "<br>", "<br/>", "<note>",
    ]
    .iter()
    .any(|tag| text.contains(tag))
}

/// Escapes CommonMark where rustdoc would interpret it differently.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_end();
        let start = line.trim_start();
        if start.starts_with("```") {
            fenced = !fenced;
            // rustdoc compiles code blocks without a language as Rust.
            let is_bare = fenced && start.trim_start_matches('`').is_empty();
            out.push_str(line);
            out.push_str(if is_bare { "text" } else { "" });
        } else if fenced {
            out.push_str(line);
        } else {
            // Lines indented by four columns are code blocks, which rustdoc compiles.
            let indent = (line.len() - start.len()).min(3);
            out.push_str(&line[..indent]);
            escape_line(start, &mut out);
        }
        out.push('\n');
    }
    if fenced {
        out.push_str("```\n");
    }
    out.truncate(out.trim_end().len());
    out
}

/// Escapes `[` that does not start a link and `<` that starts a tag, except in code.
fn escape_line(line: &str, out: &mut String) {
    let mut code = false;
    let bytes = line.as_bytes();
    for (at, character) in line.char_indices() {
        let next = bytes.get(at + 1).copied();
        let is_escaped = at > 0 && bytes[at - 1] == b'\\';
        match character {
            '`' => code = !code,
            '[' if !code && !is_escaped && !is_link(&line[at..]) => out.push('\\'),
            '<' if !code && !is_escaped => {
                let is_url = line[at + 1..].starts_with("http") && line[at..].contains('>');
                let is_tag = next.is_some_and(|next| next.is_ascii_alphabetic() || next == b'/');
                if is_tag && !is_url {
                    out.push('\\');
                }
            }
            _ => {}
        }
        out.push(character);
    }
}

/// Whether the text starts with `[text](url)`.
fn is_link(text: &str) -> bool {
    text.find(']')
        .is_some_and(|end| text[end + 1..].starts_with('('))
}

/// Converts HTML events to Markdown.
#[derive(Default)]
struct Writer {
    out: String,
    /// The open lists: the last number of ordered lists, `None` for unordered ones.
    lists: Vec<Option<u32>>,
    /// Whether to start a new paragraph before the next text.
    paragraph: bool,
    /// Whether to break the line before the next text.
    line: bool,
    /// Whether to write a space before the next text.
    space: bool,
    /// Whether the current text is in a code span or block.
    code: bool,
    /// The text of the current code span or block.
    code_text: String,
    pre: bool,
    link: Option<(String, usize)>,
}

impl Writer {
    fn finish(mut self) -> String {
        if self.code {
            self.end_code();
        }
        self.end_link();
        let lines: Vec<&str> = self.out.lines().map(str::trim_end).collect();
        lines.join("\n").trim().to_owned()
    }

    /// Writes the pending paragraph break, line break or space.
    fn begin(&mut self) {
        let indent = "  ".repeat(self.lists.len());
        if self.out.is_empty() {
            self.paragraph = false;
            self.line = false;
        }
        if self.paragraph {
            self.out.push_str("\n\n");
            self.out.push_str(&indent);
        } else if self.line {
            self.out.push('\n');
            self.out.push_str(&indent);
        } else if self.space && !self.out.ends_with([' ', '\n']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.paragraph = false;
        self.line = false;
        self.space = false;
    }

    fn text(&mut self, text: &str) {
        let text = &entities(text);
        if self.code {
            self.code_text.push_str(text);
            return;
        }
        for (index, word) in text.split_ascii_whitespace().enumerate() {
            if index > 0 || text.starts_with(|c: char| c.is_ascii_whitespace()) {
                self.space = true;
            }
            self.begin();
            let is_start = self.out.is_empty() || self.out.ends_with(['\n', ' ']);
            if word.starts_with("http://") || word.starts_with("https://") {
                let end = word.trim_end_matches(['.', ',', ')', ';', ':']).len();
                if self.link.is_none() {
                    self.out.push('<');
                    self.out.push_str(&word[..end]);
                    self.out.push('>');
                } else {
                    self.out.push_str(&word[..end]);
                }
                escape(&word[end..], false, &mut self.out);
            } else {
                escape(word, is_start, &mut self.out);
            }
        }
        self.space = text.ends_with(|c: char| c.is_ascii_whitespace());
    }

    fn end_code(&mut self) {
        self.code = false;
        let code_text = std::mem::take(&mut self.code_text);
        if self.pre {
            self.pre = false;
            self.paragraph = true;
            self.begin();
            let indent = "  ".repeat(self.lists.len());
            self.out.push_str("```text\n");
            for line in code_text.trim_matches('\n').lines() {
                self.out.push_str(&indent);
                self.out.push_str(&line.replace("```", "'''"));
                self.out.push('\n');
            }
            self.out.push_str(&indent);
            self.out.push_str("```");
            self.paragraph = true;
            return;
        }
        let words: Vec<&str> = code_text.split_ascii_whitespace().collect();
        if words.is_empty() {
            return;
        }
        if code_text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.space = true;
        }
        self.begin();
        let code_text = words.join(" ");
        let ticks = if code_text.contains('`') { "``" } else { "`" };
        let gap = if code_text.starts_with('`') || code_text.ends_with('`') {
            " "
        } else {
            ""
        };
        self.out
            .push_str(&format!("{ticks}{gap}{code_text}{gap}{ticks}"));
    }

    fn end_link(&mut self) {
        let Some((url, start)) = self.link.take() else {
            return;
        };
        let text = self.out.split_off(start);
        let shown = text.trim_start_matches('[').trim();
        match (shown.is_empty(), url.is_empty()) {
            (true, _) => {}
            (false, true) => self.out.push_str(shown),
            (false, false) => self.out.push_str(&format!("[{shown}]({url})")),
        }
    }

    fn open(&mut self, name: &str, attributes: &str) {
        match name {
            "p" | "div" | "note" | "important" | "dl" | "dt" | "table" | "tr" | "title"
            | "para" => {
                self.paragraph |= !self.out.ends_with("- ") && !self.is_item_start();
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "fullname" => self.paragraph = true,
            "dd" | "br" => self.line = true,
            "td" | "th" => self.space = true,
            "ul" => {
                self.paragraph = self.lists.is_empty();
                self.lists.push(None);
            }
            "ol" => {
                self.paragraph = self.lists.is_empty();
                self.lists.push(Some(0));
            }
            "li" => self.item(),
            "code" | "tt" | "pre" if !self.code => {
                self.code = true;
                self.pre = name == "pre";
            }
            "a" if self.link.is_none() && !self.code => {
                self.begin();
                let url = attribute(attributes, "href");
                let url = url.filter(|url| {
                    url.starts_with("http") && !url.contains(['(', ')', ' ', '<', '>'])
                });
                self.link = Some((url.unwrap_or_default().to_owned(), self.out.len()));
                self.out.push('[');
            }
            _ => {}
        }
    }

    /// Whether the current line contains only a list marker.
    fn is_item_start(&self) -> bool {
        let line = self.out.rsplit('\n').next().unwrap_or_default().trim();
        line == "-"
            || line
                .strip_suffix('.')
                .is_some_and(|number| number.parse::<u32>().is_ok())
    }

    fn item(&mut self) {
        let depth = self.lists.len().saturating_sub(1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{number}.")
            }
            _ => "-".to_owned(),
        };
        let is_first = self.paragraph && self.lists.len() == 1;
        if !self.out.is_empty() {
            self.out.push_str(if is_first { "\n\n" } else { "\n" });
        }
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(&mark);
        self.out.push(' ');
        self.paragraph = false;
        self.line = false;
        self.space = false;
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" | "div" | "note" | "important" | "dl" | "dt" | "dd" | "table" | "tr" | "h1"
            | "h2" | "h3" | "h4" | "h5" | "h6" | "title" | "fullname" | "para" => {
                self.paragraph = true;
            }
            "ul" | "ol" => {
                self.lists.pop();
                self.paragraph = true;
            }
            "li" => self.paragraph = false,
            "code" | "tt" if self.code && !self.pre => self.end_code(),
            "pre" if self.code => self.end_code(),
            "a" => self.end_link(),
            _ => {}
        }
    }
}

fn html(text: &str, writer: &mut Writer) {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let end = after.find('>').filter(|_| is_tag);
        let Some(end) = end else {
            writer.text(&rest[..=start]);
            rest = after;
            continue;
        };
        writer.text(&rest[..start]);
        let tag = after[..end].trim_end_matches('/').trim();
        rest = &after[end + 1..];
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        match name.strip_prefix('/') {
            Some(name) => writer.close(&name.to_ascii_lowercase()),
            None => writer.open(&name.to_ascii_lowercase(), attributes),
        }
    }
    writer.text(rest);
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let rest = attributes[attributes.find(name)? + name.len()..].trim_start();
    let rest = rest.strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split(quote).next()
}

fn entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let entity = rest
            .find(';')
            .filter(|end| *end <= 10)
            .map(|end| &rest[1..end]);
        let character = entity.and_then(|entity| {
            Some(match entity {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                "nbsp" => ' ',
                "mdash" => '\u{2014}',
                "ndash" => '\u{2013}',
                "hellip" => '\u{2026}',
                _ => {
                    let digits = entity.strip_prefix('#')?;
                    let code = match digits.strip_prefix(['x', 'X']) {
                        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                        None => digits.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            })
        });
        match (character, entity) {
            (Some(character), Some(entity)) => {
                out.push(character);
                rest = &rest[entity.len() + 2..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Escapes characters with a meaning in Markdown.
fn escape(word: &str, is_start: bool, out: &mut String) {
    for (at, character) in word.char_indices() {
        let is_mark = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' => true,
            '_' => at == 0 || at + 1 == word.len(),
            '#' | '+' | '-' | '=' => is_start && at == 0,
            '.' | ')' => is_start && at > 0 && word[..at].bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        if is_mark {
            out.push('\\');
        }
        out.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_markdown() {
        for (html, expected) in [
            ("<p>One.</p><p>Two &amp; three.</p>", "One.\n\nTwo & three."),
            (
                "<p>See <a href=\"https://example.com/a\">the page</a>.</p>",
                "See [the page](https://example.com/a).",
            ),
            ("<p>A <code>List&lt;T&gt;</code> of.</p>", "A `List<T>` of."),
            (
                "<p>All:</p><ul><li><p>one</p></li><li>two [x]</li></ul><p>End.</p>",
                "All:\n\n- one\n- two \\[x\\]\n\nEnd.",
            ),
            (
                "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
                "- a\n  - b\n- c",
            ),
            ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
            ("<p>x</p><pre>a\n  b</pre>", "x\n\n```text\na\n  b\n```"),
            ("<p>a < b * c</p>", "a \\< b \\* c"),
            (
                "<p>See https://example.com/x.</p>",
                "See <https://example.com/x>.",
            ),
            ("<p>1. is not a list</p>", "1\\. is not a list"),
            ("<p>unclosed <code>x", "unclosed `x`"),
            ("<p></p>", ""),
            ("<p><a>no link</a></p>", "no link"),
        ] {
            assert_eq!(markdown(html), expected, "{html}");
        }
    }

    #[test]
    fn commonmark_stays_but_for_links_to_nothing() {
        for (text, expected) in [
            ("A *word* and `code[0]`.", "A *word* and `code[0]`."),
            (
                "[Not a link] and [one](http://x)",
                "\\[Not a link] and [one](http://x)",
            ),
            ("Vec<u8>, <http://x>", "Vec\\<u8>, <http://x>"),
            ("```\nlet x;\n```", "```text\nlet x;\n```"),
            ("a\n\n        code", "a\n\n   code"),
        ] {
            assert_eq!(markdown(text), expected, "{text}");
        }
    }
}
