//! A cursor over XML: white space, tags, character data.
//!
//! Between calls it stands behind the `>` of a start tag, with what comes
//! next in [`Cursor::special`]: content, nothing because the tag was its own
//! end, or the value of an attribute.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{self, XmlPlace, XmlReading};
use polywire_text::scan::{self, TAG};

use super::locate;
use crate::{declaration, snippet, xml_names};

/// What no text may hold, but for the end of CDATA (XML 1.0, section 2.4).
const BRACKETS: &[u8] = b"]]>";
const FORBIDDEN: &str = "a character that XML 1.0 allows";

/// What [`Cursor::special`] says: content, which ends in an end tag.
pub(super) const CONTENT: u8 = 0;
/// The element was its own end.
pub(super) const EMPTY: u8 = 1;
/// The value of an attribute comes next.
pub(super) const ATTRIBUTE: u8 = 2;
/// A flag beside the others: the element is the one at the top, and has not
/// been looked at.
pub(super) const TOP: u8 = 4;

/// Where a name stands in the input.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) len: usize,
}

#[derive(Debug)]
pub(super) struct Cursor<'de> {
    pub(super) text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    pub(super) at: usize,
    /// The name of the last start tag.
    pub(super) name: Place,
    pub(super) special: u8,
    /// The value of the attribute that comes next, and where the attributes
    /// behind it begin.
    pub(super) attribute: Place,
    pub(super) attributes: usize,
    /// Whether `]]>` stands anywhere: then it may stand where it must not.
    pub(super) brackets: bool,
    /// Whether names may have characters that XML does not allow in them: some are not ASCII.
    pub(super) check_names: bool,
}

impl<'de> Cursor<'de> {
    /// A cursor behind the start tag of the root element. `rare` says whether the
    /// text may hold `]` or anything beyond ASCII.
    pub(super) fn new(text: &'de str, rare: bool) -> Result<Self, Error> {
        let mut cursor = Self {
            text,
            at: 0,
            name: Place::default(),
            special: CONTENT,
            attribute: Place::default(),
            attributes: 0,
            brackets: false,
            check_names: rare && !text.is_ascii(),
        };
        if rare {
            cursor.look_for_rare()?;
        }
        cursor.declaration()?;
        cursor.skip_between()?;
        match cursor.rest() {
            [b'<', b'!' | b'/', ..] => {
                return Err(cursor.error(ErrorKind::Syntax, "the start tag of the root element"));
            }
            [b'<', ..] => cursor.start_tag()?,
            _ => return Err(cursor.error(ErrorKind::Syntax, "the start tag of the root element")),
        }
        cursor.special |= TOP;
        Ok(cursor)
    }

    /// What is forbidden and takes more than one byte to see is looked for
    /// once, here: most documents have neither of the bytes that begin it.
    #[cold]
    fn look_for_rare(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        let Some(first) = memchr::memchr2(b']', 0xef, bytes) else {
            return Ok(());
        };
        let rest = &bytes[first..];
        self.brackets = memchr::memmem::find(rest, BRACKETS).is_some();
        // U+FFFE and U+FFFF are no characters of XML (XML 1.0, section 2.2).
        for start in memchr::memmem::find_iter(rest, b"\xef\xbf") {
            if let Some(last @ (0xbe | 0xbf)) = rest.get(start + 2) {
                self.at = first + start;
                let error = self.error(ErrorKind::Syntax, FORBIDDEN);
                return Err(error.found(format!("U+{:04X}", 0xff40 + u32::from(*last))));
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    #[inline]
    pub(super) fn bytes(&self) -> &'de [u8] {
        self.text.as_bytes()
    }

    /// The name at a place.
    #[inline]
    pub(super) fn name_at(&self, place: Place) -> &'de str {
        &self.text[place.start..place.start + place.len]
    }

    /// What comes next behind the layout, if that is usual: where, and the first
    /// bytes of it.
    #[inline(always)]
    pub(super) fn line(&self) -> Option<(usize, &'de [u8; TAG])> {
        scan::next_tag(self.bytes(), self.at)
    }

    /// Goes to the tag that comes next, if nothing but layout stands before it.
    #[inline]
    pub(super) fn skip_line(&mut self) -> bool {
        match self.line() {
            Some((at, [b'<', next, ..])) if !matches!(next, b'!' | b'?') => {
                self.at = at;
                true
            }
            _ => false,
        }
    }

    /// The length of the text at the cursor and where its end tag ends, if both
    /// are plain.
    #[inline(always)]
    pub(super) fn plain_text(&self) -> Option<(usize, usize)> {
        let len = scan::xml_data(self.rest());
        match self.brackets {
            true => None,
            false => Some((len, self.plain_end(self.at + len, self.name)?)),
        }
    }

    /// Skips what may stand between tags: white space, comments, processing
    /// instructions.
    #[inline]
    pub(super) fn skip_between(&mut self) -> Result<(), Error> {
        if self.skip_line() {
            return Ok(());
        }
        loop {
            match self.rest() {
                // CDATA is text, not markup.
                [b'<', b'!', b'[', ..] => return Ok(()),
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += scan::white_space(self.rest()),
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment or processing instruction; refuses a document type.
    #[cold]
    fn skip_markup(&mut self) -> Result<(), Error> {
        let start = self.at;
        let comment = self.rest().starts_with(b"<!--");
        let (open, close): (usize, &str) = if comment {
            (4, "--")
        } else if self.rest().starts_with(b"<?") {
            xml_names::check_target(&self.text[start + 2..])
                .map_err(|expected| self.error(ErrorKind::Syntax, expected))?;
            (2, "?>")
        } else {
            let expected = "an element (document types are not read)";
            return Err(self.error(ErrorKind::Syntax, expected));
        };
        let Some(len) = self.text[start + open..].find(close) else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, "the end of a comment or instruction"));
        };
        self.no_controls(start + open, len)?;
        self.at = start + open + len + close.len();
        if comment {
            match self.rest() {
                [b'>', ..] => self.at += 1,
                _ => return Err(self.error(ErrorKind::Syntax, "--> (two dashes end a comment)")),
            }
        }
        Ok(())
    }

    /// Refuses control characters in what is not character data.
    fn no_controls(&mut self, start: usize, len: usize) -> Result<(), Error> {
        let forbidden = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        let part = &self.text[start..start + len];
        match part.bytes().position(forbidden) {
            None => Ok(()),
            Some(offset) => {
                self.at = start + offset;
                Err(self.error(ErrorKind::Syntax, FORBIDDEN))
            }
        }
    }

    /// Reads a start tag; the cursor stands at its `<`. Attributes are checked
    /// and left for whoever wants them.
    pub(super) fn start_tag(&mut self) -> Result<(), Error> {
        let bytes = self.bytes();
        let start = self.at + 1;
        let len = name_len(&bytes[start..]);
        if len == 0 {
            return Err(self.error(ErrorKind::Syntax, "an element"));
        }
        self.name = Place { start, len };
        if self.check_names {
            self.check_name(self.name)?;
        }
        if bytes.get(start + len) == Some(&b'>') {
            self.at = start + len + 1;
            self.special = CONTENT;
            return Ok(());
        }
        self.attributes_of_tag(start + len)
    }

    /// Refuses a name that XML does not allow: [`name_len`] takes all that is not ASCII.
    #[cold]
    pub(super) fn check_name(&self, name: Place) -> Result<(), Error> {
        match xml_names::is_name(self.name_at(name)) {
            true => Ok(()),
            false => Err(self.error(ErrorKind::Syntax, "a name that XML allows")),
        }
    }

    /// Whether the last start tag has anything behind its name.
    #[inline]
    pub(super) fn has_attributes(&self) -> bool {
        let Place { start, len } = self.name;
        self.bytes().get(start + len) != Some(&b'>')
    }

    /// The end of the end tag `</name>`, if it stands at `at` and is no rarity.
    #[inline(always)]
    pub(super) fn plain_end(&self, at: usize, name: Place) -> Option<usize> {
        let tag = self.bytes().get(at..)?.first_chunk()?;
        self.is_end(tag, name).then_some(at + name.len + 3)
    }

    /// Whether this is the end tag of the element of this name. Where not, it may
    /// still be one, for those who look closer.
    #[inline(always)]
    pub(super) fn is_end(&self, tag: &[u8; TAG], name: Place) -> bool {
        scan::is_end_tag(tag, self.bytes(), name.start, name.len)
    }

    /// Reads the end tag of the element of this name.
    #[inline]
    pub(super) fn end_tag(&mut self, name: Place) -> Result<(), Error> {
        match self.plain_end(self.at, name) {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => self.any_end_tag(name),
        }
    }

    #[inline(never)]
    fn any_end_tag(&mut self, name: Place) -> Result<(), Error> {
        let own = self.name_at(name).as_bytes();
        if let Some(rest) = self.rest().strip_prefix(b"</")
            && let Some(rest) = rest.strip_prefix(own)
        {
            let space = scan::white_space(rest);
            if rest.get(space) == Some(&b'>') {
                self.at += 2 + own.len() + space + 1;
                return Ok(());
            }
        }
        Err(self.no_end_tag(name))
    }

    #[cold]
    fn no_end_tag(&mut self, name: Place) -> Error {
        let kind = match self.rest() {
            [] | [b'<'] => ErrorKind::Truncated,
            _ => ErrorKind::Syntax,
        };
        let shown: String = self
            .name_at(name)
            .chars()
            .take(64)
            .map(snippet::printable)
            .collect();
        self.error(kind, "").expected(format!("</{shown}>"))
    }

    /// Character data up to and with the end tag: borrowed where it stands in
    /// the input as it is. References and CDATA are resolved, comments and
    /// processing instructions left out, line ends normalised.
    #[inline]
    pub(super) fn characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at;
        match self.plain_text() {
            Some((len, end)) => {
                self.at = end;
                Ok(Cow::Borrowed(&self.text[start..start + len]))
            }
            None => self.any_characters(),
        }
    }

    #[inline(never)]
    fn any_characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let part = &self.text[self.at..self.at + len];
            let read = escape::unescape_xml(part, XmlPlace::Text, XmlReading::Strict)
                .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
            join(&mut text, read);
            self.at += len;
            match self.rest() {
                [] => return Err(self.no_end_tag(self.name)),
                rest if rest.starts_with(b"<![CDATA[") => {
                    let section = self.cdata()?;
                    join(&mut text, section);
                }
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                _ => {
                    self.any_end_tag(self.name)?;
                    return Ok(text);
                }
            }
        }
    }

    /// Character data up to the next tag, as [`characters`](Self::characters).
    #[cfg(feature = "serde")]
    pub(super) fn characters_before_tag(&mut self) -> Result<Cow<'de, str>, Error> {
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let part = &self.text[self.at..self.at + len];
            let read = escape::unescape_xml(part, XmlPlace::Text, XmlReading::Strict)
                .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
            join(&mut text, read);
            self.at += len;
            match self.rest() {
                rest if rest.starts_with(b"<![CDATA[") => {
                    let section = self.cdata()?;
                    join(&mut text, section);
                }
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                _ => return Ok(text),
            }
        }
    }

    /// Whether elements come before the end tag of the element that the cursor is in. The
    /// cursor stays.
    #[cfg(feature = "serde")]
    pub(super) fn has_elements(&mut self) -> Result<bool, Error> {
        let start = self.at;
        self.skip_characters()?;
        let found = !matches!(self.rest(), [b'<', b'/', ..] | [] | [b'<']);
        self.at = start;
        Ok(found)
    }

    /// The text of the CDATA section at the cursor.
    fn cdata(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at + "<![CDATA[".len();
        let Some(len) = self.text[start..].find("]]>") else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, "]]> after CDATA"));
        };
        self.no_controls(start, len)?;
        self.at = start + len + "]]>".len();
        let section = &self.text[start..start + len];
        Ok(match section.contains('\r') {
            false => Cow::Borrowed(section),
            true => Cow::Owned(section.replace("\r\n", "\n").replace('\r', "\n")),
        })
    }

    /// Skips character data that nobody wants, which must be well formed.
    pub(super) fn skip_characters(&mut self) -> Result<(), Error> {
        loop {
            let clean = scan::xml_data(self.rest());
            if !self.brackets
                && matches!(&self.rest()[clean..], [b'<', next, ..] if !matches!(next, b'!' | b'?'))
            {
                self.at += clean;
                return Ok(());
            }
            let start = self.at;
            let len = memchr::memchr(b'<', self.rest()).unwrap_or(self.rest().len());
            let part = &self.text[start..start + len];
            escape::unescape_xml(part, XmlPlace::Text, XmlReading::Strict)
                .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
            self.at += len;
            match self.rest() {
                rest if rest.starts_with(b"<![CDATA[") => {
                    self.cdata()?;
                }
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                _ => return Ok(()),
            }
        }
    }

    /// An error of a primitive, `offset` bytes on.
    #[cold]
    pub(super) fn malformed(&mut self, offset: usize, expected: &'static str) -> Error {
        self.at += offset;
        self.error(ErrorKind::Syntax, expected)
    }

    /// Reads the XML declaration, if there is one, and looks at its encoding.
    fn declaration(&mut self) -> Result<(), Error> {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        const USUAL: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>"#;
        let rest = self.rest();
        if rest.starts_with(USUAL) {
            self.at += USUAL.len();
            return Ok(());
        }
        match rest.starts_with(b"<?xml") {
            true => self.slow_declaration(),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn slow_declaration(&mut self) -> Result<(), Error> {
        let text = &self.text[self.at..];
        let len = match declaration::len(text) {
            Ok(len) => len,
            Err(malformed) => return Err(self.malformed(malformed.offset, malformed.expected)),
        };
        if let Some(encoding) = declaration::foreign_encoding(&text[..len], self.text) {
            let error = self.error(ErrorKind::Encoding, "the encoding UTF-8");
            return Err(error.found(format!("`{encoding}`")));
        }
        self.at += len;
        Ok(())
    }

    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.text.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let mut error = Error::new(kind)
            .in_format("XML")
            .expected(expected)
            .at_offset(self.at)
            .at_path(locate::path(self.text, self.at));
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(snippet::xml(self.text.as_bytes(), self.at));
        }
        error
    }
}

/// How many of the first bytes are a name (XML 1.0, production 5; of what is
/// not ASCII all is taken).
#[inline]
pub(super) fn name_len(bytes: &[u8]) -> usize {
    let mut len = plain_name_len(bytes);
    // A colon may stand anywhere.
    while bytes.get(len) == Some(&b':') {
        len += 1;
        len += scan::xml_name(&bytes[len..]);
    }
    len
}

/// The same up to the first colon.
#[inline]
pub(super) fn plain_name_len(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'0'..=b'9' | b'-' | b'.') | None => 0,
        Some(_) => scan::xml_name(bytes),
    }
}

/// A name without its prefix.
pub(super) fn local(name: &str) -> &str {
    let colon = name.bytes().rposition(|byte| byte == b':');
    colon.map_or(name, |colon| &name[colon + 1..])
}

/// Whether a name is this one, but for a prefix. The one that is looked for has none.
pub(super) fn is_local(name: &str, local: &str) -> bool {
    let prefix = name.strip_suffix(local);
    prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(':'))
}

fn join<'a>(text: &mut Cow<'a, str>, part: Cow<'a, str>) {
    if text.is_empty() {
        *text = part;
    } else if !part.is_empty() {
        text.to_mut().push_str(&part);
    }
}
