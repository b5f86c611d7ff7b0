//! The tokens of MessagePack for the decoding loop.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Budget, Container, Error, ErrorKind, Event, Member, Name,
    NameSource, Rules, Schema, Seq, Text, Timestamp, TokenReader, Value, slow_member,
};

use super::head::Head;
use super::{MsgPackDecoder, locate, timestamp};

/// The maximum number of elements that memory is reserved for at once.
const MAX_EXPECTED: u64 = 1024;

impl<'de> TokenReader<'de> for MsgPackDecoder<'de> {
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

    #[inline]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        let is_map = container != Container::List;
        let start = self.at;
        let first = self.peek();
        if first & 0xf0 == if is_map { 0x80 } else { 0x90 } {
            self.at += 1;
            return self.enter((first & 0x0f).into(), is_map, start);
        }
        self.slow_begin(is_map, at)
    }

    #[inline]
    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        self.next_element(seq, container != Container::Structure)
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    #[inline(always)]
    fn match_member(&self, (): (), member: Member<'_>, seq: &Seq) -> Option<usize> {
        let name = member.name().as_bytes();
        let (first, rest) = self.rest().split_first()?;
        let rest = rest.strip_prefix(name)?;
        let is_next = seq.left > 0 && name.len() < 32 && usize::from(*first) == 0xa0 | name.len();
        (is_next && *rest.first()? != 0xc0).then_some(1 + name.len())
    }

    #[inline(always)]
    fn accept_member(&mut self, len: usize, seq: &mut Seq) {
        self.at += len;
        seq.left -= 1;
    }

    #[inline(always)]
    fn other_member(&mut self, (): (), shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        slow_member(self, shape, seq)
    }

    fn name(&mut self, shape: Schema<'_>, _: &mut Seq) -> Result<Name, Error> {
        let name = self.text_value()?;
        Ok(match shape.find(NameSource::Member, name.as_bytes()) {
            Some(found) => Name::Member(found),
            None => Name::Unknown,
        })
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<(), Error> {
        let key = self.text_value()?;
        self.scratch = self.to_text(key);
        Ok(())
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip()
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.peek() == 0xc0
    }

    /// `enter` has checked that the input has at least one byte for each element.
    #[inline]
    fn size_hint(&mut self, _: Member<'_>, seq: &Seq) -> usize {
        seq.left.min(MAX_EXPECTED) as usize
    }

    #[inline]
    fn null(&mut self) -> Result<bool, Error> {
        let is_null = self.peek() == 0xc0;
        self.at += usize::from(is_null);
        Ok(is_null)
    }

    #[inline]
    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match self.peek() {
            first @ (0xc2 | 0xc3) => {
                self.at += 1;
                Ok(first == 0xc3)
            }
            _ => {
                let start = self.at;
                self.head()?;
                Err(self.wrong_type(start, "true or false"))
            }
        }
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let (min, max) = at.kind().integer_range();
        if let Some((value, len)) = self.quick_integer()
            && (min..=max).contains(&value)
        {
            self.at += len;
            return Ok(value);
        }
        let start = self.at;
        let value = match self.head()? {
            Head::Signed(value) => Some(value),
            Head::Unsigned(value) => i64::try_from(value).ok(),
            _ => return Err(self.wrong_type(start, at.kind().describe())),
        };
        match value.filter(|value| (min..=max).contains(value)) {
            Some(value) => Ok(value),
            None => Err(self.invalid_value(start, at.kind().describe())),
        }
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        let start = self.at;
        let double = self.number(at)?;
        let float = double as f32;
        if float.is_infinite() && double.is_finite() {
            return Err(self.invalid_value(start, "a number of 32 bits"));
        }
        Ok(float)
    }

    #[inline]
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        self.number(at)
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        let start = self.at;
        let digits = match self.head()? {
            Head::Signed(value) => value.to_string(),
            Head::Unsigned(value) => value.to_string(),
            Head::Str(_) => {
                self.at = start;
                self.text_value()?.to_owned()
            }
            _ => return Err(self.wrong_type(start, at.kind().describe())),
        };
        let value = BigInteger::parse(Text::from(digits));
        value.map_err(|_| self.invalid_value(start, "an integer"))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        let start = self.at;
        let digits = match self.head()? {
            Head::Signed(value) => value.to_string(),
            Head::Unsigned(value) => value.to_string(),
            Head::Float(value) => value.to_string(),
            Head::Double(value) => value.to_string(),
            Head::Str(_) => {
                self.at = start;
                self.text_value()?.to_owned()
            }
            _ => return Err(self.wrong_type(start, at.kind().describe())),
        };
        let value = BigDecimal::parse(Text::from(digits));
        value.map_err(|_| self.invalid_value(start, "a decimal number"))
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        let text = self.text_value()?;
        Ok(self.to_text(text))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.text_value().map(Cow::Borrowed)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let bytes = self.byte_string()?;
        Ok(match self.body {
            Some(body) => body.blob(bytes),
            None => Blob::from(bytes),
        })
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        let start = self.at;
        let Head::Extension(len, timestamp::TYPE) = self.head()? else {
            return Err(self.wrong_type(start, "a timestamp: extension type -1"));
        };
        let data = self.take(len)?;
        let value = timestamp::read(data);
        value.ok_or_else(|| {
            self.invalid_value(
                start,
                "a timestamp of 4, 8 or 12 bytes with less than 10^9 nanoseconds",
            )
        })
    }

    fn any(&mut self) -> Result<Event, Error> {
        let start = self.at;
        let value = match self.head()? {
            Head::Nil => Value::Null,
            Head::Boolean(value) => Value::Boolean(value),
            Head::Signed(value) => Value::Integer(value),
            Head::Unsigned(value) => match i64::try_from(value) {
                Ok(value) => Value::Integer(value),
                Err(_) => {
                    self.at = start;
                    Value::BigInteger(self.big_integer(Member::DOCUMENT)?)
                }
            },
            Head::Float(value) => Value::Float(value),
            Head::Double(value) => Value::Double(value),
            Head::Array(len) => return self.enter(len, false, start).map(Event::List),
            Head::Map(len) => return self.enter(len, true, start).map(Event::Map),
            Head::Extension(_, timestamp::TYPE) => {
                self.at = start;
                Value::Timestamp(self.timestamp(Member::DOCUMENT)?)
            }
            Head::Extension(..) => {
                return Err(self.wrong_type(start, "a value without an extension type"));
            }
            Head::Str(_) => {
                self.at = start;
                Value::String(self.text(Member::DOCUMENT)?)
            }
            Head::Bin(_) => {
                self.at = start;
                Value::Blob(self.blob(Member::DOCUMENT)?)
            }
        };
        Ok(Event::Scalar(value))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        let at_end = self.at >= self.bytes.len();
        let kind = match kind {
            ErrorKind::Syntax | ErrorKind::WrongType if at_end => ErrorKind::Truncated,
            kind => kind,
        };
        let error = Error::new(kind)
            .in_format("MessagePack")
            .expected(expected)
            .at_offset(self.at)
            .at_path(locate::path(self.bytes, self.at));
        match error.is_limit() || kind == ErrorKind::Duplicate {
            true => error,
            false => error.found(match self.bytes.get(self.at) {
                Some(byte) => format!("the byte 0x{byte:02x}"),
                None => "the end of the input".to_owned(),
            }),
        }
    }
}
