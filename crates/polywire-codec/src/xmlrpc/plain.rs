//! Scalars in plain form. Each function reads a value with its end tags.
//!
//! Functions return `None`, with nothing read, for any other type or form.

use polywire_schema::{Blob, Text, Timestamp};
use polywire_text::number::{Integer, integer_prefix, parse_f64};
use polywire_text::{base64, element_reader, scan};

use super::XmlRpcDecoder;
use super::tags::END_STRING;

const END_BASE64: &[u8] = b"</base64></value>";
const END_DATE: &[u8] = b"</dateTime.iso8601></value>";
const END_DOUBLE: &[u8; 17] = b"</double></value>";
const END_INT: &[u8; 14] = b"</int></value>";

impl<'de> XmlRpcDecoder<'de> {
    /// Reads a string without references.
    #[inline(always)]
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        if self.empty_value {
            return None;
        }
        self.cursor.text_between(0, b"<string>", END_STRING)
    }

    /// Reads a boolean.
    #[inline]
    pub(super) fn plain_boolean(&mut self) -> Option<bool> {
        let chunk: &[u8; 28] = self.cursor.rest().first_chunk()?;
        let (head, tail) = chunk.split_at(9);
        let is_plain = head == b"<boolean>"
            && tail[1..] == *b"</boolean></value>"
            && matches!(tail[0], b'0' | b'1')
            && !self.empty_value;
        if !is_plain {
            return None;
        }
        self.cursor.at += chunk.len();
        Some(tail[0] == b'1')
    }

    /// Reads a double, except for NaN and infinities.
    #[inline]
    pub(super) fn plain_double(&mut self) -> Option<f64> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(b"<double>")?;
        let (value, len) = match element_reader::double(rest, END_DOUBLE) {
            Some(short) => short,
            None => long_double(rest)?,
        };
        self.cursor.at += b"<double>".len() + len + END_DOUBLE.len();
        Some(value)
    }

    /// Reads a date in the form of the specification, `20260102T03:04:05`.
    #[inline]
    pub(super) fn plain_date(&mut self) -> Option<Timestamp> {
        const LEN: usize = "20260102T03:04:05".len();
        const OPEN: &[u8] = b"<dateTime.iso8601>";

        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(OPEN)?;
        if !rest.get(LEN..)?.starts_with(END_DATE) {
            return None;
        }
        let value = Timestamp::parse_xmlrpc(&rest[..LEN]).ok()?;
        self.cursor.at += OPEN.len() + LEN + END_DATE.len();
        Some(value)
    }

    /// Reads base64, and passes its text to `make`. `make` returns `None` if it is invalid.
    #[inline]
    pub(super) fn plain_bytes<T>(&mut self, make: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest().strip_prefix(b"<base64>")?;
        let len = memchr::memchr(b'<', rest)?;
        if !rest[len..].starts_with(END_BASE64) || len > self.cursor.max_text {
            return None;
        }
        let bytes = make(&rest[..len])?;
        self.cursor.at += b"<base64>".len() + len + END_BASE64.len();
        Some(bytes)
    }

    /// Reads base64 as a blob.
    pub(super) fn plain_blob(&mut self) -> Option<Blob> {
        self.plain_bytes(|text| base64::decode(text).ok())
    }

    /// Reads an `<int>` with few digits.
    #[inline(always)]
    pub(super) fn short_integer(&mut self) -> Option<i64> {
        let rest = self.cursor.rest().strip_prefix(b"<int>")?;
        let (value, len) = element_reader::integer(rest, END_INT)?;
        if self.empty_value {
            return None;
        }
        self.cursor.at += b"<int>".len() + len + END_INT.len();
        Some(i64::from(value))
    }

    /// Reads an integer: `<int>`, `<i4>` or `<i8>`.
    #[inline(always)]
    pub(super) fn plain_integer(&mut self) -> Option<i64> {
        if let Some(value) = self.short_integer() {
            return Some(value);
        }
        self.longer_integer()
    }

    /// Like [`Self::plain_integer`], for integers that [`Self::short_integer`] does not read.
    #[inline(never)]
    pub(super) fn longer_integer(&mut self) -> Option<i64> {
        if self.empty_value {
            return None;
        }
        let rest = self.cursor.rest();
        let (value, len) = if let Some(rest) = rest.strip_prefix(b"<int>") {
            let (value, len) = plain_digits(rest, END_INT)?;
            (narrow(value)?, b"<int>".len() + len)
        } else if let Some(rest) = rest.strip_prefix(b"<i4>") {
            let (value, len) = plain_digits(rest, b"</i4></value>")?;
            (narrow(value)?, b"<i4>".len() + len)
        } else if let Some(rest) = rest.strip_prefix(b"<i8>") {
            let (value, len) = plain_digits(rest, b"</i8></value>")?;
            (value, b"<i8>".len() + len)
        } else {
            return None;
        };
        self.cursor.at += len;
        Some(value)
    }

    /// Reads the text of a short string with references, after its start tag.
    pub(super) fn escaped_text(&mut self) -> Option<Text> {
        let rest = self.cursor.rest();
        let len = memchr::memchr(b'<', &rest[..rest.len().min(65)])?;
        let is_plain = rest[len..].starts_with(END_STRING)
            && len <= self.cursor.max_text
            // A string without references can share the memory of the body.
            && memchr::memchr(b'&', &rest[..len]).is_some();
        if !is_plain {
            return None;
        }
        let text = self.cursor.text.get(self.cursor.at..self.cursor.at + len)?;
        let text = Text::from_xml(text)?;
        self.cursor.at += len + END_STRING.len();
        Some(text)
    }
}

/// Parses a double before `</double></value>`. Returns it with its length.
#[inline(never)]
fn long_double(bytes: &[u8]) -> Option<(f64, usize)> {
    let len = scan::xml_data(bytes);
    if !bytes[len..].starts_with(END_DOUBLE) {
        return None;
    }
    Some((parse_f64(&bytes[..len]).ok()?, len))
}

/// Parses an integer before `close`. Returns it with the length of both.
#[inline(always)]
fn plain_digits<const N: usize>(bytes: &[u8], close: &[u8; N]) -> Option<(i64, usize)> {
    if let Some((value, len)) = element_reader::long_integer(bytes, close) {
        return Some((value, len + N));
    }
    match integer_prefix(bytes) {
        Integer::Small(value, len) if bytes[len..].first_chunk() == Some(close) => {
            Some((value, len + N))
        }
        _ => None,
    }
}

/// Returns `value` if it has at most 32 bits.
#[inline(always)]
fn narrow(value: i64) -> Option<i64> {
    (value == i64::from(value as i32)).then_some(value)
}
