//! The reader: walks the tree of a whole data item.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, LimitKind, Limits, Member,
    Schema, Seq, ShapeKind, Text, Timestamp, Value,
};
use polywire_text::number;
use polywire_text::reference::timestamp;
use polywire_text::timestamp::ReadPolicy;

use super::big;
use super::tree::{self, Data, Node};
use crate::cbor::CborProfile;

/// The tags that have a meaning here, section 3.4. Others say nothing and may
/// stand before every value.
const DATE_TIME: u64 = 0;
const EPOCH: u64 = 1;
const UNSIGNED: u64 = 2;
const NEGATIVE: u64 = 3;
const DECIMAL: u64 = 4;

/// The twin of [`crate::cbor::CborDecoder`].
#[derive(Debug)]
pub struct CborDecoder {
    /// The value that is to be read next.
    here: Option<Node>,
    /// What is left of the maps and arrays around it.
    open: Vec<Frame>,
    /// The offset of the last value that was looked at.
    offset: usize,
    end: usize,
    items_left: u32,
    limits: Limits,
    profile: CborProfile,
}

#[derive(Debug)]
enum Frame {
    Map {
        entries: std::vec::IntoIter<(Node, Node)>,
        seen: Vec<u32>,
    },
    Array(std::vec::IntoIter<Node>),
}

impl CborDecoder {
    /// A reader of the data item that begins at `start`.
    ///
    /// # Errors
    ///
    /// There is no data item.
    pub fn new(
        bytes: &[u8],
        start: usize,
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        if bytes.len() > limits.bytes() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
            return Err(tree::error(limit, 0, ""));
        }
        let (item, end) = tree::parse(bytes, start, limits)?;
        Ok(Self {
            offset: item.offset,
            here: Some(item),
            open: Vec::new(),
            end,
            items_left: limits.items(),
            limits: *limits,
            profile,
        })
    }

    /// Where what follows the data item begins.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    fn take(&mut self) -> Result<Node, Error> {
        match self.here.take() {
            Some(node) => {
                self.offset = node.offset;
                Ok(node)
            }
            None => Err(self.error(ErrorKind::Internal, "a value")),
        }
    }

    /// The value that comes next, which no tag gives another meaning.
    fn plain(&mut self) -> Result<Data, Error> {
        let node = self.take()?;
        match meaning(&node.tags) {
            None => Ok(node.data),
            Some(_) => self.wrong_type("a value without such a tag"),
        }
    }

    fn wrong_type<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(self.error(ErrorKind::WrongType, expected))
    }

    fn invalid(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::InvalidValue, expected)
    }

    /// Whatever tags stand before a map: they do not change it.
    fn open_map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let Data::Map(entries) = self.take()?.data else {
            return self.wrong_type(at.kind().describe());
        };
        if !self.open.is_empty() {
            self.count_items(1)?;
        }
        self.open.push(Frame::Map {
            entries: entries.into_iter(),
            seen: Vec::new(),
        });
        Ok(Seq::default())
    }

    fn open_array(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let Data::Array(items) = self.take()?.data else {
            return self.wrong_type(at.kind().describe());
        };
        if !self.open.is_empty() {
            self.count_items(1)?;
        }
        self.open.push(Frame::Array(items.into_iter()));
        Ok(Seq::default())
    }

    /// The next entry of the innermost map, which is closed at its end.
    fn next_entry(&mut self) -> Result<Option<(String, Node)>, Error> {
        let next = match self.open.last_mut() {
            Some(Frame::Map { entries, .. }) => entries.next(),
            _ => None,
        };
        let Some((key, value)) = next else {
            self.open.pop();
            return Ok(None);
        };
        self.offset = key.offset;
        match key.data {
            Data::Text(text) if meaning(&key.tags).is_none() => Ok(Some((text, value))),
            _ => self.wrong_type("a text string"),
        }
    }

    fn next_item(&mut self) -> Option<Node> {
        let next = match self.open.last_mut() {
            Some(Frame::Array(items)) => items.next(),
            _ => None,
        };
        match &next {
            Some(node) => self.offset = node.offset,
            None => drop(self.open.pop()),
        }
        next
    }

    fn count_items(&mut self, count: usize) -> Result<(), Error> {
        match self.items_left.checked_sub(count as u32) {
            Some(left) => {
                self.items_left = left;
                Ok(())
            }
            None => Err(self.limit(LimitKind::Items(self.limits.items()))),
        }
    }

    fn check_length(&self, len: usize) -> Result<(), Error> {
        if len > self.limits.string() {
            return Err(self.limit(LimitKind::StringLength(self.limits.string())));
        }
        Ok(())
    }

    fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    /// Items and entries of what is skipped count. The collections that hold them take no memory,
    /// so they do not.
    fn skip(&mut self, node: &Node) -> Result<(), Error> {
        match &node.data {
            Data::Bytes(bytes) => self.check_length(bytes.len()),
            Data::Text(text) => self.check_length(text.len()),
            Data::Array(items) => {
                for item in items {
                    self.count_items(1)?;
                    self.skip(item)?;
                }
                Ok(())
            }
            Data::Map(entries) => {
                for (key, value) in entries {
                    self.count_items(1)?;
                    self.skip(key)?;
                    self.skip(value)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a null is left out of the list or map of `at`.
    fn leaves_out(&self, node: &Node, at: Member<'_>) -> bool {
        self.profile.skip_nulls
            && is_null(node)
            && !at.is_sparse()
            && at.element().kind() != ShapeKind::Document
    }

    fn string(&mut self) -> Result<String, Error> {
        match self.plain()? {
            Data::Text(text) => {
                self.check_length(text.len())?;
                Ok(text)
            }
            _ => self.wrong_type("a text string"),
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        match self.plain()? {
            Data::Bytes(bytes) => {
                self.check_length(bytes.len())?;
                Ok(bytes)
            }
            _ => self.wrong_type("a byte string"),
        }
    }

    /// An integer of 64 bits.
    fn small_integer(&mut self, expected: &'static str) -> Result<i64, Error> {
        let value = match self.plain()? {
            Data::Unsigned(value) => i128::from(value),
            Data::Negative(value) => -1 - i128::from(value),
            _ => return self.wrong_type(expected),
        };
        i64::try_from(value).map_err(|_| self.invalid(expected))
    }

    fn floating(&mut self) -> Result<f64, Error> {
        Ok(match self.plain()? {
            Data::Unsigned(value) => value as f64,
            Data::Negative(value) => -(i128::from(value) + 1) as f64,
            Data::Half(value) | Data::Double(value) => value,
            Data::Single(value) => f64::from(value),
            _ => return self.wrong_type("a number"),
        })
    }

    /// Takes the tag with a meaning off the value that comes next, and all
    /// before it.
    fn tag(&mut self) -> Option<u64> {
        let node = self.here.as_mut()?;
        self.offset = node.offset;
        let place = node.tags.iter().position(|tag| *tag <= DECIMAL)?;
        node.tags.drain(..=place).next_back()
    }

    /// Major types 0 and 1, or tags 2 and 3.
    fn any_integer(&mut self) -> Result<BigInteger, Error> {
        let digits = match self.tag() {
            Some(tag @ (UNSIGNED | NEGATIVE)) => return self.bignum(tag),
            Some(_) => return self.wrong_type("an integer"),
            None => match self.plain()? {
                Data::Unsigned(value) => value.to_string(),
                Data::Negative(value) => (-1 - i128::from(value)).to_string(),
                _ => return self.wrong_type("an integer"),
            },
        };
        digits.parse().map_err(|_| self.invalid("an integer"))
    }

    /// Section 3.4.3: a byte string is the number n of tag 2, or -1 - n of tag 3.
    fn bignum(&mut self, tag: u64) -> Result<BigInteger, Error> {
        let bytes = self.bytes()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = &bytes[zeros..];
        if significant.len() > big::MOST_BYTES {
            return Err(self.invalid("an integer of at most 512 bytes"));
        }
        // Long ones cost more than other values: 64 bytes are an item.
        self.count_items(significant.len() / 64)?;
        let mut digits = big::digits_of_bytes(significant);
        if tag == NEGATIVE {
            digits = format!("-{}", big::plus_one(&digits));
        }
        self.check_length(digits.len())?;
        digits.parse().map_err(|_| self.invalid("an integer"))
    }

    /// Section 3.4.4: an array of an exponent of ten and a mantissa.
    fn decimal(&mut self) -> Result<BigDecimal, Error> {
        let Data::Array(items) = self.take()?.data else {
            return self.wrong_type("an exponent and a mantissa");
        };
        self.count_items(items.len() + usize::from(!self.open.is_empty()))?;
        let Ok([exponent, mantissa]) = <[Node; 2]>::try_from(items) else {
            return Err(self.invalid("an exponent and a mantissa"));
        };
        self.here = Some(exponent);
        let exponent = self.small_integer("an exponent of 64 bits")?;
        self.here = Some(mantissa);
        let mantissa = self.any_integer()?;
        let text = decimal_text(mantissa.as_str(), exponent);
        self.check_length(text.len())?;
        text.parse().map_err(|_| self.invalid("a decimal number"))
    }

    /// Section 3.4.2.
    fn epoch(&mut self) -> Result<Timestamp, Error> {
        let whole = matches!(
            &self.here,
            Some(Node {
                data: Data::Unsigned(_) | Data::Negative(_),
                ..
            })
        );
        if whole {
            let seconds = self.small_integer("seconds since the epoch")?;
            return Ok(Timestamp::new(seconds, 0));
        }
        let seconds = self.floating()?;
        Timestamp::from_f64(seconds).ok_or_else(|| self.invalid("seconds since the epoch"))
    }

    /// Section 3.4.1.
    fn date_time(&mut self) -> Result<Timestamp, Error> {
        let text = self.string()?;
        timestamp::date_time(text.as_bytes(), ReadPolicy::new())
            .map_err(|_| self.invalid("a date and time of RFC 3339"))
    }
}

/// The first tag that has a meaning.
fn meaning(tags: &[u64]) -> Option<u64> {
    tags.iter().copied().find(|tag| *tag <= DECIMAL)
}

/// Null or undefined.
fn is_null(node: &Node) -> bool {
    matches!(node.data, Data::Simple(22 | 23)) && meaning(&node.tags).is_none()
}

/// A point among the digits for up to 64 places behind it, else an exponent.
fn decimal_text(mantissa: &str, exponent: i64) -> String {
    if exponent == 0 {
        return mantissa.to_owned();
    }
    if !(-64..0).contains(&exponent) {
        return format!("{mantissa}e{exponent}");
    }
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let mut digits = digits.to_owned();
    let places = exponent.unsigned_abs() as usize;
    while digits.len() <= places {
        digits.insert(0, '0');
    }
    digits.insert(digits.len() - places, '.');
    format!("{sign}{digits}")
}

impl<'de> Decoder<'de> for CborDecoder {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.open_map(at)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        while let Some((key, value)) = self.next_entry()? {
            let Some(member) = shape.members().find(|member| member.name() == key) else {
                seq.unknown = true;
                self.count_items(1)?;
                self.check_length(key.len())?;
                self.skip(&value)?;
                continue;
            };
            if let Some(Frame::Map { seen, .. }) = self.open.last_mut() {
                if seen.contains(&member.ordinal()) {
                    return Err(self.error(ErrorKind::Duplicate, "each member once"));
                }
                seen.push(member.ordinal());
            }
            // A null is as good as no member, but for documents.
            if is_null(&value) && member.kind() != ShapeKind::Document {
                continue;
            }
            self.here = Some(value);
            return Ok(member.ordinal());
        }
        Ok(END)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.open_array(at)
    }

    fn item(&mut self, at: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        while let Some(item) = self.next_item() {
            self.count_items(1)?;
            if self.leaves_out(&item, at) {
                continue;
            }
            self.here = Some(item);
            return Ok(true);
        }
        Ok(false)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.open_map(at)
    }

    fn key(&mut self, at: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        while let Some((key, value)) = self.next_entry()? {
            self.count_items(1)?;
            self.check_length(key.len())?;
            if self.leaves_out(&value, at) {
                continue;
            }
            self.here = Some(value);
            return Ok(Some(Text::from(key)));
        }
        Ok(None)
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(self.here.take_if(|node| is_null(node)).is_some())
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match self.plain()? {
            Data::Simple(20) => Ok(false),
            Data::Simple(21) => Ok(true),
            _ => self.wrong_type("true or false"),
        }
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let expected = at.kind().describe();
        let (least, most) = at.kind().integer_range();
        let value = self.small_integer(expected)?;
        if !(least..=most).contains(&value) {
            return Err(self.invalid(expected));
        }
        Ok(value)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let double = self.floating()?;
        let single = double as f32;
        if single.is_infinite() && double.is_finite() {
            return Err(self.invalid("a number of 32 bits"));
        }
        Ok(single)
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        self.floating()
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.any_integer()
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        match self.tag() {
            Some(DECIMAL) => return self.decimal(),
            Some(tag @ (UNSIGNED | NEGATIVE)) => return self.bignum(tag).map(BigDecimal::from),
            Some(_) => return self.wrong_type("a decimal number"),
            None => {}
        }
        match &self.here {
            Some(Node {
                data: Data::Unsigned(_) | Data::Negative(_),
                ..
            }) => self.any_integer().map(BigDecimal::from),
            _ => {
                // A decimal keeps its spelling, and that of a double is one
                // for all of Polywire.
                let mut text = Vec::new();
                number::push_f64(&mut text, self.floating()?);
                let text = String::from_utf8_lossy(&text);
                text.parse().map_err(|_| self.invalid("a finite number"))
            }
        }
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        self.string().map(Text::from)
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.string().map(Cow::Owned)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        self.bytes().map(Blob::from)
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        match self.tag() {
            Some(DATE_TIME) => self.date_time(),
            Some(EPOCH) => self.epoch(),
            _ => self.wrong_type("a timestamp (tag 1)"),
        }
    }

    fn any(&mut self) -> Result<Event, Error> {
        let value = match self.tag() {
            Some(DATE_TIME) => Value::Timestamp(self.date_time()?),
            Some(EPOCH) => Value::Timestamp(self.epoch()?),
            Some(DECIMAL) => Value::BigDecimal(self.decimal()?),
            Some(tag) => Value::from(self.bignum(tag)?),
            None => match self.here.as_ref().map(|node| &node.data) {
                Some(Data::Map(_)) => return self.open_map(Member::DOCUMENT).map(Event::Map),
                Some(Data::Array(_)) => return self.open_array(Member::DOCUMENT).map(Event::List),
                Some(Data::Unsigned(_) | Data::Negative(_)) => Value::from(self.any_integer()?),
                Some(Data::Bytes(_)) => Value::Blob(self.bytes()?.into()),
                Some(Data::Text(_)) => Value::String(self.string()?.into()),
                _ => match self.plain()? {
                    Data::Simple(20) => Value::Boolean(false),
                    Data::Simple(21) => Value::Boolean(true),
                    Data::Simple(22 | 23) => Value::Null,
                    Data::Half(value) | Data::Double(value) => Value::Double(value),
                    Data::Single(value) => Value::Float(value),
                    _ => return Err(self.error(ErrorKind::Syntax, "a value")),
                },
            },
        };
        Ok(Event::Scalar(value))
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(error.expected(format!("the required member `{}`", at.name())))
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn unknown(&mut self, _: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        Err(self.error(ErrorKind::Unknown, "only members that the union has"))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        tree::error(kind, self.offset, expected)
    }
}
