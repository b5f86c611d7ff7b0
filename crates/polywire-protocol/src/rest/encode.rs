//! Writing the members that stand in the head of a message.
//!
//! All texts of a head go into one vector, one behind the other, and path and
//! query behind them. In the end that is one piece of shared bytes, and each
//! header and the target are ranges of it.

use std::ops::Range;

use bytes::Bytes;
use http::HeaderName;
use http::header::HOST;
use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Encoder, Error, ErrorKind, Member, MemberFlags, Text, Timestamp,
};
use polywire_text::{base64, number, percent};
use smallvec::SmallVec;

use super::binding::Place;
use super::header::{self, Header, Role};
use super::layout::Field;
use super::payload::UNFIT;
use super::{Bindings, scalar};

/// How many headers of members are noted without asking for memory: as many as
/// the requests of S3 have.
const FIELDS: usize = 64;

/// An encoder of the members of one structure that stand in a head.
#[derive(Debug)]
pub(crate) struct HeadEncoder<'b> {
    pub(super) bindings: &'b Bindings,
    /// The texts. Those of the target are percent-encoded.
    pub(super) text: Vec<u8>,
    /// The members that have a header.
    pub(super) fields: SmallVec<[Field; FIELDS]>,
    /// Headers of maps: those with a member of their own come first.
    pub(super) more_headers: Vec<(HeaderName, Range<usize>)>,
    /// What a member says of the length of the body.
    pub(super) content_length: Option<Range<usize>>,
    pub(super) labels: SmallVec<[(u32, Range<usize>); 2]>,
    pub(super) host_labels: Vec<(String, String)>,
    pub(super) query: SmallVec<[(u32, Range<usize>); 2]>,
    /// Parameters of a map: those with a member of their own come first.
    pub(super) parameters: Vec<(String, Range<usize>)>,
    pub(super) status: Option<u16>,
    /// The payload, if it is the body as it is.
    pub(super) body: Option<Bytes>,
    /// The current member and where it stands.
    current: (u32, &'b Place),
    /// The key of the current entry, behind the prefix of its header.
    key: String,
    list: Option<List>,
    depth: u32,
    error: Option<Error>,
}

/// A list that is being written.
#[derive(Clone, Copy, Debug)]
struct List {
    start: usize,
    is_empty: bool,
}

impl<'b> HeadEncoder<'b> {
    /// An encoder of the head of a message with these bindings.
    #[inline]
    pub(crate) fn new(bindings: &'b Bindings) -> Self {
        Self {
            bindings,
            text: Vec::new(),
            fields: SmallVec::new(),
            more_headers: Vec::new(),
            content_length: None,
            labels: SmallVec::new(),
            host_labels: Vec::new(),
            query: SmallVec::new(),
            parameters: Vec::new(),
            status: None,
            body: None,
            current: (0, &Place::Body),
            key: String::new(),
            list: None,
            depth: 0,
            error: None,
        }
    }

    /// Takes what a message has for its head, for the prefix of its host, and for
    /// a body that is no document.
    pub(crate) fn write(&mut self, root: Member<'_>, message: &dyn Message) -> Result<(), Error> {
        let bindings = self.bindings;
        if bindings.head || bindings.has_host_labels || bindings.is_raw() {
            if bindings.head {
                self.text = bindings.head_room.vec();
            }
            message.encode_any(root, self);
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// Writes the text of a scalar and takes it to where it belongs.
    #[inline]
    fn put(&mut self, at: Member<'_>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = self.begin();
        push(&mut self.text);
        self.put_text(at, start);
    }

    /// Where the text of the next scalar begins.
    #[inline]
    fn begin(&mut self) -> usize {
        if let Some(list) = &mut self.list
            && self.current.1.is_header()
        {
            if !list.is_empty {
                self.text.extend_from_slice(b", ");
            }
            list.is_empty = false;
        }
        self.text.len()
    }

    /// Takes a text that has been written to where it belongs.
    fn put_text(&mut self, at: Member<'_>, start: usize) {
        if self.depth == 1 && self.list.is_none() && at.has(MemberFlags::HOST_LABEL) {
            let text = String::from_utf8_lossy(&self.text[start..]).into_owned();
            self.host_labels.push((at.name().to_owned(), text));
        }
        if self.current.1.is_encoded() {
            let plain = self.text.split_off(start);
            percent::push_bytes(&mut self.text, &plain, self.current.1.plain());
        }
        if self.list.is_none() || !self.current.1.is_header() {
            self.take(start);
        }
    }

    /// Notes what stands behind `start` as the value of the current place.
    fn take(&mut self, start: usize) {
        let end = self.text.len();
        let range = start..end;
        let (member, place) = self.current;
        match place {
            Place::Header { header, .. } => match header.role {
                Role::Other => self.fields.push(Field { member, start, end }),
                Role::Length => self.content_length = Some(range),
                Role::Connection => self.fail(reserved(&header.name)),
            },
            Place::Prefix { .. } => match Header::given(&self.key) {
                Some(header) if header.role == Role::Other && header.name != HOST => {
                    self.more_headers.push((header.name, range));
                }
                Some(header) => self.fail(reserved(&header.name)),
                None => self.fail(unwritable(&self.key)),
            },
            Place::Query { .. } => self.query.push((member, range)),
            Place::QueryParams => self.parameters.push((self.key.clone(), range)),
            Place::Label { .. } => self.labels.push((member, range)),
            Place::Payload => self.fail(unfit()),
            Place::NoHeader(_) | Place::StatusCode | Place::Host | Place::Body => {}
        }
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
}

#[cold]
fn reserved(name: &HeaderName) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a header that is not about the connection or the frame of the message")
        .at_path(format!("header {name}"))
}

#[cold]
pub(super) fn unwritable(name: &str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("the name and the text of a header, without control characters")
        .at_path(format!("header {name}"))
}

#[cold]
fn unfit() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format("HTTP")
        .expected(UNFIT)
}

impl Encoder for HeadEncoder<'_> {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
        if self.depth > 1 && matches!(self.current.1, Place::Payload) {
            self.fail(unfit());
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth != 1 {
            return false;
        }
        let ordinal = at.ordinal();
        let bindings = self.bindings;
        match bindings.places.get(ordinal as usize) {
            Some(Place::Body) | None => false,
            Some(Place::NoHeader(name)) => {
                self.fail(unwritable(name));
                false
            }
            Some(place) => {
                self.current = (ordinal, place);
                self.list = None;
                true
            }
        }
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.bindings.defaults().fills_default(at)
    }

    fn is_head(&self) -> bool {
        // Then another pass writes the other members.
        self.bindings.document || self.bindings.payload.is_some() && !self.bindings.is_raw()
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.depth -= 1;
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.list = Some(List {
            start: self.text.len(),
            is_empty: true,
        });
    }

    fn end_list(&mut self, _: Member<'_>) {
        if let Some(list) = self.list.take()
            && !list.is_empty
        {
            self.take(list.start);
        }
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {}

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.key.clear();
        if let Place::Prefix { name, .. } = self.current.1 {
            self.key.push_str(name);
        }
        self.key.push_str(key);
    }

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.put(at, |out| out.extend_from_slice(text));
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        if matches!(self.current.1, Place::StatusCode) {
            return self.status_code(value);
        }
        self.put(at, |out| number::push_i64(out, value));
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.put(at, |out| number::push_f32(out, value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.put(at, |out| number::push_f64(out, value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.put(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.put(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        let (member, place) = self.current;
        match place {
            Place::Header { plain: true, .. } if self.list.is_none() => {
                let start = self.text.len();
                self.text.extend_from_slice(value.as_bytes());
                let end = self.text.len();
                self.fields.push(Field { member, start, end });
            }
            Place::Header { .. } if at.media_type().is_some() => {
                self.put(at, |out| base64::push(out, value.as_bytes()));
            }
            Place::Header { .. } if self.list.is_some() => {
                self.put(at, |out| header::push_item(out, value));
            }
            Place::Payload => self.body = Some(Bytes::copy_from_slice(value.as_bytes())),
            place if place.is_encoded() && !at.has(MemberFlags::HOST_LABEL) => {
                let start = self.begin();
                percent::push_bytes(&mut self.text, value.as_bytes(), place.plain());
                self.take(start);
            }
            _ => self.put(at, |out| out.extend_from_slice(value.as_bytes())),
        }
    }

    fn text(&mut self, at: Member<'_>, value: &Text) {
        let (member, place) = self.current;
        match place {
            // A blank that nobody refers to stands before it.
            Place::Header { plain: true, .. }
                if self.list.is_none() && value.push_inline(&mut self.text, |_| b' ') =>
            {
                let end = self.text.len();
                let start = end - value.len();
                self.fields.push(Field { member, start, end });
            }
            Place::Label { .. } | Place::Query { .. }
                if percent::is_inline_unreserved(value) && !at.has(MemberFlags::HOST_LABEL) =>
            {
                let start = self.text.len();
                self.text.extend_from_slice(value.as_bytes());
                self.take(start);
            }
            _ => self.string(at, value),
        }
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        match self.current.1 {
            Place::Payload => self.body = Some(Bytes::copy_from_slice(value)),
            _ => self.put(at, |out| base64::push(out, value)),
        }
    }

    fn shared_blob(&mut self, at: Member<'_>, value: &Blob) {
        match self.current.1 {
            Place::Payload => self.body = Some(value.clone().into_bytes()),
            _ => self.blob(at, value.as_bytes()),
        }
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let format = scalar::timestamp_format(at, self.current.1.location());
        let start = self.begin();
        match scalar::push_timestamp(&mut self.text, value, format) {
            Ok(()) => self.put_text(at, start),
            Err(malformed) => {
                self.text.truncate(start);
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
