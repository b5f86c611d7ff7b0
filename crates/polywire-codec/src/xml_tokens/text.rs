//! Character data and CDATA.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{XmlPlace, is_xml};

use super::{Dialect, Tokens};

impl<'de, D: Dialect> Tokens<'de, D> {
    /// Reads character data up to the next tag, or to the end of the document. References and
    /// CDATA are resolved, comments and processing instructions are skipped, line ends are
    /// normalized. Text that needs none of this is borrowed.
    #[inline(never)]
    pub(crate) fn text_before_tag(&mut self) -> Result<Cow<'de, str>, Error> {
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let part = &self.text[self.at..self.at + len];
            match self.dialect.unescape(part, XmlPlace::Text) {
                Ok(part) => join(&mut text, part),
                Err(malformed) => return Err(self.malformed_error(&malformed)),
            }
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

    /// Reads the CDATA section at the cursor.
    fn cdata(&mut self) -> Result<Cow<'de, str>, Error> {
        let start = self.at + "<![CDATA[".len();
        let Some(len) = self.text[start..].find("]]>") else {
            self.at = self.text.len();
            return Err(self.error(ErrorKind::Truncated, "]]> after CDATA"));
        };
        self.check_characters(start, len)?;
        self.at = start + len + "]]>".len();
        let section = &self.text[start..start + len];
        Ok(match section.contains('\r') {
            false => Cow::Borrowed(section),
            true => Cow::Owned(section.replace("\r\n", "\n").replace('\r', "\n")),
        })
    }

    /// Rejects characters that XML forbids, in a part that is not character data.
    pub(super) fn check_characters(&mut self, start: usize, len: usize) -> Result<(), Error> {
        if self.dialect.reads_forbidden() {
            return Ok(());
        }
        let mut characters = self.text[start..start + len].char_indices();
        match characters.find(|(_, character)| !is_xml(*character)) {
            None => Ok(()),
            Some((offset, _)) => {
                self.at = start + offset;
                Err(self.forbidden_error())
            }
        }
    }
}

fn join<'a>(text: &mut Cow<'a, str>, part: Cow<'a, str>) {
    if text.is_empty() {
        *text = part;
    } else if !part.is_empty() {
        text.to_mut().push_str(&part);
    }
}
