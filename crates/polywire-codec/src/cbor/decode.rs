//! The CBOR reader.
//!
//! A structure's members are guessed as in JSON: the pre-encoded name, head
//! included, is compared as one run. Text strings are validated one by one,
//! since a body of CBOR is not text as a whole.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, END, Encoding, Error, ErrorKind, Event, LimitKind,
    Limits, Member, NameSource, Schema, Seq, ShapeKind, Text, Timestamp, Value,
};
use polywire_text::{Malformed, utf8};

use super::{CborProfile, big, locate};
use crate::budget::Budget;
use crate::{keep, nulls, refuse};

/// A reader of one CBOR data item.
#[derive(Debug)]
pub struct CborDecoder<'de> {
    bytes: &'de [u8],
    /// `at <= bytes.len()`.
    at: usize,
    body: Option<&'de Body>,
    budget: Budget,
    /// Where the last list or map ended, and how many items were left then:
    /// what an error means that comes before anything else is read.
    ended: (usize, u32),
    profile: CborProfile,
}

/// A list or map without a length: it ends with a break.
const INDEFINITE: u64 = u64::MAX;
const BREAK: u8 = 0xff;

/// The tags that have a meaning here, RFC 8949, sections 3.4.1 to 3.4.4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tag {
    DateTime,
    Epoch,
    Unsigned,
    Negative,
    Decimal,
}

/// So many bytes of a bignum count as an item: turning them into digits costs
/// their square.
const BYTES_AN_ITEM: usize = 64;

/// The head of a data item: major type and argument.
#[derive(Clone, Copy)]
struct Head {
    major: u8,
    /// The lower five bits of the first byte.
    info: u8,
    argument: u64,
}

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
            at: 0,
            body: None,
            budget: Budget::new(limits),
            ended: (usize::MAX, 0),
            profile,
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

    #[inline]
    fn rest(&self) -> &'de [u8] {
        &self.bytes[self.at..]
    }

    /// The first byte of the next data item; a break, which starts none, at
    /// the end.
    #[inline]
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(BREAK)
    }

    /// Reads a head. Reserved forms (RFC 8949, section 3) are errors.
    #[inline]
    fn head(&mut self, expected: &'static str) -> Result<Head, Error> {
        let Some(&first) = self.bytes.get(self.at) else {
            return Err(self.error(ErrorKind::Truncated, expected));
        };
        let info = first & 0x1f;
        let head = Head {
            major: first >> 5,
            info,
            argument: u64::from(info),
        };
        if info < 24 {
            self.at += 1;
            return Ok(head);
        }
        self.long_head(head)
    }

    fn long_head(&mut self, head: Head) -> Result<Head, Error> {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let (argument, len) = match head.info {
            24 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u8::from_be_bytes(*bytes))),
                1,
            ),
            25 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u16::from_be_bytes(*bytes))),
                2,
            ),
            26 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u32::from_be_bytes(*bytes))),
                4,
            ),
            27 => (
                rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)),
                8,
            ),
            31 if matches!(head.major, 2..=5) => (Some(INDEFINITE), 0),
            _ => return Err(self.error(ErrorKind::Syntax, "a data item with a valid first byte")),
        };
        match argument {
            // A length that no message can have would look indefinite.
            Some(INDEFINITE) if head.info == 27 && matches!(head.major, 2..=5) => {
                Err(self.error(ErrorKind::Truncated, "a length that fits the message"))
            }
            Some(argument) => {
                self.at += 1 + len;
                Ok(Head { argument, ..head })
            }
            None => {
                self.at = self.bytes.len();
                Err(self.error(ErrorKind::Truncated, "the rest of a number or length"))
            }
        }
    }

    /// Skips all tags: what they say about a list or map is not asked.
    #[inline]
    fn skip_tags(&mut self) -> Result<(), Error> {
        while self.peek() >> 5 == 6 {
            self.head("a tag")?;
        }
        Ok(())
    }

    /// Reads the tags in front of a value, up to and with the first that has a
    /// meaning here: which one, and where it begins.
    #[cold]
    #[inline(never)]
    fn tag(&mut self) -> Result<Option<(Tag, usize)>, Error> {
        // A loop, since tags before tags must not cost stack.
        while self.peek() >> 5 == 6 {
            let start = self.at;
            let tag = match self.head("a tag")?.argument {
                0 => Tag::DateTime,
                1 => Tag::Epoch,
                2 => Tag::Unsigned,
                3 => Tag::Negative,
                4 => Tag::Decimal,
                _ => continue,
            };
            return Ok(Some((tag, start)));
        }
        Ok(None)
    }

    /// Skips tags without a meaning here, such as that which says that this is
    /// CBOR (RFC 8949, section 3.4.6). One with a meaning is left for an error:
    /// what it stands before is no plain value.
    #[cold]
    #[inline(never)]
    fn skip_plain_tags(&mut self) -> Result<(), Error> {
        if let Some((_, start)) = self.tag()? {
            self.at = start;
        }
        Ok(())
    }

    /// Begins a list (major type 4) or a map (5).
    #[inline(always)]
    fn enter(&mut self, major: u8, at: Member<'_>) -> Result<Seq, Error> {
        // Fewer than 24 elements: the length stands in the first byte.
        let first = self.peek();
        let left = u64::from(first & 0x1f);
        if first >> 5 == major && left < 24 && self.budget.enter().is_ok() {
            self.at += 1;
            return Ok(Seq {
                left,
                ..Seq::default()
            });
        }
        self.enter_any(major, at)
    }

    /// As [`Self::enter`], behind tags, of any length, and with errors.
    #[inline(never)]
    fn enter_any(&mut self, major: u8, at: Member<'_>) -> Result<Seq, Error> {
        self.skip_tags()?;
        if self.peek() >> 5 != major || self.at >= self.bytes.len() {
            return Err(self.wrong_type(at.kind().describe()));
        }
        let start = self.at;
        let head = self.head("a list or map")?;
        // An item has a byte at least and an entry two: what cannot come need
        // not be waited for, and whoever makes room for it may trust in it.
        let most = (self.bytes.len() - self.at) as u64 / if major == 5 { 2 } else { 1 };
        if head.argument > most && head.argument != INDEFINITE {
            self.at = start;
            return Err(self.error(ErrorKind::Truncated, "a length that fits the message"));
        }
        self.budget.enter().map_err(|limit| self.limit(limit))?;
        Ok(Seq {
            left: head.argument,
            ..Seq::default()
        })
    }

    /// Goes to the next element. `false` at the end.
    #[inline(always)]
    fn next(&mut self, seq: &mut Seq) -> Result<bool, Error> {
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
    fn leave(&mut self) {
        self.budget.leave();
        self.ended = (self.at, self.budget.items_left());
    }

    /// The argument of a head and the head's length, if both are there within
    /// the message with something behind them: the quick way.
    #[inline]
    fn quick_head(rest: &[u8]) -> Option<(u64, usize)> {
        let (first, behind) = rest.split_first()?;
        let info = first & 0x1f;
        if info < 24 {
            return Some((u64::from(info), 1));
        }
        // Eight bytes are read whatever the size, and shifted.
        let word = u64::from_be_bytes(*behind.first_chunk::<8>()?);
        let size = 1_u32
            .checked_shl(u32::from(info - 24))
            .filter(|size| *size <= 8)?;
        Some((word >> (64 - 8 * size), 1 + size as usize))
    }

    /// As [`Self::next`], at the end, without a length, and with errors. The
    /// members of structures are not counted: each comes once at the most.
    #[inline(never)]
    fn next_apart(&mut self, seq: &mut Seq, count: bool) -> Result<bool, Error> {
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
    fn count_item(&mut self) -> Result<(), Error> {
        self.count_items(1)
    }

    #[inline]
    fn count_items(&mut self, items: u32) -> Result<(), Error> {
        self.budget.count(items).map_err(|limit| self.limit(limit))
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
        let kind = if self.at < self.bytes.len() {
            ErrorKind::WrongType
        } else {
            ErrorKind::Truncated
        };
        self.error(kind, expected)
    }

    #[cold]
    fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[cold]
    fn invalid_utf8(&mut self, start: usize, malformed: Malformed) -> Error {
        let error = self.invalid(start + malformed.offset, malformed.expected);
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        error.found(format!("the byte 0x{byte:02x}"))
    }

    #[inline]
    fn is_null(&mut self) -> Result<bool, Error> {
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
    fn is_tagged_null(&mut self) -> Result<bool, Error> {
        let start = self.at;
        self.skip_plain_tags()?;
        let null = matches!(self.bytes.get(self.at), Some(0xf6 | 0xf7));
        self.at = if null { self.at + 1 } else { start };
        Ok(null)
    }

    /// The bytes of a string whose head has been read, of this length.
    #[inline]
    fn take(&mut self, len: u64) -> Result<&'de [u8], Error> {
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
    fn string_bytes(&mut self, major: u8, expected: &'static str) -> Result<Cow<'de, [u8]>, Error> {
        if self.peek() >> 5 != major || self.at >= self.bytes.len() {
            self.skip_plain_tags()?;
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

    /// A string in chunks, RFC 8949, section 3.2.3.
    fn chunks(&mut self, major: u8, expected: &'static str) -> Result<Vec<u8>, Error> {
        let mut whole = Vec::new();
        loop {
            if self.bytes.get(self.at) == Some(&BREAK) {
                self.at += 1;
                return Ok(whole);
            }
            let start = self.at;
            let head = self.head(expected)?;
            if head.major != major || head.argument == INDEFINITE {
                self.at = start;
                return Err(self.error(ErrorKind::Syntax, "a chunk of the same kind of string"));
            }
            let chunk = self.take(head.argument)?;
            // Each chunk of text must be valid by itself.
            if major == 3
                && let Err(malformed) = utf8::validate(chunk)
            {
                return Err(self.invalid_utf8(self.at - chunk.len(), malformed));
            }
            whole.extend_from_slice(chunk);
            self.check_length(whole.len())?;
        }
    }

    #[inline]
    fn text_string(&mut self) -> Result<Cow<'de, str>, Error> {
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

    /// The member whose name stands here, if it is one of the next few: others
    /// before it may have been left out.
    #[inline]
    fn nearby(&self, shape: Schema<'_>, guess: u32) -> Option<(u32, usize)> {
        let rest = self.rest();
        (guess..shape.len().min(guess + 4)).find_map(|ordinal| {
            let name = shape.member(ordinal).run(Encoding::Cbor);
            name.starts(rest).then_some((ordinal, name.len()))
        })
    }

    /// As [`Decoder::member`], whatever stands there.
    #[inline(never)]
    fn any_member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            if !self.next_apart(seq, false)? {
                return Ok(END);
            }
            let mut ordinal = seq.guess;
            match self.nearby(shape, ordinal) {
                Some((found, len)) => {
                    ordinal = found;
                    self.at += len;
                }
                None => {
                    let key = self.text_string()?;
                    match shape.find(NameSource::Member, key.as_bytes()) {
                        Some(found) => ordinal = found,
                        None => {
                            seq.unknown = true;
                            self.count_item()?;
                            self.skip_value()?;
                            continue;
                        }
                    }
                }
            }
            seq.guess = ordinal + 1;
            if self.budget.seen(seq, ordinal) {
                return Err(self.error(ErrorKind::Duplicate, "each member once"));
            }
            if shape.member(ordinal).kind() != ShapeKind::Document && self.is_null()? {
                continue;
            }
            return Ok(ordinal);
        }
    }

    #[inline(never)]
    fn any_text(&mut self) -> Result<Text, Error> {
        let text = self.text_string()?;
        Ok(keep::text(self.body, text))
    }

    #[inline(never)]
    fn apart_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.skip_plain_tags()?;
        let start = self.at;
        let value = self.small_integer(at.kind().describe())?;
        let (least, most) = at.kind().integer_range();
        if value < least || value > most {
            return Err(self.invalid(start, at.kind().describe()));
        }
        Ok(value)
    }

    fn blob_of(&self, bytes: Cow<'de, [u8]>) -> Blob {
        match (self.body, bytes) {
            (Some(body), Cow::Borrowed(bytes)) => body.blob(bytes),
            (None, Cow::Borrowed(bytes)) => Blob::from(bytes),
            (_, Cow::Owned(bytes)) => Blob::from(bytes),
        }
    }

    /// A floating-point number of any size, or an integer.
    fn any_double(&mut self, expected: &'static str) -> Result<f64, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_plain_tags()?;
        }
        let start = self.at;
        if self.at >= self.bytes.len() {
            return Err(self.error(ErrorKind::Truncated, expected));
        }
        if !matches!(self.peek() >> 5, 0 | 1 | 7) {
            return Err(self.wrong_type(expected));
        }
        let head = self.head(expected)?;
        Ok(match (head.major, head.info) {
            (0, _) => head.argument as f64,
            (1, _) => -1.0 - head.argument as f64,
            (_, 25) => half(head.argument as u16),
            (_, 26) => f64::from(f32::from_bits(head.argument as u32)),
            (_, 27) => f64::from_bits(head.argument),
            _ => {
                self.at = start;
                return Err(self.wrong_type(expected));
            }
        })
    }

    /// An integer of 64 bits: major types 0 and 1.
    #[inline]
    fn small_integer(&mut self, expected: &'static str) -> Result<i64, Error> {
        if self.peek() >> 5 > 1 {
            self.skip_plain_tags()?;
            if self.peek() >> 5 > 1 {
                return Err(self.wrong_type(expected));
            }
        }
        let start = self.at;
        let head = self.head(expected)?;
        match i64::try_from(head.argument) {
            Ok(value) if head.major == 0 => Ok(value),
            Ok(value) => Ok(!value),
            Err(_) => Err(self.invalid(start, expected)),
        }
    }

    /// An integer of any size: major types 0 and 1, or tags 2 and 3.
    fn any_integer(&mut self) -> Result<BigInteger, Error> {
        match self.peek() >> 5 {
            0 | 1 => self.plain_integer(),
            6 => match self.tag()? {
                Some((tag @ (Tag::Unsigned | Tag::Negative), start)) => self.bignum(tag, start),
                Some((_, start)) => {
                    self.at = start;
                    Err(self.wrong_type("an integer"))
                }
                None if self.peek() >> 5 <= 1 => self.plain_integer(),
                None => Err(self.wrong_type("an integer")),
            },
            _ => Err(self.wrong_type("an integer")),
        }
    }

    /// An integer of major type 0 or 1.
    #[inline]
    fn plain_integer(&mut self) -> Result<BigInteger, Error> {
        let head = self.head("an integer")?;
        Ok(integer_of(head.major == 1, head.argument))
    }

    /// A bignum, whose tag began at `start`.
    fn bignum(&mut self, tag: Tag, start: usize) -> Result<BigInteger, Error> {
        let bytes = self.string_bytes(2, "a byte string")?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let bytes = &bytes[zeros..];
        if bytes.len() > big::MOST_BYTES {
            let most = big::MOST_BYTES;
            let error = self.invalid(start, "");
            return Err(error.expected(format!("an integer of at most {most} bytes")));
        }
        // Long ones cost more than other values of their length.
        self.count_items((bytes.len() / BYTES_AN_ITEM) as u32)?;
        let digits = big::digits(bytes);
        let digits = if tag == Tag::Negative {
            format!("-{}", big::increment(&digits))
        } else {
            digits
        };
        self.check_digits(start, digits.len())?;
        digits
            .parse()
            .map_err(|_| self.invalid(start, "an integer"))
    }

    /// Sees to it that the digits of a big number, whose tag began at `start`,
    /// are not too many.
    fn check_digits(&mut self, start: usize, digits: usize) -> Result<(), Error> {
        if !self.budget.fits(digits) {
            self.at = start;
        }
        self.check_length(digits)
    }

    /// A decimal number: tag 4, or anything that is a number.
    fn any_decimal(&mut self) -> Result<BigDecimal, Error> {
        if self.peek() >> 5 == 6 {
            match self.tag()? {
                Some((Tag::Decimal, start)) => return self.decimal(start),
                Some((tag @ (Tag::Unsigned | Tag::Negative), start)) => {
                    return self.bignum(tag, start).map(BigDecimal::from);
                }
                Some((_, start)) => {
                    self.at = start;
                    return Err(self.wrong_type("a decimal number"));
                }
                None => {}
            }
        }
        if self.peek() >> 5 <= 1 {
            return self.plain_integer().map(BigDecimal::from);
        }
        let start = self.at;
        let number = self.any_double("a decimal number")?;
        let mut text = Vec::new();
        polywire_text::number::push_f64(&mut text, number);
        let text = String::from_utf8_lossy(&text);
        text.parse()
            .map_err(|_| self.invalid(start, "a finite number"))
    }

    /// The exponent and mantissa of a decimal, whose tag began at `start`.
    fn decimal(&mut self, start: usize) -> Result<BigDecimal, Error> {
        let mut seq = self.enter(4, Member::DOCUMENT)?;
        if !self.next(&mut seq)? {
            return Err(self.invalid(start, "an exponent and a mantissa"));
        }
        let exponent = self.small_integer("an exponent of 64 bits")?;
        if !self.next(&mut seq)? {
            return Err(self.invalid(start, "an exponent and a mantissa"));
        }
        let mantissa = self.any_integer()?;
        if self.next(&mut seq)? {
            return Err(self.invalid(start, "an exponent and a mantissa"));
        }
        let Some(decimal) = decimal_of(&mantissa, exponent) else {
            return Err(self.invalid(start, "a decimal number"));
        };
        self.check_digits(start, decimal.as_str().len())?;
        Ok(decimal)
    }

    /// A timestamp in seconds, whose tag began at `start`.
    fn epoch(&mut self, start: usize) -> Result<Timestamp, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_plain_tags()?;
        }
        if self.peek() >> 5 <= 1 {
            let seconds = self.small_integer("seconds since the epoch")?;
            return Ok(Timestamp::new(seconds, 0));
        }
        let seconds = self.any_double("seconds since the epoch")?;
        Timestamp::from_f64(seconds).ok_or_else(|| self.invalid(start, "seconds since the epoch"))
    }

    /// A timestamp in text, whose tag began at `start`.
    fn date_time(&mut self, start: usize) -> Result<Timestamp, Error> {
        let text = self.text_string()?;
        Timestamp::parse_date_time(&text)
            .map_err(|malformed| self.invalid(start, malformed.expected))
    }

    /// A timestamp whose tag is not in its shortest form, or behind others.
    #[cold]
    fn tagged_timestamp(&mut self) -> Result<Timestamp, Error> {
        match self.tag()? {
            Some((Tag::DateTime, start)) => return self.date_time(start),
            Some((Tag::Epoch, start)) => return self.epoch(start),
            Some((_, start)) => self.at = start,
            None => {}
        }
        Err(self.wrong_type("a timestamp (tag 1)"))
    }

    /// A tag with a meaning, and its value; or a value behind tags without.
    fn tagged(&mut self) -> Result<Event, Error> {
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
    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_tags()?;
        let start = self.at;
        match self.peek() >> 5 {
            _ if self.at >= self.bytes.len() => Err(self.error(ErrorKind::Truncated, "a value")),
            2 => self.string_bytes(2, "a byte string").map(|_| ()),
            3 => self.text_string().map(|_| ()),
            major @ (4 | 5) => {
                let mut seq = self.enter(major, Member::DOCUMENT)?;
                while self.next(&mut seq)? {
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
    fn check_simple(&mut self, head: Head, start: usize) -> Result<(), Error> {
        if head.major == 7 && head.info == 24 && head.argument < 32 {
            self.at = start;
            return Err(self.error(ErrorKind::Syntax, "a valid simple value"));
        }
        Ok(())
    }
}

fn integer_of(negative: bool, argument: u64) -> BigInteger {
    match (negative, i64::try_from(argument)) {
        (false, Ok(value)) => BigInteger::from(value),
        (true, Ok(value)) => BigInteger::from(!value),
        // Beyond 63 bits: by digits. A number's own digits always parse.
        (false, Err(_)) => argument.to_string().parse().unwrap_or(BigInteger::from(0)),
        (true, Err(_)) => format!("-{}", u128::from(argument) + 1)
            .parse()
            .unwrap_or(BigInteger::from(0)),
    }
}

/// Mantissa and exponent in decimal: plain for small exponents, so that `1.10`
/// stays `1.10`, else with an exponent.
fn decimal_of(mantissa: &BigInteger, exponent: i64) -> Option<BigDecimal> {
    let digits = mantissa.as_str();
    if exponent == 0 {
        return digits.parse().ok();
    }
    if !(-64..0).contains(&exponent) {
        return format!("{digits}e{exponent}").parse().ok();
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let places = exponent.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}").parse().ok()
}

/// A half-precision number, RFC 8949, appendix D.
fn half(bits: u16) -> f64 {
    let mantissa = f64::from(bits & 0x3ff);
    let exponent = i32::from(bits >> 10 & 0x1f);
    let value = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

impl<'de> Decoder<'de> for CborDecoder<'de> {
    #[inline(always)]
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.enter(5, at)
    }

    #[inline(always)]
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        // The name that is expected next, and behind it a value that is not
        // null, nor a tag that may stand before one.
        let ordinal = seq.guess;
        let rest = self.rest();
        if ordinal < shape.len()
            && seq.left != 0
            && let Some(len) = shape.member(ordinal).encoded(Encoding::Cbor).starts(rest)
            && let Some(value) = rest.get(len)
            && (*value <= 0xc4 || *value > 0xdb && !matches!(value, 0xf6 | 0xf7))
            && seq.mark_new(ordinal)
        {
            self.at += len;
            seq.left -= u64::from(seq.left != INDEFINITE);
            seq.guess = ordinal + 1;
            return Ok(ordinal);
        }
        if seq.left == 0 {
            self.leave();
            return Ok(END);
        }
        self.any_member(shape, seq)
    }

    #[inline(always)]
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.enter(4, at)
    }

    #[inline(always)]
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        loop {
            if !self.next(seq)? {
                return Ok(false);
            }
            if self.profile.skip_nulls && nulls::mean_nothing(at) && self.is_null()? {
                continue;
            }
            return Ok(true);
        }
    }

    #[inline]
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.enter(5, at)
    }

    #[inline]
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        loop {
            if !self.next(seq)? {
                return Ok(None);
            }
            let key = self.text_string()?;
            if self.profile.skip_nulls && nulls::mean_nothing(at) && self.is_null()? {
                continue;
            }
            return Ok(Some(keep::text(self.body, key)));
        }
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
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
        let rest = self.rest();
        if let Some(first) = rest.first()
            && first >> 5 <= 1
            && let Some((argument, len)) = Self::quick_head(rest)
            && let Ok(argument) = i64::try_from(argument)
        {
            // -1 - argument is the complement.
            let value = if first >> 5 == 0 { argument } else { !argument };
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
        // Short ASCII, whose length stands in the first byte.
        if let Some((first @ 0x60..0x78, window)) = self.rest().split_first() {
            let len = usize::from(first & 0x1f);
            if self.budget.fits(len)
                && let Some(text) = Text::ascii_prefix(window, len)
            {
                self.at += 1 + len;
                return Ok(text);
            }
        }
        self.any_text()
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
            0 | 1 => Value::from(self.plain_integer()?),
            2 => Value::Blob(self.blob(Member::DOCUMENT)?),
            3 => Value::String(self.text(Member::DOCUMENT)?),
            4 => return self.list(Member::DOCUMENT).map(Event::List),
            5 => return self.map(Member::DOCUMENT).map(Event::Map),
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

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(refuse::missing(error, at, at.name()))
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        Err(refuse::unknown(self.error(ErrorKind::Unknown, ""), at))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        let kind = match kind {
            ErrorKind::Syntax if self.at >= self.bytes.len() => ErrorKind::Truncated,
            kind => kind,
        };
        // Where one value ends the next begins: the offset alone does not say
        // which of them is meant.
        let levels = self.budget.depth() as usize;
        let ended = self.ended == (self.at, self.budget.items_left());
        let mut error = Error::new(kind)
            .in_format("CBOR")
            .expected(expected)
            .at_offset(self.at)
            .at_path(locate::path(self.bytes, self.at, ended.then_some(levels)));
        if !error.is_limit() && kind != ErrorKind::Duplicate {
            error = error.found(locate::describe(self.rest()));
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc400, -4.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn decimals() {
        for (mantissa, exponent, text) in [
            ("110", -2, "1.10"),
            ("-5", -3, "-0.005"),
            ("5", 3, "5e3"),
            ("5", 0, "5"),
            ("1", -100, "1e-100"),
        ] {
            assert_eq!(
                decimal_of(&mantissa.parse().unwrap(), exponent)
                    .unwrap()
                    .as_str(),
                text
            );
        }
    }
}
