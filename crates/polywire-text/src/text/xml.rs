//! Short strings out of XML.

use super::Text;
use crate::repr::{Repr, WINDOW};
use crate::scan::{self, TAG};

/// The longest inline string, and the tag behind it.
const ELEMENT: usize = WINDOW + TAG;

impl Text {
    /// The character data that begins at `at` of a document, if it is short enough
    /// for an inline string and stands there as it is, its length, and what follows:
    /// a `<`, or something that a reader must look at. `None` says nothing more;
    /// there may be too little input as well.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let document = "<a>London</a> and so on, since there must be enough behind it to look at";
    /// let (text, len, tag) = Text::xml_prefix(document, 3).unwrap();
    /// assert_eq!((text.as_str(), len, &tag[..4]), ("London", 6, &b"</a>"[..]));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn xml_prefix(document: &str, at: usize) -> Option<(Self, usize, &[u8; TAG])> {
        let window = document.as_bytes().get(at..)?.first_chunk::<ELEMENT>()?;
        let len = scan::short_xml_data(window.first_chunk()?);
        let tag = window.get(len..)?.first_chunk()?;
        // Neither at its beginning nor at its end is there a byte that continues a
        // character: a part of a `str` that is cut so is UTF-8.
        let continues = |at: usize| window.get(at).is_none_or(|byte| byte.cast_signed() < -64);
        if continues(0) || continues(len) {
            return None;
        }
        let text = Repr::inline_window(window.first_chunk()?, len)?;
        Some((Self(text), len, tag))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_the_text_up_to_the_tag(
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
        fn short_text_is_found(text in "[abcé]{0,11}", tag in "<[abc]{60}") {
            let document = format!("{text}{tag}");
            let (found, len, _) = Text::xml_prefix(&document, 0).unwrap();
            prop_assert_eq!((found.as_str(), len), (&*text, text.len()));
        }
    }
}
