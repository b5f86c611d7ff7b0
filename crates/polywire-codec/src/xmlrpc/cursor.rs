//! A cursor over the XML that XML-RPC uses: tags without attributes that
//! matter, character data, comments, processing instructions, CDATA. There are
//! no document types, so no entities but the five of XML itself.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, LimitKind};
use polywire_text::escape::{self, XmlPlace, XmlReading};
use polywire_text::scan;

use super::locate;
use crate::declaration::foreign_encoding;
use crate::snippet;

#[derive(Debug)]
pub(super) struct Cursor<'de> {
    pub(super) text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    pub(super) at: usize,
    /// Where the last start tag began, for errors about it.
    pub(super) tag: usize,
    /// The most bytes of one text.
    pub(super) longest: usize,
    /// Whether `]]>` stands anywhere: then it may stand where it must not.
    pub(super) brackets: bool,
}

/// What no text may hold, but for the end of CDATA (XML 1.0, section 2.4).
const BRACKETS: &[u8] = b"]]>";
const FORBIDDEN: &str = "a character that XML 1.0 allows";

/// A start tag: its name, and whether it is also the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'de> {
    pub(super) name: &'de str,
    pub(super) empty: bool,
}

impl<'de> Cursor<'de> {
    /// A cursor at the first tag, behind the XML declaration.
    ///
    /// What is forbidden everywhere is looked for here, once: the scan for the
    /// end of a text need not see it.
    pub(super) fn new(text: &'de str, longest: usize) -> Result<Self, Error> {
        let mut cursor = Self {
            text,
            at: 0,
            tag: 0,
            longest,
            brackets: memchr::memmem::find(text.as_bytes(), BRACKETS).is_some(),
        };
        cursor.declaration()?;
        cursor.no_noncharacters()?;
        Ok(cursor)
    }

    /// U+FFFE and U+FFFF are no characters of XML (XML 1.0, section 2.2).
    fn no_noncharacters(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        for start in memchr::memmem::find_iter(bytes, b"\xef\xbf") {
            if matches!(bytes.get(start + 2), Some(0xbe | 0xbf)) {
                self.at = start;
                let error = self.error(ErrorKind::Syntax, FORBIDDEN);
                let last = 0xff40 + u32::from(bytes[start + 2]);
                return Err(error.found(format!("U+{last:04X}")));
            }
        }
        Ok(())
    }

    /// Refuses `]]>` in `start..at`, which is text.
    #[cold]
    fn no_brackets(&mut self, start: usize) -> Result<(), Error> {
        match memchr::memmem::find(&self.text.as_bytes()[start..self.at], BRACKETS) {
            Some(offset) => {
                self.at = start + offset;
                Err(self.error(ErrorKind::Syntax, "]]&gt; for ]]> in text"))
            }
            None => Ok(()),
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
            (4, "-->", "--> after a comment")
        } else if self.rest().starts_with(b"<?") {
            (2, "?>", "?> after a processing instruction")
        } else {
            let expected = "a tag (document types are not read)";
            return Err(self.error(ErrorKind::Syntax, expected));
        };
        match self.text[self.at + open..].find(close) {
            Some(len) => {
                self.at += open + len + close.len();
                Ok(())
            }
            None => {
                self.at = self.text.len();
                Err(self.error(ErrorKind::Truncated, what))
            }
        }
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
        let is_name = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b':' | b'.' | b'-')
                || *byte >= 0x80
        };
        let len = bytes[1..]
            .iter()
            .position(|byte| !is_name(byte))
            .unwrap_or(bytes.len() - 1);
        if len == 0 {
            return Err(self.error(ErrorKind::Syntax, "a tag"));
        }
        let name = &self.text[self.at + 1..self.at + 1 + len];
        let mut at = 1 + len;
        // Attributes are allowed and mean nothing. A quoted `>` is no end.
        let mut quote = None;
        loop {
            match (bytes.get(at), quote) {
                (None, _) => {
                    self.at = self.text.len();
                    return Err(self.error(ErrorKind::Truncated, "> after a tag"));
                }
                (Some(byte), Some(quoted)) => {
                    if *byte == quoted {
                        quote = None;
                    }
                }
                (Some(byte @ (b'"' | b'\'')), None) => quote = Some(*byte),
                (Some(b'>'), None) => break,
                (Some(b'<'), None) => {
                    self.at += at;
                    return Err(self.error(ErrorKind::Syntax, "> after a tag"));
                }
                (Some(_), None) => {}
            }
            at += 1;
        }
        let empty = bytes[at - 1] == b'/' && quote.is_none();
        self.at += at + 1;
        Ok(Start { name, empty })
    }

    /// Reads this start tag, which must not be its own end.
    pub(super) fn expect_open(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<(), Error> {
        self.skip_between()?;
        let before = self.at;
        if self.expect_start(name, expected)? {
            return Ok(());
        }
        self.at = before;
        Err(self.error(ErrorKind::Syntax, expected))
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
                Err(self.error(ErrorKind::Syntax, expected))
            }
        }
    }

    /// The error of a start tag that was read and should not have come.
    #[cold]
    pub(super) fn wrong_tag(&mut self, expected: &'static str) -> Error {
        self.at = self.tag;
        self.error(ErrorKind::Syntax, expected)
    }

    /// Reads this end tag, `</name>`.
    pub(super) fn expect_end(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        self.skip_between()?;
        if self.end(name) {
            return Ok(());
        }
        Err(self.error(ErrorKind::Syntax, expected))
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
        let len = scan::xml_data(self.rest());
        self.at += len;
        if self.brackets {
            self.no_brackets(start)?;
        }
        match self.rest() {
            [b'<', next, ..] if !matches!(next, b'!' | b'?') => {
                if len > self.longest {
                    return Err(self.error(self.too_long(), ""));
                }
                Ok(Cow::Borrowed(&self.text[start..start + len]))
            }
            _ => self.mixed_characters(start).map(Cow::Owned),
        }
    }

    /// As [`Self::characters`], of any length.
    pub(super) fn any_characters(&mut self) -> Result<Cow<'de, str>, Error> {
        let longest = std::mem::replace(&mut self.longest, usize::MAX);
        let text = self.characters();
        self.longest = longest;
        text
    }

    fn too_long(&self) -> ErrorKind {
        ErrorKind::Limit(LimitKind::StringLength(self.longest))
    }

    /// Reads character data from `start` on.
    fn mixed_characters(&mut self, start: usize) -> Result<String, Error> {
        let mut text = String::new();
        self.at = start;
        loop {
            let rest = self.rest();
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let part = &self.text[self.at..self.at + len];
            match escape::unescape_xml(part, XmlPlace::Text, XmlReading::Strict) {
                Ok(read) if text.is_empty() => text = read.into_owned(),
                Ok(read) => text.push_str(&read),
                Err(malformed) => {
                    self.at += malformed.offset;
                    return Err(self.error(ErrorKind::Syntax, malformed.expected));
                }
            }
            self.at += len;
            if text.len() > self.longest {
                return Err(self.error(self.too_long(), ""));
            }
            match self.rest() {
                [] => return Err(self.error(ErrorKind::Truncated, "an end tag")),
                rest if rest.starts_with(b"<![CDATA[") => {
                    self.at += "<![CDATA[".len();
                    let Some(len) = self.text[self.at..].find("]]>") else {
                        self.at = self.text.len();
                        return Err(self.error(ErrorKind::Truncated, "]]> after CDATA"));
                    };
                    let section = &self.text[self.at..self.at + len];
                    self.cdata(section, &mut text)?;
                    self.at += len + "]]>".len();
                }
                [b'<', b'!' | b'?', ..] => self.skip_markup()?,
                _ => return Ok(text),
            }
        }
    }

    fn cdata(&mut self, section: &str, text: &mut String) -> Result<(), Error> {
        let forbidden = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(offset) = section.bytes().position(forbidden) {
            self.at += offset;
            return Err(self.error(ErrorKind::Syntax, FORBIDDEN));
        }
        text.push_str(&section.replace("\r\n", "\n").replace('\r', "\n"));
        Ok(())
    }

    /// Reads the XML declaration, if there is one, and looks at its encoding.
    fn declaration(&mut self) -> Result<(), Error> {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        if self.rest().starts_with(b"<?xml")
            && let Some(len) = self.text[self.at..].find("?>")
        {
            let declaration = &self.text[self.at..self.at + len];
            if let Some(encoding) = foreign_encoding(declaration, self.text) {
                let error = self.error(ErrorKind::Syntax, "the encoding UTF-8");
                return Err(error.found(format!("`{encoding}`")));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.text.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let mut error = Error::new(kind)
            .in_format("XML-RPC")
            .expected(expected)
            .at_offset(self.at)
            .at_path(locate::path(self.text, self.at));
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(snippet::text(self.text.as_bytes(), self.at));
        }
        error
    }
}
