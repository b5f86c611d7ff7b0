//! Fast paths for short strings in XML.

use super::Text;
use crate::element_reader;
use crate::escape;
use crate::repr::{Repr, WINDOW};
use crate::scan::{self, TAG};

/// The window of an inline string and the tag after it.
const ELEMENT: usize = WINDOW + TAG;

impl Text {
    /// Reads text at `at` that fits an inline string and needs no unescaping. Returns it, its
    /// length, and the bytes after it: a `<`, or a byte at which [`scan::xml_data`] stops. `None`
    /// for any other text, and near the end of the document.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let document = "<a>London</a> and so on, since the window must be within the document";
    /// let (text, len, tag) = Text::xml_prefix(document, 3).unwrap();
    /// assert_eq!((text.as_str(), len, &tag[..4]), ("London", 6, &b"</a>"[..]));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn xml_prefix(document: &str, at: usize) -> Option<(Self, usize, &[u8; TAG])> {
        let window = document.as_bytes().get(at..)?.first_chunk::<ELEMENT>()?;
        let len = scan::short_xml_data(window.first_chunk()?);
        let tag = window.get(len..)?.first_chunk()?;
        // A part of a `str` is valid UTF-8 if neither its first byte nor the one after it is a
        // continuation byte.
        let continues = |at: usize| window.get(at).is_none_or(|byte| byte.cast_signed() < -64);
        if continues(0) || continues(len) {
            return None;
        }
        let text = Repr::inline_window(window.first_chunk()?, len)?;
        Some((Self(text), len, tag))
    }
}

/// The window of text.
const TEXT: usize = 32;

impl Text {
    /// Reads text at `at` that is followed by `close`, fits an inline string and needs no
    /// unescaping. Returns it and its length. It contains nothing that XML forbids. `None` for any
    /// other text.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let document = "<a>London</a> and so on, since the window must be within the document";
    /// assert_eq!(Text::xml_until(document, 3, b"</a>"), Some((Text::from("London"), 6)));
    /// assert_eq!(Text::xml_until(document, 3, b"</b>"), None);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn xml_until<const CLOSE: usize>(
        document: &str,
        at: usize,
        close: &[u8; CLOSE],
    ) -> Option<(Self, usize)> {
        let rest = document.as_bytes().get(at..)?;
        let window = rest.first_chunk::<TEXT>()?;
        let len = scan::short_xml_text(window);
        // A part of a `str` is valid UTF-8 if neither its first byte nor the one after it is a
        // continuation byte.
        if window[0].cast_signed() < -64 || !element_reader::ends(rest, len, close) {
            return None;
        }
        let ascii = close.first().is_some_and(u8::is_ascii);
        let text = Repr::inline_window(window.first_chunk()?, len)?;
        ascii.then_some((Self(text), len))
    }
}

impl Text {
    /// Unescapes text of at most 64 bytes whose only special characters are entity references.
    /// `None` for any other text.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// assert_eq!(Text::from_xml("R&amp;D").unwrap(), "R&D");
    /// assert_eq!(Text::from_xml("R&#38;D"), None);
    /// ```
    #[must_use]
    pub fn from_xml(text: &str) -> Option<Self> {
        let (bytes, len) = escape::short_xml(text)?;
        // Always `Some`: only ASCII was replaced, by ASCII.
        Self::from_utf8(bytes.get(..len)?).ok()
    }
}
