//! Where in a document an offset lies: the path of an error.
//!
//! Reads the document again from the start, tag by tag, up to the offset. What
//! lies before it has been read once without an error, so this is no second
//! parser: it only follows tags.

use std::collections::HashMap;

use crate::path::Path;

/// The path of the element at `offset`, without the root: names, and which of
/// several with the same name it is.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let mut path = Path::default();
    // Per level, how often each name was seen.
    let mut names: Vec<HashMap<&str, usize>> = Vec::new();
    // An error right behind an empty element still means that element.
    let mut ended = false;
    let mut rest = &text[..floor(text, offset)];
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if let Some(after) = skip(rest) {
            rest = after;
            continue;
        }
        let Some(close) = tag_end(rest) else { break };
        let tag = &rest[1..close];
        rest = &rest[close + 1..];
        if std::mem::take(&mut ended) {
            path.next();
        }
        if tag.starts_with('/') {
            path.leave();
            path.next();
            names.pop();
            continue;
        }
        let name = tag.split([' ', '\t', '\r', '\n', '/']).next();
        let name = name.unwrap_or_default();
        let before = match names.last_mut() {
            None => 0,
            Some(seen) => {
                let count = seen.entry(name).or_default();
                *count += 1;
                *count - 1
            }
        };
        if !names.is_empty() {
            match before {
                0 => path.key(name),
                _ => path.key(&format!("{name}[{before}]")),
            }
        }
        if tag.ends_with('/') {
            ended = true;
            continue;
        }
        path.enter_map();
        names.push(HashMap::new());
    }
    path.to_string()
}

/// Where the `>` of the tag stands at whose `<` the text begins. A quoted one
/// is none.
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

/// Behind a comment, a processing instruction or CDATA, if one starts here.
fn skip(rest: &str) -> Option<&str> {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if rest.starts_with(open) {
            let end = rest.find(close);
            return Some(end.map_or("", |end| &rest[end + close.len()..]));
        }
    }
    None
}

fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let text = "<?xml version='1.0'?><r><a>1</a><b x='>'><c/><c>2</c><!-- <d> --><c>3</c></b>\
            <b><![CDATA[<e>]]>4</b></r>";
        for (needle, expected) in [
            ("1<", "a"),
            ("2<", "b.c[1]"),
            ("3<", "b.c[2]"),
            ("4<", "b[1]"),
        ] {
            assert_eq!(path(text, text.find(needle).unwrap()), expected, "{needle}");
        }
        for offset in 0..text.len() + 3 {
            path(text, offset);
        }
    }
}
