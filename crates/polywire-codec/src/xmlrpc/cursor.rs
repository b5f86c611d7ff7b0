//! Reads the tags that XML-RPC requires, on top of the tokens of XML.
//!
//! Attributes are allowed, and ignored.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use polywire_schema::{Error, ErrorKind, LimitKind};
use polywire_text::escape::{XmlPlace, XmlReading, unescape_xml};
use polywire_text::{Malformed, element_reader, scan};

use super::leniency::Leniency;
use super::{locate, surrogates};
use crate::xml_tokens::{Dialect, Tokens};

impl Dialect for Leniency {
    const FORMAT: &'static str = "XML-RPC";

    fn path(text: &str, offset: usize) -> String {
        locate::path(text, offset)
    }

    fn unescape(self, text: &str, place: XmlPlace) -> Result<Cow<'_, str>, Malformed> {
        let reading = match self.control_characters() {
            true => XmlReading::Lenient,
            false => XmlReading::Strict,
        };
        match (self.surrogate_pairs(), place) {
            (true, XmlPlace::Text) => surrogates::unescape(text, reading),
            _ => unescape_xml(text, place, reading),
        }
    }

    fn reads_forbidden(self) -> bool {
        self.control_characters()
    }

    fn reads_leading_space(self) -> bool {
        self.leading_space()
    }
}

#[derive(Debug)]
pub(super) struct Cursor<'de> {
    tokens: Tokens<'de, Leniency>,
    /// The maximum length of a string or name, in bytes.
    pub(super) max_text: usize,
}

impl<'de> Deref for Cursor<'de> {
    type Target = Tokens<'de, Leniency>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.tokens
    }
}

impl DerefMut for Cursor<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.tokens
    }
}

impl<'de> Cursor<'de> {
    #[inline]
    pub(super) fn new(text: &'de str, max_text: usize, leniency: Leniency) -> Self {
        Self {
            tokens: Tokens::new(text, leniency),
            max_text,
        }
    }

    /// Whether an end tag comes next.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Error> {
        self.skip_between()?;
        Ok(self.rest().starts_with(b"</"))
    }

    /// Reads the start tag `name`. An empty element is an error.
    pub(super) fn expect_open(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<(), Error> {
        match self.expect_start(name, expected)? {
            true => Ok(()),
            false => Err(self.empty_tag(expected)),
        }
    }

    /// The error for the empty element that was read last.
    #[cold]
    pub(super) fn empty_tag(&mut self, expected: &'static str) -> Error {
        let error = self.wrong_tag(expected);
        error.expected(format!("{expected} that is not empty"))
    }

    /// Reads the start tag `name`. `false` if the element is empty.
    pub(super) fn expect_start(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<bool, Error> {
        self.skip_between()?;
        let before = self.at;
        match self.start()? {
            Some(start) if start.name == name => Ok(!start.empty),
            _ => {
                self.at = before;
                Err(self.unexpected(expected))
            }
        }
    }

    /// The error for the start tag that was read last, which is not expected.
    #[cold]
    pub(super) fn wrong_tag(&mut self, expected: &'static str) -> Error {
        self.at = self.name.start - "<".len();
        self.unexpected(expected)
    }

    /// Reads the end tag `</name>`.
    pub(super) fn expect_end(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        self.skip_between()?;
        if self.end(name) {
            return Ok(());
        }
        // XML with an end tag of another element than the open one is not well-formed.
        match self.rest().starts_with(b"</") {
            true => Err(self.error(ErrorKind::Syntax, expected)),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Reads character data up to the next tag, like
    /// [`text_before_tag`](Tokens::text_before_tag).
    #[inline]
    pub(super) fn characters(&mut self) -> Result<Cow<'de, str>, Error> {
        self.characters_up_to(self.max_text)
    }

    /// Like [`characters`](Self::characters), of at most `max_text` bytes.
    #[inline]
    pub(super) fn characters_up_to(&mut self, max_text: usize) -> Result<Cow<'de, str>, Error> {
        let start = self.at;
        let len = scan::xml_text(self.rest());
        match &self.rest()[len..] {
            [b'<', next, ..] if !matches!(next, b'!' | b'?') && len <= max_text => {
                self.at += len;
                Ok(Cow::Borrowed(&self.text[start..start + len]))
            }
            _ => self.slow_characters(max_text),
        }
    }

    /// [`characters_up_to`](Self::characters_up_to) with references, CDATA sections or comments.
    #[inline(never)]
    fn slow_characters(&mut self, max_text: usize) -> Result<Cow<'de, str>, Error> {
        let text = self.text_before_tag()?;
        if self.rest().is_empty() {
            return Err(self.error(ErrorKind::Truncated, "an end tag"));
        }
        match text.len() > max_text {
            true => Err(self.error(self.too_long(), "")),
            false => Ok(text),
        }
    }

    /// Reads `skip` bytes, `open`, text without references, and `close`. Returns the text, or `None`,
    /// with nothing read, for anything else.
    #[inline(always)]
    pub(super) fn text_between<const OPEN: usize, const CLOSE: usize>(
        &mut self,
        skip: usize,
        open: &[u8; OPEN],
        close: &[u8; CLOSE],
    ) -> Option<&'de str> {
        let (text, start) = element_reader::xml_text(self.text, self.at + skip, open, close)?;
        if text.len() > self.max_text {
            return None;
        }
        self.at = start + text.len() + CLOSE;
        Some(text)
    }

    /// The kind of error for text that is longer than the limit.
    pub(super) fn too_long(&self) -> ErrorKind {
        ErrorKind::Limit(LimitKind::StringLength(self.max_text))
    }

    /// The error for an unexpected token. Its kind tells whether the document is well-formed XML.
    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Error {
        let kind = match self.is_well_formed() {
            true => ErrorKind::Structure,
            false => ErrorKind::Syntax,
        };
        self.error(kind, expected)
    }
}
