//! The tokens of JSON for the decoding loop.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Budget, Container, Error, ErrorKind, Event, Member, Name,
    NameSource, Part, Rules, Schema, Seq, Text, Timestamp, TimestampFormat, TokenReader, Value,
    slow_member,
};
use polywire_text::number::{Integer, decimal_prefix, integer_prefix, parse_f32, parse_f64};
use polywire_text::timestamp::ReadPolicy;
use polywire_text::{base64, scan};

use super::decode::JsonDecoder;
use super::locate;
use crate::snippet;

/// The brackets of a container, and the expectation after an element.
pub(super) const fn bounds(container: Container) -> (u8, u8, &'static str) {
    match container {
        Container::Structure => (b'{', b'}', "a comma or } after a member"),
        Container::List => (b'[', b']', "a comma or ] after an item"),
        Container::Map => (b'{', b'}', "a comma or } after an entry"),
    }
}

/// Converts an offset in the text of a string to an offset from its opening quote: 0 if the string
/// has escapes, because the text then differs from the input.
const fn offset_in_string(has_escapes: bool, offset: usize) -> usize {
    match has_escapes {
        true => 0,
        false => 1 + offset,
    }
}

impl<'de> TokenReader<'de> for JsonDecoder<'de> {
    type Next = ();
    type Match = usize;

    const TRIES_EXPECTED: bool = true;

    #[inline(always)]
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        self.profile.rules
    }

    fn name_source(&self) -> NameSource {
        self.profile.names.source()
    }

    #[inline(always)]
    fn part(&self) -> Part {
        self.profile.part
    }

    fn part_begun(&mut self) {
        self.profile.part = Part::Whole;
    }

    #[inline(always)]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        if self.peek_token() != bounds(container).0 {
            return Err(self.wrong_type(at.kind().describe()));
        }
        self.enter()
    }

    #[inline(always)]
    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        let (_, close, expected) = bounds(container);
        match container {
            Container::Structure => self.slow_next(seq, close, expected, false),
            Container::List => self.next_item(seq, close, expected),
            Container::Map => self.slow_next(seq, close, expected, true),
        }
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    #[inline(always)]
    fn match_member(&self, (): (), member: Member<'_>, seq: &Seq) -> Option<usize> {
        // The comma, the name, and a value directly after it that is not null.
        let comma = usize::from(seq.count > 0);
        if seq.count > 0 && self.peek_byte() != b',' {
            return None;
        }
        let rest = self.text.as_bytes().get(self.at + comma..)?;
        let len = member.encoded(self.profile.names).starts(rest)?;
        let value = *rest.get(len)?;
        (value > b' ' && value != b'n').then_some(comma + len)
    }

    #[inline(always)]
    fn accept_member(&mut self, len: usize, seq: &mut Seq) {
        self.at += len;
        seq.count += 1;
    }

    #[inline(always)]
    fn other_member(&mut self, (): (), shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        match self.quick_member(shape, seq) {
            Some(ordinal) => Ok(ordinal),
            None => slow_member(self, shape, seq),
        }
    }

    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        if let Some((ordinal, len)) = self.match_nearby(shape, seq.guess) {
            self.at += len;
            self.skip_space();
            return Ok(Name::Member(ordinal));
        }
        let start = self.at;
        let key = self.key_text()?;
        match shape.find(self.profile.names.source(), key.as_bytes()) {
            Some(ordinal) => Ok(Name::Member(ordinal)),
            None if self.profile.refuse_unknown => {
                self.at = start;
                Err(self.unknown_member(shape))
            }
            None => Ok(Name::Unknown),
        }
    }

    #[inline(always)]
    fn quick_key(&mut self, seq: &mut Seq) -> Option<Option<Text>> {
        let (next, token) = self.token_at(self.at);
        if token == b'}' {
            self.at = next;
            self.leave();
            return Some(None);
        }
        self.short_key(next, token, seq).map(Some)
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<(), Error> {
        if self.peek_byte() != b'"' {
            return Err(self.error(ErrorKind::Syntax, "a key in quotes"));
        }
        self.text_to_scratch()?;
        self.colon()
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    /// The value must be well formed.
    fn skip_value(&mut self) -> Result<(), Error> {
        match self.peek_token() {
            b'{' => {
                let mut seq = self.enter_skipped()?;
                while self.next_item(&mut seq, b'}', "a comma or } after a member")? {
                    self.key_text()?;
                    self.skip_value()?;
                }
                Ok(())
            }
            b'[' => {
                let mut seq = self.enter_skipped()?;
                while self.next_item(&mut seq, b']', "a comma or ] after an item")? {
                    self.skip_value()?;
                }
                Ok(())
            }
            b'"' => self.string_token().map(|_| ()),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number_text().map(|_| ()),
        }
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.peek_byte() == b'n'
    }

    #[inline]
    fn ended(&mut self, at: Member<'_>, seq: &Seq) {
        self.lengths.note(at, seq.count);
    }

    #[inline(never)]
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        let (open, token) = self.token_at(self.at);
        if token != b'{' {
            return None;
        }
        let (name, _) = self.token_at(open + 1);
        // The opening quote, and 16 bytes to find the closing quote in.
        let text = self.text.as_bytes().get(name..)?.first_chunk::<17>()?;
        let [b'"', text @ ..] = text else {
            return None;
        };
        let len = scan::quote_offset(text);
        if text.get(len + 1) != Some(&b':') {
            return None;
        }
        let source = self.profile.names.source();
        let ordinal = at.find_variant(source, *text.first_chunk()?, len)?;
        let (value, token) = self.token_after_colon(name + len + 3);
        // A member of type document may be null. It and errors are left to `member`.
        if matches!(token, b'n' | 0) || self.budget.enter().is_err() {
            return None;
        }
        self.at = value;
        Some(ordinal)
    }

    #[inline]
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let (at, token) = self.token_at(self.at);
        if token == b'}' {
            self.at = at;
            self.leave();
            return None;
        }
        let mut seq = Seq {
            guess: ordinal + 1,
            count: 1,
            ..Seq::default()
        };
        self.budget.seen(&mut seq, ordinal);
        Some(seq)
    }

    #[inline]
    fn size_hint(&mut self, at: Member<'_>, _: &Seq) -> usize {
        self.lengths.size_hint(at)
    }

    fn null(&mut self) -> Result<bool, Error> {
        if self.peek_token() != b'n' {
            return Ok(false);
        }
        self.literal("null").map(|()| true)
    }

    #[inline]
    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match self.peek_token() {
            b't' => self.literal("true").map(|()| true),
            b'f' => self.literal("false").map(|()| false),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        if let Some((value, len)) = self.plain_integer() {
            let (min, max) = at.kind().integer_range();
            if (min..=max).contains(&value) {
                self.at += len;
                return Ok(value);
            }
        }
        self.slow_integer(at)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        if self.peek_token() == b'"' {
            return Ok(self.non_finite_number()? as f32);
        }
        let start = self.at;
        let (number, _) = self.number_text()?;
        parse_f32(number.as_bytes()).map_err(|_| self.invalid_value(start, "a number of 32 bits"))
    }

    #[inline]
    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        if let Some((value, len)) = decimal_prefix(self.rest()) {
            self.at += len;
            return Ok(value);
        }
        self.slow_double()
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.skip_space();
        let start = self.at;
        let digits = self.big_number()?;
        BigInteger::parse(digits).map_err(|_| self.invalid_value(start, "an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.skip_space();
        let start = self.at;
        let digits = self.big_number()?;
        BigDecimal::parse(digits).map_err(|_| self.invalid_value(start, "a decimal number"))
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        if self.peek_byte() == b'"'
            && let Some((window, len)) = self.short_text(self.at + 1)
            && let Some(text) = Text::inline_prefix(window, len)
        {
            self.at += len + 2;
            return Ok(text);
        }
        self.text_to_scratch()?;
        Ok(std::mem::take(&mut self.scratch))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.skip_space();
        self.string()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        self.skip_space();
        let start = self.at;
        let text = self.string()?;
        if self.profile.text_blobs {
            return Ok(Blob::from(text.as_bytes()));
        }
        base64::decode(text.as_bytes()).map_err(|malformed| {
            let offset = start + offset_in_string(matches!(text, Cow::Owned(_)), malformed.offset);
            self.invalid_value(offset, malformed.expected)
        })
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let format = self.profile.timestamp_format_of(at);
        let quoted = self.peek_token() == b'"';
        let start = self.at;
        let format = match format {
            format if !self.profile.any_timestamp => format,
            _ if !quoted => TimestampFormat::EpochSeconds,
            // An HTTP-date begins with the name of a day.
            _ if self.rest().get(1).is_some_and(u8::is_ascii_digit) => TimestampFormat::DateTime,
            _ => TimestampFormat::HttpDate,
        };
        if format == TimestampFormat::EpochSeconds {
            let seconds = Timestamp::parse_epoch_seconds(self.number_text()?.0);
            return seconds.map_err(|malformed| {
                self.invalid_value(start + malformed.offset, malformed.expected)
            });
        }
        if !quoted {
            return Err(self.wrong_type("a timestamp in a string"));
        }
        let text = self.string()?;
        let read = match format {
            TimestampFormat::HttpDate => Timestamp::parse_http_date(&text),
            _ => {
                let policy = ReadPolicy::new().utc(self.profile.rules.strict);
                Timestamp::parse_date_time_with(&*text, policy)
            }
        };
        read.map_err(|malformed| {
            let offset = start + offset_in_string(matches!(text, Cow::Owned(_)), malformed.offset);
            self.invalid_value(offset, malformed.expected)
        })
    }

    fn any(&mut self) -> Result<Event, Error> {
        let value = match self.peek_token() {
            b'{' => return self.enter().map(Event::Map),
            b'[' => return self.enter().map(Event::List),
            b'"' => Value::String(self.text(Member::DOCUMENT)?),
            b't' | b'f' => Value::Boolean(self.boolean(Member::DOCUMENT)?),
            b'n' => self.literal("null").map(|()| Value::Null)?,
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                let (number, integer) = self.number_text()?;
                match integer_prefix(number.as_bytes()) {
                    // Integers have no negative zero.
                    _ if number == "-0" => Value::Double(-0.0),
                    Integer::Small(value, _) if integer => Value::Integer(value),
                    _ if integer => {
                        let digits = BigInteger::parse(self.digits(start)?);
                        Value::BigInteger(
                            digits.map_err(|_| self.invalid_value(start, "an integer"))?,
                        )
                    }
                    _ => match parse_f64(number.as_bytes()) {
                        Ok(double) => Value::Double(double),
                        // Too large for a double.
                        Err(_) => {
                            let digits = BigDecimal::parse(self.digits(start)?);
                            Value::BigDecimal(
                                digits.map_err(|_| self.invalid_value(start, "a number"))?,
                            )
                        }
                    },
                }
            }
            _ => return Err(self.error(ErrorKind::Syntax, "a JSON value")),
        };
        Ok(Event::Scalar(value))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.text.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let mut error = Error::new(kind)
            .in_format("JSON")
            .expected(expected)
            .at_offset(self.at)
            .at_path(locate::path(self.text, self.at));
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(snippet::json(self.text.as_bytes(), self.at));
        }
        error
    }
}
