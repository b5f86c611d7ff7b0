//! Reading strings and numbers.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Member, Text, TokenReader as _};
use polywire_text::escape::{self, LoneSurrogate};
use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64};
use polywire_text::scan;

use super::decode::JsonDecoder;

impl<'de> JsonDecoder<'de> {
    #[inline]
    pub(super) fn word(&mut self, word: &'static str) -> Result<(), Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.error(ErrorKind::Syntax, "a JSON value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a string, which is borrowed if it has no escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        let (start, end) = match self.string_range()? {
            Ok(range) => range,
            Err(text) => return Ok(Cow::Owned(text)),
        };
        Ok(Cow::Borrowed(&self.text[start..end]))
    }

    /// Reads a string. Returns its range in the input, or its text if it has escapes.
    #[inline]
    pub(super) fn string_range(&mut self) -> Result<Result<(usize, usize), String>, Error> {
        if self.peek() != b'"' {
            return Err(self.wrong_type("a string"));
        }
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let end = start + scan::json_clean(&bytes[start..]);
        if bytes.get(end) == Some(&b'"') {
            self.check_length(end - start)?;
            self.at = end + 1;
            return Ok(Ok((start, end)));
        }
        self.escaped_string(start).map(Err)
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
            Err(malformed) => Err(self.malformed(malformed, start)),
        }
    }

    /// Reads a number. Returns its text, and whether it is an integer.
    pub(super) fn number(&mut self) -> Result<(&'de str, bool), Error> {
        if !matches!(self.peek(), b'-' | b'0'..=b'9') {
            return Err(self.wrong_type("a number"));
        }
        match json_number(self.rest()) {
            Ok((len, integer)) => {
                let number = &self.text[self.at..self.at + len];
                self.at += len;
                Ok((number, integer))
            }
            Err(malformed) => Err(self.malformed(malformed, self.at)),
        }
    }

    /// The digits of a big number. Some profiles allow them in a string.
    pub(super) fn big_number(&mut self) -> Result<Text, Error> {
        if self.profile.quoted_big_numbers && self.peek() == b'"' {
            return self.slow_text();
        }
        let start = self.at;
        self.number()?;
        self.digits(start)
    }

    /// The digits of a big number that began at `start`. Their number is limited like the length of
    /// strings.
    pub(super) fn digits(&mut self, start: usize) -> Result<Text, Error> {
        let end = self.at;
        if !self.budget.fits(end - start) {
            self.at = start;
        }
        self.check_length(end - start)?;
        Ok(self.text_of(start, end))
    }

    /// Reads one of the strings for numbers that JSON cannot represent.
    pub(super) fn float_word(&mut self) -> Result<f64, Error> {
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

    pub(super) fn slow_text(&mut self) -> Result<Text, Error> {
        self.skip_space();
        match self.string_range()? {
            Ok((start, end)) => Ok(self.text_of(start, end)),
            Err(text) => Ok(Text::from(text)),
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
            return self.float_word();
        }
        let start = self.at;
        let (number, _) = self.number()?;
        parse_f64(number.as_bytes()).map_err(|_| self.invalid_value(start, "a number of 64 bits"))
    }

    /// The slow path for integers: handles white space and errors.
    #[inline(never)]
    pub(super) fn slow_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.skip_space();
        let start = self.at;
        let Integer::Small(value, len) = integer_prefix(self.rest()) else {
            if !matches!(self.peek(), b'-' | b'0'..=b'9') {
                return Err(self.wrong_type(at.kind().describe()));
            }
            return match self.number() {
                Ok(_) => Err(self.invalid_value(start, at.kind().describe())),
                Err(error) => Err(error),
            };
        };
        // A leading zero is a syntax error, and a fraction or an exponent is an invalid value.
        let sign = usize::from(value < 0 || self.peek() == b'-');
        let has_leading_zero = len > sign + 1 && self.text.as_bytes()[start + sign] == b'0';
        if has_leading_zero
            || matches!(
                self.text.as_bytes().get(start + len),
                Some(b'.' | b'e' | b'E')
            )
        {
            self.number()?;
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
