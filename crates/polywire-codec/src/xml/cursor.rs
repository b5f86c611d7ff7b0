//! Reads elements of XML: on top of the tokens, the state after a start tag and fast paths for the
//! usual layout.
//!
//! When a value is about to be read, the position is after its start tag. [`Cursor::value_kind`]
//! tells whether the value is the content of the element, nothing because the element is empty, or
//! an attribute.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use polywire_schema::{Error, ErrorKind};
use polywire_text::scan::{self, TAG};

use super::locate;
use crate::snippet;
use crate::xml_tokens::{Dialect, Span, Tokens, local};

// The kinds of a value, for `Cursor::value_kind`.
/// Content up to an end tag.
pub(super) const CONTENT: u8 = 0;
/// An empty element.
pub(super) const EMPTY: u8 = 1;
/// An attribute.
pub(super) const ATTRIBUTE: u8 = 2;
/// A flag in addition to the others: the element is the root, whose name has not been checked.
pub(super) const UNCHECKED_ROOT: u8 = 4;

/// XML 1.0 without leniencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strict;

impl Dialect for Strict {
    const FORMAT: &'static str = "XML";

    fn path(text: &str, offset: usize) -> String {
        locate::path(text, offset)
    }
}

#[derive(Debug)]
pub(super) struct Cursor<'de> {
    tokens: Tokens<'de, Strict>,
    /// [`CONTENT`], [`EMPTY`] or [`ATTRIBUTE`], with or without [`UNCHECKED_ROOT`].
    pub(super) value_kind: u8,
    /// The value of the attribute that was read last.
    pub(super) attribute_value: Span,
    /// The offset after that attribute, where the next can begin.
    pub(super) next_attribute_at: usize,
    /// Whether the document contains `]]>`, which is only allowed at the end of CDATA.
    pub(super) has_cdata_end: bool,
}

impl<'de> Deref for Cursor<'de> {
    type Target = Tokens<'de, Strict>;

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
    /// A cursor after the start tag of the root element. `may_need_checks` says whether the text may
    /// contain `]` or characters beyond ASCII.
    pub(super) fn new(text: &'de str, may_need_checks: bool) -> Result<Self, Error> {
        let mut cursor = Self {
            tokens: Tokens::new(text, Strict),
            value_kind: CONTENT,
            attribute_value: Span::default(),
            next_attribute_at: 0,
            has_cdata_end: false,
        };
        cursor.check_names = may_need_checks && !text.is_ascii();
        if may_need_checks {
            cursor.check_rare_characters()?;
        }
        cursor.declaration()?;
        cursor.skip_between()?;
        match cursor.rest() {
            [b'<', next, ..] if !matches!(next, b'!' | b'/') => cursor.start_tag()?,
            [b'<'] => cursor.start_tag()?,
            _ => return Err(cursor.error(ErrorKind::Syntax, "the start tag of the root element")),
        }
        cursor.value_kind |= UNCHECKED_ROOT;
        Ok(cursor)
    }

    /// Searches the document once for `]]>`, U+FFFE and U+FFFF, so that the fast paths for text
    /// need not check for them.
    #[cold]
    fn check_rare_characters(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        let Some(first) = memchr::memchr2(b']', 0xef, bytes) else {
            return Ok(());
        };
        let rest = &bytes[first..];
        self.has_cdata_end = memchr::memmem::find(rest, b"]]>").is_some();
        // U+FFFE and U+FFFF (XML 1.0, section 2.2).
        for start in memchr::memmem::find_iter(rest, b"\xef\xbf") {
            if let Some(0xbe | 0xbf) = rest.get(start + 2) {
                self.at = first + start;
                return Err(self.forbidden_error());
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn is_attribute(&self) -> bool {
        self.value_kind & ATTRIBUTE != 0
    }

    #[inline]
    pub(super) fn bytes(&self) -> &'de [u8] {
        self.text.as_bytes()
    }

    /// The offset and the first bytes of the next tag, if only an optional line feed and spaces come
    /// before it.
    #[inline(always)]
    pub(super) fn next_tag(&self) -> Option<(usize, &'de [u8; TAG])> {
        scan::next_tag(self.bytes(), self.at)
    }

    /// Goes to the next tag, if it is no comment and only an optional line feed and spaces come
    /// before it.
    #[inline]
    pub(super) fn skip_to_tag(&mut self) -> bool {
        match self.next_tag() {
            Some((at, [b'<', next, ..])) if !matches!(next, b'!' | b'?') => {
                self.at = at;
                true
            }
            _ => false,
        }
    }

    /// The length of the text at the cursor and the offset after its end tag, if both are plain.
    #[inline(always)]
    pub(super) fn plain_text(&self) -> Option<(usize, usize)> {
        let len = scan::xml_data(self.rest());
        match self.has_cdata_end {
            true => None,
            false => Some((len, self.plain_end(self.at + len, self.name)?)),
        }
    }

    /// Skips white space, comments and processing instructions.
    #[inline]
    pub(super) fn skip_between(&mut self) -> Result<(), Error> {
        match self.skip_to_tag() {
            true => Ok(()),
            false => self.tokens.skip_between(),
        }
    }

    /// Reads the start tag at the cursor, which is at its `<`. Its attributes are checked.
    #[inline]
    pub(super) fn start_tag(&mut self) -> Result<(), Error> {
        self.value_kind = match self.tokens.start_tag()? {
            true => EMPTY,
            false => CONTENT,
        };
        Ok(())
    }

    /// Whether the last start tag has anything after its name.
    #[inline]
    pub(super) fn has_attributes(&self) -> bool {
        let Span { start, len } = self.name;
        self.bytes().get(start + len) != Some(&b'>')
    }

    /// Whether the last start tag has `xsi:nil="true"`: the element is null.
    pub(super) fn is_nil(&mut self) -> bool {
        if !self.has_attributes() {
            return false;
        }
        let mut at = self.name.start + self.name.len;
        while let Some((name, value, next)) = self.next_attribute(at) {
            let name = self.slice(name);
            if name.contains(':') && local(name) == "nil" {
                return matches!(self.slice(value), "true" | "1");
            }
            at = next;
        }
        false
    }

    /// The offset after the end tag `</name>` at `at`, if it is short and has no white space.
    #[inline(always)]
    pub(super) fn plain_end(&self, at: usize, name: Span) -> Option<usize> {
        let tag = self.bytes().get(at..)?.first_chunk()?;
        self.is_end(tag, name).then_some(at + name.len + 3)
    }

    /// Whether this is the end tag of the element of this name, and is short and has no white space.
    #[inline(always)]
    pub(super) fn is_end(&self, tag: &[u8; TAG], name: Span) -> bool {
        scan::is_end_tag(tag, self.bytes(), name.start, name.len)
    }

    /// Reads the end tag of the element of this name.
    #[inline]
    pub(super) fn end_tag(&mut self, name: Span) -> Result<(), Error> {
        match self.plain_end(self.at, name) {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => self.slow_end_tag(name),
        }
    }

    #[inline(never)]
    fn slow_end_tag(&mut self, name: Span) -> Result<(), Error> {
        let text = self.slice(name);
        if self.end(text) {
            return Ok(());
        }
        let kind = match self.rest() {
            [] | [b'<'] => ErrorKind::Truncated,
            _ => ErrorKind::Syntax,
        };
        let shown: String = text.chars().take(64).map(snippet::printable).collect();
        Err(self.error(kind, "").expected(format!("</{shown}>")))
    }

    /// Reads character data up to and including the end tag, like
    /// [`text_before_tag`](Tokens::text_before_tag).
    #[inline]
    pub(super) fn characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at;
        match self.plain_text() {
            Some((len, end)) => {
                self.at = end;
                Ok(Cow::Borrowed(&self.text[start..start + len]))
            }
            None => self.slow_characters(),
        }
    }

    #[inline(never)]
    fn slow_characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let text = self.text_before_tag()?;
        self.slow_end_tag(self.name)?;
        Ok(text)
    }

    /// Skips character data, which must be well formed.
    pub(super) fn skip_characters(&mut self) -> Result<(), Error> {
        let len = scan::xml_data(self.rest());
        match &self.rest()[len..] {
            [b'<', next, ..] if !self.has_cdata_end && !matches!(next, b'!' | b'?') => {
                self.at += len;
                Ok(())
            }
            _ => self.text_before_tag().map(drop),
        }
    }

    /// Whether the element contains elements after the cursor, which stays.
    #[cfg(feature = "serde")]
    pub(super) fn has_elements(&mut self) -> Result<bool, Error> {
        let start = self.at;
        self.skip_characters()?;
        let found = !matches!(self.rest(), [b'<', b'/', ..] | [] | [b'<']);
        self.at = start;
        Ok(found)
    }
}
