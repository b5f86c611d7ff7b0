//! The tags before an error, from which a format finds the path of the error.

/// The tags before an offset. What comes before an error was read once without an error, so
/// this only follows tags.
pub(crate) struct Tags<'a> {
    rest: &'a str,
}

impl<'a> Tags<'a> {
    pub(crate) fn before(text: &'a str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { rest: &text[..end] }
    }

    /// The character data after the last tag, up to an end tag. `None` if the offset comes
    /// before the end tag.
    pub(crate) fn text(&self, unescape: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut rest = self.rest;
        let mut text = String::new();
        loop {
            let (part, markup) = rest.split_at(rest.find('<')?);
            text.push_str(&unescape(part)?);
            rest = markup;
            if let Some(after) = rest.strip_prefix("<![CDATA[") {
                let (section, after) = after.split_once("]]>")?;
                text.push_str(section);
                rest = after;
            } else if let Some(after) = skip_markup(rest) {
                rest = after;
            } else {
                return rest.starts_with("</").then_some(text);
            }
        }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = &'a str;

    /// What is between `<` and `>` of the next tag.
    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = &self.rest[self.rest.find('<')?..];
            match skip_markup(self.rest) {
                Some(after) => self.rest = after,
                None => break,
            }
        }
        let close = tag_end(self.rest)?;
        let tag = &self.rest[1..close];
        self.rest = &self.rest[close + 1..];
        Some(tag)
    }
}

/// The offset of the `>` of the tag at the beginning. A `>` in quotes does not count.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|byte| {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(quoted)) if byte == quoted => quote = None,
            _ => {}
        }
        byte == b'>' && quote.is_none()
    })
}

/// What comes after a comment, a processing instruction or CDATA, if the text begins with one.
fn skip_markup(text: &str) -> Option<&str> {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if text.starts_with(open) {
            let end = text.find(close);
            return Some(end.map_or("", |end| &text[end + close.len()..]));
        }
    }
    None
}
