//! Values without a schema.
//!
//! What a value is stands in its tag, of which the first eight bytes tell all types
//! apart. So a value in the usual spelling costs one look at a word, one at its text
//! and one at its end tags; whatever is spelled otherwise takes the path of the
//! general cursor, value by value.

use polywire_schema::{Decoder, Error, ErrorKind, Map, Seq, Text, Value};

use super::XmlRpcDecoder;
use super::collections::{BEHIND_NAME, OPEN};
use super::value::Type;
use crate::keep;

pub(super) const ARRAY: u64 = word(b"<array><");
pub(super) const BASE64: u64 = word(b"<base64>");
pub(super) const BOOLEAN: u64 = word(b"<boolean");
pub(super) const DATE: u64 = word(b"<dateTim");
pub(super) const DOUBLE: u64 = word(b"<double>");
pub(super) const STRING: u64 = word(b"<string>");
pub(super) const STRUCT: u64 = word(b"<struct>");
/// The bytes of `<int>` in such a word.
pub(super) const INT: u64 = word(b"<int>\0\0\0");
pub(super) const INT_BYTES: u64 = u64::MAX >> 24;

const fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// The most items or members that room is made for before they are there.
const MOST_EXPECTED: usize = 256;
/// Members that are compared when they come: at least those that a map takes for
/// distinct, `Map::from_distinct`.
const FEW: usize = 32;

/// Which names have been seen, as a bit for the length and the first and last byte of
/// each: names that differ there need no comparison, and most do.
#[derive(Default)]
struct Seen {
    bits: u64,
    /// Whether the last one's bit had been seen, and so perhaps its name.
    again: bool,
}

impl Seen {
    #[inline(always)]
    fn mark(&mut self, name: &[u8]) {
        let (first, last) = match name {
            [first, .., last] => (*first, *last),
            [only] => (*only, 0),
            [] => (0, 0),
        };
        let mixed = u32::from(first) * 7 + u32::from(last) * 31 + (name.len() as u32) * 5;
        let bit = 1 << (mixed % 64);
        self.again = self.bits & bit != 0;
        self.bits |= bit;
    }
}

impl XmlRpcDecoder<'_> {
    /// Reads the value at the cursor.
    pub(super) fn document_value(&mut self) -> Result<Value, Error> {
        let Some(bytes) = self.cursor.rest().first_chunk::<16>() else {
            return self.any_value();
        };
        if self.empty_value {
            return self.any_value();
        }
        let [head, tail] = *bytes.as_chunks::<8>().0 else {
            return self.any_value();
        };
        let tag = u64::from_le_bytes(head);
        match tag {
            STRUCT => {
                self.cursor.at += 8;
                self.document_struct(OPEN)
            }
            ARRAY if tail == *b"data><va" || tail == *b"data></d" => {
                self.cursor.at += b"<array><data>".len();
                self.deeper()?;
                self.document_array(Seq::default())
            }
            _ => match self.document_scalar(tag)? {
                Some(value) => Ok(value),
                None => self.any_value(),
            },
        }
    }

    /// A scalar in the usual spelling; `None` if the value is none. Without optimizations
    /// its variables would stand on the stack at every level of a nested value.
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

    /// As [`Self::document_value`], however the value is spelled.
    #[inline(never)]
    fn any_value(&mut self) -> Result<Value, Error> {
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => {
                let seq = self.begin_array(tag.mark())?;
                self.document_array(seq)
            }
            Type::Struct => self.document_struct(tag.mark()),
            _ => self.scalar_value(kind, tag),
        }
    }

    #[inline(never)]
    fn document_array(&mut self, mut seq: Seq) -> Result<Value, Error> {
        let mut list = Vec::new();
        // An expectation counts once: arrays in each other do not multiply it.
        let expected = std::mem::take(&mut self.items) as usize;
        while self.next_item(&mut seq)? {
            let value = self.document_value()?;
            if list.capacity() == 0 {
                list.reserve_exact(self.room(expected, seq.mark == OPEN, b"<value>"));
            }
            list.push(value);
        }
        self.items = list.len().min(MOST_EXPECTED) as u32;
        Ok(Value::List(list))
    }

    /// How much room a first item or member gets: none but its own, if nothing
    /// follows it. A message can be arrays of one in each other, for which more
    /// would be several times what they take.
    #[inline]
    fn room(&self, expected: usize, open: bool, next: &[u8]) -> usize {
        match open && self.cursor.rest().starts_with(next) {
            true => expected.max(4),
            false => 1,
        }
    }

    #[inline(never)]
    fn document_struct(&mut self, mark: u64) -> Result<Value, Error> {
        let mut seq = self.begin_struct(mark)?;
        let mut entries: Vec<(Text, Value)> = Vec::new();
        let expected = std::mem::take(&mut self.members) as usize;
        let (mut seen, mut child) = (Seen::default(), None);
        while let Some(name) = self.document_member(&mut seq, &mut seen)? {
            // A struct within this one is expected to be as long as the one before it, or as
            // this one is so far, with the member that it is: room is made for no more
            // members than have come somewhere, each of which counts once.
            let own = entries.len() + 1;
            self.members = child.unwrap_or(own).min(MOST_EXPECTED) as u32;
            let value = self.document_value()?;
            if let Value::Map(map) = &value {
                child = Some(map.len());
            }
            // Of many, the map sees to it at the end: here it would be the square of them.
            let looks_alike = std::mem::take(&mut seen.again) && entries.len() < FEW;
            if looks_alike && entries.iter().any(|(own, _)| *own == name) {
                return Err(self.duplicate_member(&name));
            }
            if entries.capacity() == 0 {
                let next = super::collections::NEXT_MEMBER;
                entries.reserve_exact(self.room(expected, seq.mark == OPEN, next));
            }
            entries.push((name, value));
        }
        self.members = entries.len().min(MOST_EXPECTED) as u32;
        // Of few members each was compared when it came.
        match Map::from_distinct(entries) {
            Ok(map) => Ok(Value::Map(map)),
            Err((position, entries)) => Err(self.duplicate_member(&entries[position].0)),
        }
    }

    #[cold]
    pub(super) fn duplicate_member(&self, name: &str) -> Error {
        let name: String = name.escape_debug().take(64).collect();
        let error = self.error(ErrorKind::Duplicate, "each member once");
        error.found(format!("`{name}`"))
    }

    /// The name of the next member; the cursor then stands at its value.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn document_member(&mut self, seq: &mut Seq, seen: &mut Seen) -> Result<Option<Text>, Error> {
        if let Some(start) = self.member_name(seq)
            && let Some((name, len)) = Text::xml_until(self.cursor.text, start, BEHIND_NAME)
            && len <= self.cursor.longest
        {
            self.cursor.at = start + len + BEHIND_NAME.len();
            seq.count += 1;
            self.count_item()?;
            seen.mark(&self.cursor.text.as_bytes()[start..start + len]);
            return Ok(Some(name));
        }
        match self.next_member(seq)? {
            Some(name) => {
                self.count_item()?;
                seen.mark(name.as_bytes());
                Ok(Some(keep::text(self.body, name)))
            }
            None => Ok(None),
        }
    }
}
