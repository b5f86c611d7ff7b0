//! Reading strings and numbers.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Member, Text, TokenReader as _};
use polywire_text::escape::{self, LoneSurrogate};
use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64};
use polywire_text::scan;

use super::decode::JsonDecoder;

/// A string that was read.
pub(super) enum StringToken {
    /// Without escapes: its start and end in the input.
    Plain(usize, usize),
    /// With escapes: its text, in which they are decoded.
    Decoded(String),
}

impl<'de> JsonDecoder<'de> {
    /// Reads `true`, `false` or `null`.
    #[inline]
    pub(super) fn literal(&mut self, literal: &'static str) -> Result<(), Error> {
        if !self.rest().starts_with(literal.as_bytes()) {
            return Err(self.error(ErrorKind::Syntax, "a JSON value"));
        }
        self.at += literal.len();
        Ok(())
    }

    /// Reads a string, which is borrowed if it has no escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        match self.string_token()? {
            StringToken::Plain(start, end) => Ok(Cow::Borrowed(&self.text[start..end])),
            StringToken::Decoded(text) => Ok(Cow::Owned(text)),
        }
    }

    #[inline]
    pub(super) fn string_token(&mut self) -> Result<StringToken, Error> {
        if self.peek_byte() != b'"' {
            return Err(self.wrong_type("a string"));
        }
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let end = start + scan::json_clean(&bytes[start..]);
        if bytes.get(end) == Some(&b'"') {
            self.check_length(end - start)?;
            self.at = end + 1;
            return Ok(StringToken::Plain(start, end));
        }
        self.escaped_string(start).map(StringToken::Decoded)
    }

    /// Reads a string with escapes. `start` is the offset after the opening quote.
    #[inline(never)]
    fn escaped_string(&mut self, start: usize) -> Result<String, Error> {
        match escape::json_str(&self.text[start..], LoneSurrogate::Reject) {
            Ok((text, read)) => {
                self.check_length(text.len())?;
                self.at = start + read;
                Ok(text.into_owned())
            }
            Err(malformed) => Err(self.malformed_error(malformed, start)),
        }
    }

    /// Reads a number. Returns its text, and whether it is an integer.
    pub(super) fn number_text(&mut self) -> Result<(&'de str, bool), Error> {
        if !matches!(self.peek_byte(), b'-' | b'0'..=b'9') {
            return Err(self.wrong_type("a number"));
        }
        match json_number(self.rest()) {
            Ok((len, integer)) => {
                let number = &self.text[self.at..self.at + len];
                self.at += len;
                Ok((number, integer))
            }
            Err(malformed) => Err(self.malformed_error(malformed, self.at)),
        }
    }

    /// The digits of a big number. Some profiles allow them in a string.
    pub(super) fn big_number(&mut self) -> Result<Text, Error> {
        if self.profile.quoted_big_numbers && self.peek_byte() == b'"' {
            return self.slow_text();
        }
        let start = self.at;
        self.number_text()?;
        self.digits(start)
    }

    /// The text of a big number that began at `start`: its digits, with sign, point and exponent. A
    /// text of more bytes than a string may have is an error.
    pub(super) fn digits(&mut self, start: usize) -> Result<Text, Error> {
        let end = self.at;
        if !self.budget.fits(end - start) {
            self.at = start;
        }
        self.check_length(end - start)?;
        Ok(self.text_of(start, end))
    }

    /// Reads one of the strings for numbers that JSON cannot represent.
    pub(super) fn non_finite_number(&mut self) -> Result<f64, Error> {
        let start = self.at;
        match &*self.string()? {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            _ => Err(self.invalid_value(
                start,
                "a number, or one of \"NaN\", \"Infinity\", \"-Infinity\"",
            )),
        }
    }

    /// Reads a string of any length, with or without escapes, after white space.
    /// Reads a string of any length, with or without escapes, after white space.
    /// Reads a string of any length, with or without escapes, after white space.
    /// Reads a string of any length, with or without escapes, after white space.
    /// Reads a string of any length, with or without escapes, after white space.
    /// Reads a string of any length, with or without escapes, after white space.
    pub(super) fn slow_text(&mut self) -> Result<Text, Error> {
        self.skip_space();
        match self.string_token()? {
            StringToken::Plain(start, end) => Ok(self.text_of(start, end)),
            StringToken::Decoded(text) => Ok(Text::from(text)),
        }
    }

    /// Like [`slow_text`](Self::slow_text), but stores the result in `scratch`.
    #[inline(never)]
    pub(super) fn text_to_scratch(&mut self) -> Result<(), Error> {
        self.scratch = self.slow_text()?;
        Ok(())
    }

    #[inline(never)]
    pub(super) fn slow_double(&mut self) -> Result<f64, Error> {
        if self.peek_token() == b'"' {
            return self.non_finite_number();
        }
        let start = self.at;
        let (number, _) = self.number_text()?;
        parse_f64(number.as_bytes()).map_err(|_| self.invalid_value(start, "a number of 64 bits"))
    }

    /// The integer at the current offset, and its length. `None` for anything else, and for a
    /// leading zero, a fraction or an exponent.
    #[inline(always)]
    pub(super) fn plain_integer(&self) -> Option<(i64, usize)> {
        let rest = self.rest();
        let Integer::Small(value, len) = integer_prefix(rest) else {
            return None;
        };
        let sign = usize::from(value < 0);
        let is_plain = len == sign + 1 || rest.get(sign).is_some_and(|first| *first > b'0');
        let continues = matches!(rest.get(len), Some(b'.' | b'e' | b'E'));
        (is_plain && !continues).then_some((value, len))
    }

    /// The slow path for integers: handles white space and errors.
    #[inline(never)]
    pub(super) fn slow_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.skip_space();
        let start = self.at;
        let Integer::Small(value, len) = integer_prefix(self.rest()) else {
            if !matches!(self.peek_byte(), b'-' | b'0'..=b'9') {
                return Err(self.wrong_type(at.kind().describe()));
            }
            return match self.number_text() {
                Ok(_) => Err(self.invalid_value(start, at.kind().describe())),
                Err(error) => Err(error),
            };
        };
        // A leading zero is a syntax error, and a fraction or an exponent is an invalid value.
        let sign = usize::from(value < 0 || self.peek_byte() == b'-');
        let has_leading_zero = len > sign + 1 && self.text.as_bytes()[start + sign] == b'0';
        if has_leading_zero
            || matches!(
                self.text.as_bytes().get(start + len),
                Some(b'.' | b'e' | b'E')
            )
        {
            self.number_text()?;
            return Err(self.invalid_value(start, at.kind().describe()));
        }
        let (min, max) = at.kind().integer_range();
        if value < min || value > max {
            return Err(self.invalid_value(start, at.kind().describe()));
        }
        self.at += len;
        Ok(value)
    }

    /// Converts a range of the input to a `Text`.
    #[inline]
    pub(super) fn text_of(&self, start: usize, end: usize) -> Text {
        match Text::inline_prefix(&self.text[start..], end - start) {
            Some(text) => text,
            None => self.long_text(&self.text[start..end]),
        }
    }

    /// Not inlined: strings that are not inline are rare, and this code would slow down the others.
    #[inline(never)]
    fn long_text(&self, text: &str) -> Text {
        match self.body {
            Some(body) => body.text(text),
            None => Text::from(text),
        }
    }
}
