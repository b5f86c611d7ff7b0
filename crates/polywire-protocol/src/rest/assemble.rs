//! Building the head of a message from the values that `HeadEncoder` has written.

use std::ops::Range;

use bytes::{Buf as _, Bytes};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Uri};
use polywire_schema::{ByteStream, Error, ErrorKind, Member, MemberFlags};
use polywire_text::percent;

use super::binding::MemberBinding;
use super::encode::invalid_header;
use super::header_template::Field;
use super::target::{Label, RequestTarget};
use super::{Bindings, HeadEncoder};
use crate::document::Side;
use crate::endpoint;

/// The parts of a request head that depend on the input.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Path and query.
    pub(crate) target: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) host_prefix: String,
}

impl HeadEncoder<'_> {
    /// Builds the head of a request. `media_type` is that of the body. A member that is bound to
    /// `Content-Type` overrides it.
    pub(crate) fn request(
        &mut self,
        target: &RequestTarget,
        host_prefix: &str,
        media_type: Option<&HeaderValue>,
    ) -> Result<RequestHead, Error> {
        let range = match target.fixed() {
            Some(_) if self.query.is_empty() && self.map_parameters.is_empty() => None,
            _ => Some(self.push_target(target)?),
        };
        let mut text = self.take_text();
        let headers = self.header_map(&text, media_type)?;
        let target = match (range, target.fixed()) {
            (None, Some(fixed)) => fixed.clone(),
            (range, _) => {
                // Slicing would add a reference to the shared bytes. Shrink this last reference
                // instead.
                let range = range.unwrap_or_default();
                text.truncate(range.end);
                text.advance(range.start);
                let target = PathAndQuery::from_maybe_shared(text);
                target.map_err(|_| invalid_target(range.len()))?.into()
            }
        };
        let host_prefix = match host_prefix {
            "" => String::new(),
            prefix => endpoint::fill(prefix, &self.host_labels)?,
        };
        Ok(RequestHead {
            target,
            headers,
            host_prefix,
        })
    }

    /// Takes the payload, if it is a blob or a string and present.
    pub(crate) fn take_raw_payload(&mut self) -> Option<Bytes> {
        self.raw_payload.take()
    }

    /// Takes the payload, if it is a stream. Its length is the value of a member that is bound to `Content-Length`, if
    /// nothing else gives it. Called before the headers are built.
    ///
    /// # Errors
    ///
    /// For clients: the model requires a length and there is none, or the member has another one.
    pub(crate) fn take_stream(&mut self, root: Member<'_>) -> Result<Option<ByteStream>, Error> {
        let Some(stream) = self.stream.take() else {
            return Ok(None);
        };
        let declared = self.content_length().map(String::from_utf8_lossy);
        let stream = match declared.as_deref().and_then(|text| text.parse().ok()) {
            Some(len) => stream.or_len(len),
            None => stream,
        };
        if self.bindings.writer() == Side::Server {
            return Ok(Some(stream));
        }
        if let (Some(declared), Some(len)) = (declared, stream.len())
            && declared != len.to_string()
        {
            return Err(Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected(format!("{len}, the length of the stream"))
                .found(format!("{declared:?}"))
                .at_path("header content-length".to_owned()));
        }
        let mut members = root.target().members();
        if stream.len().is_none() && members.any(|member| member.has(MemberFlags::REQUIRES_LENGTH))
        {
            return Err(Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected("a stream of known length, because of `@requiresLength`")
                .found("a stream of unknown length"));
        }
        Ok(Some(stream))
    }

    /// Returns the value of the member that is bound to `Content-Length`.
    pub(crate) fn content_length(&self) -> Option<&[u8]> {
        self.text.get(self.content_length.clone()?)
    }

    /// Writes status and headers of a response. A member that is bound to `Content-Length` is only
    /// sent by an operation with the method HEAD, whose response has no body.
    pub(crate) fn write_response(
        &mut self,
        response: &mut http::Response<Bytes>,
        media_type: Option<&HeaderValue>,
        is_head_operation: bool,
    ) -> Result<(), Error> {
        let text = self.take_text();
        let mut headers = self.header_map(&text, media_type)?;
        if let Some(range) = self.content_length.take().filter(|_| is_head_operation) {
            let length = HeaderValue::from_maybe_shared(text.slice(range));
            headers.insert(
                CONTENT_LENGTH,
                length.map_err(|_| invalid_header(CONTENT_LENGTH.as_str()))?,
            );
        }
        *response.headers_mut() = headers;
        if let Some(Ok(status)) = self.status.map(http::StatusCode::from_u16) {
            *response.status_mut() = status;
        }
        Ok(())
    }

    /// Turns the text into bytes that all headers share.
    fn take_text(&mut self) -> Bytes {
        self.bindings.head_size.record(self.text.len());
        Bytes::from(std::mem::take(&mut self.text))
    }

    /// Appends path and query to the text, and returns their range.
    fn push_target(&mut self, target: &RequestTarget) -> Result<Range<usize>, Error> {
        let start = self.text.len();
        let labels = &self.labels;
        target.push(&mut self.text, |label, text| {
            let found = labels
                .iter()
                .find(|(ordinal, _)| Some(*ordinal) == label.ordinal);
            let range = match found {
                Some((_, range)) if !range.is_empty() => range.clone(),
                _ => {
                    let expected = "a value that is not empty, because it is a segment of the path";
                    return Err(invalid_label(label, expected));
                }
            };
            // Clients and proxies remove these segments from a path. They treat `%2E` like `.` (RFC
            // 3986, section 6.2.2), so encoding does not help.
            let value = &text[range.clone()];
            let changes_path = match label.is_greedy {
                false => is_dots(value),
                true => !label.allows_dots && value.split(|byte| *byte == b'/').any(is_dots),
            };
            if changes_path {
                let expected = match label.is_greedy {
                    false => "a value other than `.` and `..`, which would change the path",
                    true => "no segment that is `.` or `..`, which would change the path",
                };
                return Err(invalid_label(label, expected));
            }
            Ok(range)
        })?;
        let mut separator = if target.has_query() { b'&' } else { b'?' };
        for (ordinal, range) in &self.query {
            if let Some(MemberBinding::Query { key, .. }) =
                self.bindings.members.get(*ordinal as usize)
            {
                self.text.push(separator);
                separator = b'&';
                self.text.extend_from_slice(key.as_bytes());
                self.text.extend_from_within(range.clone());
            }
        }
        for (key, range) in &self.map_parameters {
            if target.has_parameter(key) || self.has_parameter(key) {
                continue;
            }
            self.text.push(separator);
            separator = b'&';
            percent::push_bytes(&mut self.text, key.as_bytes(), &percent::UNRESERVED);
            self.text.push(b'=');
            self.text.extend_from_within(range.clone());
        }
        Ok(start..self.text.len())
    }

    /// Returns whether a member is bound to the parameter and present.
    fn has_parameter(&self, key: &str) -> bool {
        self.query.iter().any(|(ordinal, _)| {
            let binding = self.bindings.members.get(*ordinal as usize);
            matches!(binding, Some(MemberBinding::Query { name, .. }) if name == key)
        })
    }

    /// Builds the headers. Their values are ranges of `text`.
    fn header_map(
        &mut self,
        text: &Bytes,
        media_type: Option<&HeaderValue>,
    ) -> Result<HeaderMap, Error> {
        let fields = &self.fields[..];
        let is_type = |field: &Field| Some(field.member) == self.bindings.content_type_member;
        let media_type = media_type.filter(|_| {
            let mut more = self.prefix_headers.iter();
            !fields.iter().any(is_type) && !more.any(|(name, _)| *name == CONTENT_TYPE)
        });
        let mut headers = match self
            .bindings
            .header_templates
            .get(fields, media_type.is_some())
        {
            Some(mut headers) => {
                for (value, field) in headers.values_mut().zip(fields) {
                    *value = self.value_of(text, field)?;
                }
                headers
            }
            None => self.new_map(text, media_type)?,
        };
        if self.prefix_headers.is_empty() {
            return Ok(headers);
        }
        for (name, range) in std::mem::take(&mut self.prefix_headers) {
            let value = HeaderValue::from_maybe_shared(text.slice(range));
            let value = value.map_err(|_| invalid_header(name.as_str()))?;
            headers.entry(name).or_insert(value);
        }
        Ok(headers)
    }

    #[inline(always)]
    fn value_of(&self, text: &Bytes, field: &Field) -> Result<HeaderValue, Error> {
        let value = HeaderValue::from_maybe_shared(text.slice(field.start..field.end));
        value.map_err(|_| self.bindings.invalid_header(field.member))
    }

    /// Builds the headers for a set of members without a template, and stores a template for the
    /// set.
    #[inline(never)]
    fn new_map(&self, text: &Bytes, media_type: Option<&HeaderValue>) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::with_capacity(self.fields.len());
        for field in &self.fields {
            let value = self.value_of(text, field)?;
            let binding = self.bindings.members.get(field.member as usize);
            if let Some(header) = binding.and_then(MemberBinding::single_header) {
                headers.append(header.name.clone(), value);
            }
        }
        if let Some(media_type) = media_type {
            headers.insert(CONTENT_TYPE, media_type.clone());
        }
        if !headers.is_empty() {
            let header_templates = &self.bindings.header_templates;
            header_templates.insert(&self.fields, media_type.is_some(), &headers);
        }
        Ok(headers)
    }
}

impl Bindings {
    #[cold]
    fn invalid_header(&self, member: u32) -> Error {
        let binding = self.members.get(member as usize);
        let header = binding.and_then(MemberBinding::single_header);
        invalid_header(header.map_or("", |header| header.name.as_str()))
    }
}

fn is_dots(segment: &[u8]) -> bool {
    matches!(segment, b"." | b"..")
}

#[cold]
fn invalid_label(label: &Label, expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected(expected)
        .at_path(format!("label {}", label.name))
}

#[cold]
fn invalid_target(len: usize) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a path and a query that form a valid request target")
        .found(format!("a target of {len} bytes"))
}
