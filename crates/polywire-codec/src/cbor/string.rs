//! Text and byte strings of definite and indefinite length.

use std::borrow::Cow;

use polywire_schema::{Decoder, Error, ErrorKind};
use polywire_text::{Malformed, utf8};

use super::CborDecoder;
use super::head::{BREAK, INDEFINITE};
use crate::keep;

impl<'de> CborDecoder<'de> {
    /// The bytes of a string whose head has been read, of this length.
    #[inline]
    pub(super) fn take(&mut self, len: u64) -> Result<&'de [u8], Error> {
        let rest = self.rest();
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let Some(taken) = taken else {
            let left = rest.len();
            let error = self.error(ErrorKind::Truncated, "");
            return Err(error
                .expected(format!("{len} more bytes"))
                .found(format!("{left}")));
        };
        self.check_length(taken.len())?;
        self.at += taken.len();
        Ok(taken)
    }

    /// A byte or text string: major type 2 or 3.
    #[inline]
    pub(super) fn string_bytes(
        &mut self,
        major: u8,
        expected: &'static str,
    ) -> Result<Cow<'de, [u8]>, Error> {
        if self.peek() >> 5 != major || self.at >= self.bytes.len() {
            self.skip_unknown_tags()?;
            if self.peek() >> 5 != major || self.at >= self.bytes.len() {
                return Err(self.wrong_type(expected));
            }
        }
        let head = self.head(expected)?;
        if head.argument == INDEFINITE {
            return self.chunks(major, expected).map(Cow::Owned);
        }
        self.take(head.argument).map(Cow::Borrowed)
    }

    /// A string of indefinite length: RFC 8949, section 3.2.3.
    pub(super) fn chunks(&mut self, major: u8, expected: &'static str) -> Result<Vec<u8>, Error> {
        let mut string = Vec::new();
        loop {
            if self.bytes.get(self.at) == Some(&BREAK) {
                self.at += 1;
                return Ok(string);
            }
            let start = self.at;
            let head = self.head(expected)?;
            if head.major != major || head.argument == INDEFINITE {
                self.at = start;
                return Err(self.error(ErrorKind::Syntax, "a chunk of the same kind of string"));
            }
            let chunk = self.take(head.argument)?;
            // RFC 8949 does not allow a character to span chunks.
            if major == 3
                && let Err(malformed) = utf8::validate(chunk)
            {
                return Err(self.invalid_utf8(self.at - chunk.len(), malformed));
            }
            string.extend_from_slice(chunk);
            self.check_length(string.len())?;
        }
    }

    #[inline]
    pub(super) fn text_string(&mut self) -> Result<Cow<'de, str>, Error> {
        match self.string_bytes(3, "a text string")? {
            Cow::Borrowed(bytes) => match utf8::validate(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(malformed) => Err(self.invalid_utf8(self.at - bytes.len(), malformed)),
            },
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Owned(text)),
                // The chunks were validated above.
                Err(_) => Err(self.error(ErrorKind::InvalidValue, "UTF-8")),
            },
        }
    }

    /// For a text string of at most 23 bytes: the input after the first byte, and the length of the
    /// string. `None` for anything else.
    #[inline(always)]
    pub(super) fn short_text(&self) -> Option<(&'de [u8], usize)> {
        let (first @ 0x60..0x78, window) = self.rest().split_first()? else {
            return None;
        };
        let len = usize::from(first & 0x1f);
        self.budget.fits(len).then_some((window, len))
    }

    /// Reads a text string into `scratch`.
    #[inline(never)]
    pub(super) fn text_to_scratch(&mut self) -> Result<(), Error> {
        let text = self.text_string()?;
        self.scratch = keep::text(self.body, text);
        Ok(())
    }

    #[cold]
    pub(super) fn invalid_utf8(&mut self, start: usize, malformed: Malformed) -> Error {
        self.at = start + malformed.offset;
        let error = self.error(ErrorKind::Characters, malformed.expected);
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        error.found(format!("the byte 0x{byte:02x}"))
    }
}
