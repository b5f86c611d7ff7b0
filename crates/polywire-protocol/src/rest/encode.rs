//! Writing the members that are bound to the head of a message.
//!
//! The encoder appends the values of all headers, labels and query parameters to one buffer.
//! `assemble.rs` then appends path and query, and turns the buffer into shared bytes. The target
//! and the headers are ranges of these bytes, so they share one allocation.

use std::ops::Range;

use bytes::Bytes;
use http::HeaderName;
use http::header::HOST;
use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, ByteStream, Encoder, Error, ErrorKind, Member, MemberFlags, Text,
    Timestamp,
};
use polywire_text::{base64, number, percent};
use smallvec::SmallVec;

use super::binding::MemberBinding;
use super::header::{self, Header, HeaderKind};
use super::header_template::Field;
use super::payload::EXPECTED_RAW_PAYLOAD;
use super::{Bindings, timestamp};

/// The number of headers that are recorded without an allocation. No request of S3 has more.
const INLINE_FIELDS: usize = 64;

/// An encoder for the members of one structure that are bound to the head or to the host prefix. It
/// also takes a payload that is a blob or a string, because no document format writes it.
#[derive(Debug)]
pub(crate) struct HeadEncoder<'b> {
    pub(super) bindings: &'b Bindings,
    /// The values. Those of labels and query parameters are percent-encoded.
    pub(super) text: Vec<u8>,
    /// The values of members that are bound to a single header.
    pub(super) fields: SmallVec<[Field; INLINE_FIELDS]>,
    /// The entries of maps that are bound to a header prefix. If a member is bound to the same
    /// header, its value is sent instead.
    pub(super) prefix_headers: Vec<(HeaderName, Range<usize>)>,
    /// The value of the member that is bound to `Content-Length`.
    pub(super) content_length: Option<Range<usize>>,
    /// The values of labels, by the ordinal of the member.
    pub(super) labels: SmallVec<[(u32, Range<usize>); 2]>,
    /// The names and values of host labels.
    pub(super) host_labels: Vec<(String, String)>,
    /// The values of query parameters, by the ordinal of the member.
    pub(super) query: SmallVec<[(u32, Range<usize>); 2]>,
    /// The entries of a map that is bound to the query. If a member is bound to the same parameter,
    /// its value is sent instead.
    pub(super) map_parameters: Vec<(String, Range<usize>)>,
    pub(super) status: Option<u16>,
    /// The payload, if it is a blob or a string.
    pub(super) raw_payload: Option<Bytes>,
    /// The payload, if it is not in memory. Then `raw_payload` is empty, but present.
    pub(super) stream: Option<ByteStream>,
    /// The ordinal and the binding of the current member.
    current: (u32, &'b MemberBinding),
    /// The key of the current map entry. In header maps, the prefix precedes it.
    key: String,
    /// The current list.
    list: Option<List>,
    /// The number of open structures.
    depth: u32,
    /// The first error.
    error: Option<Error>,
}

/// A list whose end has not been reached.
#[derive(Clone, Copy, Debug)]
struct List {
    /// The start of the list in the text.
    start: usize,
    /// Whether no item was written. Always true outside headers, where each item is stored on its
    /// own.
    is_empty: bool,
}

impl<'b> HeadEncoder<'b> {
    /// Creates an encoder for the head of a message with these bindings.
    #[inline]
    pub(crate) fn new(bindings: &'b Bindings) -> Self {
        Self {
            bindings,
            text: Vec::new(),
            fields: SmallVec::new(),
            prefix_headers: Vec::new(),
            content_length: None,
            labels: SmallVec::new(),
            host_labels: Vec::new(),
            query: SmallVec::new(),
            map_parameters: Vec::new(),
            status: None,
            raw_payload: None,
            stream: None,
            current: (0, &MemberBinding::Document),
            key: String::new(),
            list: None,
            depth: 0,
            error: None,
        }
    }

    /// Encodes the members of a message that are bound to the head or the host prefix, and a
    /// payload that is a blob or a string.
    pub(crate) fn write(&mut self, root: Member<'_>, message: &dyn Message) -> Result<(), Error> {
        let bindings = self.bindings;
        if bindings.has_head_members
            || bindings.has_document_host_labels
            || bindings.has_raw_payload()
        {
            if bindings.has_head_members {
                self.text = bindings.head_size.new_buffer();
            }
            message.encode_any(root, self);
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// Writes a scalar with `push` and records its range.
    #[inline]
    fn write_scalar(&mut self, at: Member<'_>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = self.begin_scalar();
        push(&mut self.text);
        self.finish_scalar(at, start);
    }

    /// Starts a scalar and returns its offset in the text.
    #[inline]
    fn begin_scalar(&mut self) -> usize {
        if let Some(list) = &mut self.list
            && self.current.1.is_in_headers()
        {
            if !list.is_empty {
                self.text.extend_from_slice(b", ");
            }
            list.is_empty = false;
        }
        self.text.len()
    }

    /// Ends a scalar that starts at `start`: percent-encodes it if necessary and records its range.
    fn finish_scalar(&mut self, at: Member<'_>, start: usize) {
        if self.depth == 1 && self.list.is_none() && at.has(MemberFlags::HOST_LABEL) {
            let text = String::from_utf8_lossy(&self.text[start..]).into_owned();
            self.host_labels.push((at.name().to_owned(), text));
        }
        if self.current.1.is_encoded() {
            let plain = self.text.split_off(start);
            percent::push_bytes(&mut self.text, &plain, self.current.1.unescaped());
        }
        if self.list.is_none() || !self.current.1.is_in_headers() {
            self.store_value(start);
        }
    }

    /// Records the text from `start` as the value of the current member.
    fn store_value(&mut self, start: usize) {
        let end = self.text.len();
        let range = start..end;
        let (member, binding) = self.current;
        match binding {
            MemberBinding::Header { header, .. } => match header.kind {
                HeaderKind::Other => self.fields.push(Field { member, start, end }),
                HeaderKind::ContentLength => self.content_length = Some(range),
                HeaderKind::Connection => self.fail(reserved_header(&header.name)),
            },
            MemberBinding::Prefix { .. } => match Header::from_message(&self.key) {
                Some(header) if header.kind == HeaderKind::Other && header.name != HOST => {
                    self.prefix_headers.push((header.name, range));
                }
                Some(header) => self.fail(reserved_header(&header.name)),
                None => self.fail(invalid_header(&self.key)),
            },
            MemberBinding::Query { .. } => self.query.push((member, range)),
            MemberBinding::QueryParams => self.map_parameters.push((self.key.clone(), range)),
            MemberBinding::Label { .. } => self.labels.push((member, range)),
            MemberBinding::RawPayload => self.fail(not_raw()),
            MemberBinding::InvalidHeader(_)
            | MemberBinding::StatusCode
            | MemberBinding::Host
            | MemberBinding::Document => {}
        }
    }

    fn status_code(&mut self, value: i64) {
        match u16::try_from(value) {
            Ok(status @ 200..=599) => self.status = Some(status),
            _ => self.fail(
                Error::new(ErrorKind::Unwritable)
                    .in_format("HTTP")
                    .expected("a status code of a response, 200 to 599")
                    .found(value.to_string()),
            ),
        }
    }
}

#[cold]
fn reserved_header(name: &HeaderName) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a header that does not control the connection or the framing of the message")
        .at_path(format!("header {name}"))
}

#[cold]
pub(super) fn invalid_header(name: &str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a valid header name and a header value without control characters")
        .at_path(format!("header {name}"))
}

#[cold]
fn not_raw() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format("HTTP")
        .expected(EXPECTED_RAW_PAYLOAD)
}

impl Encoder for HeadEncoder<'_> {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
        if self.depth > 1 && matches!(self.current.1, MemberBinding::RawPayload) {
            self.fail(not_raw());
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth != 1 {
            return false;
        }
        let ordinal = at.ordinal();
        let bindings = self.bindings;
        match bindings.members.get(ordinal as usize) {
            Some(MemberBinding::Document) | None => false,
            Some(MemberBinding::InvalidHeader(name)) => {
                self.fail(invalid_header(name));
                false
            }
            Some(binding) => {
                self.current = (ordinal, binding);
                self.list = None;
                true
            }
        }
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.bindings.writer().defaults().fills_default(at)
    }

    fn is_head(&self) -> bool {
        // A second pass writes the members in the body.
        self.bindings.has_document_members
            || self.bindings.payload.is_some() && !self.bindings.has_raw_payload()
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
            self.store_value(list.start);
        }
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {}

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.key.clear();
        if let MemberBinding::Prefix { name, .. } = self.current.1 {
            self.key.push_str(name);
        }
        self.key.push_str(key);
    }

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.write_scalar(at, |out| out.extend_from_slice(text));
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        if matches!(self.current.1, MemberBinding::StatusCode) {
            return self.status_code(value);
        }
        self.write_scalar(at, |out| number::push_i64(out, value));
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.write_scalar(at, |out| number::push_f32(out, value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.write_scalar(at, |out| number::push_f64(out, value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.write_scalar(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.write_scalar(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        let (member, binding) = self.current;
        match binding {
            MemberBinding::Header { is_plain: true, .. } if self.list.is_none() => {
                let start = self.text.len();
                self.text.extend_from_slice(value.as_bytes());
                let end = self.text.len();
                self.fields.push(Field { member, start, end });
            }
            MemberBinding::Header { .. } if at.media_type().is_some() => {
                self.write_scalar(at, |out| base64::push(out, value.as_bytes()));
            }
            MemberBinding::Header { .. } if self.list.is_some() => {
                self.write_scalar(at, |out| header::push_item(out, value));
            }
            MemberBinding::RawPayload => {
                self.raw_payload = Some(Bytes::copy_from_slice(value.as_bytes()));
            }
            binding if binding.is_encoded() && !at.has(MemberFlags::HOST_LABEL) => {
                let start = self.begin_scalar();
                percent::push_bytes(&mut self.text, value.as_bytes(), binding.unescaped());
                self.store_value(start);
            }
            _ => self.write_scalar(at, |out| out.extend_from_slice(value.as_bytes())),
        }
    }

    fn text(&mut self, at: Member<'_>, value: &Text) {
        let (member, binding) = self.current;
        match binding {
            // `push_inline` writes a space before the text. The recorded range does not include it.
            MemberBinding::Header { is_plain: true, .. }
                if self.list.is_none() && value.push_inline(&mut self.text, |_| b' ') =>
            {
                let end = self.text.len();
                let start = end - value.len();
                self.fields.push(Field { member, start, end });
            }
            MemberBinding::Label { .. } | MemberBinding::Query { .. }
                if percent::is_inline_unreserved(value) && !at.has(MemberFlags::HOST_LABEL) =>
            {
                let start = self.text.len();
                self.text.extend_from_slice(value.as_bytes());
                self.store_value(start);
            }
            _ => self.string(at, value),
        }
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        match self.current.1 {
            MemberBinding::RawPayload => self.raw_payload = Some(Bytes::copy_from_slice(value)),
            _ => self.write_scalar(at, |out| base64::push(out, value)),
        }
    }

    fn shared_blob(&mut self, at: Member<'_>, value: &Blob) {
        match self.current.1 {
            MemberBinding::RawPayload => self.raw_payload = Some(value.clone().into_bytes()),
            _ => self.blob(at, value.as_bytes()),
        }
    }

    fn stream(&mut self, at: Member<'_>, value: &ByteStream) {
        match (self.current.1, value.as_blob()) {
            (MemberBinding::RawPayload, None) => {
                self.raw_payload = Some(Bytes::new());
                self.stream = Some(value.clone());
            }
            (_, Some(blob)) => self.shared_blob(at, blob),
            (_, None) => self.fail(not_raw()),
        }
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        let format = timestamp::format_of(at, self.current.1.location());
        let start = self.begin_scalar();
        match timestamp::push(&mut self.text, value, format) {
            Ok(()) => self.finish_scalar(at, start),
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
