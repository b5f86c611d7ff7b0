//! Where in a message an offset lies: the path of an error.

use polywire_text::escape::{self, XmlPlace, XmlReading};

use crate::path::Path;

/// The path of the value at `offset`: follows structs, their names, and
/// arrays, from the start of the message.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let mut path = Path::default();
    let mut rest = &text[..floor(text, offset)];
    // An error behind the end of a value still means that value; only the
    // next tag moves on.
    let mut ended = false;
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if let Some(after) = skip(rest) {
            rest = after;
            continue;
        }
        let Some(close) = tag_end(rest) else { break };
        let tag = rest[1..close].trim_end();
        rest = &rest[close + 1..];
        if std::mem::take(&mut ended) {
            path.next();
        }
        // Attributes mean nothing.
        let name = tag
            .split([' ', '\t', '\r', '\n'])
            .next()
            .unwrap_or_default();
        match name {
            _ if tag.ends_with('/') => ended = name.trim_end_matches('/') == "value",
            "struct" => path.enter_map(),
            "data" => path.enter_list(),
            "/struct" | "/data" => path.leave(),
            "name" => {
                if let Some(name) = characters(rest) {
                    path.key(&name);
                }
            }
            // Ends an item of an array, or a member's value.
            "/value" => ended = true,
            _ => {}
        }
    }
    path.to_string()
}

/// Where the tag ends that the text begins with: its `>`, and none in the value of an
/// attribute.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Character data up to its end tag, as the reader takes it; nothing if the
/// text is cut before.
fn characters(mut rest: &str) -> Option<String> {
    let mut text = String::new();
    loop {
        let (part, markup) = rest.split_at(rest.find('<')?);
        text.push_str(&escape::unescape_xml(part, XmlPlace::Text, XmlReading::Strict).ok()?);
        rest = markup;
        if let Some(after) = rest.strip_prefix("<![CDATA[") {
            let len = after.find("]]>")?;
            text.push_str(&after[..len]);
            rest = &after[len + "]]>".len()..];
        } else if let Some(after) = skip(rest) {
            rest = after;
        } else {
            return rest.starts_with("</").then_some(text);
        }
    }
}

/// Behind a comment, a processing instruction or CDATA, if one starts here.
fn skip(rest: &str) -> Option<&str> {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if rest.starts_with(open) {
            return Some(
                rest.find(close)
                    .map_or("", |end| &rest[end + close.len()..]),
            );
        }
    }
    None
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let text = "<params><param><value><struct><member><name>a</name><value><array><data>\
            <value><int>1</int></value><!-- <data> --><value><struct><member><name>b</name><value>2\
            </value></member></struct></value></data></array></value></member><member><name>c</name>\
            <value>3</value></member></struct></value></param></params>";
        for (needle, expected) in [("1</int", "a[0]"), ("2<", "a[1].b"), ("3<", "c")] {
            assert_eq!(path(text, text.find(needle).unwrap()), expected);
        }
    }

    #[test]
    fn attributes_mean_nothing() {
        for attribute in [
            "b='>'",
            "b=\"'>\"",
            "b='\">' c='/>'",
            "b='</value><struct>'",
            "b='/'",
        ] {
            let text = format!(
                "<value {attribute}><array {attribute}><data {attribute}>\
                 <value {attribute}><int {attribute}>1</int></value>\
                 <value {attribute}><struct {attribute}><member {attribute}>\
                 <name {attribute}>a</name><value {attribute}>2"
            );
            assert_eq!(path(&text, text.find(">1<").unwrap() + 1), "[0]", "{text}");
            assert_eq!(path(&text, text.len()), "[1].a", "{text}");
        }
    }

    #[test]
    fn names_as_they_are_read() {
        for (name, expected) in [
            ("a&amp;lt;&lt;", "a&lt;<"),
            ("&#65;&#x1F600;&quot;&apos;", "A\u{1f600}\"'"),
            ("a\r\nb", "a\u{b7}b"),
            ("a<![CDATA[<&amp;]]>b", "a<&amp;b"),
            ("a<!-- <name>x</name> --><?pi?>b", "ab"),
            ("", ""),
        ] {
            let text = format!("<struct><member><name>{name}</name><value>1");
            assert_eq!(path(&text, text.len() - 1), expected, "{name}");
        }
        // Cut within the name, wherever: no path, and no panic.
        let text = "<struct><member><name>a&#x1F600;<![CDATA[b]]><!-- c --></name>";
        for offset in 0.."<struct><member><name>a&#x1F600;<![CDATA[b]]><!-- c -->".len() {
            assert_eq!(path(text, offset), "", "{offset}");
        }
    }
}
