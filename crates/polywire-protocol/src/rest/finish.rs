//! A head from what its members have written: target, headers and status.

use std::ops::Range;

use bytes::{Buf as _, Bytes};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Uri};
use polywire_schema::{Error, ErrorKind};
use polywire_text::percent;

use super::binding::Place;
use super::encode::unwritable;
use super::layout::Field;
use super::target::{Label, Target};
use super::{Bindings, HeadEncoder};
use crate::endpoint;

/// What a client writes into the head of a request.
#[derive(Debug)]
pub(crate) struct RequestHead {
    /// Path and query.
    pub(crate) target: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) host_prefix: String,
}

impl HeadEncoder<'_> {
    /// The head of a request with a body of this media type, unless a member has
    /// said another.
    pub(crate) fn request(
        &mut self,
        target: &Target,
        host_prefix: &str,
        media_type: Option<&HeaderValue>,
    ) -> Result<RequestHead, Error> {
        let place = match target.fixed() {
            Some(_) if self.query.is_empty() && self.parameters.is_empty() => None,
            _ => Some(self.push_target(target)?),
        };
        let mut text = self.take_text();
        let headers = self.header_map(&text, media_type)?;
        let target = match (place, target.fixed()) {
            (None, Some(fixed)) => fixed.clone(),
            (place, _) => {
                // What is left of the texts is the target itself, so that nobody
                // else has to be counted.
                let place = place.unwrap_or_default();
                text.truncate(place.end);
                text.advance(place.start);
                let target = PathAndQuery::from_maybe_shared(text);
                target.map_err(|_| untargetable(place.len()))?.into()
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

    /// The payload, if it is the body as it is and is there.
    pub(crate) fn take_body(&mut self) -> Option<Bytes> {
        self.body.take()
    }

    /// What a member says of the length of the body.
    pub(crate) fn content_length(&self) -> Option<&[u8]> {
        self.text.get(self.content_length.clone()?)
    }

    /// Puts the head of a response in place. What a member says of the length
    /// of the body counts only where there `is_headed`: an answer to HEAD,
    /// which has none.
    pub(crate) fn respond(
        &mut self,
        response: &mut http::Response<Bytes>,
        media_type: Option<&HeaderValue>,
        is_headed: bool,
    ) -> Result<(), Error> {
        let text = self.take_text();
        let mut headers = self.header_map(&text, media_type)?;
        if let Some(range) = self.content_length.take().filter(|_| is_headed) {
            let length = HeaderValue::from_maybe_shared(text.slice(range));
            headers.insert(
                CONTENT_LENGTH,
                length.map_err(|_| unwritable(CONTENT_LENGTH.as_str()))?,
            );
        }
        *response.headers_mut() = headers;
        if let Some(Ok(status)) = self.status.map(http::StatusCode::from_u16) {
            *response.status_mut() = status;
        }
        Ok(())
    }

    /// The texts as bytes that all headers share.
    fn take_text(&mut self) -> Bytes {
        self.bindings.head_room.took(self.text.len());
        Bytes::from(std::mem::take(&mut self.text))
    }

    /// Writes path and query behind the texts of the members.
    fn push_target(&mut self, target: &Target) -> Result<Range<usize>, Error> {
        let start = self.text.len();
        let labels = &self.labels;
        target.push(&mut self.text, |label, text| {
            let found = labels
                .iter()
                .find(|(ordinal, _)| Some(*ordinal) == label.ordinal);
            let range = match found {
                Some((_, range)) if !range.is_empty() => range.clone(),
                _ => {
                    let expected = "a value that is not empty, since it is part of the path";
                    return Err(unfit_label(label, expected));
                }
            };
            // Clients and proxies take such a segment out of the path, and `%2E` in its place
            // too, which means the same (RFC 3986, section 6.2.2).
            let value = &text[range.clone()];
            let changes_path = match label.greedy {
                false => is_dots(value),
                true => !label.keeps_dots && value.split(|byte| *byte == b'/').any(is_dots),
            };
            if changes_path {
                let expected = match label.greedy {
                    false => "a value other than `.` and `..`, which would change the path",
                    true => "no segment that is `.` or `..`, which would change the path",
                };
                return Err(unfit_label(label, expected));
            }
            Ok(range)
        })?;
        let mut separator = if target.has_query() { b'&' } else { b'?' };
        for (ordinal, range) in &self.query {
            if let Some(Place::Query { key, .. }) = self.bindings.places.get(*ordinal as usize) {
                self.text.push(separator);
                separator = b'&';
                self.text.extend_from_slice(key.as_bytes());
                self.text.extend_from_within(range.clone());
            }
        }
        for (key, range) in &self.parameters {
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

    /// Whether a member has written a parameter with this name.
    fn has_parameter(&self, key: &str) -> bool {
        self.query.iter().any(|(ordinal, _)| {
            let place = self.bindings.places.get(*ordinal as usize);
            matches!(place, Some(Place::Query { name, .. }) if name == key)
        })
    }

    /// The headers, as ranges of the texts.
    fn header_map(
        &mut self,
        text: &Bytes,
        media_type: Option<&HeaderValue>,
    ) -> Result<HeaderMap, Error> {
        let fields = &self.fields[..];
        let is_type = |field: &Field| Some(field.member) == self.bindings.type_member;
        let media_type = media_type.filter(|_| {
            let mut more = self.more_headers.iter();
            !fields.iter().any(is_type) && !more.any(|(name, _)| *name == CONTENT_TYPE)
        });
        let mut headers = match self.bindings.layouts.get(fields, media_type.is_some()) {
            Some(mut headers) => {
                for (value, field) in headers.values_mut().zip(fields) {
                    *value = self.value_of(text, field)?;
                }
                headers
            }
            None => self.new_map(text, media_type)?,
        };
        if self.more_headers.is_empty() {
            return Ok(headers);
        }
        for (name, range) in std::mem::take(&mut self.more_headers) {
            let value = HeaderValue::from_maybe_shared(text.slice(range));
            let value = value.map_err(|_| unwritable(name.as_str()))?;
            headers.entry(name).or_insert(value);
        }
        Ok(headers)
    }

    #[inline(always)]
    fn value_of(&self, text: &Bytes, field: &Field) -> Result<HeaderValue, Error> {
        let value = HeaderValue::from_maybe_shared(text.slice(field.start..field.end));
        value.map_err(|_| self.bindings.unwritable(field.member))
    }

    /// The headers of members that have not been written together before.
    #[inline(never)]
    fn new_map(&self, text: &Bytes, media_type: Option<&HeaderValue>) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::with_capacity(self.fields.len());
        for field in &self.fields {
            let value = self.value_of(text, field)?;
            let place = self.bindings.places.get(field.member as usize);
            if let Some(header) = place.and_then(Place::header) {
                headers.append(header.name.clone(), value);
            }
        }
        if let Some(media_type) = media_type {
            headers.insert(CONTENT_TYPE, media_type.clone());
        }
        if !headers.is_empty() {
            let layouts = &self.bindings.layouts;
            layouts.keep(&self.fields, media_type.is_some(), &headers);
        }
        Ok(headers)
    }
}

impl Bindings {
    #[cold]
    fn unwritable(&self, member: u32) -> Error {
        let place = self.places.get(member as usize);
        let header = place.and_then(Place::header);
        unwritable(header.map_or("", |header| header.name.as_str()))
    }
}

fn is_dots(segment: &[u8]) -> bool {
    matches!(segment, b"." | b"..")
}

#[cold]
fn unfit_label(label: &Label, expected: &'static str) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected(expected)
        .at_path(format!("label {}", label.name))
}

#[cold]
fn untargetable(len: usize) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("HTTP")
        .expected("a path and a query that make a target of a request")
        .found(format!("one of {len} bytes"))
}
