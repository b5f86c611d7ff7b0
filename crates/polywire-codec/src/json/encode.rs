//! The JSON encoder.
//!
//! Each value is written with a comma after it, and a closing bracket overwrites the last comma. So
//! no code has to check whether a value is the first.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, Part, ShapeKind, Text, Timestamp,
    TimestampFormat,
};
use polywire_text::{base64, escape, number};

use super::JsonProfile;
use crate::checks::unbalanced;

/// An encoder of one JSON text.
#[derive(Debug)]
pub struct JsonEncoder {
    pub(super) out: Vec<u8>,
    /// The length of the output before the text.
    start: usize,
    profile: JsonProfile,
    /// The number of open structures.
    depth: u32,
    error: Option<Error>,
}

impl JsonEncoder {
    /// Creates an encoder that appends to `out`, so that a buffer can be reused.
    #[must_use]
    pub const fn new(profile: JsonProfile, out: Vec<u8>) -> Self {
        Self {
            start: out.len(),
            out,
            profile,
            depth: 0,
            error: None,
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    ///
    /// The first error of a previous call.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 {
            self.fail(unbalanced("JSON"));
        }
        if self.out.len() > self.start && self.out.last() == Some(&b',') {
            self.out.pop();
        }
        if self.is_payload() && self.out.len() > self.start {
            // Remove the closing brace of the structure, and the opening one if there is no payload.
            self.out.pop();
            if self.out.get(self.start..) == Some(b"{") {
                self.out.pop();
            }
        }
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    #[cfg(feature = "reference")]
    pub(crate) const fn profile(&self) -> JsonProfile {
        self.profile
    }

    /// Appends an encoded value.
    #[cfg(feature = "reference")]
    pub(crate) fn push_value(&mut self, value: &[u8]) {
        self.out.extend_from_slice(value);
        if self.is_payload() {
            // The structure around a payload has no brackets, so `finish` removes its end.
            self.out.push(b'}');
        }
        self.out.push(b',');
    }

    /// Writes a closing bracket.
    #[inline]
    pub(super) fn close(&mut self, close: u8) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = close,
            _ => self.out.push(close),
        }
        self.out.push(b',');
    }

    fn big_number(&mut self, digits: &str) {
        if self.profile.quoted_big_numbers {
            return self.quoted(|out| out.extend_from_slice(digits.as_bytes()));
        }
        self.push_digits(digits);
    }

    pub(super) fn push_digits(&mut self, digits: &str) {
        self.out.extend_from_slice(digits.as_bytes());
        self.out.push(b',');
    }

    const fn is_payload(&self) -> bool {
        matches!(self.profile.part, Part::Payload(_))
    }

    /// Begins a member of the top-level structure if the document contains only a part of it.
    /// Returns `false` if the document does not contain the member. For the payload, removes the
    /// opening brace of the structure.
    #[cold]
    fn member_of_part(&mut self, at: Member<'_>) -> bool {
        if self.profile.part.payload(at.container()) == Some(at.ordinal()) {
            self.out.truncate(self.start);
            return true;
        }
        let holds = self.profile.part.holds(at);
        if holds {
            at.run(self.profile.names).push_to(&mut self.out);
        }
        holds
    }

    /// Ends a floating-point number that begins at `start`. In a document, an integral value gets the
    /// fraction `.0`, so that it is not read back as an integer.
    #[inline]
    fn end_fraction(&mut self, at: Member<'_>, start: usize) {
        if at.kind() == ShapeKind::Document {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
            if self.out[start..].iter().all(is_digit) {
                self.out.extend_from_slice(b".0");
            }
        }
        self.out.push(b',');
    }

    /// Writes NaN or an infinity as a string. In a document this is an error, because it would be read
    /// back as a string.
    #[cold]
    fn not_finite(&mut self, at: Member<'_>, value: f64) {
        if at.kind() == ShapeKind::Document {
            let error = Error::new(ErrorKind::Unwritable).in_format("JSON");
            self.fail(error.expected("a finite number").found(format!("{value}")));
        }
        self.quoted(|out| number::push_f64(out, value));
    }

    fn quoted(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.out.push(b'"');
        push(&mut self.out);
        self.out.extend_from_slice(b"\",");
    }
}

impl Encoder for JsonEncoder {
    #[inline(always)]
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
        self.out.push(b'{');
    }

    #[inline(always)]
    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth == 1 && self.profile.part != Part::Whole {
            return self.member_of_part(at);
        }
        if !at.encoded(self.profile.names).push_to(&mut self.out) {
            at.run(self.profile.names).push_to(&mut self.out);
        }
        true
    }

    #[inline(always)]
    fn end_structure(&mut self, _: Member<'_>) {
        // `finish` detects an unbalanced end of a structure. A check here would cost time.
        self.depth = self.depth.wrapping_sub(1);
        self.close(b'}');
    }

    #[inline(always)]
    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.out.push(b'[');
    }

    #[inline(always)]
    fn end_list(&mut self, _: Member<'_>) {
        self.close(b']');
    }

    #[inline]
    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.out.push(b'{');
    }

    #[inline]
    fn key(&mut self, _: Member<'_>, key: &str) {
        escape::push_json_string(&mut self.out, key, *b"\":");
    }

    #[inline]
    fn text_key(&mut self, _: Member<'_>, key: &Text) {
        escape::push_json_text(&mut self.out, key, *b"\":");
    }

    #[inline]
    fn end_map(&mut self, _: Member<'_>) {
        self.close(b'}');
    }

    #[inline]
    fn boolean(&mut self, _: Member<'_>, value: bool) {
        // A copy of fixed size and a truncation are faster than a copy of variable size.
        let (word, len) = match value {
            true => (b"true,\0", 5),
            false => (b"false,", 6),
        };
        let start = self.out.len();
        self.out.extend_from_slice(word);
        self.out.truncate(start + len);
    }

    #[inline]
    fn integer(&mut self, _: Member<'_>, value: i64) {
        number::push_i64(&mut self.out, value);
        self.out.push(b',');
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        if !value.is_finite() {
            return self.not_finite(at, value.into());
        }
        let start = self.out.len();
        number::push_f32(&mut self.out, value);
        self.end_fraction(at, start);
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        if !value.is_finite() {
            return self.not_finite(at, value);
        }
        let start = self.out.len();
        number::push_f64(&mut self.out, value);
        self.end_fraction(at, start);
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.big_number(value.as_str());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.big_number(value.as_str());
    }

    #[inline]
    fn string(&mut self, _: Member<'_>, value: &str) {
        escape::push_json_string(&mut self.out, value, *b"\",");
    }

    #[inline]
    fn text(&mut self, _: Member<'_>, value: &Text) {
        escape::push_json_text(&mut self.out, value, *b"\",");
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.quoted(|out| base64::push(out, value));
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let written = match self.profile.timestamp_format_of(at) {
            TimestampFormat::EpochSeconds => {
                value.push_epoch_seconds(&mut self.out);
                self.out.push(b',');
                return;
            }
            TimestampFormat::DateTime => {
                self.out.push(b'"');
                value.push_date_time(&mut self.out)
            }
            TimestampFormat::HttpDate => {
                self.out.push(b'"');
                value.push_http_date(&mut self.out)
            }
        };
        self.out.extend_from_slice(b"\",");
        if let Err(malformed) = written {
            let error = Error::new(ErrorKind::Unwritable).in_format("JSON");
            self.fail(
                error
                    .expected(malformed.expected)
                    .at_path(format!("{at:?}")),
            );
        }
    }

    fn null(&mut self, _: Member<'_>) {
        self.out.extend_from_slice(b"null,");
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.profile.rules.defaults.fills_default(at)
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
