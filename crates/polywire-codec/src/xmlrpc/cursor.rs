//! A cursor over the XML that XML-RPC uses: tags without attributes that
//! matter, character data, comments, processing instructions, CDATA. There are
//! no document types, so no entities but the five of XML itself.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, LimitKind};
use polywire_text::escape::{self, XmlPlace, XmlReading, is_xml};
use polywire_text::{element_reader, scan};

use super::collections::{CLOSED, OPEN, PREFIXED};
use super::leniency::Leniency;
use super::locate;
use super::surrogates;
use super::wellformed::is_well_formed;
use crate::{declaration, snippet, xml_names};

#[derive(Debug)]
pub(super) struct Cursor<'de> {
    pub(super) text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    pub(super) at: usize,
    /// Where the text begins in the message, if it is a part of one.
    pub(super) base: usize,
    /// Where the last start tag began, for errors about it.
    pub(super) tag: usize,
    /// The most bytes of one text.
    pub(super) longest: usize,
    pub(super) leniency: Leniency,
}

const FORBIDDEN: &str = "a character that XML 1.0 allows";

/// A start tag: its name, and whether it is also the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'de> {
    pub(super) name: &'de str,
    pub(super) empty: bool,
}

impl Start<'_> {
    /// In [`Seq::mark`](polywire_schema::Seq), what an array or struct that begins so
    /// has left.
    pub(super) fn mark(&self) -> u64 {
        match self.empty {
            true => CLOSED,
            false if self.name.starts_with("ex:") => PREFIXED,
            false => OPEN,
        }
    }
}

impl<'de> Cursor<'de> {
    /// A cursor at the beginning.
    #[inline]
    pub(super) fn new(text: &'de str, longest: usize, leniency: Leniency) -> Self {
        Self {
            text,
            at: 0,
            base: 0,
            tag: 0,
            longest,
            leniency,
        }
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Whether the input goes on with these bytes; then they are skipped.
    #[inline]
    pub(super) fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest().starts_with(bytes);
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    /// Skips what may stand between tags: white space, comments, processing
    /// instructions.
    #[inline]
    pub(super) fn skip_between(&mut self) -> Result<(), Error> {
        loop {
            match self.rest() {
                // CDATA is text, not markup.
                [b'<', b'!', b'[', ..] => return Ok(()),
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                [b'<', ..] => return Ok(()),
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += scan::white_space(self.rest()),
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment or processing instruction; refuses a document type.
    #[cold]
    fn skip_markup(&mut self) -> Result<(), Error> {
        let (open, close, what): (usize, &str, &'static str) = if self.rest().starts_with(b"<!--") {
            (4, "--", "--> after a comment")
        } else if self.rest().starts_with(b"<?") {
            (2, "?>", "?> after a processing instruction")
        } else {
            let expected = "a tag (document types are not read)";
            return Err(self.error(ErrorKind::Syntax, expected));
        };
        let start = self.at + open;
        if open == 2 {
            self.target(start)?;
        }
        let Some(len) = self.text[start..].find(close) else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, what));
        };
        self.no_forbidden(start, len)?;
        self.at = start + len + close.len();
        if open == 4 && !self.skip(b">") {
            let expected = "--> (two dashes end a comment)";
            return Err(self.error(ErrorKind::Syntax, expected));
        }
        Ok(())
    }

    /// Checks the target of the processing instruction whose target begins at `start`.
    fn target(&self, start: usize) -> Result<(), Error> {
        xml_names::check_target(&self.text[start..])
            .map_err(|expected| self.error(ErrorKind::Syntax, expected))
    }

    /// The start tag at the cursor, if there is one. Nothing is skipped if not.
    pub(super) fn start(&mut self) -> Result<Option<Start<'de>>, Error> {
        self.skip_between()?;
        match self.rest() {
            [b'<', b'/' | b'!', ..] => Ok(None),
            [b'<', ..] => self.start_tag().map(Some),
            _ => Ok(None),
        }
    }

    fn start_tag(&mut self) -> Result<Start<'de>, Error> {
        self.tag = self.at;
        let bytes = self.rest();
        let len = bytes[1..]
            .iter()
            .position(|byte| !is_name(byte))
            .unwrap_or(bytes.len() - 1);
        if len == 0 {
            return Err(self.error(ErrorKind::Syntax, "a tag"));
        }
        let name = &self.text[self.at + 1..self.at + 1 + len];
        // Nearly all begin with a letter, and all that mean something are ASCII.
        let usual = bytes[1].is_ascii_alphabetic() && name.is_ascii();
        if !usual && !xml_names::is_name(name) {
            return Err(self.error(ErrorKind::Syntax, "a name that XML has for a tag"));
        }
        let mut at = 1 + len;
        // Attributes are allowed and mean nothing.
        let empty = loop {
            let space = scan::white_space(&bytes[at..]);
            at += space;
            match &bytes[at..] {
                [b'>', ..] => break false,
                [b'/', b'>', ..] => {
                    at += 1;
                    break true;
                }
                [byte, ..] if space > 0 && is_name(byte) => at = self.attributes(at)?,
                _ => return Err(self.not_in_tag(at, "> after a tag")),
            }
        };
        let start = self.at;
        if at > 1 + len + usize::from(empty) {
            self.no_forbidden(start, at)?;
        }
        self.at = start + at + 1;
        Ok(Start { name, empty })
    }

    /// Behind the attributes of which the first begins so far behind the cursor. They mean
    /// nothing, and are well formed: each there once, with references that XML has.
    #[cold]
    fn attributes(&mut self, mut at: usize) -> Result<usize, Error> {
        let (bytes, begin) = (self.rest(), self.at);
        let mut names = Vec::new();
        loop {
            let len = bytes[at..].iter().position(|byte| !is_name(byte));
            let len = len.unwrap_or(bytes.len() - at);
            let name = &self.text[begin + at..begin + at + len];
            if !xml_names::is_name(name) {
                return Err(self.not_in_tag(at, "a name that XML has for an attribute"));
            }
            names.push(name);
            at = self.attribute(at + len)?;
            let space = scan::white_space(&bytes[at..]);
            if space == 0 || !bytes.get(at + space).is_some_and(is_name) {
                break;
            }
            at += space;
        }
        names.sort_unstable();
        match names.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(self.not_in_tag(at, "each attribute of a tag once")),
            false => Ok(at),
        }
    }

    /// Behind the attribute whose name ends so far behind the cursor.
    fn attribute(&mut self, mut at: usize) -> Result<usize, Error> {
        let bytes = self.rest();
        at += scan::white_space(&bytes[at..]);
        if bytes.get(at) != Some(&b'=') {
            return Err(self.not_in_tag(at, "= and a value behind the name of an attribute"));
        }
        at += 1 + scan::white_space(&bytes[at + 1..]);
        let quote = match bytes.get(at) {
            Some(quote @ (b'"' | b'\'')) => *quote,
            _ => return Err(self.not_in_tag(at, "the value of an attribute in quotes")),
        };
        at += 1;
        let len = memchr::memchr2(quote, b'<', &bytes[at..]);
        match len.map(|len| (len, bytes[at + len])) {
            Some((len, b'<')) => {
                Err(self.not_in_tag(at + len, "&lt; for < in the value of an attribute"))
            }
            Some((len, _)) => {
                let value = &self.text[self.at + at..self.at + at + len];
                match escape::unescape_xml(value, XmlPlace::Attribute, self.reading()) {
                    Ok(_) => Ok(at + len + 1),
                    Err(malformed) => {
                        Err(self.not_in_tag(at + malformed.offset, malformed.expected))
                    }
                }
            }
            None => Err(self.not_in_tag(bytes.len(), "the end of the value of an attribute")),
        }
    }

    /// The error of a tag, so far behind the cursor.
    #[cold]
    fn not_in_tag(&mut self, at: usize, expected: &'static str) -> Error {
        self.at += at;
        self.error(ErrorKind::Syntax, expected)
    }

    /// Whether an end tag comes next.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Error> {
        self.skip_between()?;
        Ok(self.rest().starts_with(b"</"))
    }

    /// Reads this start tag, which must not be its own end.
    pub(super) fn expect_open(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<(), Error> {
        self.skip_between()?;
        if self.expect_start(name, expected)? {
            return Ok(());
        }
        Err(self.empty_tag(expected))
    }

    /// The error of a start tag that was read and is also the end, which it must not be.
    #[cold]
    pub(super) fn empty_tag(&mut self, expected: &'static str) -> Error {
        let error = self.wrong_tag(expected);
        error.expected(format!("{expected} that is not empty"))
    }

    /// Reads this start tag. `false` if it is also the end.
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

    /// The error of a start tag that was read and should not have come.
    #[cold]
    pub(super) fn wrong_tag(&mut self, expected: &'static str) -> Error {
        self.at = self.tag;
        self.unexpected(expected)
    }

    /// Reads this end tag, `</name>`.
    pub(super) fn expect_end(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        self.skip_between()?;
        if self.end(name) {
            return Ok(());
        }
        // The end of another element than the one that is open is no XML.
        match self.rest().starts_with(b"</") {
            true => Err(self.error(ErrorKind::Syntax, expected)),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Whether this end tag stands at the cursor; then it is skipped.
    #[inline]
    pub(super) fn end(&mut self, name: &str) -> bool {
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

    /// Character data up to the next tag: borrowed where it stands in the
    /// input as it is. References and CDATA are resolved, comments and
    /// processing instructions left out, line ends normalised.
    #[inline]
    pub(super) fn characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at;
        let len = scan::xml_text(self.rest());
        match &self.rest()[len..] {
            [b'<', next, ..] if !matches!(next, b'!' | b'?') && len <= self.longest => {
                self.at += len;
                Ok(Cow::Borrowed(&self.text[start..start + len]))
            }
            _ => self.mixed_characters(),
        }
    }

    /// The text between these, if it stands for itself; all three are skipped. `open`
    /// stands `skip` bytes on.
    #[inline(always)]
    pub(super) fn text_between<const OPEN: usize, const CLOSE: usize>(
        &mut self,
        skip: usize,
        open: &[u8; OPEN],
        close: &[u8; CLOSE],
    ) -> Option<&'de str> {
        let (text, start) = element_reader::xml_text(self.text, self.at + skip, open, close)?;
        if text.len() > self.longest {
            return None;
        }
        self.at = start + text.len() + CLOSE;
        Some(text)
    }

    /// As [`Self::characters`], of any length.
    pub(super) fn any_characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let longest = std::mem::replace(&mut self.longest, usize::MAX);
        let text = self.characters();
        self.longest = longest;
        text
    }

    pub(super) fn too_long(&self) -> ErrorKind {
        ErrorKind::Limit(LimitKind::StringLength(self.longest))
    }

    /// How character data is read.
    fn reading(&self) -> XmlReading {
        match self.leniency.control_characters() {
            true => XmlReading::Lenient,
            false => XmlReading::Strict,
        }
    }

    /// As [`Self::characters`], whatever stands in them.
    #[inline(never)]
    fn mixed_characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let reading = self.reading();
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let part = &self.text[self.at..self.at + len];
            let read = match self.leniency.surrogate_pairs() {
                true => surrogates::unescape(part, reading),
                false => escape::unescape_xml(part, XmlPlace::Text, reading),
            };
            match read {
                Ok(read) => join(&mut text, read),
                Err(malformed) => {
                    self.at += malformed.offset;
                    return Err(match malformed.expected {
                        FORBIDDEN => self.forbidden(),
                        expected => self.error(ErrorKind::Syntax, expected),
                    });
                }
            }
            self.at += len;
            match self.rest() {
                [] => return Err(self.error(ErrorKind::Truncated, "an end tag")),
                rest if rest.starts_with(b"<![CDATA[") => {
                    let section = self.cdata()?;
                    join(&mut text, section);
                }
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                _ if text.len() > self.longest => return Err(self.error(self.too_long(), "")),
                _ => return Ok(text),
            }
            if text.len() > self.longest {
                return Err(self.error(self.too_long(), ""));
            }
        }
    }

    /// The text of the CDATA section at the cursor.
    fn cdata(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at + "<![CDATA[".len();
        let Some(len) = self.text[start..].find("]]>") else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, "]]> after CDATA"));
        };
        self.no_forbidden(start, len)?;
        self.at = start + len + "]]>".len();
        let section = &self.text[start..start + len];
        Ok(match section.contains('\r') {
            false => Cow::Borrowed(section),
            true => Cow::Owned(section.replace("\r\n", "\n").replace('\r', "\n")),
        })
    }

    /// Refuses what XML forbids in what is not character data.
    fn no_forbidden(&mut self, start: usize, len: usize) -> Result<(), Error> {
        if self.leniency.control_characters() {
            return Ok(());
        }
        let part = &self.text[start..start + len];
        match part
            .char_indices()
            .find(|(_, character)| !is_xml(*character))
        {
            None => Ok(()),
            Some((offset, _)) => {
                self.at = start + offset;
                Err(self.forbidden())
            }
        }
    }

    /// The error of the character at the cursor, which XML forbids.
    #[cold]
    fn forbidden(&self) -> Error {
        let character = self.text[self.at..].chars().next();
        let error = self.error(ErrorKind::Syntax, FORBIDDEN);
        match character {
            Some(character) => error.found(format!("U+{:04X}", u32::from(character))),
            None => error,
        }
    }

    /// Reads the XML declaration, if there is one, and looks at its encoding.
    pub(super) fn declaration(&mut self) -> Result<(), Error> {
        const USUAL: &[u8] = b"<?xml version=\"1.0\"?>";
        if self.skip(USUAL) {
            return Ok(());
        }
        self.slow_declaration()
    }

    #[inline(never)]
    fn slow_declaration(&mut self) -> Result<(), Error> {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        if self.leniency.leading_space() {
            let space = scan::white_space(self.rest());
            // Without a declaration it is what may stand around the root.
            if declaration::len(&self.text[self.at + space..]) != Ok(0) {
                self.at += space;
            }
        }
        let text = &self.text[self.at..];
        let len = match declaration::len(text) {
            Ok(len) => len,
            Err(malformed) => {
                self.at += malformed.offset;
                return Err(self.error(ErrorKind::Syntax, malformed.expected));
            }
        };
        if let Some(encoding) = declaration::foreign_encoding(&text[..len], self.text) {
            let error = self.error(ErrorKind::Encoding, super::ENCODING);
            return Err(error.found(format!("`{encoding}`")));
        }
        self.at += len;
        Ok(())
    }

    /// The error of what stands at the cursor and is something else than what has to.
    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Error {
        let kind = match is_well_formed(self.text, self.leniency) {
            true => ErrorKind::Structure,
            false => ErrorKind::Syntax,
        };
        self.error(kind, expected)
    }

    /// The error of what stands at the cursor. To find its path the message is read again.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.error_in(locate::path(self.text, self.at), kind, expected)
    }

    /// As [`Self::error`], where the path is known.
    #[cold]
    pub(super) fn error_in(&self, path: String, kind: ErrorKind, expected: &'static str) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.text.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let mut error = Error::new(kind)
            .in_format("XML-RPC")
            .expected(expected)
            .at_offset(self.base + self.at)
            .at_path(path);
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(snippet::xml(self.text.as_bytes(), self.at));
        }
        error
    }
}

/// Whether a byte may stand in a name: more than XML allows, which [`xml_names::is_name`] looks
/// at more closely.
fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-') || *byte >= 0x80
}

fn join<'a>(text: &mut Cow<'a, str>, part: Cow<'a, str>) {
    if text.is_empty() {
        *text = part;
    } else if !part.is_empty() {
        text.to_mut().push_str(&part);
    }
}
