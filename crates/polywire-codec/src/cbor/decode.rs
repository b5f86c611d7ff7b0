//! The CBOR reader.
//!
//! A structure's members are guessed as in JSON: the pre-encoded name, head
//! included, is compared as one run. Text strings are validated one by one,
//! since a body of CBOR is not text as a whole.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Budget, Container, END, Encoding, Error, ErrorKind, Event,
    LimitKind, Limits, Member, Name, NameSource, Rules, Schema, Seq, Text, Timestamp, TokenReader,
    Value, slow_member,
};

use super::head::{BREAK, Head, INDEFINITE, Tag};
use super::{CborProfile, locate};
use crate::refuse;

/// A reader of one CBOR data item.
#[derive(Debug)]
pub struct CborDecoder<'de> {
    pub(super) bytes: &'de [u8],
    /// Where the paths of errors begin, and how many levels are around that.
    origin: (usize, usize),
    /// `at <= bytes.len()`.
    pub(super) at: usize,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    /// Where the last list or map ended, and how many items were left then:
    /// what an error means that comes before anything else is read.
    pub(super) ended: (usize, u32),
    /// How many items room may still be made for. All lists and maps of a message
    /// have no more than it has bytes, whatever each of those in each other says.
    room: usize,
    pub(super) profile: CborProfile,
    /// What a way apart has read. A result through memory would have the quick
    /// way write its own there too, and read it again.
    pub(super) apart: Text,
}

/// The most items that room is made for at once.
const MOST_EXPECTED: u64 = 1023;

impl<'de> CborDecoder<'de> {
    /// A reader of a body, whose long strings and blobs will share it.
    ///
    /// # Errors
    ///
    /// The body is longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut decoder = Self::from_slice(body.as_bytes(), profile, limits)?;
        decoder.body = Some(body);
        Ok(decoder)
    }

    /// A reader of bytes, whose long strings and blobs will be copied.
    ///
    /// # Errors
    ///
    /// There are more bytes than the limit.
    pub fn from_slice(
        bytes: &'de [u8],
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        refuse::too_long(bytes.len(), limits, "CBOR")?;
        Ok(Self {
            bytes,
            origin: (0, 0),
            at: 0,
            body: None,
            budget: Budget::new(limits),
            ended: (usize::MAX, 0),
            room: bytes.len(),
            profile,
            apart: Text::default(),
        })
    }

    /// Sees to it that nothing follows the data item.
    ///
    /// # Errors
    ///
    /// Something does.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.at < self.bytes.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the message"));
        }
        Ok(())
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The whole message, what it may still cost, and how it is read: for
    /// another reader that goes on from here.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de [u8], Limits, CborProfile) {
        (self.bytes, self.budget.left(), self.profile)
    }

    /// The major type of the next data item (RFC 8949, section 3.1: 3 for text, 4 for
    /// an array, 5 for a map, 6 for a tag before it), if there is one.
    #[must_use]
    pub fn major_type(&self) -> Option<u8> {
        self.bytes.get(self.at).map(|first| first >> 5)
    }

    /// Passes the next data item over. It must be well formed all the same, and
    /// within the limits.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_value()
    }

    /// Goes to the data item at an offset of the message: on behind what another
    /// reader has read, or to what was passed over. Beyond the end there is nothing.
    pub fn go_to(&mut self, offset: usize) {
        self.at = offset.min(self.bytes.len());
    }

    /// Goes to the data item at an offset of the message, which was passed over, as if
    /// it were the whole: the paths of errors begin there, and finding them does not
    /// read what stands before it. Their offsets are of the message.
    pub fn begin_at(&mut self, offset: usize) {
        self.go_to(offset);
        self.origin = (self.at, self.budget.depth() as usize);
    }

    /// An error at the reader whose path the caller knows. `Decoder::error` reads the
    /// message again to find it, which is no way to tell of many mistakes in one.
    #[cold]
    #[must_use]
    pub fn error_in(
        &self,
        path: impl Into<String>,
        kind: ErrorKind,
        expected: &'static str,
    ) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.bytes.len() => ErrorKind::Truncated,
            kind => kind,
        };
        let error = Error::new(kind)
            .in_format("CBOR")
            .expected(expected)
            .at_offset(self.at)
            .at_path(path);
        match error.is_limit() || kind == ErrorKind::Duplicate {
            true => error,
            false => error.found(locate::describe(self.rest())),
        }
    }

    /// The path of what stands at an offset, or of what ended there with this many levels
    /// around it.
    #[cold]
    pub(super) fn path_at(&self, offset: usize, ended: Option<usize>) -> String {
        let (origin, around) = self.origin;
        let ended = ended.map(|levels| levels.saturating_sub(around));
        let bytes = self.bytes.get(origin..).unwrap_or_default();
        locate::path(bytes, offset.saturating_sub(origin), ended)
    }

    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        &self.bytes[self.at..]
    }

    /// The first byte of the next data item; a break, which starts none, at
    /// the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(BREAK)
    }

    /// Begins a list (major type 4) or a map (5).
    #[inline(always)]
    pub(super) fn enter(&mut self, major: u8, at: Member<'_>) -> Result<Seq, Error> {
        self.enter_by(major, at, Budget::enter)
    }

    /// As [`Self::enter`]; `enter` counts it.
    #[inline(always)]
    fn enter_by(
        &mut self,
        major: u8,
        at: Member<'_>,
        enter: impl Fn(&mut Budget) -> Result<(), LimitKind>,
    ) -> Result<Seq, Error> {
        // Fewer than 24 elements: the length stands in the first byte.
        let first = self.peek();
        let left = u64::from(first & 0x1f);
        if first >> 5 == major && left < 24 && enter(&mut self.budget).is_ok() {
            self.at += 1;
            return Ok(Seq {
                left,
                ..Seq::default()
            });
        }
        let left = self.enter_any(major, at, enter)?;
        Ok(Seq {
            left,
            ..Seq::default()
        })
    }

    /// As [`Self::enter_by`], behind tags, of any length, and with errors. The number
    /// of elements, which fits a register.
    #[inline(never)]
    fn enter_any(
        &mut self,
        major: u8,
        at: Member<'_>,
        enter: impl Fn(&mut Budget) -> Result<(), LimitKind>,
    ) -> Result<u64, Error> {
        self.skip_tags()?;
        if self.peek() >> 5 != major || self.at >= self.bytes.len() {
            return Err(self.wrong_type(at.kind().describe()));
        }
        let start = self.at;
        let head = self.head("a list or map")?;
        enter(&mut self.budget).map_err(|limit| self.limit(limit))?;
        // An item has a byte at least and an entry two: what cannot come need
        // not be waited for, and whoever makes room for it may trust in it.
        // Behind the limit, which comes first where the length is short too.
        let most = (self.bytes.len() - self.at) as u64 / if major == 5 { 2 } else { 1 };
        if head.argument > most && head.argument != INDEFINITE {
            self.at = start;
            return Err(self.error(ErrorKind::Truncated, "a length that fits the message"));
        }
        Ok(head.argument)
    }

    /// Goes to the next element. `false` at the end.
    #[inline(always)]
    pub(super) fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.left.wrapping_sub(1) < INDEFINITE - 1 && self.budget.count(1).is_ok() {
            seq.left -= 1;
            return Ok(true);
        }
        if seq.left == 0 {
            self.leave();
            return Ok(false);
        }
        self.next_apart(seq, true)
    }

    /// A list or map has ended.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.budget.leave();
        self.ended = (self.at, self.budget.items_left());
    }

    /// As [`Self::next`], at the end, without a length, and with errors. The
    /// members of structures are not counted: each comes once at the most.
    #[inline(never)]
    pub(super) fn next_apart(&mut self, seq: &mut Seq, count: bool) -> Result<bool, Error> {
        let ended = if seq.left == INDEFINITE {
            let ended = self.bytes.get(self.at) == Some(&BREAK);
            self.at += usize::from(ended);
            ended
        } else {
            let ended = seq.left == 0;
            seq.left -= u64::from(!ended);
            ended
        };
        if ended {
            self.leave();
            return Ok(false);
        }
        if count {
            self.count_item()?;
        }
        Ok(true)
    }

    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.count_items(1)
    }

    #[inline]
    pub(super) fn count_items(&mut self, items: u32) -> Result<(), Error> {
        self.budget.count(items).map_err(|limit| self.limit(limit))
    }

    #[inline]
    pub(super) fn check_length(&self, len: usize) -> Result<(), Error> {
        self.budget.string(len).map_err(|limit| self.limit(limit))
    }

    #[cold]
    pub(super) fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    pub(super) fn wrong_type(&self, expected: &'static str) -> Error {
        let kind = if self.at < self.bytes.len() {
            ErrorKind::WrongType
        } else {
            ErrorKind::Truncated
        };
        self.error(kind, expected)
    }

    #[cold]
    pub(super) fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[inline]
    pub(super) fn is_null(&mut self) -> Result<bool, Error> {
        match self.bytes.get(self.at) {
            Some(0xf6 | 0xf7) => {
                self.at += 1;
                Ok(true)
            }
            Some(0xc0..=0xdf) => self.is_tagged_null(),
            _ => Ok(false),
        }
    }

    /// As [`Self::is_null`], behind tags, which are skipped only if it is one.
    #[cold]
    pub(super) fn is_tagged_null(&mut self) -> Result<bool, Error> {
        let start = self.at;
        self.skip_plain_tags()?;
        let null = matches!(self.bytes.get(self.at), Some(0xf6 | 0xf7));
        self.at = if null { self.at + 1 } else { start };
        Ok(null)
    }

    /// The member whose name stands here, if it is one of the next few: others
    /// before it may have been left out.
    #[inline]
    pub(super) fn nearby(&self, shape: Schema<'_>, guess: u32) -> Option<(u32, usize)> {
        let rest = self.rest();
        (guess..shape.len().min(guess + 4)).find_map(|ordinal| {
            let name = shape.member(ordinal).run(Encoding::Cbor);
            name.starts(rest).then_some((ordinal, name.len()))
        })
    }

    /// Reads the next short key, of which the map's length tells that it comes.
    #[inline(always)]
    fn short_key(&mut self, seq: &mut Seq) -> Option<Text> {
        let (window, len) = self.short_text()?;
        let value = window.get(len)?;
        // A null may have to be skipped, and tags may stand before it, where nulls are
        // skipped at all. The key is made last: one that is thrown away would have to be
        // dropped.
        let skipped = value >> 5 > 5 && self.profile.skip_nulls;
        if seq.left == INDEFINITE || skipped || self.budget.items_left() == 0 {
            return None;
        }
        let key = Text::ascii_prefix(window, len)?;
        // One is left, as was asked.
        let _ = self.budget.count(1);
        self.at += 1 + len;
        seq.left -= 1;
        Some(key)
    }

    /// A tag with a meaning, and its value; or a value behind tags without.
    pub(super) fn tagged(&mut self) -> Result<Event, Error> {
        let Some((tag, start)) = self.tag()? else {
            return self.any();
        };
        Ok(Event::Scalar(match tag {
            Tag::DateTime => Value::Timestamp(self.date_time(start)?),
            Tag::Epoch => Value::Timestamp(self.epoch(start)?),
            Tag::Unsigned | Tag::Negative => Value::from(self.bignum(tag, start)?),
            Tag::Decimal => Value::BigDecimal(self.decimal(start)?),
        }))
    }

    /// Skips a value that nobody wants. It must be well formed all the same.
    pub(super) fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_tags()?;
        let start = self.at;
        match self.peek() >> 5 {
            _ if self.at >= self.bytes.len() => Err(self.error(ErrorKind::Truncated, "a value")),
            2 => self.string_bytes(2, "a byte string").map(|_| ()),
            3 => self.text_string().map(|_| ()),
            major @ (4 | 5) => {
                let mut seq = self.enter_by(major, Member::DOCUMENT, Budget::enter_uncounted)?;
                while self.next_item(&mut seq)? {
                    if major == 5 {
                        self.skip_value()?;
                    }
                    self.skip_value()?;
                }
                Ok(())
            }
            _ => {
                let head = self.head("a value")?;
                self.check_simple(head, start)
            }
        }
    }

    /// Simple values below 32 have no two-byte form, RFC 8949, section 3.3.
    pub(super) fn check_simple(&mut self, head: Head, start: usize) -> Result<(), Error> {
        if head.major == 7 && head.info == 24 && head.argument < 32 {
            self.at = start;
            return Err(self.error(ErrorKind::Syntax, "a valid simple value"));
        }
        Ok(())
    }
}

impl<'de> TokenReader<'de> for CborDecoder<'de> {
    type Next = ();
    type Run = usize;

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
            names: NameSource::Member,
        }
    }

    #[inline(always)]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        let major = if container == Container::List { 4 } else { 5 };
        self.enter(major, at)
    }

    #[inline(always)]
    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match container {
            Container::Structure => self.next_apart(seq, false),
            Container::List | Container::Map => self.next_item(seq),
        }
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    #[inline(always)]
    fn match_member(&self, (): (), member: Member<'_>, seq: &Seq) -> Option<usize> {
        let rest = self.rest();
        if seq.left == 0 {
            return None;
        }
        let len = member.encoded(Encoding::Cbor).starts(rest)?;
        // Behind it a value that is not null, nor a tag that may stand before one.
        let value = *rest.get(len)?;
        (value <= 0xc4 || value > 0xdb && !matches!(value, 0xf6 | 0xf7)).then_some(len)
    }

    #[inline(always)]
    fn accept_member(&mut self, len: usize, seq: &mut Seq) {
        self.at += len;
        seq.left -= u64::from(seq.left != INDEFINITE);
    }

    #[inline(always)]
    fn other_member(&mut self, (): (), shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if seq.left != 0 {
            return slow_member(self, shape, seq);
        }
        self.leave();
        Ok(END)
    }

    #[inline]
    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        if let Some((found, len)) = self.nearby(shape, seq.guess) {
            self.at += len;
            return Ok(Name::Member(found));
        }
        let key = self.text_string()?;
        Ok(match shape.find(NameSource::Member, key.as_bytes()) {
            Some(found) => Name::Member(found),
            None => Name::Unknown,
        })
    }

    #[inline(always)]
    fn quick_key(&mut self, seq: &mut Seq) -> Option<Option<Text>> {
        if seq.left == 0 {
            self.leave();
            return Some(None);
        }
        self.short_key(seq).map(Some)
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<(), Error> {
        self.apart = self.any_text()?;
        Ok(())
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
        self.peek() >> 5 > 5
    }

    #[inline(never)]
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        // A map of one entry, whose name and value follow.
        let rest = self.rest();
        let [0xa1, head @ 0x60..0x78, text @ ..] = rest.first_chunk::<10>()? else {
            return None;
        };
        let len = usize::from(head & 0x1f);
        let ordinal = at.find_variant(NameSource::Member, *text, len)?;
        let len = 2 + len;
        // Nulls, the tags that may stand before them, and errors are left to
        // `member`.
        let value = rest.get(len)?;
        if matches!(value, 0xc5..=0xdb | 0xf6 | 0xf7) || self.budget.enter().is_err() {
            return None;
        }
        self.at += len;
        Some(ordinal)
    }

    #[inline]
    fn end_variant(&mut self, _: u32) -> Option<Seq> {
        self.leave();
        None
    }

    #[inline]
    fn expected(&mut self, _: Member<'_>, seq: &Seq) -> usize {
        let expected = match seq.left {
            INDEFINITE => return 0,
            // So many are there at least in bytes; room for more is made when
            // they have come.
            left => left.min(MOST_EXPECTED) as usize + 1,
        };
        let expected = expected.min(self.room);
        self.room -= expected;
        expected
    }

    fn null(&mut self) -> Result<bool, Error> {
        self.is_null()
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_plain_tags()?;
        }
        let value = match self.bytes.get(self.at) {
            Some(0xf4) => false,
            Some(0xf5) => true,
            _ => return Err(self.wrong_type("true or false")),
        };
        self.at += 1;
        Ok(value)
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        if let Some((value, len)) = self.quick_integer() {
            let (least, most) = at.kind().integer_range();
            if (least..=most).contains(&value) {
                self.at += len;
                return Ok(value);
            }
        }
        self.apart_integer(at)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let start = self.at;
        let double = self.any_double("a number")?;
        let float = double as f32;
        if float.is_infinite() && double.is_finite() {
            return Err(self.invalid(start, "a number of 32 bits"));
        }
        Ok(float)
    }

    #[inline]
    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        if let Some((0xfb, behind)) = self.rest().split_first()
            && let Some(bytes) = behind.first_chunk()
        {
            self.at += 9;
            return Ok(f64::from_be_bytes(*bytes));
        }
        self.any_double("a number")
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.any_integer()
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.any_decimal()
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        if let Some((window, len)) = self.short_text()
            && let Some(text) = Text::ascii_prefix(window, len)
        {
            self.at += 1 + len;
            return Ok(text);
        }
        self.any_text_apart()?;
        Ok(std::mem::take(&mut self.apart))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.text_string()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let bytes = self.string_bytes(2, "a byte string")?;
        Ok(self.blob_of(bytes))
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        let start = self.at;
        match self.peek() {
            0xc1 => {
                self.at += 1;
                self.epoch(start)
            }
            _ => self.tagged_timestamp(),
        }
    }

    fn any(&mut self) -> Result<Event, Error> {
        if self.at >= self.bytes.len() {
            return Err(self.error(ErrorKind::Truncated, "a value"));
        }
        let start = self.at;
        let value = match self.peek() >> 5 {
            0 | 1 => self.integer_value()?,
            2 => Value::Blob(self.blob(Member::DOCUMENT)?),
            3 => Value::String(self.text(Member::DOCUMENT)?),
            4 => return self.enter(4, Member::DOCUMENT).map(Event::List),
            5 => return self.enter(5, Member::DOCUMENT).map(Event::Map),
            6 => return self.tagged(),
            _ => match self.peek() {
                0xf4 | 0xf5 => Value::Boolean(self.boolean(Member::DOCUMENT)?),
                0xf6 | 0xf7 => {
                    self.at += 1;
                    Value::Null
                }
                0xfa => Value::Float(self.any_double("a number")? as f32),
                0xf9 | 0xfb => Value::Double(self.any_double("a number")?),
                _ => {
                    self.at = start;
                    return Err(self.error(ErrorKind::Syntax, "a value with a known first byte"));
                }
            },
        };
        Ok(Event::Scalar(value))
    }

    fn document(&mut self) -> Result<Value, Error> {
        self.document_value()
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        // Where one value ends the next begins: the offset alone does not say
        // which of them is meant.
        let levels = self.budget.depth() as usize;
        let ended = self.ended == (self.at, self.budget.items_left());
        let path = self.path_at(self.at, ended.then_some(levels));
        self.error_in(path, kind, expected)
    }
}
