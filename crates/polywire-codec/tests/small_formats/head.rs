//! The head of an HTTP message on the same traits: headers, query, label and
//! status code are one filtered pass over a structure, the body is another.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, Direction, END, Encoder, Error, ErrorKind, Event,
    Location, Member, Schema, Seq, ShapeKind, Text, Timestamp, TimestampFormat,
};
use polywire_text::base64;

/// The parts of a message that its body does not carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) status: Option<String>,
}

/// The text of a timestamp: HTTP-dates in headers, RFC 3339 elsewhere, unless
/// the member says other.
fn format(at: Member<'_>) -> TimestampFormat {
    let default = match at.location() {
        Location::Header => TimestampFormat::HttpDate,
        _ => TimestampFormat::DateTime,
    };
    at.timestamp_format().unwrap_or(default)
}

pub(crate) struct HeadEncoder {
    direction: Direction,
    head: Head,
    location: Option<Location>,
    /// The header, parameter or label that is written.
    name: String,
    /// The values of a list that stand in one header.
    list: Option<Vec<String>>,
    error: Option<Error>,
}

impl HeadEncoder {
    pub(crate) fn new(direction: Direction) -> Self {
        Self {
            direction,
            head: Head::default(),
            location: None,
            name: String::new(),
            list: None,
            error: None,
        }
    }

    pub(crate) fn finish(self) -> Result<Head, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.head),
        }
    }

    fn scalar(&mut self, _: Member<'_>, value: &str) {
        let value = value.to_owned();
        let pair = (self.name.clone(), value.clone());
        match (self.location, &mut self.list) {
            (Some(Location::Header), Some(list)) => list.push(value),
            (Some(Location::Header | Location::PrefixHeaders), _) => self.head.headers.push(pair),
            (Some(Location::Query | Location::QueryParams), _) => self.head.query.push(pair),
            (Some(Location::Label), _) => self.head.labels.push(pair),
            _ => self.head.status = Some(value),
        }
    }
}

impl Encoder for HeadEncoder {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {}

    fn member(&mut self, at: Member<'_>) -> bool {
        let location = at.location().going(self.direction);
        self.location = Some(location);
        self.name = match location {
            Location::Label => at.name().to_owned(),
            _ => at.location_name().to_owned(),
        };
        !matches!(location, Location::Body | Location::Payload)
    }

    fn end_structure(&mut self, _: Member<'_>) {}

    fn begin_list(&mut self, at: Member<'_>, _: usize) {
        if at.location() == Location::Header {
            self.list = Some(Vec::new());
        }
    }

    fn end_list(&mut self, _: Member<'_>) {
        if let Some(list) = self.list.take() {
            self.head.headers.push((self.name.clone(), list.join(", ")));
        }
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {}

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.name = format!("{}{key}", at.location_name());
    }

    fn end_map(&mut self, _: Member<'_>) {}

    fn null(&mut self, _: Member<'_>) {}

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let mut text = Vec::new();
        match format(at) {
            TimestampFormat::HttpDate => value.push_http_date(&mut text).unwrap(),
            TimestampFormat::DateTime => value.push_date_time(&mut text).unwrap(),
            TimestampFormat::EpochSeconds => value.push_epoch_seconds(&mut text),
        }
        self.scalar(at, std::str::from_utf8(&text).unwrap());
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        let mut text = Vec::new();
        base64::push(&mut text, value);
        self.scalar(at, std::str::from_utf8(&text).unwrap());
    }

    crate::scalars::text_scalars!();
}

pub(crate) struct HeadDecoder<'de> {
    direction: Direction,
    head: &'de Head,
    /// The values that are read next.
    values: Vec<&'de str>,
    /// The entries of a map that come next, the last first.
    entries: Vec<(&'de str, Vec<&'de str>)>,
    at: usize,
}

impl<'de> HeadDecoder<'de> {
    pub(crate) fn new(head: &'de Head, direction: Direction) -> Self {
        Self {
            direction,
            head,
            values: Vec::new(),
            entries: Vec::new(),
            at: 0,
        }
    }

    /// What the head has for a member; the last value first.
    fn look_up(&mut self, at: Member<'_>) -> bool {
        let head = self.head;
        let location = at.location().going(self.direction);
        let name = at.location_name();
        let of = |pairs: &'de [(String, String)], name: &str| -> Vec<&'de str> {
            let pairs = pairs.iter().rev();
            pairs
                .filter(|(own, _)| own.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
                .collect()
        };
        self.entries.clear();
        self.values = match location {
            Location::Label => of(&head.labels, at.name()),
            Location::Header => of(&head.headers, name),
            Location::Query => of(&head.query, name),
            Location::StatusCode => head.status.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        if location == Location::Header && at.kind() == ShapeKind::List {
            let items = self.values.iter().rev().flat_map(|value| value.split(','));
            self.values = items.map(str::trim).collect();
            self.values.retain(|item| !item.is_empty());
            self.values.reverse();
            return !of(&head.headers, name).is_empty();
        }
        let pairs = match location {
            Location::PrefixHeaders => &head.headers,
            Location::QueryParams => &head.query,
            _ => return !self.values.is_empty(),
        };
        // Parameters with members of their own are not among the others.
        let bound = |key: &str| {
            let mut members = at.container().members();
            members.any(|at| at.location() == Location::Query && at.location_name() == key)
        };
        for (key, _) in pairs.iter().rev() {
            let entry = key.get(name.len()..).unwrap_or_default();
            let prefixed = key.len() >= name.len() && key[..name.len()].eq_ignore_ascii_case(name);
            let known = self.entries.iter().any(|(own, _)| *own == entry);
            if prefixed && !known && !bound(key) {
                self.entries.push((entry, of(pairs, key)));
            }
        }
        !self.entries.is_empty()
    }
}

impl<'de> Decoder<'de> for HeadDecoder<'de> {
    fn structure(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        while seq.guess < shape.len() {
            let at = shape.member(seq.guess);
            seq.guess += 1;
            if self.look_up(at) {
                return Ok(at.ordinal());
            }
        }
        Ok(END)
    }

    fn list(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        Ok(!self.values.is_empty())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        Ok(self.entries.pop().map(|(key, values)| {
            self.values = values;
            Text::from(key)
        }))
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let value = self.values.pop().map(Cow::Borrowed);
        value.ok_or_else(|| self.error(ErrorKind::Missing, "a value"))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let text = self.str(at)?;
        let read = match format(at) {
            TimestampFormat::HttpDate => Timestamp::parse_http_date(&text),
            TimestampFormat::DateTime => Timestamp::parse_date_time(&text),
            TimestampFormat::EpochSeconds => Timestamp::parse_epoch_seconds(&text),
        };
        read.map_err(|malformed| self.error(ErrorKind::InvalidValue, malformed.expected))
    }

    crate::scalars::text_values!("HTTP");
}
