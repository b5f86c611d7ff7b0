//! The reader: walks the tree of a whole text.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, LimitKind, Limits, Member,
    Part, Schema, Seq, ShapeKind, Text, Timestamp, TimestampFormat, Value,
};
use polywire_text::base64::{Alphabet, Padding};
use polywire_text::reference::{base64, timestamp};
use polywire_text::timestamp::ReadPolicy;

use super::tree::{self, Data, Node};
use crate::json::JsonProfile;

/// The twin of [`crate::json::JsonDecoder`].
#[derive(Debug)]
pub struct JsonDecoder {
    /// The value that is to be read next.
    here: Option<Node>,
    /// What is left of the objects and arrays around it.
    open: Vec<Frame>,
    /// The offset of the last value that was looked at.
    offset: usize,
    end: usize,
    items_left: u32,
    limits: Limits,
    profile: JsonProfile,
}

#[derive(Debug)]
enum Frame {
    Object {
        members: std::vec::IntoIter<(String, Node)>,
        seen: Vec<u32>,
    },
    Array(std::vec::IntoIter<Node>),
}

impl JsonDecoder {
    /// A reader of the value that begins at `start`.
    ///
    /// # Errors
    ///
    /// There is no value of JSON.
    pub fn new(
        text: &str,
        start: usize,
        profile: JsonProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        if text.len() > limits.bytes() {
            let limit = ErrorKind::Limit(LimitKind::Bytes(limits.bytes()));
            return Err(tree::error(limit, 0, ""));
        }
        let (value, end) = tree::parse(text, start, limits)?;
        Ok(Self {
            offset: value.offset,
            here: Some(value),
            open: Vec::new(),
            end,
            items_left: limits.items(),
            limits: *limits,
            profile,
        })
    }

    /// Where what follows the value begins, white space skipped.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    fn take(&mut self) -> Result<Data, Error> {
        match self.here.take() {
            Some(node) => {
                self.offset = node.offset;
                Ok(node.data)
            }
            None => Err(self.error(ErrorKind::Internal, "a value")),
        }
    }

    fn wrong_type<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(self.error(ErrorKind::WrongType, expected))
    }

    fn invalid(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::InvalidValue, expected)
    }

    fn open_object(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let Data::Object(members) = self.take()? else {
            return self.wrong_type(at.kind().describe());
        };
        if !self.open.is_empty() {
            self.count_item()?;
        }
        self.open.push(Frame::Object {
            members: members.into_iter(),
            seen: Vec::new(),
        });
        Ok(Seq::default())
    }

    fn open_array(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let Data::Array(items) = self.take()? else {
            return self.wrong_type(at.kind().describe());
        };
        if !self.open.is_empty() {
            self.count_item()?;
        }
        self.open.push(Frame::Array(items.into_iter()));
        Ok(Seq::default())
    }

    /// The next member of the innermost object, which is closed at its end.
    fn next_member(&mut self) -> Option<(String, Node)> {
        let next = match self.open.last_mut() {
            Some(Frame::Object { members, .. }) => members.next(),
            _ => None,
        };
        match &next {
            Some((_, node)) => self.offset = node.offset,
            None => drop(self.open.pop()),
        }
        next
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

    fn count_item(&mut self) -> Result<(), Error> {
        match self.items_left.checked_sub(1) {
            Some(left) => {
                self.items_left = left;
                Ok(())
            }
            None => Err(self.limit(LimitKind::Items(self.limits.items()))),
        }
    }

    fn check_length(&self, text: &str) -> Result<(), Error> {
        if text.len() > self.limits.string() {
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
            Data::String(text) => self.check_length(text),
            Data::Array(items) => {
                for item in items {
                    self.count_item()?;
                    self.skip(item)?;
                }
                Ok(())
            }
            Data::Object(members) => {
                for (key, value) in members {
                    self.count_item()?;
                    self.check_length(key)?;
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
            && matches!(node.data, Data::Null)
            && !at.is_sparse()
            && at.element().kind() != ShapeKind::Document
    }

    fn string(&mut self, expected: &'static str) -> Result<String, Error> {
        match self.take()? {
            Data::String(text) => {
                self.check_length(&text)?;
                Ok(text)
            }
            _ => self.wrong_type(expected),
        }
    }

    fn number(&mut self, expected: &'static str) -> Result<String, Error> {
        match self.take()? {
            Data::Number(number) => Ok(number),
            _ => self.wrong_type(expected),
        }
    }

    /// The digits of a big number, which may stand in a string by some profiles.
    fn big_number(&mut self, expected: &'static str) -> Result<String, Error> {
        match self.take()? {
            Data::Number(number) => Ok(number),
            Data::String(digits) if self.profile.quoted_big_numbers => Ok(digits),
            _ => self.wrong_type(expected),
        }
    }

    /// The digits of a number, or one of the three strings for what JSON has no
    /// digits for.
    fn floating(&mut self) -> Result<String, Error> {
        match self.take()? {
            Data::Number(number) => Ok(number),
            Data::String(word) if matches!(&*word, "NaN" | "Infinity" | "-Infinity") => Ok(word),
            Data::String(_) => {
                Err(self.invalid("a number, \"NaN\", \"Infinity\" or \"-Infinity\""))
            }
            _ => self.wrong_type("a number"),
        }
    }
}

/// Whether digits were given and rounded beyond the largest number.
fn is_beyond(digits: &str, infinite: bool) -> bool {
    infinite && !digits.ends_with("Infinity")
}

impl<'de> Decoder<'de> for JsonDecoder {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let part = std::mem::take(&mut self.profile.part);
        let mut seq = match part {
            Part::Payload(_) => Seq::default(),
            _ => self.open_object(at)?,
        };
        seq.part = part;
        Ok(seq)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if let Part::Payload(_) = seq.part {
            let payload = seq.part.payload(shape);
            seq.count += 1;
            return Ok(payload.filter(|_| seq.count == 1).unwrap_or(END));
        }
        while let Some((key, value)) = self.next_member() {
            let names = self.profile.names.source();
            let member = shape.members().find(|member| member.plain(names) == key);
            let Some(member) = member else {
                if self.profile.refuse_unknown {
                    return Err(self.error(ErrorKind::Unknown, "a member that the shape has"));
                }
                seq.unknown = true;
                self.count_item()?;
                self.check_length(&key)?;
                self.skip(&value)?;
                continue;
            };
            if !seq.part.holds(member) {
                seq.unknown = true;
                self.skip(&value)?;
                continue;
            }
            if let Some(Frame::Object { seen, .. }) = self.open.last_mut() {
                if seen.contains(&member.ordinal()) {
                    return Err(self.error(ErrorKind::Duplicate, "each member once"));
                }
                seen.push(member.ordinal());
            }
            // A null is as good as no member, but for documents.
            if matches!(value.data, Data::Null) && member.kind() != ShapeKind::Document {
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
            self.count_item()?;
            if self.leaves_out(&item, at) {
                continue;
            }
            self.here = Some(item);
            return Ok(true);
        }
        Ok(false)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.open_object(at)
    }

    fn key(&mut self, at: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        while let Some((key, value)) = self.next_member() {
            self.count_item()?;
            self.check_length(&key)?;
            if self.leaves_out(&value, at) {
                continue;
            }
            self.here = Some(value);
            return Ok(Some(Text::from(key)));
        }
        Ok(None)
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let is_null = |node: &mut Node| matches!(node.data, Data::Null);
        Ok(self.here.take_if(is_null).is_some())
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match self.take()? {
            Data::Boolean(value) => Ok(value),
            _ => self.wrong_type("true or false"),
        }
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let expected = at.kind().describe();
        let (least, most) = at.kind().integer_range();
        match self.number(expected)?.parse() {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(self.invalid(expected)),
        }
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let digits = self.floating()?;
        match digits.parse::<f32>() {
            Ok(value) if !is_beyond(&digits, value.is_infinite()) => Ok(value),
            _ => Err(self.invalid("a number of 32 bits")),
        }
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        let digits = self.floating()?;
        match digits.parse::<f64>() {
            Ok(value) if !is_beyond(&digits, value.is_infinite()) => Ok(value),
            _ => Err(self.invalid("a number of 64 bits")),
        }
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        let digits = self.big_number("an integer")?;
        self.check_length(&digits)?;
        digits.parse().map_err(|_| self.invalid("an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let digits = self.big_number("a decimal number")?;
        self.check_length(&digits)?;
        digits.parse().map_err(|_| self.invalid("a decimal number"))
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        self.string("a string").map(Text::from)
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.string("a string").map(Cow::Owned)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let text = self.string("a blob in a string")?;
        if self.profile.text_blobs {
            return Ok(Blob::from(text.into_bytes()));
        }
        base64::decode(
            text.as_bytes(),
            Alphabet::Standard,
            Padding::Required,
            false,
        )
        .map(Blob::from)
        .map_err(|malformed| self.invalid(malformed.expected))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let format = self.profile.timestamp_format_of(at);
        let data = self.take()?;
        let format = match &data {
            _ if !self.profile.any_timestamp => format,
            // An HTTP-date begins with the name of a day.
            Data::String(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                TimestampFormat::DateTime
            }
            Data::String(_) => TimestampFormat::HttpDate,
            _ => TimestampFormat::EpochSeconds,
        };
        let policy = ReadPolicy::new().utc(self.profile.required);
        let instant = match (format, &data) {
            (TimestampFormat::EpochSeconds, Data::Number(number)) => {
                timestamp::epoch_seconds(number)
            }
            (TimestampFormat::DateTime, Data::String(text)) => {
                self.check_length(text)?;
                timestamp::date_time(text.as_bytes(), policy.utc(self.profile.required)).ok()
            }
            (TimestampFormat::HttpDate, Data::String(text)) => {
                self.check_length(text)?;
                timestamp::http_date(text.as_bytes()).ok()
            }
            _ => return self.wrong_type("a timestamp"),
        };
        instant.ok_or_else(|| self.invalid("a timestamp"))
    }

    fn any(&mut self) -> Result<Event, Error> {
        match self.here {
            Some(Node {
                data: Data::Object(_),
                ..
            }) => return self.open_object(Member::DOCUMENT).map(Event::Map),
            Some(Node {
                data: Data::Array(_),
                ..
            }) => return self.open_array(Member::DOCUMENT).map(Event::List),
            _ => {}
        }
        Ok(Event::Scalar(match self.take()? {
            Data::Boolean(value) => Value::Boolean(value),
            Data::String(text) => {
                self.check_length(&text)?;
                Value::String(Text::from(text))
            }
            Data::Number(number) => self.number_of_document(&number)?,
            _ => Value::Null,
        }))
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let name = at.plain(self.profile.names.source());
        let error = self.error(ErrorKind::Missing, "");
        Err(error.expected(format!("the required member `{name}`")))
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

impl JsonDecoder {
    /// A number of a document: an integer where it has neither fraction nor
    /// exponent, else the nearest double; digits where neither can hold it. A
    /// negative zero is one that a double wrote.
    fn number_of_document(&self, number: &str) -> Result<Value, Error> {
        let is_integer = !number.contains(['.', 'e', 'E']);
        if number == "-0" {
            return Ok(Value::Double(-0.0));
        }
        if is_integer && let Ok(value) = number.parse::<i64>() {
            return Ok(Value::Integer(value));
        }
        if !is_integer
            && let Ok(value) = number.parse::<f64>()
            && value.is_finite()
        {
            return Ok(Value::Double(value));
        }
        self.check_length(number)?;
        let invalid = |_| self.invalid("a number");
        Ok(match is_integer {
            true => Value::BigInteger(number.parse().map_err(invalid)?),
            false => Value::BigDecimal(number.parse().map_err(invalid)?),
        })
    }
}
