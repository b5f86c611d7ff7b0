//! The output of the serializers.

use polywire_schema::{Error, ErrorKind};
use polywire_text::form;
use polywire_text::percent::{self, Set};

type Result<T> = std::result::Result<T, Error>;

/// The characters that are not encoded in names. Dots are encoded, because they separate segments.
static NAME: Set = Set::new(b"*-_", true);

pub(super) struct FormWriter {
    pub(super) out: Vec<u8>,
    /// The first error, in case a type ignores it.
    error: Option<Error>,
}

impl FormWriter {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self { out, error: None }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    /// Stores the error of a result, in case the type ignores it.
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

    /// Writes the separator before a field.
    #[inline]
    pub(super) fn separator(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'&');
        }
    }

    /// Writes a segment of a key.
    #[inline]
    pub(super) fn name(&mut self, name: &str) {
        match is_plain(name) {
            true => self.out.extend_from_slice(name.as_bytes()),
            false => percent::push_bytes(&mut self.out, name.as_bytes(), &NAME),
        }
    }

    /// Writes a value, or the key of a pair.
    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        match is_plain(text) {
            true => self.out.extend_from_slice(text.as_bytes()),
            false => percent::push_bytes(&mut self.out, text.as_bytes(), &form::WHATWG),
        }
    }
}

/// Whether a text is short and consists of letters, digits, `_` and `-`.
#[inline]
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.len() <= 16 && text.bytes().all(plain)
}

#[cold]
pub(super) fn unwritable(expected: &'static str) -> Error {
    let error = Error::new(ErrorKind::Unwritable).in_format("form");
    error.expected(expected)
}
