//! Reading the members that stand in the head of a message.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::{HeaderMap, request, response};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, Defaults, Direction, END, Error, ErrorKind, Event,
    Location, Member, Schema, Seq, ShapeKind, Text, Timestamp, TimestampFormat, Value,
};
use polywire_text::{base64, form, number, percent};
use smallvec::{SmallVec, smallvec};

use super::{header, scalar};
use crate::protocol::Route;

/// A decoder of the members of one structure that stand in a head.
///
/// It finds the text of one member after the other; what is asked of it next
/// is read from that text.
#[derive(Debug)]
pub(crate) struct HeadDecoder<'de> {
    head: Head<'de>,
    /// The query's parameters, decoded once they are needed.
    query: Option<Vec<(Cow<'de, str>, Cow<'de, str>)>>,
    location: Location,
    /// What errors call the place: "header" and "X-Amz-Date".
    place: (&'static str, Text),
    /// The texts of the current member, item or entry: one, most times.
    values: Values<'de>,
    items: smallvec::IntoIter<[Cow<'de, str>; 1]>,
    entries: std::vec::IntoIter<Entry<'de>>,
    /// Whether missing required members are errors, and dates with an offset
    /// from UTC.
    required: bool,
}

type Values<'de> = SmallVec<[Cow<'de, str>; 1]>;

/// A key of a map and its texts.
type Entry<'de> = (Text, Values<'de>);

#[derive(Debug)]
enum Head<'de> {
    Request(&'de request::Parts, &'de Route),
    Response(&'de response::Parts),
}

impl Head<'_> {
    const fn direction(&self) -> Direction {
        match self {
            Self::Request(..) => Direction::Request,
            Self::Response(_) => Direction::Response,
        }
    }
}

impl<'de> HeadDecoder<'de> {
    pub(crate) fn request(head: &'de request::Parts, route: &'de Route) -> Self {
        Self::new(Head::Request(head, route), true)
    }

    pub(crate) fn response(head: &'de response::Parts) -> Self {
        Self::new(Head::Response(head), false)
    }

    fn new(head: Head<'de>, required: bool) -> Self {
        Self {
            head,
            query: None,
            location: Location::Header,
            place: ("", Text::default()),
            values: Values::new(),
            items: Values::new().into_iter(),
            entries: Vec::new().into_iter(),
            required,
        }
    }

    fn headers(&self) -> &'de HeaderMap {
        match self.head {
            Head::Request(head, _) => &head.headers,
            Head::Response(head) => &head.headers,
        }
    }

    /// Looks for the texts of a member; whether there are any.
    fn locate(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.values.clear();
        self.location = at.location().going(self.head.direction());
        match self.location {
            Location::Header => {
                self.place = ("header ", Text::from(at.location_name()));
                for value in self.headers().get_all(at.location_name()) {
                    let value = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?;
                    self.values.push(Cow::Borrowed(value.trim()));
                }
                // A list without items has no header, and a header without a
                // value no item.
                if at.kind() == ShapeKind::List && self.values.iter().all(|value| value.is_empty())
                {
                    self.values.clear();
                }
                Ok(!self.values.is_empty())
            }
            Location::PrefixHeaders => self.locate_prefix(at.location_name()),
            Location::Label => {
                self.place = ("label ", Text::from(at.name()));
                let Head::Request(head, route) = self.head else {
                    return Ok(false);
                };
                let label = route
                    .labels
                    .iter()
                    .find(|(member, _)| *member == at.ordinal());
                let Some((_, range)) = label else {
                    return Ok(false);
                };
                let text = head.uri.path().get(range.clone()).unwrap_or_default();
                let text = percent::decode(text).map_err(|error| self.wrong(error.expected))?;
                self.values.push(text);
                Ok(true)
            }
            Location::Query => {
                self.place = ("query parameter ", Text::from(at.location_name()));
                self.parse_query()?;
                let parameters = self.query.as_deref().unwrap_or_default();
                let own = parameters
                    .iter()
                    .filter(|(key, _)| key == at.location_name());
                self.values.extend(own.map(|(_, value)| value.clone()));
                Ok(!self.values.is_empty())
            }
            Location::QueryParams => {
                self.place = ("the query", Text::default());
                self.parse_query()?;
                let mut entries: Vec<Entry<'de>> = Vec::new();
                // Where the entry of each key is: a head has room for thousands.
                let mut places = BTreeMap::new();
                for (key, value) in self.query.as_deref().unwrap_or_default() {
                    let place = *places.entry(&**key).or_insert(entries.len());
                    match entries.get_mut(place) {
                        Some((_, values)) => values.push(value.clone()),
                        None => entries.push((Text::from(&**key), smallvec![value.clone()])),
                    }
                }
                let found = !entries.is_empty();
                self.entries = entries.into_iter();
                Ok(found)
            }
            Location::StatusCode => {
                self.place = ("the status", Text::default());
                let Head::Response(head) = self.head else {
                    return Ok(false);
                };
                self.values
                    .push(Cow::Owned(head.status.as_u16().to_string()));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn locate_prefix(&mut self, prefix: &str) -> Result<bool, Error> {
        self.place = ("headers with the prefix ", Text::from(prefix));
        let lower = prefix.to_ascii_lowercase();
        let mut entries: Vec<Entry<'de>> = Vec::new();
        for (name, value) in self.headers() {
            let Some(key) = name.as_str().strip_prefix(&lower) else {
                continue;
            };
            let value = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?.trim();
            match entries.iter_mut().find(|(own, _)| *own == key) {
                Some((_, values)) => values.push(Cow::Borrowed(value)),
                None => entries.push((Text::from(key), smallvec![Cow::Borrowed(value)])),
            }
        }
        let found = !entries.is_empty();
        self.entries = entries.into_iter();
        Ok(found)
    }

    fn parse_query(&mut self) -> Result<(), Error> {
        if self.query.is_some() {
            return Ok(());
        }
        let mut parameters = Vec::new();
        if let Head::Request(head, _) = self.head {
            let query = head.uri.query().unwrap_or_default();
            for pair in form::pairs(query) {
                let pair = pair.map_err(|error| self.wrong(error.expected))?;
                parameters.push((pair.key, pair.value));
            }
        }
        self.query = Some(parameters);
        Ok(())
    }

    /// The text of the current scalar.
    fn one(&mut self) -> Result<Cow<'de, str>, Error> {
        match self.values.len() {
            0 => Err(self.wrong("a value")),
            1 => Ok(self.values.swap_remove(0)),
            // Of parameters that come twice, the first counts.
            _ if self.location != Location::Header => Ok(self.values.swap_remove(0)),
            _ => Err(self.wrong("one value")),
        }
    }

    #[cold]
    fn wrong(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::InvalidValue, expected)
    }
}

fn text_of(value: &http::HeaderValue) -> Option<&str> {
    std::str::from_utf8(value.as_bytes()).ok()
}

impl<'de> Decoder<'de> for HeadDecoder<'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if at.is_root() {
            Ok(Seq::default())
        } else {
            Err(self.wrong("no structure"))
        }
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        while seq.guess < shape.len() {
            let ordinal = seq.guess;
            seq.guess += 1;
            if self.locate(shape.member(ordinal))? {
                return Ok(ordinal);
            }
        }
        Ok(END)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let element = at.element();
        let values = std::mem::take(&mut self.values);
        let mut items = Values::with_capacity(values.len());
        if matches!(self.location, Location::Header | Location::PrefixHeaders) {
            let dates = element.kind() == ShapeKind::Timestamp
                && scalar::timestamp_format(element, self.location) == TimestampFormat::HttpDate;
            for value in &values {
                let split = header::split(value, element.kind(), dates);
                items.extend(split.map_err(|error| self.wrong(error.expected))?);
            }
        } else {
            items = values;
        }
        self.items = items.into_iter();
        Ok(Seq::default())
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        self.values.clear();
        self.values.extend(self.items.next());
        Ok(!self.values.is_empty())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        let Some((key, values)) = self.entries.next() else {
            return Ok(None);
        };
        self.values = values;
        Ok(Some(key))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        match &*self.one()? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let text = self.one()?;
        let (least, most) = at.kind().integer_range();
        match number::parse_i64(text.as_bytes()) {
            Ok(value) if (least..=most).contains(&value) && !text.starts_with('+') => Ok(value),
            _ => Err(self.wrong(at.kind().describe())),
        }
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let text = self.one()?;
        number::parse_f32(text.as_bytes()).map_err(|_| self.wrong("a number"))
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        let text = self.one()?;
        number::parse_f64(text.as_bytes()).map_err(|_| self.wrong("a number"))
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        let text = self.one()?;
        text.parse().map_err(|_| self.wrong("an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let text = self.one()?;
        text.parse().map_err(|_| self.wrong("a decimal number"))
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        Ok(Text::from(self.str(at)?))
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let text = self.one()?;
        // Text with a media type, such as JSON, cannot stand in a header raw.
        if at.media_type().is_some() && self.location == Location::Header {
            let decoded = base64::decode(text.as_bytes());
            let decoded = decoded.map_err(|error| self.wrong(error.expected))?;
            let decoded = String::from_utf8(decoded.to_vec());
            return decoded
                .map(Cow::Owned)
                .map_err(|_| self.wrong("UTF-8 in base64"));
        }
        Ok(text)
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let text = self.one()?;
        base64::decode(text.as_bytes()).map_err(|error| self.wrong(error.expected))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.one()?;
        let format = scalar::timestamp_format(at, self.location);
        let read = scalar::parse_timestamp(&text, format, self.required);
        read.map_err(|error| self.wrong(error.expected))
    }

    fn any(&mut self) -> Result<Event, Error> {
        Ok(Event::Scalar(Value::String(Text::from(self.one()?))))
    }

    fn fills(&self, at: Member<'_>) -> bool {
        match self.required {
            true => Defaults::Server.fills(at),
            false => Defaults::Client.fills(at),
        }
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.required {
            return Ok(());
        }
        let name = format!(
            "the required member `{}` of {}",
            at.name(),
            at.container().id()
        );
        Err(Error::new(ErrorKind::Missing)
            .in_format("HTTP")
            .expected(name))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Error::new(kind)
            .in_format("HTTP")
            .expected(expected)
            .at_path(format!("{}{}", self.place.0, self.place.1))
    }
}
