//! Values without a schema.
//!
//! The first eight bytes of a start tag identify the type of a value in plain form. So such a value
//! takes three comparisons: of its start tag, its text and its end tags. Any other form takes the
//! slow path, for that value only.

use polywire_schema::{Decoder, Error, ErrorKind, Map, Seq, Text, Value};

use super::XmlRpcDecoder;
use super::collections::{ALL_ENDS, NAME_TO_VALUE};
use super::tags::{BEGIN_ARRAY, NEXT_NAME};
use super::value::Type;
use crate::keep;

pub(super) const ARRAY: u64 = word(b"<array><");
pub(super) const BASE64: u64 = word(b"<base64>");
pub(super) const BOOLEAN: u64 = word(b"<boolean");
pub(super) const DATE: u64 = word(b"<dateTim");
pub(super) const DOUBLE: u64 = word(b"<double>");
pub(super) const STRING: u64 = word(b"<string>");
pub(super) const STRUCT: u64 = word(b"<struct>");
/// `<int>` is shorter than a word: compare it after applying the mask `INT_BYTES`.
pub(super) const INT: u64 = word(b"<int>\0\0\0");
pub(super) const INT_BYTES: u64 = u64::MAX >> 24;

const fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// The maximum number of items or members to reserve memory for in advance.
const MAX_HINT: usize = 256;
/// The number of members whose names are compared while they are read. Must be at least the number
/// up to which `Map::from_distinct` does not check for duplicates.
const MAX_COMPARED: usize = 32;

/// A filter for duplicate names: one bit per hash of length, first and last byte. A name whose bit
/// is not set is new and needs no comparison.
#[derive(Default)]
struct NameFilter {
    bits: u64,
    /// Whether the bit of the last name was set already, so that the name may be a duplicate.
    maybe_seen: bool,
}

impl NameFilter {
    /// Adds a name.
    #[inline(always)]
    fn add(&mut self, name: &[u8]) {
        let (first, last) = match name {
            [first, .., last] => (*first, *last),
            [only] => (*only, 0),
            [] => (0, 0),
        };
        let mixed = u32::from(first) * 7 + u32::from(last) * 31 + (name.len() as u32) * 5;
        let bit = 1 << (mixed % 64);
        self.maybe_seen = self.bits & bit != 0;
        self.bits |= bit;
    }
}

impl XmlRpcDecoder<'_> {
    /// Reads the value at the cursor without a schema.
    pub(super) fn document_value(&mut self) -> Result<Value, Error> {
        let Some(bytes) = self.cursor.rest().first_chunk::<16>() else {
            return self.slow_value();
        };
        if self.empty_value {
            return self.slow_value();
        }
        let [head, tail] = *bytes.as_chunks::<8>().0 else {
            return self.slow_value();
        };
        let tag = u64::from_le_bytes(head);
        match tag {
            STRUCT => {
                self.cursor.at += 8;
                self.document_struct(ALL_ENDS)
            }
            ARRAY if tail == *b"data><va" || tail == *b"data></d" => {
                self.cursor.at += BEGIN_ARRAY.len();
                self.enter_collection()?;
                self.document_array(Seq::default())
            }
            _ => match self.document_scalar(tag)? {
                Some(value) => Ok(value),
                None => self.slow_value(),
            },
        }
    }

    /// Reads a scalar whose start tag is in plain form. If it returns `None`, nothing was read, and
    /// the value needs the slow path.
    ///
    /// Not inlined in debug builds, because its variables would then take stack space at every
    /// level of a nested value.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn document_scalar(&mut self, tag: u64) -> Result<Option<Value>, Error> {
        if tag & INT_BYTES == INT {
            return Ok(self.plain_integer().map(Value::Integer));
        }
        Ok(match tag {
            STRING => {
                self.cursor.at += 8;
                Some(Value::String(self.text_of_string()?))
            }
            ARRAY => None,
            BOOLEAN => self.plain_boolean().map(Value::Boolean),
            DOUBLE => self.plain_double().map(Value::Double),
            DATE => self.plain_date().map(Value::Timestamp),
            BASE64 => self.plain_blob().map(Value::Blob),
            _ => self.longer_integer().map(Value::Integer),
        })
    }

    /// Like [`Self::document_value`], for a value in any form.
    #[inline(never)]
    fn slow_value(&mut self) -> Result<Value, Error> {
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => {
                let seq = self.begin_array(tag.remaining_ends())?;
                self.document_array(seq)
            }
            Type::Struct => self.document_struct(tag.remaining_ends()),
            _ => self.scalar_value(kind, tag),
        }
    }

    /// Reads an array after its start tag.
    #[inline(never)]
    fn document_array(&mut self, mut seq: Seq) -> Result<Value, Error> {
        let mut list = Vec::new();
        // Each hint is used once, so that nested arrays do not multiply it.
        let expected = std::mem::take(&mut self.items_hint) as usize;
        while self.next_item(&mut seq)? {
            let value = self.document_value()?;
            if list.capacity() == 0 {
                list.reserve_exact(self.initial_capacity(
                    expected,
                    seq.mark == ALL_ENDS,
                    b"<value>",
                ));
            }
            list.push(value);
        }
        self.items_hint = list.len().min(MAX_HINT) as u32;
        Ok(Value::List(list))
    }

    /// The capacity to reserve after the first item or member: 1 if no other follows. Otherwise
    /// nested arrays with one item each would take several times the memory that they need.
    #[inline]
    fn initial_capacity(&self, expected: usize, open: bool, next: &[u8]) -> usize {
        match open && self.cursor.rest().starts_with(next) {
            true => expected.max(4),
            false => 1,
        }
    }

    /// Reads a struct after its start tag.
    #[inline(never)]
    fn document_struct(&mut self, ends: u64) -> Result<Value, Error> {
        let mut seq = self.begin_struct(ends)?;
        let mut entries: Vec<(Text, Value)> = Vec::new();
        let expected = std::mem::take(&mut self.members_hint) as usize;
        let (mut names, mut nested_len) = (NameFilter::default(), None);
        while let Some(name) = self.document_member(&mut seq, &mut names)? {
            // The hint for a nested struct is the length of its predecessor, or of this struct so
            // far. So the reserved memory is bounded by the members that were read.
            let len = entries.len() + 1;
            self.members_hint = nested_len.unwrap_or(len).min(MAX_HINT) as u32;
            let value = self.document_value()?;
            if let Value::Map(map) = &value {
                nested_len = Some(map.len());
            }
            // Comparing many members here would take quadratic time. `from_distinct` checks those.
            let maybe_duplicate =
                std::mem::take(&mut names.maybe_seen) && entries.len() < MAX_COMPARED;
            if maybe_duplicate && entries.iter().any(|(other, _)| *other == name) {
                return Err(self.duplicate_member(&name));
            }
            if entries.capacity() == 0 {
                entries.reserve_exact(self.initial_capacity(
                    expected,
                    seq.mark == ALL_ENDS,
                    NEXT_NAME,
                ));
            }
            entries.push((name, value));
        }
        self.members_hint = entries.len().min(MAX_HINT) as u32;
        match Map::from_distinct(entries) {
            Ok(map) => Ok(Value::Map(map)),
            Err((position, entries)) => Err(self.duplicate_member(&entries[position].0)),
        }
    }

    /// The error for a duplicate member.
    #[cold]
    fn duplicate_member(&self, name: &str) -> Error {
        let name: String = name.escape_debug().take(64).collect();
        let error = self.error(ErrorKind::Duplicate, "each member once");
        error.found(format!("`{name}`"))
    }

    /// Reads the name of the next member, up to its value. `None` at the end of the struct.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn document_member(
        &mut self,
        seq: &mut Seq,
        names: &mut NameFilter,
    ) -> Result<Option<Text>, Error> {
        if let Some(start) = self.plain_name_start(seq)
            && let Some((name, len)) = Text::xml_until(self.cursor.text, start, NAME_TO_VALUE)
            && len <= self.cursor.max_text
        {
            self.cursor.at = start + len + NAME_TO_VALUE.len();
            seq.count += 1;
            self.count_item()?;
            names.add(&self.cursor.text.as_bytes()[start..start + len]);
            return Ok(Some(name));
        }
        match self.next_member(seq)? {
            Some(name) => {
                self.count_item()?;
                names.add(name.as_bytes());
                Ok(Some(keep::text(self.body, name)))
            }
            None => Ok(None),
        }
    }
}
