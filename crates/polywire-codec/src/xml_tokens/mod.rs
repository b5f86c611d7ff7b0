//! The tokens of XML 1.0, for XML and XML-RPC: tags, attributes, text, CDATA, comments,
//! processing instructions and the XML declaration.
//!
//! Document types are rejected, so the only entities are the five of XML itself.

mod attributes;
pub(crate) mod declaration;
mod names;
mod path;
mod text;
mod well_formed;

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{XML_CHARACTER, XmlPlace, XmlReading, unescape_xml};
use polywire_text::{Malformed, scan};

pub(crate) use names::{is_local, is_name, local, name_len, plain_name_len};
pub(crate) use path::Tags;

use crate::snippet;

/// How a format that consists of XML reads it, and how it reports errors.
pub(crate) trait Dialect: Copy {
    /// The name of the format, for errors.
    const FORMAT: &'static str;

    /// The path of what is at an offset, for errors.
    fn path(text: &str, offset: usize) -> String;

    /// Resolves references in character data or in the value of an attribute, and checks the
    /// characters.
    fn unescape(self, text: &str, place: XmlPlace) -> Result<Cow<'_, str>, Malformed> {
        unescape_xml(text, place, XmlReading::Strict)
    }

    /// Whether characters that XML forbids are read.
    fn reads_forbidden(self) -> bool {
        false
    }

    /// Whether white space may come before the XML declaration.
    fn reads_leading_space(self) -> bool {
        false
    }
}

const NAME: &str = "a name that XML allows";

/// A part of the document.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// A start tag. The tag of an empty element is its end tag too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'de> {
    pub(crate) name: &'de str,
    pub(crate) empty: bool,
}

/// A reader of tokens.
#[derive(Debug)]
pub(crate) struct Tokens<'de, D> {
    pub(crate) text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    pub(crate) at: usize,
    /// The offset of the text in the message, if it is a part of one.
    pub(crate) base: usize,
    /// The name in the last start tag.
    pub(crate) name: Span,
    /// Whether names are checked. ASCII names need no check.
    pub(crate) check_names: bool,
    pub(crate) dialect: D,
}

impl<'de, D: Dialect> Tokens<'de, D> {
    #[inline]
    pub(crate) fn new(text: &'de str, dialect: D) -> Self {
        Self {
            text,
            at: 0,
            base: 0,
            name: Span::default(),
            check_names: true,
            dialect,
        }
    }

    #[inline]
    pub(crate) fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The text of a span.
    #[inline]
    pub(crate) fn slice(&self, span: Span) -> &'de str {
        &self.text[span.start..span.start + span.len]
    }

    /// Skips these bytes, if they come next.
    #[inline]
    pub(crate) fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest().starts_with(bytes);
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    /// Skips white space, comments and processing instructions.
    #[inline]
    pub(crate) fn skip_between(&mut self) -> Result<(), Error> {
        loop {
            match self.rest() {
                // CDATA is text.
                [b'<', b'!', b'[', ..] => return Ok(()),
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += scan::white_space(self.rest()),
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment or processing instruction. A document type is an error.
    #[cold]
    fn skip_markup(&mut self) -> Result<(), Error> {
        let is_comment = self.skip(b"<!--");
        if !is_comment && !self.skip(b"<?") {
            let expected = "a tag (document types are not read)";
            return Err(self.error(ErrorKind::Syntax, expected));
        }
        let start = self.at;
        let (close, expected) = match is_comment {
            true => ("--", "--> after a comment"),
            false => ("?>", "?> after a processing instruction"),
        };
        if !is_comment && let Err(expected) = names::check_target(&self.text[start..]) {
            self.at -= "<?".len();
            return Err(self.error(ErrorKind::Syntax, expected));
        }
        let Some(len) = self.text[start..].find(close) else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, expected));
        };
        self.check_characters(start, len)?;
        self.at = start + len + close.len();
        if is_comment && !self.skip(b">") {
            return Err(self.error(ErrorKind::Syntax, "--> (two dashes end a comment)"));
        }
        Ok(())
    }

    /// Reads the start tag that comes next. `None`, if another token does.
    pub(crate) fn start(&mut self) -> Result<Option<Start<'de>>, Error> {
        self.skip_between()?;
        match self.rest() {
            [b'<', b'/' | b'!', ..] => Ok(None),
            [b'<', ..] => {
                let empty = self.start_tag()?;
                let name = self.slice(self.name);
                Ok(Some(Start { name, empty }))
            }
            _ => Ok(None),
        }
    }

    /// Reads the start tag at the cursor, which is at its `<`. `true` if the element is empty.
    #[inline]
    pub(crate) fn start_tag(&mut self) -> Result<bool, Error> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let len = name_len(&bytes[start..]);
        if len == 0 {
            return Err(self.name_error(start, "a tag"));
        }
        self.name = Span { start, len };
        if self.check_names {
            self.check_name(self.name)?;
        }
        if bytes.get(start + len) == Some(&b'>') {
            self.at = start + len + 1;
            return Ok(false);
        }
        self.attributes(start + len)
    }

    /// Skips this end tag, if it comes next.
    #[inline]
    pub(crate) fn end(&mut self, name: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(b"</") else {
            return false;
        };
        let Some(rest) = rest.strip_prefix(name.as_bytes()) else {
            return false;
        };
        let space = scan::white_space(rest);
        let found = rest.get(space) == Some(&b'>');
        self.at += if found { 2 + name.len() + space + 1 } else { 0 };
        found
    }

    /// Rejects a name that XML does not allow: [`name_len`] accepts all characters beyond ASCII.
    #[inline]
    fn check_name(&self, name: Span) -> Result<(), Error> {
        let name = self.slice(name);
        match name.is_ascii() || is_name(name) {
            true => Ok(()),
            false => Err(self.error(ErrorKind::Syntax, NAME)),
        }
    }

    /// The error if no name begins at `start`.
    #[cold]
    fn name_error(&self, start: usize, expected: &'static str) -> Error {
        let expected = match self.text.as_bytes().get(start) {
            Some(b'0'..=b'9' | b'-' | b'.') => NAME,
            _ => expected,
        };
        self.error(ErrorKind::Syntax, expected)
    }

    /// Reads the XML declaration, if there is one, and checks its encoding.
    #[inline]
    pub(crate) fn declaration(&mut self) -> Result<(), Error> {
        const SHORT: &[u8] = b"<?xml version=\"1.0\"?>";
        const LONG: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

        let is_usual = match self.rest() {
            [b'<', next, ..] if *next != b'?' => true,
            _ => self.skip(SHORT) || self.skip(LONG),
        };
        match is_usual {
            true => Ok(()),
            false => self.slow_declaration(),
        }
    }

    #[inline(never)]
    fn slow_declaration(&mut self) -> Result<(), Error> {
        self.skip("\u{feff}".as_bytes());
        if self.dialect.reads_leading_space() {
            let space = scan::white_space(self.rest());
            // Without a declaration the white space is that before the root.
            if declaration::len(&self.text[self.at + space..]) != Ok(0) {
                self.at += space;
            }
        }
        let text = &self.text[self.at..];
        let len = match declaration::len(text) {
            Ok(len) => len,
            Err(malformed) => return Err(self.malformed_error(&malformed)),
        };
        if let Some(encoding) = declaration::conflicting_encoding(&text[..len], self.text) {
            let error = self.error(ErrorKind::Encoding, declaration::EXPECTED_ENCODING);
            return Err(error.found(format!("`{encoding}`")));
        }
        self.at += len;
        Ok(())
    }

    /// An error `malformed.offset` bytes after the cursor.
    #[cold]
    pub(crate) fn malformed_error(&mut self, malformed: &Malformed) -> Error {
        self.at += malformed.offset;
        match malformed.expected {
            XML_CHARACTER => self.forbidden_error(),
            expected => self.error(ErrorKind::Syntax, expected),
        }
    }

    /// The error for the character at the cursor, which XML forbids.
    #[cold]
    pub(crate) fn forbidden_error(&self) -> Error {
        let error = self.error(ErrorKind::Syntax, XML_CHARACTER);
        match self.text[self.at..].chars().next() {
            Some(character) => error.found(format!("U+{:04X}", u32::from(character))),
            None => error,
        }
    }

    /// An error at the cursor. The document is read again to find the path.
    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.error_at_path(D::path(self.text, self.at), kind, expected)
    }

    /// Like [`error`](Self::error), if the path is known.
    #[cold]
    pub(crate) fn error_at_path(
        &self,
        path: String,
        kind: ErrorKind,
        expected: &'static str,
    ) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.text.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let mut error = Error::new(kind)
            .in_format(D::FORMAT)
            .expected(expected)
            .at_offset(self.base + self.at)
            .at_path(path);
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(snippet::xml(self.text.as_bytes(), self.at));
        }
        error
    }
}
