//! Reading the members that are bound to the head of a message.
//!
//! This file finds the members that are present and their text. `value.rs` parses the text.

mod query;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue, request, response};
use polywire_schema::{Decoder as _, END, Error, ErrorKind, Schema, ShapeKind, Text};
use polywire_text::{percent, utf8};
use smallvec::{SmallVec, smallvec};

use self::query::Parameter;
use super::Bindings;
use super::binding::MemberBinding;
use crate::media::trim_whitespace;
use crate::protocol::Route;

/// A decoder for the members of one structure that are bound to the head.
///
/// It returns first the members that are not bound to a single header (labels, query parameters,
/// header maps, the status code), and then the members with a header, in the order of the headers
/// in the message. If a header is repeated, they come in the order of the members. It looks up each
/// header once.
#[derive(Debug)]
pub(crate) struct HeadDecoder<'b, 'de> {
    head: Head<'de>,
    bindings: &'b Bindings,
    /// The headers that have not been read.
    headers: http::header::Iter<'de, HeaderValue>,
    /// Whether only members with a header are left, and each is bound to a header of its own. This
    /// is the fast path.
    only_headers_left: bool,
    /// Whether a header occurs twice or is bound to two members. Then all headers are looked up and
    /// sorted by member first.
    has_repeated_headers: bool,
    /// With repeated headers: members and header values, sorted by member.
    collected: Vec<(u32, &'de HeaderValue)>,
    /// The index of the next element of `collected`.
    next_collected: usize,
    /// The index of the next element of [`Bindings::other_head_members`].
    next_other_member: usize,
    /// The parameters of the query, which are parsed when the first member needs them.
    query: Option<Vec<Parameter<'de>>>,
    /// The binding of the current member.
    binding: &'b MemberBinding,
    /// The text of the current member, if `next_header` has found it.
    header_text: Option<&'de str>,
    /// Otherwise the first text of the current member or map entry, or the current list item.
    value: Option<Cow<'de, str>>,
    /// More texts of the same member or entry.
    more_values: Vec<Cow<'de, str>>,
    /// The remaining items of the current list.
    items: std::vec::IntoIter<Cow<'de, str>>,
    /// The remaining entries of the current map.
    entries: std::vec::IntoIter<Entry<'de>>,
}

/// A map key and its texts, usually one.
type Entry<'de> = (Text, SmallVec<[Cow<'de, str>; 1]>);

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
        Self::new(Head::Request(head, route), bindings)
    }

    pub(crate) fn response(head: &'de response::Parts, bindings: &'b Bindings) -> Self {
        Self::new(Head::Response(head), bindings)
    }

    fn new(head: Head<'de>, bindings: &'b Bindings) -> Self {
        let headers = match head {
            Head::Request(head, _) => &head.headers,
            Head::Response(head) => &head.headers,
        };
        let has_repeated_headers =
            bindings.header_index.has_duplicates() || headers.len() != headers.keys_len();
        Self {
            head,
            bindings,
            headers: headers.iter(),
            only_headers_left: !has_repeated_headers && bindings.other_head_members.is_empty(),
            has_repeated_headers,
            collected: Vec::new(),
            next_collected: 0,
            next_other_member: 0,
            query: None,
            binding: &MemberBinding::Document,
            header_text: None,
            value: None,
            more_values: Vec::new(),
            items: Vec::new().into_iter(),
            entries: Vec::new().into_iter(),
        }
    }

    fn all_headers(&self) -> &'de HeaderMap {
        match self.head {
            Head::Request(head, _) => &head.headers,
            Head::Response(head) => &head.headers,
        }
    }

    /// Looks up the members of all headers.
    #[inline(never)]
    fn collect_headers(&mut self) {
        let members = &self.bindings.members[..];
        for (name, value) in self.headers.by_ref() {
            let found = &mut self.collected;
            let find = |member| found.push((member, value));
            self.bindings
                .header_index
                .find_all(name.as_str(), members, find);
        }
        // The sort is stable: the values of a member stay in their order.
        self.collected.sort_by_key(|(member, _)| *member);
    }

    /// Advances to the next member with a header, and sets `header_text`. Skips lists without
    /// items.
    #[inline(always)]
    fn next_header(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        let members = &self.bindings.members[..];
        while let Some((name, value)) = self.headers.next() {
            let Some((member, binding)) = self.bindings.header_index.find(name.as_str(), members)
            else {
                continue;
            };
            self.binding = binding;
            let text = text_of(value).ok_or_else(|| self.invalid("UTF-8"))?;
            // An empty header is a list without items, and a list without items is written without
            // a header.
            if !text.is_empty() || shape.member(member).kind() != ShapeKind::List {
                self.header_text = Some(text);
                return Ok(member);
            }
        }
        Ok(END)
    }

    /// Like [`next_header`](Self::next_header), for headers that have been collected.
    #[inline(never)]
    fn next_collected_header(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        let members = &self.bindings.members[..];
        while let Some((member, value)) = self.collected.get(self.next_collected).copied() {
            self.next_collected += 1;
            self.binding = &members[member as usize];
            let text = text_of(value).ok_or_else(|| self.invalid("UTF-8"))?;
            self.value = Some(Cow::Borrowed(text));
            let is_empty = self.take_more_values(member)? && text.is_empty();
            if !is_empty || shape.member(member).kind() != ShapeKind::List {
                return Ok(member);
            }
        }
        Ok(END)
    }

    /// Moves the remaining values of a member to `more_values`. Returns whether all are empty.
    fn take_more_values(&mut self, member: u32) -> Result<bool, Error> {
        self.more_values.clear();
        let mut is_empty = true;
        while let Some((own, value)) = self.collected.get(self.next_collected)
            && *own == member
        {
            self.next_collected += 1;
            let text = text_of(value).ok_or_else(|| self.invalid("UTF-8"))?;
            is_empty &= text.is_empty();
            self.more_values.push(Cow::Borrowed(text));
        }
        Ok(is_empty)
    }

    /// Advances to the next member in any part of the head.
    #[inline(never)]
    fn slow_member(&mut self, shape: Schema<'_>) -> Result<u32, Error> {
        while let Some(other) = self
            .bindings
            .other_head_members
            .get(self.next_other_member)
            .copied()
        {
            self.next_other_member += 1;
            if self.find_values(other)? {
                return Ok(other);
            }
        }
        self.value = None;
        self.more_values.clear();
        if self.has_repeated_headers {
            return self.next_collected_header(shape);
        }
        self.only_headers_left = true;
        self.next_header(shape)
    }

    #[inline]
    fn push(&mut self, text: Cow<'de, str>) {
        match self.value {
            None => self.value = Some(text),
            Some(_) => self.more_values.push(text),
        }
    }

    /// Finds the texts of a member that is not bound to a single header. Returns whether it is
    /// present.
    fn find_values(&mut self, member: u32) -> Result<bool, Error> {
        self.value = None;
        self.more_values.clear();
        self.binding = &self.bindings.members[member as usize];
        match self.binding {
            MemberBinding::Prefix { lower, .. } => self.find_prefix_headers(lower),
            MemberBinding::Label { .. } => {
                let Head::Request(head, route) = self.head else {
                    return Ok(false);
                };
                let label = route.labels.iter().find(|(own, _)| *own == member);
                let Some((_, range)) = label else {
                    return Ok(false);
                };
                let text = head.uri.path().get(range.clone()).unwrap_or_default();
                let text = percent::decode(text).map_err(|error| self.invalid(error.expected))?;
                self.value = Some(text);
                Ok(true)
            }
            MemberBinding::Query { name, .. } => {
                self.parse_query();
                let parameters = self.query.take().unwrap_or_default();
                let mut invalid = None;
                for parameter in parameters.iter().filter(|found| found.key == *name) {
                    match &parameter.value {
                        Ok(value) => self.push(value.clone()),
                        Err(expected) => invalid = invalid.or(Some(*expected)),
                    }
                }
                self.query = Some(parameters);
                match invalid {
                    Some(expected) => Err(self.invalid(expected)),
                    None => Ok(self.value.is_some()),
                }
            }
            MemberBinding::QueryParams => {
                self.parse_query();
                let mut entries: Vec<Entry<'de>> = Vec::new();
                // The indices of the entries by key, because a query can have thousands of keys.
                let mut positions = BTreeMap::new();
                for Parameter { key, value } in self.query.as_deref().unwrap_or_default() {
                    let value = value.as_ref().map_err(|expected| self.invalid(expected))?;
                    let position = *positions.entry(&**key).or_insert(entries.len());
                    match entries.get_mut(position) {
                        Some((_, values)) => values.push(value.clone()),
                        None => entries.push((Text::from(&**key), smallvec![value.clone()])),
                    }
                }
                let found = !entries.is_empty();
                self.entries = entries.into_iter();
                Ok(found)
            }
            MemberBinding::StatusCode => {
                let Head::Response(head) = self.head else {
                    return Ok(false);
                };
                self.value = Some(Cow::Borrowed(head.status.as_str()));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn find_prefix_headers(&mut self, prefix: &str) -> Result<bool, Error> {
        let mut entries: Vec<Entry<'de>> = Vec::new();
        for (name, value) in self.all_headers() {
            let Some(key) = name.as_str().strip_prefix(prefix) else {
                continue;
            };
            let value = text_of(value).ok_or_else(|| self.invalid("UTF-8"))?;
            match entries.last_mut() {
                // `HeaderMap` iterates over headers with the same name in sequence.
                Some((own, values)) if *own == key => values.push(Cow::Borrowed(value)),
                _ => entries.push((Text::from(key), smallvec![Cow::Borrowed(value)])),
            }
        }
        let found = !entries.is_empty();
        self.entries = entries.into_iter();
        Ok(found)
    }

    fn parse_query(&mut self) {
        if self.query.is_none() {
            let query = match self.head {
                Head::Request(head, _) => head.uri.query().unwrap_or_default(),
                Head::Response(_) => "",
            };
            self.query = Some(query::parse(query));
        }
    }

    /// Takes the text of the current scalar.
    #[inline]
    fn take_single(&mut self) -> Result<Cow<'de, str>, Error> {
        if let Some(text) = self.header_text.take() {
            return Ok(Cow::Borrowed(text));
        }
        // A header must occur once. Of repeated query parameters, the first one is used.
        if !self.more_values.is_empty() && self.binding.is_in_headers() {
            return Err(self.invalid("one value"));
        }
        self.value.take().ok_or_else(|| self.invalid("a value"))
    }

    #[cold]
    fn invalid(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::InvalidValue, expected)
    }
}

/// Returns the text of a header without white space at its ends. Checks the first and the last byte
/// before trimming, because most values have no such white space. `None` if the value is not UTF-8.
#[inline]
fn text_of(value: &HeaderValue) -> Option<&str> {
    let text = utf8::validate(value.as_bytes()).ok()?;
    let is_graphic = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    match is_graphic(bytes.first()) && is_graphic(bytes.last()) {
        true => Some(text),
        false => Some(trim_whitespace(text)),
    }
}
