//! Reading the members that stand in the head of a message.

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue, request, response};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, Defaults, END, Error, ErrorKind, Event, Member, Schema,
    Seq, ShapeKind, Text, Timestamp, TimestampFormat, Value,
};
use polywire_text::{Malformed, base64, form, number, percent, utf8};
use smallvec::{SmallVec, smallvec};

use super::binding::Place;
use super::{Bindings, header, scalar};
use crate::media::trim_whitespace;
use crate::protocol::Route;

/// A decoder of the members of one structure that stand in a head.
///
/// It gives the text of one member after the other; what is asked of it next is
/// read from that text. First come the members that have no header of their own,
/// then the headers, as they come: each is looked up once.
#[derive(Debug)]
pub(crate) struct HeadDecoder<'b, 'de> {
    head: Head<'de>,
    bindings: &'b Bindings,
    /// The headers that have not been looked at.
    headers: http::header::Iter<'de, HeaderValue>,
    /// Whether all that comes next are headers, each one that of a member of its
    /// own.
    is_plain: bool,
    /// Whether some header comes twice or has two members. Then all are looked up
    /// first.
    is_gathered: bool,
    /// The members that then have a header, and their values, in the order of the
    /// members.
    found: Vec<(u32, &'de HeaderValue)>,
    /// How many of them have been read.
    read: usize,
    /// How many of the other members of the head have been looked for.
    looked: usize,
    /// The query's parameters, decoded once they are needed.
    query: Option<Vec<Parameter<'de>>>,
    /// Where the current member stands.
    place: &'b Place,
    /// The text of the current member, if that is one header.
    header: Option<&'de str>,
    /// Else the text of the current member, item or entry.
    value: Option<Cow<'de, str>>,
    /// Further texts of it.
    more: Vec<Cow<'de, str>>,
    items: std::vec::IntoIter<Cow<'de, str>>,
    entries: std::vec::IntoIter<Entry<'de>>,
    /// Whether missing required members are errors, and dates with an offset
    /// from UTC.
    required: bool,
}

/// A key of a map and its texts: one, most times.
type Entry<'de> = (Text, SmallVec<[Cow<'de, str>; 1]>);

/// A parameter of the query.
#[derive(Debug)]
struct Parameter<'de> {
    key: Cow<'de, str>,
    /// Or what was expected, which is an error only if a member takes the parameter.
    value: Result<Cow<'de, str>, &'static str>,
}

impl<'de> Parameter<'de> {
    /// The parameter `text`, which cannot be decoded.
    #[cold]
    fn malformed(text: &'de str, error: Malformed) -> Self {
        let key = text.split_once('=').map_or(text, |(key, _)| key);
        let decoded = percent::decode_query(key);
        Self {
            key: decoded.unwrap_or(Cow::Borrowed(key)),
            value: Err(error.expected),
        }
    }
}

#[derive(Debug)]
enum Head<'de> {
    Request(&'de request::Parts, &'de Route),
    Response(&'de response::Parts),
}

impl<'b, 'de> HeadDecoder<'b, 'de> {
    pub(crate) fn request(
        head: &'de request::Parts,
        route: &'de Route,
        bindings: &'b Bindings,
    ) -> Self {
        Self::new(Head::Request(head, route), bindings, true)
    }

    pub(crate) fn response(head: &'de response::Parts, bindings: &'b Bindings) -> Self {
        Self::new(Head::Response(head), bindings, false)
    }

    fn new(head: Head<'de>, bindings: &'b Bindings, required: bool) -> Self {
        let headers = match head {
            Head::Request(head, _) => &head.headers,
            Head::Response(head) => &head.headers,
        };
        let is_gathered = bindings.index.is_shared() || headers.len() != headers.keys_len();
        Self {
            head,
            bindings,
            headers: headers.iter(),
            is_plain: !is_gathered && bindings.others.is_empty(),
            is_gathered,
            found: Vec::new(),
            read: 0,
            looked: 0,
            query: None,
            place: &Place::Body,
            header: None,
            value: None,
            more: Vec::new(),
            items: Vec::new().into_iter(),
            entries: Vec::new().into_iter(),
            required,
        }
    }

    fn all_headers(&self) -> &'de HeaderMap {
        match self.head {
            Head::Request(head, _) => &head.headers,
            Head::Response(head) => &head.headers,
        }
    }

    /// Looks up whose all headers are.
    #[inline(never)]
    fn gather(&mut self) {
        let places = &self.bindings.places[..];
        for (name, value) in self.headers.by_ref() {
            let found = &mut self.found;
            let find = |member| found.push((member, value));
            self.bindings.index.find_all(name.as_str(), places, find);
        }
        // Values of one member stay in their order.
        self.found.sort_by_key(|(member, _)| *member);
    }

    /// The next member that has a header with something in it, which is then what
    /// is read.
    #[inline(always)]
    fn next_header(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        let places = &self.bindings.places[..];
        while let Some((name, value)) = self.headers.next() {
            let Some((member, place)) = self.bindings.index.find(name.as_str(), places) else {
                continue;
            };
            self.place = place;
            let text = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?;
            // A list without items has no header, and a header without a value
            // no item.
            if !text.is_empty() || shape.member(member).kind() != ShapeKind::List {
                self.header = Some(text);
                return Ok(member);
            }
        }
        Ok(END)
    }

    /// As [`HeadDecoder::next_header`], of those that have been looked up.
    #[inline(never)]
    fn next_gathered(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        let places = &self.bindings.places[..];
        while let Some((member, value)) = self.found.get(self.read).copied() {
            self.read += 1;
            self.place = &places[member as usize];
            let text = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?;
            self.value = Some(Cow::Borrowed(text));
            let is_empty = self.take_others(member)? && text.is_empty();
            if !is_empty || shape.member(member).kind() != ShapeKind::List {
                return Ok(member);
            }
        }
        Ok(END)
    }

    /// Takes further values of a member; whether all are empty.
    fn take_others(&mut self, member: u32) -> Result<bool, Error> {
        self.more.clear();
        let mut is_empty = true;
        while let Some((own, value)) = self.found.get(self.read)
            && *own == member
        {
            self.read += 1;
            let text = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?;
            is_empty &= text.is_empty();
            self.more.push(Cow::Borrowed(text));
        }
        Ok(is_empty)
    }

    /// The next member, wherever in the head it stands.
    #[inline(never)]
    fn any_member(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        while let Some(other) = self.bindings.others.get(self.looked).copied() {
            self.looked += 1;
            if self.locate(other)? {
                return Ok(other);
            }
        }
        self.value = None;
        self.more.clear();
        if self.is_gathered {
            return self.next_gathered(shape);
        }
        self.is_plain = true;
        self.next_header(shape)
    }

    #[inline]
    fn push(&mut self, text: Cow<'de, str>) {
        match self.value {
            None => self.value = Some(text),
            Some(_) => self.more.push(text),
        }
    }

    /// Looks for the texts of a member that has no header of its own; whether
    /// there are any.
    fn locate(&mut self, member: u32) -> Result<bool, Error> {
        self.value = None;
        self.more.clear();
        self.place = &self.bindings.places[member as usize];
        match self.place {
            Place::Prefix { lower, .. } => self.locate_prefix(lower),
            Place::Label { .. } => {
                let Head::Request(head, route) = self.head else {
                    return Ok(false);
                };
                let label = route.labels.iter().find(|(own, _)| *own == member);
                let Some((_, range)) = label else {
                    return Ok(false);
                };
                let text = head.uri.path().get(range.clone()).unwrap_or_default();
                let text = percent::decode(text).map_err(|error| self.wrong(error.expected))?;
                self.value = Some(text);
                Ok(true)
            }
            Place::Query { name, .. } => {
                self.parse_query();
                let parameters = self.query.take().unwrap_or_default();
                let mut wrong = None;
                for parameter in parameters.iter().filter(|found| found.key == *name) {
                    match &parameter.value {
                        Ok(value) => self.push(value.clone()),
                        Err(expected) => wrong = wrong.or(Some(*expected)),
                    }
                }
                self.query = Some(parameters);
                match wrong {
                    Some(expected) => Err(self.wrong(expected)),
                    None => Ok(self.value.is_some()),
                }
            }
            Place::QueryParams => {
                self.parse_query();
                let mut entries: Vec<Entry<'de>> = Vec::new();
                // Where the entry of each key is: a head has room for thousands.
                let mut places = BTreeMap::new();
                for Parameter { key, value } in self.query.as_deref().unwrap_or_default() {
                    let value = value.as_ref().map_err(|expected| self.wrong(expected))?;
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
            Place::StatusCode => {
                let Head::Response(head) = self.head else {
                    return Ok(false);
                };
                self.value = Some(Cow::Borrowed(head.status.as_str()));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn locate_prefix(&mut self, prefix: &str) -> Result<bool, Error> {
        let mut entries: Vec<Entry<'de>> = Vec::new();
        for (name, value) in self.all_headers() {
            let Some(key) = name.as_str().strip_prefix(prefix) else {
                continue;
            };
            let value = text_of(value).ok_or_else(|| self.wrong("UTF-8"))?;
            match entries.last_mut() {
                // Headers of one name come one after the other.
                Some((own, values)) if *own == key => values.push(Cow::Borrowed(value)),
                _ => entries.push((Text::from(key), smallvec![Cow::Borrowed(value)])),
            }
        }
        let found = !entries.is_empty();
        self.entries = entries.into_iter();
        Ok(found)
    }

    fn parse_query(&mut self) {
        if self.query.is_some() {
            return;
        }
        let mut parameters = Vec::new();
        if let Head::Request(head, _) = self.head {
            let query = head.uri.query().unwrap_or_default();
            let texts = query.split('&').filter(|text| !text.is_empty());
            for (pair, text) in form::pairs(query).zip(texts) {
                parameters.push(match pair {
                    Ok(pair) => Parameter {
                        key: pair.key,
                        value: Ok(pair.value),
                    },
                    Err(error) => Parameter::malformed(text, error),
                });
            }
        }
        self.query = Some(parameters);
    }

    /// The text of the current scalar.
    #[inline]
    fn one(&mut self) -> Result<Cow<'de, str>, Error> {
        if let Some(text) = self.header.take() {
            return Ok(Cow::Borrowed(text));
        }
        // Of parameters that come twice, the first counts.
        let is_header = matches!(self.place, Place::Header { .. } | Place::Prefix { .. });
        if !self.more.is_empty() && is_header {
            return Err(self.wrong("one value"));
        }
        self.value.take().ok_or_else(|| self.wrong("a value"))
    }

    #[cold]
    fn wrong(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::InvalidValue, expected)
    }
}

/// The text of a header without space around it, as it mostly is.
#[inline]
fn text_of(value: &HeaderValue) -> Option<&str> {
    let text = utf8::validate(value.as_bytes()).ok()?;
    let is_mark = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    match is_mark(bytes.first()) && is_mark(bytes.last()) {
        true => Some(text),
        false => Some(trim_whitespace(text)),
    }
}

impl<'de> Decoder<'de> for HeadDecoder<'_, 'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if at.is_root() {
            if self.is_gathered {
                self.gather();
            }
            Ok(Seq::default())
        } else {
            Err(self.wrong("no structure"))
        }
    }

    fn member(&mut self, shape: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        if self.is_plain {
            return self.next_header(shape);
        }
        self.any_member(shape)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let element = at.element();
        let first = self.header.take().map(Cow::Borrowed);
        let first = first.or_else(|| self.value.take());
        let values = first.into_iter().chain(self.more.drain(..));
        let items: Vec<_> = if self.place.is_header() {
            let dates = element.kind() == ShapeKind::Timestamp
                && scalar::timestamp_format(element, self.place.location())
                    == TimestampFormat::HttpDate;
            let mut items = Vec::new();
            for value in values {
                match header::split(&value, element.kind(), dates) {
                    Ok(split) => items.extend(split),
                    Err(error) => {
                        let kind = ErrorKind::InvalidValue;
                        return Err(error_at(self.place, kind, error.expected));
                    }
                }
            }
            items
        } else {
            values.collect()
        };
        self.items = items.into_iter();
        Ok(Seq::default())
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        self.value = self.items.next();
        Ok(self.value.is_some())
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        Ok(Seq::default())
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        let Some((key, values)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = None;
        self.more.clear();
        for value in values {
            self.push(value);
        }
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
        if let (Some(text), Place::Header { plain: true, .. }) = (self.header, self.place) {
            self.header = None;
            return Ok(Text::from(text));
        }
        match self.str(at)? {
            Cow::Borrowed(text) => Ok(Text::from(text)),
            Cow::Owned(text) => Ok(Text::from(text)),
        }
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        let text = self.one()?;
        // Text with a media type, such as JSON, cannot stand in a header raw.
        if at.media_type().is_some() && matches!(self.place, Place::Header { .. }) {
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
        let format = scalar::timestamp_format(at, self.place.location());
        let read = scalar::parse_timestamp(&text, format, self.required);
        read.map_err(|error| self.wrong(error.expected))
    }

    fn any(&mut self) -> Result<Event, Error> {
        Ok(Event::Scalar(Value::String(Text::from(self.one()?))))
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        match self.required {
            true => Defaults::Server.fills_default(at),
            false => Defaults::Client.fills_default(at),
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
        error_at(self.place, kind, expected)
    }
}

#[cold]
fn error_at(place: &Place, kind: ErrorKind, expected: &'static str) -> Error {
    let place = match place {
        Place::Header { name, .. } | Place::NoHeader(name) => format!("header {name}"),
        Place::Prefix { name, .. } => format!("headers with the prefix {name}"),
        Place::Label { name, .. } => format!("label {name}"),
        Place::Query { name, .. } => format!("query parameter {name}"),
        Place::QueryParams => "the query".to_owned(),
        Place::StatusCode => "the status".to_owned(),
        Place::Payload | Place::Host | Place::Body => String::new(),
    };
    let error = Error::new(kind).in_format("HTTP").expected(expected);
    error.at_path(place)
}
