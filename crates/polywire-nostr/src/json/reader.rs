//! A reader of JSON text.

use polywire_text::hex::{self, Case};
use polywire_text::{number, scan};

use super::string::{self, RawString, Spelling};
use crate::{Error, Limits, Profile, Reason};

/// A cursor over JSON text.
///
/// Methods that read a value require the cursor at its first byte: the caller skips white space.
/// They leave the cursor after its last byte.
pub(crate) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) profile: Profile,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, profile: Profile) -> Self {
        Self {
            text,
            at: 0,
            profile,
        }
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    /// The byte offset of the cursor.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The text between an earlier offset and the cursor.
    #[inline(always)]
    pub(crate) fn text_from(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    #[cold]
    pub(crate) fn error(&self, reason: Reason) -> Error {
        Error::new(reason, self.at)
    }

    /// An error for an unexpected byte, or for the end of the input.
    #[cold]
    pub(crate) fn unexpected(&self) -> Error {
        match self.peek() {
            Some(_) => self.error(Reason::Syntax),
            None => self.error(Reason::Truncated),
        }
    }

    /// An error for a value of an unexpected type, or for a byte that does not start a value.
    #[cold]
    pub(crate) fn wrong_type(&self) -> Error {
        match self.peek() {
            Some(b'"' | b'{' | b'[' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {
                self.error(Reason::WrongType)
            }
            _ => self.unexpected(),
        }
    }

    /// The byte at the cursor.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space. Returns whether there was any.
    #[inline(always)]
    pub(crate) fn skip_space(&mut self) -> bool {
        match self.peek() {
            Some(b'\t' | b'\n' | b'\r' | b' ') => {
                self.at += scan::white_space(&self.text.as_bytes()[self.at..]);
                true
            }
            _ => false,
        }
    }

    /// Skips `byte` if it is at the cursor. Returns whether it was.
    #[inline(always)]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips `byte`, which is required, and the white space around it.
    #[inline(always)]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Error> {
        self.skip_space();
        if !self.take(byte) {
            return Err(self.unexpected());
        }
        self.skip_space();
        Ok(())
    }

    /// Reads the separator after an item of an array or object: `true` for a comma, `false` for
    /// `close`.
    #[inline(always)]
    pub(crate) fn next_item(&mut self, close: u8) -> Result<bool, Error> {
        self.skip_space();
        if self.take(b',') {
            self.skip_space();
            return Ok(true);
        }
        if self.take(close) {
            return Ok(false);
        }
        Err(self.unexpected())
    }

    /// Checks that only white space follows.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(Reason::TrailingBytes)),
        }
    }

    /// Reads a string, including its quotes.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<RawString<'a>, Error> {
        if !self.take(b'"') {
            return Err(self.wrong_type());
        }
        self.string_after_quote()
    }

    /// Reads a string whose opening quote has been read.
    #[inline(always)]
    pub(crate) fn string_after_quote(&mut self) -> Result<RawString<'a>, Error> {
        let start = self.at;
        let spelling = self.skip_string()?;
        let text = &self.text[start..self.at - 1];
        Ok(RawString { text, spelling })
    }

    /// Skips a string whose opening quote has been read.
    #[inline(always)]
    pub(crate) fn skip_string(&mut self) -> Result<Spelling, Error> {
        let bytes = self.text.as_bytes();
        let rest = &bytes[self.at..];
        // Fast paths: tag names of one letter, ids and keys of 64 digits, then up to 31 bytes.
        if let [letter, b'"', ..] = rest
            && letter.is_ascii_alphanumeric()
        {
            self.at += 2;
            return Ok(Spelling::PLAIN);
        }
        if let Some(window) = rest.first_chunk::<65>()
            && window[64] == b'"'
            && let Some(digits) = window.first_chunk::<64>()
            && scan::is_json_clean_64(digits)
        {
            self.at += 65;
            return Ok(Spelling::PLAIN);
        }
        if let Some(window) = rest.first_chunk::<32>()
            && let Some(len) = scan::short_json_string(window)
        {
            self.at += len + 1;
            return Ok(Spelling::PLAIN);
        }
        string::skip(self)
    }

    /// Reads the name of a member, the colon and the white space around it.
    #[inline(always)]
    pub(crate) fn key(&mut self) -> Result<RawString<'a>, Error> {
        if !self.take(b'"') {
            return Err(match self.peek() {
                Some(_) => self.error(Reason::Syntax),
                None => self.error(Reason::Truncated),
            });
        }
        let key = self.string_after_quote()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// Reads a string of `2 * N` hexadecimal digits. The profile decides whether upper case is
    /// valid.
    #[inline(always)]
    pub(crate) fn hex<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.hex_in_case(match self.profile.upper_case_hex {
            true => Case::Any,
            false => Case::Lower,
        })
    }

    /// Reads a string of `2 * N` hexadecimal digits, which must be in lower case with every
    /// profile.
    #[inline(always)]
    pub(crate) fn lower_hex<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.hex_in_case(Case::Lower)
    }

    #[inline(always)]
    fn hex_in_case<const N: usize>(&mut self, case: Case) -> Result<[u8; N], Error> {
        let rest = &self.text.as_bytes()[self.at..];
        // The quotes are at the expected offsets: no search for the end of the string.
        if rest.len() > 2 * N + 1
            && rest[0] == b'"'
            && rest[2 * N + 1] == b'"'
            && let Ok(bytes) = hex::decode_to_array(&rest[1..2 * N + 1], Case::Lower)
        {
            self.at += 2 * N + 2;
            return Ok(bytes);
        }
        self.slow_hex(case)
    }

    /// Reads digits with escapes or in upper case, or returns the error.
    #[inline(never)]
    fn slow_hex<const N: usize>(&mut self, case: Case) -> Result<[u8; N], Error> {
        let start = self.at;
        let raw = self.string()?;
        let text = raw.decode();
        let error = |reason, at| Error::new(reason, start + raw.offset(at));
        if text.len() != 2 * N {
            return Err(error(Reason::HexLength, 0));
        }
        hex::decode_to_array(text.as_bytes(), case).map_err(|malformed| {
            let at = malformed.offset;
            match text.bytes().position(|byte| !byte.is_ascii_hexdigit()) {
                Some(at) => error(Reason::NotHex, at),
                None => error(Reason::UpperCaseHex, at),
            }
        })
    }

    /// Reads an integer from 0 to `max`. The flag is `true` if it is written with digits only.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, max: u64) -> Result<(u64, bool), Error> {
        let start = self.at;
        let digits = self.text.as_bytes()[start..].iter();
        let mut value = 0_u64;
        let mut len = 0;
        // 19 digits fit in 64 bits.
        for byte in digits.take_while(|byte| byte.is_ascii_digit()).take(19) {
            value = value * 10 + u64::from(byte - b'0');
            len += 1;
        }
        self.at += len;
        let first = self.text.as_bytes().get(start);
        let ends = !matches!(self.peek(), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        if len > 0 && ends && value <= max && !(len > 1 && first == Some(&b'0')) {
            return Ok((value, true));
        }
        self.at = start;
        self.slow_number(max)
    }

    /// Reads a number with a fraction or an exponent, or returns the error.
    #[cold]
    #[inline(never)]
    fn slow_number(&mut self, max: u64) -> Result<(u64, bool), Error> {
        let start = self.at;
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.wrong_type());
        }
        let integer = self.skip_number()?;
        let number = self.text_from(start);
        let error = |reason| Err(Error::new(reason, start));
        if number.starts_with('-') {
            return error(Reason::Negative);
        }
        if integer {
            return error(Reason::TooLarge);
        }
        let value: f64 = number.parse().unwrap_or(f64::NAN);
        // Whole numbers below 2^53 are exact.
        if !self.profile.whole_floats || value.fract() != 0.0 {
            return error(Reason::NotInteger);
        }
        if value > max as f64 || value >= 9_007_199_254_740_992.0 {
            return error(Reason::TooLarge);
        }
        Ok((value as u64, false))
    }

    /// Reads `true` or `false`.
    pub(crate) fn bool(&mut self) -> Result<bool, Error> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => Err(self.wrong_type()),
        }
    }

    /// Skips a value of any type. Arrays and objects may be nested up to `depth` levels, and never
    /// more than [`Limits::MAX_DEPTH`].
    #[inline(never)]
    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<(), Error> {
        let mut open = Nesting::default();
        loop {
            // At the start of a value.
            match self.peek() {
                Some(first @ (b'{' | b'[')) => {
                    if open.depth >= depth.min(Limits::MAX_DEPTH) {
                        return Err(self.error(Reason::TooDeep));
                    }
                    self.at += 1;
                    self.skip_space();
                    let close = first + 2;
                    if !self.take(close) {
                        open.push(close);
                        if close == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(b'-' | b'0'..=b'9') => drop(self.skip_number()?),
                _ => return Err(self.unexpected()),
            }
            // After a value.
            loop {
                let Some(close) = open.last() else {
                    return Ok(());
                };
                if self.next_item(close)? {
                    if close == b'}' {
                        self.key()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    /// Skips `word`, which is required.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Error> {
        let rest = &self.text.as_bytes()[self.at..];
        if !rest.starts_with(word.as_bytes()) {
            let same = rest.iter().zip(word.bytes()).take_while(|(a, b)| *a == b);
            self.at += same.count();
            return Err(self.unexpected());
        }
        self.at += word.len();
        Ok(())
    }

    /// Skips a number. Returns whether it has neither a fraction nor an exponent.
    fn skip_number(&mut self) -> Result<bool, Error> {
        let rest = &self.text.as_bytes()[self.at..];
        match number::json_number(rest) {
            Ok((len, integer)) => {
                self.at += len;
                Ok(integer)
            }
            // The only error at a digit is a digit after a leading zero.
            Err(error) if rest.get(error.offset).is_some_and(u8::is_ascii_digit) => {
                Err(self.error(Reason::LeadingZero))
            }
            Err(error) => {
                self.at += error.offset;
                Err(self.unexpected())
            }
        }
    }
}

/// The open arrays and objects, one bit each. Needs no allocation.
#[derive(Default)]
struct Nesting {
    /// Bit 0 is the innermost level. A set bit means an object.
    objects: u128,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, close: u8) {
        self.objects = self.objects << 1 | u128::from(close == b'}');
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.objects >>= 1;
        self.depth -= 1;
    }

    /// The closing bracket of the innermost level.
    fn last(&self) -> Option<u8> {
        let close = if self.objects & 1 == 1 { b'}' } else { b']' };
        (self.depth > 0).then_some(close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(text: &str, depth: usize) -> Result<usize, (Reason, usize)> {
        let mut reader = Reader::new(text, Profile::STRICT);
        match reader.skip_value(depth) {
            Ok(()) => Ok(reader.at()),
            Err(error) => Err((error.reason, error.offset)),
        }
    }

    #[test]
    fn nested_values_are_skipped() {
        let text = r#"[{"a":[1,{"b":{}}],"c":[]},[[]]]"#;
        assert_eq!(skip(text, 5), Ok(text.len()));
        assert_eq!(
            skip(text, 4),
            Err((Reason::TooDeep, text.find("{}").unwrap()))
        );
        assert_eq!(skip(r#"{"a":[}"#, 9), Err((Reason::Syntax, 6)));
        assert_eq!(skip(r#"[{"a":1]"#, 9), Err((Reason::Syntax, 7)));
        assert_eq!(skip("[[1]", 9), Err((Reason::Truncated, 4)));
    }

    #[test]
    fn hexadecimal() {
        let read = |text: &str, profile| {
            let result = Reader::new(text, profile).hex::<2>();
            result.map_err(|error| (error.reason, error.offset))
        };
        for (text, strict, compatible) in [
            ("\"0aff\"", Ok([10, 255]), Ok([10, 255])),
            ("\"\\u0030aff\"", Ok([10, 255]), Ok([10, 255])),
            ("\"0aFf\"", Err((Reason::UpperCaseHex, 3)), Ok([10, 255])),
            (
                "\"0aFx\"",
                Err((Reason::NotHex, 4)),
                Err((Reason::NotHex, 4)),
            ),
            (
                "\"0aff0\"",
                Err((Reason::HexLength, 1)),
                Err((Reason::HexLength, 1)),
            ),
            // With escapes, the offset is the offset of the string.
            (
                "\"\\u0030afx\"",
                Err((Reason::NotHex, 0)),
                Err((Reason::NotHex, 0)),
            ),
        ] {
            assert_eq!(read(text, Profile::STRICT), strict, "{text}");
            assert_eq!(read(text, Profile::COMPATIBLE), compatible, "{text}");
        }
    }

    #[test]
    fn depth_has_a_maximum() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = nested(Limits::MAX_DEPTH);
            assert_eq!(skip(&text, usize::MAX), Ok(text.len()));
            let offset = open.len() * Limits::MAX_DEPTH;
            let deep = nested(Limits::MAX_DEPTH + 1);
            assert_eq!(skip(&deep, usize::MAX), Err((Reason::TooDeep, offset)));
        }
    }
}
