//! Writing the members that stand in the head of a message.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Location, Member, Timestamp,
};
use polywire_text::{base64, number};

use super::header::{self, Header, Role};
use super::{Bindings, Pattern, Segment, scalar};
use crate::endpoint;

/// An encoder of the members of one structure that stand in a head.
#[derive(Debug)]
pub(crate) struct HeadEncoder<'b> {
    bindings: &'b Bindings,
    headers: HeaderMap,
    /// Headers of maps: those with a member of their own come first.
    more_headers: Vec<(HeaderName, HeaderValue)>,
    /// What a member says of the length of the body.
    content_length: Option<HeaderValue>,
    labels: Vec<(String, String)>,
    host_labels: Vec<(String, String)>,
    query: Vec<(String, String)>,
    /// Parameters of a map: those with a member of their own come first.
    parameters: Vec<(String, String)>,
    status: Option<u16>,
    /// The current member: where it stands and under which name.
    place: Option<Place>,
    key: Option<String>,
    list: Option<Vec<String>>,
    depth: u32,
    error: Option<Error>,
}

/// Where a member stands.
#[derive(Debug)]
enum Place {
    Header(Header),
    /// The label of the path.
    Label(String),
    /// Headers with this prefix.
    Prefix(String),
    Query(String),
    QueryParams,
    StatusCode,
    /// In the host prefix only.
    Host,
}

impl Place {
    const fn location(&self) -> Location {
        match self {
            Self::Header(_) => Location::Header,
            Self::Label(_) => Location::Label,
            Self::Prefix(_) => Location::PrefixHeaders,
            Self::Query(_) => Location::Query,
            Self::QueryParams => Location::QueryParams,
            Self::StatusCode => Location::StatusCode,
            Self::Host => Location::Body,
        }
    }

    const fn is_header(&self) -> bool {
        matches!(self, Self::Header(_) | Self::Prefix(_))
    }
}

/// What a client writes into the head of a request.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) content_length: Option<HeaderValue>,
    pub(crate) host_prefix: String,
}

impl<'b> HeadEncoder<'b> {
    /// An encoder of the head of a message with these bindings.
    pub(crate) fn new(bindings: &'b Bindings) -> Self {
        Self {
            bindings,
            headers: HeaderMap::new(),
            more_headers: Vec::new(),
            content_length: None,
            labels: Vec::new(),
            host_labels: Vec::new(),
            query: Vec::new(),
            parameters: Vec::new(),
            status: None,
            place: None,
            key: None,
            list: None,
            depth: 0,
            error: None,
        }
    }

    /// The head of a request to a URI pattern.
    pub(crate) fn into_request(
        mut self,
        pattern: &Pattern,
        host_prefix: &str,
    ) -> Result<RequestHead, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        merge(&mut self.headers, self.more_headers);
        let label = |name: &str| {
            let value = self
                .labels
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value);
            value.filter(|value| !value.is_empty()).ok_or_else(|| {
                Error::new(ErrorKind::Unwritable)
                    .in_format("HTTP")
                    .expected("a value that is not empty, since it is part of the path")
                    .at_path(format!("label {name}"))
            })
        };
        let mut target = String::new();
        for segment in pattern.segments() {
            target.push('/');
            match segment {
                Segment::Literal(text) => target.push_str(text),
                Segment::Label(name) => polywire_text::percent::push(&mut target, label(name)?),
                Segment::Greedy(name) => {
                    polywire_text::percent::push_path(&mut target, label(name)?);
                }
            }
        }
        if target.is_empty() {
            target.push('/');
        }
        let mut separator = '?';
        let mut push = |key: &str, value: Option<&str>| {
            target.push(separator);
            separator = '&';
            polywire_text::percent::push(&mut target, key);
            if let Some(value) = value {
                target.push('=');
                polywire_text::percent::push(&mut target, value);
            }
        };
        for (key, value) in pattern.query() {
            push(key, value.as_deref());
        }
        for (key, value) in &self.query {
            push(key, Some(value));
        }
        let taken = |key: &str| {
            self.query.iter().any(|(own, _)| own == key)
                || pattern.query().iter().any(|(own, _)| own == key)
        };
        for (key, value) in self.parameters.iter().filter(|(key, _)| !taken(key)) {
            push(key, Some(value));
        }
        Ok(RequestHead {
            target,
            headers: self.headers,
            content_length: self.content_length,
            host_prefix: endpoint::fill(host_prefix, &self.host_labels)?,
        })
    }

    /// Puts the head of a response in place. What a member says of the length
    /// of the body counts only where there `is_headed`: an answer to HEAD,
    /// which has none.
    pub(crate) fn finish_response(
        mut self,
        response: &mut http::Response<Bytes>,
        is_headed: bool,
    ) -> Result<(), Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        merge(&mut self.headers, self.more_headers);
        if let Some(length) = self.content_length.filter(|_| is_headed) {
            self.headers.insert(CONTENT_LENGTH, length);
        }
        *response.headers_mut() = self.headers;
        if let Some(Ok(status)) = self.status.map(http::StatusCode::from_u16) {
            *response.status_mut() = status;
        }
        Ok(())
    }

    /// Takes the text of a scalar to where it belongs.
    fn put(&mut self, at: Member<'_>, text: String) {
        if self.depth == 1
            && self.list.is_none()
            && at.has(polywire_schema::MemberFlags::HOST_LABEL)
        {
            self.host_labels.push((at.name().to_owned(), text.clone()));
        }
        if let Some(list) = &mut self.list {
            list.push(text);
            return;
        }
        self.put_one(text);
    }

    fn put_one(&mut self, text: String) {
        // A header is written once, and its name need not be kept for more.
        let place = match self.place.take() {
            Some(Place::Header(header)) => return self.header(header, HeaderValue::try_from(text)),
            place => place,
        };
        match &place {
            Some(Place::Prefix(prefix)) => {
                let name = format!("{prefix}{}", self.key.as_deref().unwrap_or_default());
                match (Header::new(&name), HeaderValue::try_from(text)) {
                    (Some(header), Ok(value))
                        if header.role == Role::Other && header.name != HOST =>
                    {
                        self.more_headers.push((header.name, value));
                    }
                    (Some(header), Ok(_)) => self.fail(reserved(&header.name)),
                    _ => self.fail(unwritable(&name)),
                }
            }
            Some(Place::Query(name)) => self.query.push((name.clone(), text)),
            Some(Place::QueryParams) => {
                self.parameters
                    .push((self.key.clone().unwrap_or_default(), text));
            }
            Some(Place::Label(name)) => self.labels.push((name.clone(), text)),
            Some(Place::Header(_) | Place::StatusCode | Place::Host) | None => {}
        }
        self.place = place;
    }

    fn status_code(&mut self, value: i64) {
        match u16::try_from(value) {
            Ok(status @ 200..=599) => self.status = Some(status),
            _ => self.fail(
                Error::new(ErrorKind::Unwritable)
                    .in_format("HTTP")
                    .expected("a status code of an answer, 200 to 599")
                    .found(value.to_string()),
            ),
        }
    }

    fn header<E>(&mut self, header: Header, value: Result<HeaderValue, E>) {
        match (value, header.role) {
            (Ok(value), Role::Other) => {
                self.headers.append(header.name, value);
            }
            (Ok(value), Role::Length) => self.content_length = Some(value),
            (Ok(_), Role::Connection) => self.fail(reserved(&header.name)),
            (Err(_), _) => self.fail(unwritable(header.name.as_str())),
        }
    }
}

/// Adds the headers of maps that no member has set.
fn merge(headers: &mut HeaderMap, more: Vec<(HeaderName, HeaderValue)>) {
    for (name, value) in more {
        if !headers.contains_key(&name) {
            headers.insert(name, value);
        }
    }
}

#[cold]
fn reserved(name: &HeaderName) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a header that is not about the connection or the frame of the message")
        .at_path(format!("header {name}"))
}

#[cold]
fn unwritable(name: &str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("the name and the text of a header, without control characters")
        .at_path(format!("header {name}"))
}

impl Encoder for HeadEncoder<'_> {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth != 1 {
            return false;
        }
        let name = at.location_name();
        let place = match at.location().going(self.bindings.direction) {
            Location::Header => match self.bindings.header(at) {
                Some(header) => Place::Header(header.clone()),
                None => {
                    self.fail(unwritable(name));
                    return false;
                }
            },
            Location::Label => Place::Label(at.name().to_owned()),
            Location::PrefixHeaders => Place::Prefix(name.to_owned()),
            Location::Query => Place::Query(name.to_owned()),
            Location::QueryParams => Place::QueryParams,
            Location::StatusCode => Place::StatusCode,
            Location::Body if at.has(polywire_schema::MemberFlags::HOST_LABEL) => Place::Host,
            _ => return false,
        };
        self.place = Some(place);
        self.key = None;
        self.list = None;
        true
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.bindings.defaults().fills(at)
    }

    fn is_head(&self) -> bool {
        // Then another pass writes the other members.
        self.bindings.document || self.bindings.payload.is_some()
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.depth -= 1;
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.list = Some(Vec::new());
    }

    fn end_list(&mut self, _: Member<'_>) {
        let items = self.list.take().unwrap_or_default();
        if !self.place.as_ref().is_some_and(Place::is_header) {
            for item in items {
                self.put_one(item);
            }
        } else if !items.is_empty() {
            self.put_one(items.join(", "));
        }
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {}

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.key = Some(key.to_owned());
    }

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.put(at, value.to_string());
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        if matches!(self.place, Some(Place::StatusCode)) {
            return self.status_code(value);
        }
        self.put(at, scalar::write(|out| number::push_i64(out, value)));
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.put(at, scalar::write_f32(value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.put(at, scalar::write_f64(value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.put(at, value.to_string());
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.put(at, value.to_string());
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        let header = matches!(self.place, Some(Place::Header(_)));
        let mut text = value.to_owned();
        if header && at.media_type().is_some() {
            text = scalar::write(|out| base64::push(out, value.as_bytes()));
        } else if header && self.list.is_some() {
            text = header::quote(text);
        }
        self.put(at, text);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.put(at, scalar::write(|out| base64::push(out, value)));
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let location = self
            .place
            .as_ref()
            .map_or(Location::Header, Place::location);
        match scalar::write_timestamp(value, scalar::timestamp_format(at, location)) {
            // One look at the bytes is enough where they go nowhere else.
            Ok(text) if self.list.is_none() && matches!(self.place, Some(Place::Header(_))) => {
                if let Some(Place::Header(header)) = self.place.take() {
                    self.header(header, HeaderValue::try_from(text));
                }
            }
            Ok(text) => self.put(at, scalar::text_of(text)),
            Err(malformed) => {
                let error = Error::new(ErrorKind::Unwritable).in_format("HTTP");
                self.fail(
                    error
                        .expected(malformed.expected)
                        .at_path(format!("{at:?}")),
                );
            }
        }
    }

    fn null(&mut self, _: Member<'_>) {}

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
