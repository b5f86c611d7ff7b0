//! Beside quick-xml: what both read is the same, and what differs is named.

use proptest::prelude::*;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use super::read_lenient;
use super::shapes::root;

/// The text of the only child of the root, as quick-xml sees it; `None` if it
/// finds the document malformed.
fn text_of(document: &str) -> Option<String> {
    let mut reader = Reader::from_str(document);
    reader.config_mut().check_comments = true;
    let (mut depth, mut text) = (0, String::new());
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                for attribute in start.attributes() {
                    attribute
                        .ok()?
                        .normalized_value(XmlVersion::Implicit1_0)
                        .ok()?;
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Text(part) if depth == 2 => text.push_str(&part.xml10_content()),
            Event::CData(part) if depth == 2 => text.push_str(&part.xml10_content()),
            Event::GeneralRef(reference) if depth == 2 => {
                match reference.resolve_char_ref().ok()? {
                    Some(character) => text.push(character),
                    None => {
                        let name = reference.xml10_content();
                        text.push_str(quick_xml::escape::resolve_xml_entity(&name)?);
                    }
                }
            }
            Event::Eof => return (depth == 0).then_some(text),
            _ => {}
        }
    }
}

fn compare(content: &str) {
    let document = format!("<Bucket><Name>{content}</Name></Bucket>");
    let ours = read_lenient(&document, root("Bucket"));
    let theirs = text_of(&document);
    match (ours, theirs) {
        (Ok(ours), Some(theirs)) => {
            assert_eq!(ours["name"].as_str(), Some(&*theirs), "{document}");
        }
        (Ok(ours), None) => panic!("{document}: only we read {ours:?}"),
        (Err(error), Some(_)) => assert!(
            // What XML 1.0 forbids and quick-xml, which is no validating
            // parser, lets pass: `]]>` in text, a `<` in an attribute, names
            // that are none, and characters that XML has not.
            error.to_string().contains("not well formed")
                || error.to_string().contains("ends early"),
            "{document}: {error}"
        ),
        (Err(_), None) => {}
    }
}

const PARTS: [&str; 18] = [
    "a",
    " ",
    "\n",
    "\r\n",
    "\r",
    "&amp;",
    "&#65;",
    "&#x4e2d;",
    "&lt",
    "&unknown;",
    "<!-- c -->",
    "<!-- -- -->",
    "<?pi?>",
    "<![CDATA[&<]]>",
    "]]>",
    "\u{e9}",
    ">",
    "\u{1}",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts(parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..12)) {
        compare(&parts.concat());
    }

    #[test]
    fn any_text(text in "[ -~\u{e9}\u{1f600}]{0,30}") {
        compare(&text);
    }
}
