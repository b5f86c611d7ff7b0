//! Finds the path of an error from the tags before it.

use polywire_text::escape::{XmlPlace, XmlReading, unescape_xml};

use crate::path::Path;
use crate::xml_tokens::Tags;

/// The path of the value at `offset`, from names of members and indices of items.
#[cold]
pub(super) fn path(text: &str, offset: usize) -> String {
    let unescape = |part: &str| {
        let text = unescape_xml(part, XmlPlace::Text, XmlReading::Strict);
        text.ok().map(String::from)
    };
    let mut path = Path::default();
    // An error after the end of a value is an error of that value.
    let mut ended = false;
    let mut tags = Tags::before(text, offset);
    while let Some(tag) = tags.next() {
        let tag = tag.trim_end();
        if std::mem::take(&mut ended) {
            path.next();
        }
        // Attributes have no meaning.
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
                if let Some(name) = tags.text(unescape) {
                    path.key(&name);
                }
            }
            // The end of an item of an array, or of a member.
            "/value" => ended = true,
            _ => {}
        }
    }
    path.to_string()
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
