//! The output, and what may be written to it.

use polywire_schema::{Error, ErrorKind};
use polywire_text::{escape, scan};

use crate::xml_tokens;

type Result<T> = std::result::Result<T, Error>;

/// The attributes of an element without a value.
const NIL: &[u8] = b" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/>";

pub(super) struct XmlWriter {
    pub(super) out: Vec<u8>,
    /// The end of the last character data between elements. More data there would join it to
    /// one text.
    text_end: Option<usize>,
    /// The first error. It is kept because a type may ignore it.
    error: Option<Error>,
}

impl XmlWriter {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self {
            out,
            text_end: None,
            error: None,
        }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    /// Keeps an error: a type may ignore it.
    #[inline]
    pub(super) fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.fail(error);
        }
        result
    }

    #[cold]
    fn fail(&mut self, error: &Error) {
        self.error.get_or_insert_with(|| error.clone());
    }

    #[inline]
    pub(super) fn open(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'>');
    }

    #[inline]
    pub(super) fn close(&mut self, name: &str) {
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'>');
    }

    pub(super) fn empty(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"/>");
    }

    /// Writes an element with `xsi:nil="true"`.
    pub(super) fn nil(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(NIL);
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Result<()> {
        escape::push_xml(&mut self.out, text)
            .map_err(|malformed| unwritable(malformed.expected.to_owned()))
    }

    #[inline]
    pub(super) fn attribute_text(&mut self, text: &str) -> Result<()> {
        escape::push_xml_attribute(&mut self.out, text)
            .map_err(|malformed| unwritable(malformed.expected.to_owned()))
    }

    /// Writes character data between elements.
    pub(super) fn content(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let start = self.out.len();
        let written = write(self)?;
        if self.out.len() == start {
            return Ok(written);
        }
        if self.text_end == Some(start) {
            return Err(unwritable("an element between two texts".to_owned()));
        }
        self.escape_blanks(start);
        self.text_end = Some(self.out.len());
        Ok(written)
    }

    /// Spells white space by references if there is nothing else: it would be layout.
    fn escape_blanks(&mut self, start: usize) {
        if scan::white_space(&self.out[start..]) < self.out.len() - start {
            return;
        }
        for byte in self.out.split_off(start) {
            self.out.extend_from_slice(match byte {
                b'\t' => b"&#9;",
                b'\n' => b"&#10;",
                _ => b"&#32;",
            });
        }
    }
}

/// Checks that a name is one of XML.
#[inline]
pub(super) fn check_name(name: &str) -> Result<()> {
    let bytes = name.as_bytes();
    let is_plain = name.is_ascii()
        && matches!(bytes.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'))
        && scan::xml_name(bytes) == bytes.len();
    match is_plain || is_qualified_name(name) {
        true => Ok(()),
        false => Err(bad_name(name)),
    }
}

/// Whether a name is one of XML, with a prefix at most.
fn is_qualified_name(name: &str) -> bool {
    let is_part = |part: &str| xml_tokens::is_name(part) && !part.contains(':');
    match name.split_once(':') {
        Some((prefix, local)) => is_part(prefix) && is_part(local),
        None => is_part(name),
    }
}

/// Checks that a key of a map can be a name. A prefix would be lost when it is read.
pub(super) fn check_key(key: &str) -> Result<()> {
    let keeps_prefix = key.starts_with("@xmlns:") || key.starts_with("@xml:");
    match key.contains(':') && !keeps_prefix {
        true => Err(bad_name(key)),
        false => Ok(()),
    }
}

#[cold]
fn bad_name(name: &str) -> Error {
    let shown: String = name.chars().take(64).collect();
    unwritable("a name that XML allows".to_owned()).found(format!("`{}`", shown.escape_debug()))
}

#[cold]
pub(super) fn unwritable(expected: String) -> Error {
    let error = Error::new(ErrorKind::Unwritable).in_format("XML");
    error.expected(expected)
}
