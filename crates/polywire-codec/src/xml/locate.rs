//! The path of an error, from the tags before it.

use std::collections::HashMap;

use crate::path::Path;
use crate::xml_tokens::Tags;

/// The path of the element at `offset`, without the root: names, with an index if a name is
/// repeated.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let mut path = Path::default();
    // How often each name was seen, for each level.
    let mut names: Vec<HashMap<&str, usize>> = Vec::new();
    // An error after the end of an element is an error of that element.
    let mut ended = false;
    for tag in Tags::before(text, offset) {
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
