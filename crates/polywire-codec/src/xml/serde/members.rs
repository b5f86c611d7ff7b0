//! Reading the content of elements: members, entries and items.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{self, XmlPlace, XmlReading};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, MapAccess};

use super::super::cursor::EMPTY;
use super::element::ElementDeserializer;
use super::items::ContentDeserializer;
use super::reader::{Next, Reader, is_namespace};
use super::text::{Position, TextDeserializer};
use super::{TEXT, VALUE};
use crate::serde::{Keys, TextKey};
use crate::xml_tokens::{Span, local};

type Result<T> = std::result::Result<T, Error>;

/// What the value of the key is that was read last.
#[derive(Clone, Copy, Debug)]
enum Pending {
    None,
    /// The value of an attribute.
    Attribute(Span),
    /// The element whose start tag was read.
    Element,
    /// The text at the cursor.
    Text,
    /// The text of an element without content.
    NoText,
    /// The element or text at the cursor, and what follows if it is a list.
    Content,
}

/// The members of a structure or the entries of a map: attributes, elements and text.
pub(super) struct MemberAccess<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The name of the element.
    name: Span,
    /// The names of the members. Empty for a map.
    fields: &'static [&'static str],
    /// Whether there is a member `$text`, which has not been read.
    wants_text: bool,
    has_text: bool,
    has_value: bool,
    /// Where the attributes are that have not been read.
    attributes: Option<usize>,
    /// Whether the element has no content, or no more.
    ended: bool,
    has_children: bool,
    /// Where the key was that was read last.
    last: usize,
    pending: Pending,
    /// The keys of a map.
    keys: Option<Keys<'de>>,
}

impl<'a, 'de> MemberAccess<'a, 'de> {
    #[inline]
    pub(super) fn new(
        reader: &'a mut Reader<'de>,
        fields: &'static [&'static str],
        check_names: bool,
    ) -> Result<Self> {
        reader.enter()?;
        let name = reader.cursor.name;
        let attributes = reader.cursor.has_attributes();
        let has_text = fields.contains(&TEXT);
        let is_empty = reader.cursor.special == EMPTY;
        Ok(Self {
            last: reader.cursor.at,
            name,
            fields,
            wants_text: has_text,
            has_text,
            has_value: fields.contains(&VALUE),
            attributes: attributes.then_some(name.start + name.len),
            ended: is_empty,
            has_children: false,
            pending: Pending::None,
            keys: check_names.then(Keys::default),
            reader,
        })
    }

    /// Checks that the type has read everything, and that no key came twice.
    #[inline]
    pub(super) fn finish<T>(mut self, value: Result<T>, start: usize) -> Result<T> {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let is_duplicate = error.kind() == ErrorKind::Duplicate;
                let offset = if is_duplicate { self.last } else { start };
                return Err(self.reader.located(error, offset));
            }
        };
        if !self.ended || self.attributes.is_some() {
            self.check_end(start)?;
        }
        self.reader.leave();
        match self.keys.and_then(Keys::duplicate) {
            None => Ok(value),
            Some(key) => {
                let key = String::from_utf8_lossy(&key);
                let error = Error::new(ErrorKind::Duplicate).expected("each name once");
                let error = error.found(format!("`{}` twice", key.escape_debug()));
                Err(self.reader.located(error, start))
            }
        }
    }

    #[cold]
    fn check_end(&mut self, start: usize) -> Result<()> {
        let more = MapAccess::next_key::<serde::de::IgnoredAny>(&mut &mut *self)?;
        match more {
            None => Ok(()),
            Some(_) => Err(self.reader.invalid_value(start, "fewer elements")),
        }
    }

    /// Finds the next attribute, whose key is then in `scratch`.
    fn next_attribute(&mut self) -> Result<bool> {
        while let Some(at) = self.attributes {
            let cursor = &mut self.reader.cursor;
            let Some((place, value, next)) = cursor.next_attribute(at) else {
                self.attributes = None;
                break;
            };
            self.attributes = Some(next);
            let qualified = cursor.slice(place);
            let declares = is_namespace(qualified);
            let is_field = |field: &&str| field.strip_prefix('@') == Some(qualified);
            let has_prefix = qualified.contains(':') || declares;
            let is_member = has_prefix && self.fields.iter().any(is_field);
            if declares && self.keys.is_none() && !is_member {
                continue;
            }
            let name = match is_member || declares || qualified.starts_with("xml:") {
                true => qualified,
                false => local(qualified),
            };
            self.last = place.start;
            self.pending = Pending::Attribute(value);
            let scratch = &mut self.reader.scratch;
            scratch.clear();
            scratch.push('@');
            scratch.push_str(name);
            if let Some(keys) = &mut self.keys {
                keys.push(Cow::Owned(scratch.clone().into_bytes()));
                self.reader.count()?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Finds the next element or text, and its key.
    #[inline]
    fn next_child(&mut self) -> Result<Option<&'de str>> {
        if self.ended {
            return Ok(self.no_text());
        }
        let start = self.reader.cursor.at;
        match self.reader.next()? {
            Next::Element => {
                self.last = self.reader.cursor.at;
                self.has_children = true;
                if self.has_value && !self.reader.next_is_one_of(self.fields) {
                    self.pending = Pending::Content;
                    return Ok(Some(VALUE));
                }
                self.reader.cursor.start_tag()?;
                self.pending = Pending::Element;
                Ok(Some(self.reader.name_in(self.fields)))
            }
            Next::Text => {
                self.last = self.reader.cursor.at;
                self.has_children = true;
                self.reader.cursor.at = start;
                if self.has_value && !self.has_text {
                    self.pending = Pending::Content;
                    return Ok(Some(VALUE));
                }
                self.wants_text = false;
                self.pending = Pending::Text;
                Ok(Some(TEXT))
            }
            Next::End if self.wants_text && !self.has_children => {
                // White space is text if there is nothing else.
                self.wants_text = false;
                self.reader.cursor.at = start;
                self.pending = Pending::Text;
                Ok(Some(TEXT))
            }
            Next::End => {
                self.reader.cursor.end_tag(self.name)?;
                self.ended = true;
                Ok(self.no_text())
            }
        }
    }

    /// The member `$text` of an element without text.
    fn no_text(&mut self) -> Option<&'de str> {
        std::mem::take(&mut self.wants_text).then(|| {
            self.pending = Pending::NoText;
            TEXT
        })
    }
}

impl<'de> MapAccess<'de> for &mut MemberAccess<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.attributes.is_some() && self.next_attribute()? {
            let key = seed.deserialize(StrDeserializer::<Error>::new(&self.reader.scratch));
            return self.reader.at(key, self.last).map(Some);
        }
        let Some(name) = self.next_child()? else {
            return Ok(None);
        };
        if let Some(keys) = &mut self.keys {
            keys.push(Cow::Borrowed(name.as_bytes()));
            self.reader.count()?;
        }
        let key = seed.deserialize(TextKey(Cow::Borrowed(name)));
        self.reader.at(key, self.last).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::Element => seed.deserialize(ElementDeserializer::field(self.reader)),
            pending => self.other_value(pending, seed),
        }
    }
}

impl<'de> MemberAccess<'_, 'de> {
    #[inline(never)]
    fn other_value<V: DeserializeSeed<'de>>(
        &mut self,
        pending: Pending,
        seed: V,
    ) -> Result<V::Value> {
        let reader = &mut *self.reader;
        let start = reader.cursor.at;
        let (text, start, position) = match pending {
            Pending::Attribute(place) => {
                let value = reader.cursor.slice(place);
                // It was checked when its tag was read.
                let value = escape::unescape_xml(value, XmlPlace::Attribute, XmlReading::Strict)
                    .map_err(|malformed| reader.cursor.malformed_error(&malformed))?;
                reader.check_len(value.len(), place.start)?;
                (value, place.start, Position::Value)
            }
            Pending::Text => (reader.text()?, start, Position::Text),
            Pending::NoText => (Cow::Borrowed(""), start, Position::Text),
            Pending::Content => {
                return seed.deserialize(ContentDeserializer {
                    reader,
                    fields: self.fields,
                    has_text: self.has_text,
                });
            }
            Pending::Element | Pending::None => {
                let error = Error::new(ErrorKind::Internal).expected("a key before a value");
                return Err(reader.located(error, start));
            }
        };
        seed.deserialize(TextDeserializer::new(reader, text, start, position))
    }
}
