//! Access to the members of structures, the entries of maps and the items of lists.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::key::{self, Field};
use super::reader::Reader;
use super::value::ValueDeserializer;
use crate::serde::{Keys, TextKey};

type Result<T> = std::result::Result<T, Error>;

/// The key segments that all fields of a value share: a field, and the end of the segments in its key.
type Prefix = (Field, usize);

/// The next field and the end of the prefix in its key, if the field has the prefix.
#[inline]
fn next_in(reader: &Reader<'_>, (first, end): Prefix) -> Option<(Field, usize)> {
    let field = reader.peek()?;
    let prefix = &first.key(reader.form)[..end];
    let at = key::strip_prefix(field.key(reader.form), prefix)?;
    Some((field, at))
}

/// The members of a structure or the entries of a map.
pub(super) struct MemberAccess<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The prefix of the keys. `None` at the top.
    prefix: Option<Prefix>,
    /// The names of the members. Empty for a map.
    fields: &'static [&'static str],
    /// The current field and the end of its name, between a key and a value.
    next: Option<(Field, usize)>,
    /// The last field.
    last: Option<Field>,
    /// The names in a map, to detect duplicates.
    keys: Option<Keys<'de>>,
}

impl<'a, 'de> MemberAccess<'a, 'de> {
    pub(super) fn read<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        prefix: Option<Prefix>,
        fields: &'static [&'static str],
        check_names: bool,
        visitor: V,
    ) -> Result<V::Value> {
        reader.enter()?;
        let mut members = MemberAccess {
            reader,
            prefix,
            fields,
            next: None,
            last: prefix.map(|(field, _)| field),
            keys: check_names.then(Keys::default),
        };
        let value = visitor.visit_map(&mut members);
        members.finish(value)
    }

    /// Finds the next member, and the start and the end of its name.
    #[inline]
    fn next(&mut self) -> Result<Option<(Field, usize, usize)>> {
        let found = match self.prefix {
            None => self.reader.peek().map(|field| (field, 0)),
            Some(prefix) => next_in(self.reader, prefix)
                .filter(|(field, at)| *at < field.key_end - field.key)
                .map(|(field, at)| (field, at + 1)),
        };
        let Some((field, start)) = found else {
            return Ok(None);
        };
        self.last = Some(field);
        let key = field.key(self.reader.form);
        let mut end = key::segment_end(key, start);
        if end < key.len() && !self.fields.is_empty() {
            // The name of a member may contain dots.
            let rest = self.reader.decode(field.key + start, field.key_end)?;
            if self.fields.contains(&&*rest) {
                end = key.len();
            }
        }
        Ok(Some((field, start, end)))
    }

    #[inline]
    fn name(&mut self, field: Field, start: usize, end: usize) -> Result<Cow<'de, str>> {
        let name = self.reader.decode(field.key + start, field.key + end)?;
        if let Some(keys) = &mut self.keys {
            keys.push(match &name {
                Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
                Cow::Owned(name) => Cow::Owned(name.clone().into_bytes()),
            });
        }
        Ok(name)
    }

    /// Checks that the type has read all members, and that there is no duplicate name.
    fn finish<T>(mut self, value: Result<T>) -> Result<T> {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let is_duplicate = error.kind() == ErrorKind::Duplicate;
                let prefix = self.prefix.map(|(field, _)| field);
                let field = if is_duplicate { self.last } else { prefix };
                return Err(self.reader.locate(error, field));
            }
        };
        if let Some((field, start, _)) = self.next()? {
            let (kind, expected) = (ErrorKind::InvalidValue, "fewer fields");
            return Err(self.reader.key_error(field, start, kind, expected));
        }
        self.reader.leave();
        match self.keys.and_then(Keys::duplicate) {
            None => Ok(value),
            Some(name) => {
                let name = String::from_utf8_lossy(&name);
                let error = Error::new(ErrorKind::Duplicate).expected("each key once");
                let error = error.found(format!("`{}` twice", name.escape_debug()));
                Err(self
                    .reader
                    .locate(error, self.prefix.map(|(field, _)| field)))
            }
        }
    }
}

impl<'de> MapAccess<'de> for &mut MemberAccess<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((field, start, end)) = self.next()? else {
            return Ok(None);
        };
        self.next = Some((field, end));
        let name = self.name(field, start, end)?;
        let name = seed.deserialize(TextKey(name));
        self.reader.with_position(name, Some(field)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let Some((field, end)) = self.next.take() else {
            let error = Error::new(ErrorKind::Internal).expected("a key before a value");
            return Err(self.reader.locate(error, self.last));
        };
        seed.deserialize(ValueDeserializer {
            reader: self.reader,
            field,
            end,
            takes_key: None,
        })
    }

    /// Reads the value before the name. If the value is a scalar, dots in the key belong to the name.
    fn next_entry_seed<K: DeserializeSeed<'de>, V: DeserializeSeed<'de>>(
        &mut self,
        key_seed: K,
        value_seed: V,
    ) -> Result<Option<(K::Value, V::Value)>> {
        let Some((field, start, end)) = self.next()? else {
            return Ok(None);
        };
        let mut takes_key = false;
        let value = value_seed.deserialize(ValueDeserializer {
            reader: self.reader,
            field,
            end,
            takes_key: Some(&mut takes_key),
        })?;
        let end = if takes_key {
            field.key_end - field.key
        } else {
            end
        };
        let name = self.name(field, start, end)?;
        let name = key_seed.deserialize(TextKey(name));
        let name = self.reader.with_position(name, Some(field))?;
        Ok(Some((name, value)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.reader.size_hint()
    }
}

/// The items of a list, which have numbered keys or the same key.
pub(super) struct ItemAccess<'a, 'de> {
    reader: &'a mut Reader<'de>,
    prefix: Prefix,
    is_numbered: bool,
    /// The number of the last item.
    last: Option<&'de str>,
}

impl<'a, 'de> ItemAccess<'a, 'de> {
    pub(super) fn read<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        field: Field,
        end: usize,
        is_numbered: bool,
        visitor: V,
    ) -> Result<V::Value> {
        reader.enter()?;
        let mut items = ItemAccess {
            reader,
            prefix: (field, end),
            is_numbered,
            last: None,
        };
        let value = visitor.visit_seq(&mut items);
        let value = items.reader.with_position(value, Some(field))?;
        match items.next()? {
            None => {
                items.reader.leave();
                Ok(value)
            }
            Some((field, end)) => {
                let (kind, expected) = (ErrorKind::InvalidValue, "fewer items");
                Err(items.reader.key_error(field, end, kind, expected))
            }
        }
    }

    /// Finds the next item, and the end of its number in the key.
    fn next(&mut self) -> Result<Option<(Field, usize)>> {
        let Some((field, at)) = next_in(self.reader, self.prefix) else {
            return Ok(None);
        };
        let form = self.reader.form;
        let key = &form[field.key..field.key_end];
        if !self.is_numbered || at == key.len() {
            let is_item = !self.is_numbered && at == key.len();
            return Ok(is_item.then_some((field, at)));
        }
        let (start, end) = (at + 1, key::segment_end(key, at + 1));
        let number = &key[start..end];
        if !key::is_number(number) {
            let (kind, expected) = (
                ErrorKind::InvalidValue,
                "the number of an item: 1, 2, 3 and so on",
            );
            return Err(self.reader.key_error(field, start, kind, expected));
        }
        if self.last == Some(number) {
            let (kind, expected) = (ErrorKind::Duplicate, "each key once");
            return Err(self.reader.key_error(field, start, kind, expected));
        }
        self.last = Some(number);
        Ok(Some((field, end)))
    }
}

impl<'de> SeqAccess<'de> for &mut ItemAccess<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some((field, end)) = self.next()? else {
            return Ok(None);
        };
        let item = ValueDeserializer {
            reader: self.reader,
            field,
            end,
            takes_key: None,
        };
        match self.is_numbered {
            true => seed.deserialize(item).map(Some),
            false => seed.deserialize(item.scalar()?).map(Some),
        }
    }
}
