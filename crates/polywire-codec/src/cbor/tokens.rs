//! The tokens of CBOR for the decoding loop.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Budget, Container, END, Error, ErrorKind, Event, Member, Name,
    NameEncoding, NameSource, Rules, Schema, Seq, Text, Timestamp, TokenReader, Value, slow_member,
};
use polywire_text::number;

use super::CborDecoder;
use super::head::{INDEFINITE, Tag};

/// The maximum number of elements that memory is reserved for at once, less one.
const MAX_EXPECTED: u64 = 1023;

impl<'de> TokenReader<'de> for CborDecoder<'de> {
    type Next = ();
    type Match = usize;

    #[inline(always)]
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        self.profile.rules
    }

    #[inline(always)]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        let major = if container == Container::List { 4 } else { 5 };
        self.enter(major, at)
    }

    #[inline(always)]
    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match container {
            Container::Structure => self.slow_next(seq, false),
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
        let len = member.encoded(NameEncoding::Cbor).starts(rest)?;
        // The value must not be null or an unknown tag, which may precede a null. After the known
        // tags 0 to 4 a null is an error anyway.
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
        if let Some((found, len)) = self.match_nearby(shape, seq.guess) {
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
        self.text_to_scratch()
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    /// The value must be well formed.
    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_tags()?;
        let start = self.at;
        match self.peek() >> 5 {
            _ if self.at >= self.bytes.len() => Err(self.error(ErrorKind::Truncated, "a value")),
            2 => self.string_bytes(2, "a byte string").map(|_| ()),
            3 => self.text_string().map(|_| ()),
            major @ (4 | 5) => {
                let mut seq = self.enter_with(major, Member::DOCUMENT, Budget::enter_uncounted)?;
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
                // Simple values below 32 have no two-byte form: RFC 8949, section 3.3.
                if head.major == 7 && head.info == 24 && head.argument < 32 {
                    self.at = start;
                    return Err(self.error(ErrorKind::Syntax, "a valid simple value"));
                }
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.peek() >> 5 > 5
    }

    #[inline(never)]
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        // A map with one entry, then the name and the value.
        let rest = self.rest();
        let [0xa1, head @ 0x60..0x78, text @ ..] = rest.first_chunk::<10>()? else {
            return None;
        };
        let len = usize::from(head & 0x1f);
        let ordinal = at.find_variant(NameSource::Member, *text, len)?;
        let len = 2 + len;
        // Nulls, tags before nulls, and errors are left to `member`.
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
    fn size_hint(&mut self, _: Member<'_>, seq: &Seq) -> usize {
        let expected = match seq.left {
            INDEFINITE => return 0,
            // Lengths of 24 or more were checked against the input. Shorter ones are small.
            left => left.min(MAX_EXPECTED) as usize + 1,
        };
        let expected = expected.min(self.reservable);
        self.reservable -= expected;
        expected
    }

    #[inline]
    fn null(&mut self) -> Result<bool, Error> {
        match self.bytes.get(self.at) {
            Some(0xf6 | 0xf7) => {
                self.at += 1;
                Ok(true)
            }
            Some(0xc0..=0xdf) => self.tagged_null(),
            _ => Ok(false),
        }
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_unknown_tags()?;
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
            let (min, max) = at.kind().integer_range();
            if (min..=max).contains(&value) {
                self.at += len;
                return Ok(value);
            }
        }
        self.slow_integer(at)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let start = self.at;
        let double = self.slow_double("a number")?;
        let float = double as f32;
        if float.is_infinite() && double.is_finite() {
            return Err(self.invalid_value(start, "a number of 32 bits"));
        }
        Ok(float)
    }

    #[inline]
    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        if let Some((0xfb, rest)) = self.rest().split_first()
            && let Some(bytes) = rest.first_chunk()
        {
            self.at += 9;
            return Ok(f64::from_be_bytes(*bytes));
        }
        self.slow_double("a number")
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
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

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
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
        let number = self.slow_double("a decimal number")?;
        let mut text = Vec::new();
        number::push_f64(&mut text, number);
        let text = String::from_utf8_lossy(&text);
        text.parse()
            .map_err(|_| self.invalid_value(start, "a finite number"))
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        if let Some((window, len)) = self.short_text()
            && let Some(text) = Text::ascii_prefix(window, len)
        {
            self.at += 1 + len;
            return Ok(text);
        }
        self.text_to_scratch()?;
        Ok(std::mem::take(&mut self.scratch))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.text_string()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let bytes = self.string_bytes(2, "a byte string")?;
        Ok(match (self.body, bytes) {
            (Some(body), Cow::Borrowed(bytes)) => body.blob(bytes),
            (None, Cow::Borrowed(bytes)) => Blob::from(bytes),
            (_, Cow::Owned(bytes)) => Blob::from(bytes),
        })
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
                0xfa => Value::Float(self.slow_double("a number")? as f32),
                0xf9 | 0xfb => Value::Double(self.slow_double("a number")?),
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
        // The end of a container and the next value have the same offset.
        let levels = self.budget.depth() as usize;
        let is_end = self.last_end == (self.at, self.budget.items_left());
        let path = self.path_at(self.at, is_end.then_some(levels));
        self.error_in(path, kind, expected)
    }
}
