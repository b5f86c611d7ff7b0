//! Fast paths for short strings in XML.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::scan::TAG;
use polywire_text::{Text, escape};
use proptest::prelude::*;

proptest! {
    #[test]
    fn text_up_to_a_tag(
        document in "[aé&\r\n]{0,2}[abcdefghié\n]{0,30}(<|&|\r|\u{1})[ab<>/]{0,60}",
        at in 0..100_usize,
    ) {
        let Some((text, len, tag)) = Text::xml_prefix(&document, at) else {
            return Ok(());
        };
        prop_assert_eq!(text.as_str(), &document[at..at + len]);
        let special = text.contains(['<', '&', '\r', '\u{1}']);
        prop_assert!(!special);
        prop_assert!(b"<&\r\x01".contains(&tag[0]));
        prop_assert_eq!(&tag[..], &document.as_bytes()[at + len..at + len + TAG]);
    }

    #[test]
    fn text_before_an_end_tag(
        document in "[aé&\r\n]{0,2}[abcdefghié\n\u{fffe}]{0,30}(</a>|</b>|&|>|\r|\u{1})[ab<>/]{0,60}",
        at in 0..60_usize,
    ) {
        let Some((text, len)) = Text::xml_until(&document, at, b"</a>") else {
            return Ok(());
        };
        prop_assert_eq!(text.as_str(), &document[at..at + len]);
        let special = text.contains(['<', '>', '&', '\r', '\u{1}', '\u{fffe}']);
        prop_assert!(!special);
        prop_assert!(document[at + len..].starts_with("</a>"));
    }

    #[test]
    fn short_text_before_an_end_is_found(text in "[abcé]{0,11}") {
        let document = format!("{text}</a>and enough of it behind that to look at");
        let (found, len) = Text::xml_until(&document, 0, b"</a>").unwrap();
        prop_assert_eq!((found.as_str(), len), (&*text, text.len()));
    }

    #[test]
    fn short_text_matches_the_general_reader(
        text in "([abcé]|&amp;|&lt;|&gt;|&quot;|&apos;|&am;|&#65;|[&<>\r\u{1}\u{ffff}]){0,20}",
    ) {
        let read = escape::unescape_xml(&text, escape::XmlPlace::Text, escape::XmlReading::Strict);
        if let Some(short) = Text::from_xml(&text) {
            prop_assert_eq!(short.as_str(), &*read.unwrap());
        } else if let Ok(read) = read {
            let others = text.contains("&#") || text.contains(['>', '\r', '\u{ffff}']);
            prop_assert!(others || text.len() > 64, "{} {}", text, read);
        }
    }

    #[test]
    fn short_text_is_found(text in "[abcé]{0,11}", tag in "<[abc]{60}") {
        let document = format!("{text}{tag}");
        let (found, len, _) = Text::xml_prefix(&document, 0).unwrap();
        prop_assert_eq!((found.as_str(), len), (&*text, text.len()));
    }
}
