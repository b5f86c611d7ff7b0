//! The JSON reader.
//!
//! The input is validated as UTF-8 once, whole; from then on it is a `str` and
//! strings are cut out of it without another look. A structure's members are
//! guessed: after one member the next in the model's order is expected, and
//! its pre-encoded name, quotes and colon included, is compared as one run. A
//! miss reads the key and looks it up. What lies between tokens is mostly
//! nothing, or one space, and is tested before it is skipped.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Budget, Container, END, Encoding, Error, ErrorKind, Event,
    LimitKind, Limits, Member, Name, Part, Rules, Schema, Seq, Text, Timestamp, TimestampFormat,
    TokenReader, Value, slow_member,
};
use polywire_text::escape::{self, LoneSurrogate};
use polywire_text::number::{
    Integer, decimal_prefix, integer_prefix, json_number, parse_f32, parse_f64,
};
use polywire_text::timestamp::ReadPolicy;
use polywire_text::{Malformed, base64, scan};

use super::{JsonProfile, locate};
use crate::lengths::Lengths;
use crate::{refuse, snippet};

/// A reader of one JSON text.
#[derive(Debug)]
pub struct JsonDecoder<'de> {
    text: &'de str,
    /// `at <= text.len()`, always on a character boundary.
    at: usize,
    body: Option<&'de Body>,
    budget: Budget,
    profile: JsonProfile,
    lengths: Lengths,
    /// What a way apart has read. A result through memory would have the quick
    /// way write its own there too, and read it again.
    apart: Text,
}

/// The bytes around the parts of a container, and what is expected behind one.
const fn bounds(container: Container) -> (u8, u8, &'static str) {
    match container {
        Container::Structure => (b'{', b'}', "a comma or } after a member"),
        Container::List => (b'[', b']', "a comma or ] after an item"),
        Container::Map => (b'{', b'}', "a comma or } after an entry"),
    }
}

/// Where a text begins: a byte order mark is no part of JSON, but some writers
/// add one.
fn start_of(text: &str) -> usize {
    let mark = '\u{feff}';
    if text.starts_with(mark) {
        mark.len_utf8()
    } else {
        0
    }
}

impl<'de> JsonDecoder<'de> {
    /// A reader of a body, whose long strings will share it.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, or longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: JsonProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let text = refuse::text(body, limits, "JSON")?;
        let mut decoder = Self::from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok(decoder)
    }

    /// A reader of a text, whose long strings will be copied.
    ///
    /// # Errors
    ///
    /// The text is longer than the limit.
    pub fn from_str(text: &'de str, profile: JsonProfile, limits: &Limits) -> Result<Self, Error> {
        refuse::too_long(text.len(), limits, "JSON")?;
        Ok(Self {
            text,
            at: start_of(text),
            body: None,
            budget: Budget::new(limits),
            profile,
            lengths: Lengths::default(),
            apart: Text::default(),
        })
    }

    /// Sees to it that nothing follows the value.
    ///
    /// # Errors
    ///
    /// Something other than white space does.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the document"));
        }
        Ok(())
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The whole text, what it may still cost, and how it is read: for another
    /// reader that goes on from here.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Limits, JsonProfile) {
        (self.text, self.budget.left(), self.profile)
    }

    /// Goes on behind what another reader has read.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, offset: usize) {
        self.at = offset;
    }

    #[inline]
    fn rest(&self) -> &'de [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next byte, or 0 at the end; 0 itself is no token of JSON.
    #[inline]
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        if self.peek() <= b' ' {
            self.at = self.behind_space(self.at);
        }
    }

    /// Where the white space ends that begins here, if there is any.
    #[inline]
    fn behind_space(&self, at: usize) -> usize {
        scan::behind_space(self.text.as_bytes(), at)
    }

    /// Where the next token stands, from here on, and its first byte; 0 at the
    /// end.
    #[inline(always)]
    fn token_at(&self, at: usize) -> (usize, u8) {
        let bytes = self.text.as_bytes();
        match bytes.get(at) {
            Some(byte) if *byte > b' ' => (at, *byte),
            _ => {
                let at = self.behind_space(at);
                (at, bytes.get(at).copied().unwrap_or(0))
            }
        }
    }

    #[inline]
    fn peek_token(&mut self) -> u8 {
        self.skip_space();
        self.peek()
    }

    /// As [`Self::token_at`], behind a colon or brace, where one space is common.
    #[inline(always)]
    fn token_behind(&self, at: usize) -> (usize, u8) {
        match self.text.as_bytes().get(at..) {
            Some([b' ', next, ..]) if *next > b' ' => (at + 1, *next),
            _ => self.token_at(at),
        }
    }

    #[inline(always)]
    fn enter(&mut self) -> Result<Seq, Error> {
        self.at += 1;
        match self.budget.enter() {
            Ok(()) => Ok(Seq::default()),
            Err(limit) => Err(self.limit(limit)),
        }
    }

    #[inline]
    fn enter_skipped(&mut self) -> Result<Seq, Error> {
        self.at += 1;
        match self.budget.enter_uncounted() {
            Ok(()) => Ok(Seq::default()),
            Err(limit) => Err(self.limit(limit)),
        }
    }

    #[inline]
    fn leave(&mut self) {
        self.at += 1;
        self.budget.leave();
    }

    #[inline]
    fn count_item(&mut self) -> Result<(), Error> {
        self.budget.count(1).map_err(|limit| self.limit(limit))
    }

    #[inline]
    fn check_length(&self, len: usize) -> Result<(), Error> {
        self.budget.string(len).map_err(|limit| self.limit(limit))
    }

    #[cold]
    fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    fn wrong_type(&self, expected: &'static str) -> Error {
        match self.peek() {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.error(ErrorKind::WrongType, expected)
            }
            _ => self.error(ErrorKind::Syntax, expected),
        }
    }

    /// Goes to the next element of what `close` closes. `false` at its end.
    #[inline(always)]
    fn next_item(
        &mut self,
        seq: &mut Seq,
        close: u8,
        expected: &'static str,
    ) -> Result<bool, Error> {
        let (at, token) = self.token_at(self.at);
        if token == close {
            self.at = at;
            self.leave();
            return Ok(false);
        }
        let (at, token) = match seq.count {
            0 => (at, token),
            _ if token == b',' => self.token_at(at + 1),
            _ => (at, close),
        };
        if token != close && token != 0 && self.budget.count(1).is_ok() {
            self.at = at;
            seq.count += 1;
            return Ok(true);
        }
        self.next_apart(seq, close, expected, true)
    }

    /// As [`Self::next_item`], with white space, limits and errors. The members of
    /// structures are not counted: each comes once at the most.
    #[inline(never)]
    fn next_apart(
        &mut self,
        seq: &mut Seq,
        close: u8,
        expected: &'static str,
        count: bool,
    ) -> Result<bool, Error> {
        let token = self.peek_token();
        if token == close {
            self.leave();
            return Ok(false);
        }
        if seq.count > 0 {
            if token != b',' {
                return Err(self.error(ErrorKind::Syntax, expected));
            }
            self.at += 1;
            self.skip_space();
            if self.peek() == close {
                return Err(self.error(ErrorKind::Syntax, "another element after the comma"));
            }
        }
        seq.count += 1;
        if count {
            self.count_item()?;
        }
        Ok(true)
    }

    /// Reads the colon behind a key.
    #[inline]
    fn colon(&mut self) -> Result<(), Error> {
        if self.peek_token() != b':' {
            return Err(self.error(ErrorKind::Syntax, "a colon after the key"));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Reads the next short key without escapes, up to its value, if it and what
    /// is around it are plain. `at` and `token` are what comes next.
    #[inline(always)]
    fn short_key(&mut self, mut at: usize, mut token: u8, seq: &mut Seq) -> Option<Text> {
        if seq.count > 0 {
            if token != b',' {
                return None;
            }
            (at, token) = self.token_at(at + 1);
        }
        if token != b'"' {
            return None;
        }
        let (window, len) = self.short_text(at + 1)?;
        let end = at + len + 2;
        if self.text.as_bytes().get(end) != Some(&b':') {
            return None;
        }
        let (value, token) = self.token_behind(end + 1);
        // A null may have to be skipped. The key is made last: one that is thrown
        // away would have to be dropped.
        if token == b'n' || self.budget.items_left() == 0 {
            return None;
        }
        let key = Text::inline_prefix(window, len)?;
        // One is left, as was asked.
        let _ = self.budget.count(1);
        self.at = value;
        seq.count += 1;
        Some(key)
    }

    /// A short string without escapes, which begins at `start`, behind its quote:
    /// the text from there on and the length of the string. Its other quote follows.
    #[inline(always)]
    fn short_text(&self, start: usize) -> Option<(&'de str, usize)> {
        let text = self.text.get(start..)?;
        let len = scan::short_json_string(text.as_bytes().first_chunk()?)?;
        self.budget.fits(len).then_some((text, len))
    }

    /// Reads the key of a member or entry.
    fn key_text(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.peek() != b'"' {
            return Err(self.error(ErrorKind::Syntax, "a key in quotes"));
        }
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    #[cold]
    fn no_such_member(&self, shape: Schema<'_>) -> Error {
        let names: Vec<&str> = shape.members().map(Member::name).collect();
        let expected = format!("a member of {}: {}", shape.id(), names.join(", "));
        self.error(ErrorKind::Unknown, "").expected(expected)
    }

    #[inline]
    fn is_null(&mut self) -> Result<bool, Error> {
        if self.peek() != b'n' {
            return Ok(false);
        }
        self.word("null")?;
        Ok(true)
    }

    #[inline]
    fn word(&mut self, word: &'static str) -> Result<(), Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.error(ErrorKind::Syntax, "a JSON value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a string; borrowed if it has no escapes.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        let (start, end) = match self.clean_string()? {
            Ok(range) => range,
            Err(text) => return Ok(Cow::Owned(text)),
        };
        Ok(Cow::Borrowed(&self.text[start..end]))
    }

    /// Reads a string: where it stands in the input, or its unescaped text.
    #[inline]
    fn clean_string(&mut self) -> Result<Result<(usize, usize), String>, Error> {
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

    /// Reads a string with escapes, behind its opening quote.
    #[inline(never)]
    fn escaped_string(&mut self, start: usize) -> Result<String, Error> {
        match escape::json_str(&self.text[start..], LoneSurrogate::Refuse) {
            Ok((text, read)) => {
                self.check_length(text.len())?;
                self.at = start + read;
                Ok(text.into_owned())
            }
            Err(malformed) => Err(self.malformed(malformed, start)),
        }
    }

    /// The number that stands here.
    fn number(&mut self) -> Result<(&'de str, bool), Error> {
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

    /// The digits of a big number, which may stand in a string by some profiles.
    fn big_number(&mut self) -> Result<Text, Error> {
        if self.profile.quoted_big_numbers && self.peek() == b'"' {
            return self.any_text();
        }
        let start = self.at;
        self.number()?;
        self.digits(start)
    }

    /// The digits of a big number, which was read from `start` on. They are
    /// kept; other numbers become as long as their type.
    fn digits(&mut self, start: usize) -> Result<Text, Error> {
        let end = self.at;
        if !self.budget.fits(end - start) {
            self.at = start;
        }
        self.check_length(end - start)?;
        Ok(self.text_of(start, end))
    }

    /// An error of a primitive that read from `base`.
    #[cold]
    fn malformed(&mut self, malformed: Malformed, base: usize) -> Error {
        self.at = base + malformed.offset;
        let kind = if self.at < self.text.len() {
            ErrorKind::Syntax
        } else {
            ErrorKind::Truncated
        };
        self.error(kind, malformed.expected)
    }

    /// A well-formed value that its type refuses; the reader goes back to it.
    #[cold]
    fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    /// One of the words that stand for numbers which JSON has none for.
    fn float_word(&mut self) -> Result<f64, Error> {
        let start = self.at;
        match &*self.string()? {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            _ => Err(self.invalid(
                start,
                "a number, or one of \"NaN\", \"Infinity\", \"-Infinity\"",
            )),
        }
    }

    /// Skips a value that nobody wants. It must be well formed all the same.
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
            b'"' => self.clean_string().map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number().map(|_| ()),
        }
    }

    /// The member whose name stands here, if it is one of the next few: others
    /// before it may have been left out.
    #[inline]
    fn nearby(&self, shape: Schema<'_>, guess: u32) -> Option<(u32, usize)> {
        let rest = self.rest();
        (guess..shape.len().min(guess + 4)).find_map(|ordinal| {
            let name = shape.member(ordinal).run(self.profile.names);
            name.starts(rest).then_some((ordinal, name.len()))
        })
    }

    /// As `Decoder::member`, with white space, and in any order: the next member,
    /// or `END`. `None`, with nothing read, for all that is not plain.
    #[inline(never)]
    fn spaced_member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Option<u32> {
        let (mut at, mut token) = self.token_at(self.at);
        if token == b'}' {
            self.at = at;
            self.leave();
            return Some(END);
        }
        if seq.count > 0 {
            if token != b',' {
                return None;
            }
            (at, token) = self.token_at(at + 1);
        }
        let bytes = self.text.as_bytes();
        let rest = bytes.get(at..)?;
        let names = shape.encoded_names(self.profile.names);
        let guessed = names.get(seq.guess as usize);
        let (ordinal, len) = match guessed.and_then(|name| name.starts(rest)) {
            Some(len) => (seq.guess, len),
            None if token == b'"' => {
                let key = &rest[1..];
                let len = scan::short_json_string(key.first_chunk()?)?;
                if key.get(len + 1) != Some(&b':') {
                    return None;
                }
                let ordinal = shape.find(self.profile.names.source(), &key[..len])?;
                (ordinal, len + 3)
            }
            None => return None,
        };
        let (value, token) = self.token_behind(at + len);
        if matches!(token, b'n' | 0)
            || !seq.part.holds(shape.member(ordinal))
            || !seq.mark_new(ordinal)
        {
            return None;
        }
        self.at = value;
        seq.count += 1;
        seq.guess = ordinal + 1;
        Some(ordinal)
    }

    fn any_text(&mut self) -> Result<Text, Error> {
        self.skip_space();
        match self.clean_string()? {
            Ok((start, end)) => Ok(self.text_of(start, end)),
            Err(text) => Ok(Text::from(text)),
        }
    }

    /// As [`Self::any_text`], into [`Self::apart`].
    #[inline(never)]
    fn any_text_apart(&mut self) -> Result<(), Error> {
        self.apart = self.any_text()?;
        Ok(())
    }

    #[inline(never)]
    fn any_double(&mut self) -> Result<f64, Error> {
        if self.peek_token() == b'"' {
            return self.float_word();
        }
        let start = self.at;
        let (number, _) = self.number()?;
        parse_f64(number.as_bytes()).map_err(|_| self.invalid(start, "a number of 64 bits"))
    }

    /// An integer that is not plain, out of range, or something else.
    #[inline(never)]
    fn any_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.skip_space();
        let start = self.at;
        let Integer::Small(value, len) = integer_prefix(self.rest()) else {
            if !matches!(self.peek(), b'-' | b'0'..=b'9') {
                return Err(self.wrong_type(at.kind().describe()));
            }
            return match self.number() {
                Ok(_) => Err(self.invalid(start, at.kind().describe())),
                Err(error) => Err(error),
            };
        };
        // A leading zero, a fraction or an exponent: leave it to the grammar.
        let sign = usize::from(value < 0 || self.peek() == b'-');
        let zero = len > sign + 1 && self.text.as_bytes()[start + sign] == b'0';
        if zero
            || matches!(
                self.text.as_bytes().get(start + len),
                Some(b'.' | b'e' | b'E')
            )
        {
            self.number()?;
            return Err(self.invalid(start, at.kind().describe()));
        }
        let (least, most) = at.kind().integer_range();
        if value < least || value > most {
            return Err(self.invalid(start, at.kind().describe()));
        }
        self.at += len;
        Ok(value)
    }

    /// The string in `start..end` of the input as a `Text`.
    #[inline]
    fn text_of(&self, start: usize, end: usize) -> Text {
        match Text::inline_prefix(&self.text[start..], end - start) {
            Some(text) => text,
            None => self.long_text(&self.text[start..end]),
        }
    }

    fn long_text(&self, text: &str) -> Text {
        match self.body {
            Some(body) => body.text(text),
            None => Text::from(text),
        }
    }
}

impl<'de> TokenReader<'de> for JsonDecoder<'de> {
    type Next = ();
    type Run = usize;

    const FINDS_EXPECTED: bool = true;

    #[inline(always)]
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules {
            skip_nulls: self.profile.skip_nulls,
            required: self.profile.required,
            defaults: self.profile.defaults,
            names: self.profile.names.source(),
        }
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
            Container::Structure => self.next_apart(seq, close, expected, false),
            Container::List => self.next_item(seq, close, expected),
            Container::Map => self.next_apart(seq, close, expected, true),
        }
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    #[inline(always)]
    fn match_member(&self, (): (), member: Member<'_>, seq: &Seq) -> Option<usize> {
        // The comma, the name, and right behind it a value that is not null: two comparisons and
        // no look at anything else.
        let comma = usize::from(seq.count > 0);
        if seq.count > 0 && self.peek() != b',' {
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
        match self.spaced_member(shape, seq) {
            Some(ordinal) => Ok(ordinal),
            None => slow_member(self, shape, seq),
        }
    }

    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        if let Some((found, len)) = self.nearby(shape, seq.guess) {
            self.at += len;
            self.skip_space();
            return Ok(Name::Member(found));
        }
        let start = self.at;
        let key = self.key_text()?;
        match shape.find(self.profile.names.source(), key.as_bytes()) {
            Some(ordinal) => Ok(Name::Member(ordinal)),
            None if self.profile.refuse_unknown => {
                self.at = start;
                Err(self.no_such_member(shape))
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
        if self.peek() != b'"' {
            return Err(self.error(ErrorKind::Syntax, "a key in quotes"));
        }
        self.any_text_apart()?;
        self.colon()
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.apart
    }

    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_value()
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.peek() == b'n'
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
        let text = self.text.as_bytes().get(name..)?.first_chunk::<17>()?;
        let [b'"', text @ ..] = text else {
            return None;
        };
        let len = scan::before_quote(text);
        if text.get(len + 1) != Some(&b':') {
            return None;
        }
        let source = self.profile.names.source();
        let ordinal = at.find_variant(source, *text.first_chunk()?, len)?;
        let (value, token) = self.token_behind(name + len + 3);
        // Documents may be null; they and errors are left to `member`.
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
    fn expected(&mut self, at: Member<'_>, _: &Seq) -> usize {
        self.lengths.expected(at)
    }

    fn null(&mut self) -> Result<bool, Error> {
        self.skip_space();
        self.is_null()
    }

    #[inline]
    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match self.peek_token() {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let rest = self.rest();
        if let Integer::Small(value, len) = integer_prefix(rest) {
            // One digit, or none that is a leading zero; nothing behind it
            // that belongs to a number.
            let sign = usize::from(value < 0);
            let plain = len == sign + 1 || rest.get(sign).is_some_and(|first| *first > b'0');
            let (least, most) = at.kind().integer_range();
            if plain
                && !matches!(rest.get(len), Some(b'.' | b'e' | b'E'))
                && (least..=most).contains(&value)
            {
                self.at += len;
                return Ok(value);
            }
        }
        self.any_integer(at)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        if self.peek_token() == b'"' {
            return Ok(self.float_word()? as f32);
        }
        let start = self.at;
        let (number, _) = self.number()?;
        parse_f32(number.as_bytes()).map_err(|_| self.invalid(start, "a number of 32 bits"))
    }

    #[inline]
    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        if let Some((value, len)) = decimal_prefix(self.rest()) {
            self.at += len;
            return Ok(value);
        }
        self.any_double()
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.skip_space();
        let start = self.at;
        let digits = self.big_number()?;
        BigInteger::parse(digits).map_err(|_| self.invalid(start, "an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.skip_space();
        let start = self.at;
        let digits = self.big_number()?;
        BigDecimal::parse(digits).map_err(|_| self.invalid(start, "a decimal number"))
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        // A short string without escapes, right here.
        if self.peek() == b'"'
            && let Some((window, len)) = self.short_text(self.at + 1)
            && let Some(text) = Text::inline_prefix(window, len)
        {
            self.at += len + 2;
            return Ok(text);
        }
        self.any_text_apart()?;
        Ok(std::mem::take(&mut self.apart))
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
            let escaped = matches!(text, Cow::Owned(_));
            let offset = if escaped { 0 } else { 1 + malformed.offset };
            self.invalid(start + offset, malformed.expected)
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
        let read = match format {
            TimestampFormat::EpochSeconds => Timestamp::parse_epoch_seconds(self.number()?.0),
            _ if !quoted => return Err(self.wrong_type("a timestamp in a string")),
            TimestampFormat::DateTime => {
                let policy = ReadPolicy::new().utc(self.profile.required);
                Timestamp::parse_date_time_with(&*self.string()?, policy)
            }
            TimestampFormat::HttpDate => Timestamp::parse_http_date(&self.string()?),
        };
        read.map_err(|malformed| {
            self.invalid(
                start + usize::from(quoted) + malformed.offset,
                malformed.expected,
            )
        })
    }

    fn any(&mut self) -> Result<Event, Error> {
        let value = match self.peek_token() {
            b'{' => return self.enter().map(Event::Map),
            b'[' => return self.enter().map(Event::List),
            b'"' => Value::String(self.text(Member::DOCUMENT)?),
            b't' | b'f' => Value::Boolean(self.boolean(Member::DOCUMENT)?),
            b'n' => self.word("null").map(|()| Value::Null)?,
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                let (number, integer) = self.number()?;
                match integer_prefix(number.as_bytes()) {
                    // An integer has no such zero: a double wrote it.
                    _ if number == "-0" => Value::Double(-0.0),
                    Integer::Small(value, _) if integer => Value::Integer(value),
                    _ if integer => {
                        let digits = BigInteger::parse(self.digits(start)?);
                        Value::BigInteger(digits.map_err(|_| self.invalid(start, "an integer"))?)
                    }
                    _ => match parse_f64(number.as_bytes()) {
                        Ok(double) => Value::Double(double),
                        // Beyond a double: its digits are kept.
                        Err(_) => {
                            let digits = BigDecimal::parse(self.digits(start)?);
                            Value::BigDecimal(digits.map_err(|_| self.invalid(start, "a number"))?)
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

const _: () = assert!(matches!(
    Encoding::JsonName.source(),
    polywire_schema::NameSource::Json
));
