//! Values without a schema.
//!
//! This is a faster version of reading a `Value` through [`Decoder::any`]: the common types are
//! handled first, and memory for lists and maps is reserved from their length.

use polywire_schema::{Decoder, Encoder, Error, ErrorKind, Event, Map, Member, Seq, Text, Value};

use super::encode::{ARRAY, MAP};
use super::{CborDecoder, CborEncoder};

impl CborDecoder<'_> {
    /// The next value. Recursion is limited by the depth in the budget.
    pub(super) fn document_value(&mut self) -> Result<Value, Error> {
        match self.peek() >> 5 {
            0 | 1 => {
                if let Some((value, len)) = self.quick_integer() {
                    self.at += len;
                    return Ok(Value::Integer(value));
                }
            }
            3 => return Ok(Value::String(self.text(Member::DOCUMENT)?)),
            4 => {
                let seq = self.list(Member::DOCUMENT)?;
                return self.document_list(seq);
            }
            5 => {
                let seq = self.map(Member::DOCUMENT)?;
                return self.document_map(seq);
            }
            _ => {}
        }
        // This also handles lists and maps after tags.
        match self.any()? {
            Event::Scalar(value) => Ok(value),
            Event::List(seq) => self.document_list(seq),
            Event::Map(seq) => self.document_map(seq),
            // Unreachable: `any` returns nothing else.
            _ => Err(self.error(ErrorKind::Internal, "a value")),
        }
    }

    #[inline(never)]
    fn document_list(&mut self, mut seq: Seq) -> Result<Value, Error> {
        let mut list = Vec::new();
        while self.item(Member::DOCUMENT, &mut seq)? {
            // Lists of integers are common. This avoids a call for each item.
            let value = match self.quick_integer() {
                Some((value, len)) => {
                    self.at += len;
                    Value::Integer(value)
                }
                None => self.document_value()?,
            };
            if list.capacity() == 0 {
                // After the first item, so that a header alone cannot reserve memory.
                list.reserve_exact(Decoder::size_hint(self, Member::DOCUMENT, &seq));
            }
            list.push(value);
        }
        Ok(Value::List(list))
    }

    #[inline(never)]
    fn document_map(&mut self, mut seq: Seq) -> Result<Value, Error> {
        let mut entries: Vec<(Text, Value)> = Vec::new();
        while let Some(key) = self.key(Member::DOCUMENT, &mut seq)? {
            let value = self.document_value()?;
            if entries.capacity() == 0 {
                entries.reserve_exact(Decoder::size_hint(self, Member::DOCUMENT, &seq));
            }
            entries.push((key, value));
        }
        match Map::from_entries(entries) {
            Ok(map) => Ok(Value::Map(map)),
            Err((position, entries)) => Err(self.duplicate_key(&entries[position].0)),
        }
    }

    #[cold]
    pub(super) fn duplicate_key(&self, key: &str) -> Error {
        let key: String = key.escape_debug().take(64).collect();
        let error = self.error(ErrorKind::Duplicate, "each key once");
        error.found(format!("`{key}`"))
    }
}

impl CborEncoder {
    /// Writes a value without a schema.
    pub(super) fn document_value(&mut self, value: &Value) {
        let at = Member::DOCUMENT;
        match value {
            Value::String(value) => self.text(at, value),
            Value::Integer(value) => self.push_integer(*value),
            Value::Map(map) => {
                self.head(MAP, map.len() as u64);
                for (key, item) in map.entries() {
                    self.text(at, key);
                    self.document_value(item);
                }
            }
            Value::List(list) => {
                self.head(ARRAY, list.len() as u64);
                for item in list {
                    match item {
                        Value::Integer(value) => self.push_integer(*value),
                        item => self.document_value(item),
                    }
                }
            }
            Value::Boolean(value) => self.boolean(at, *value),
            Value::Double(value) => self.double(at, *value),
            value => self.rare_value(value),
        }
    }

    #[inline(never)]
    fn rare_value(&mut self, value: &Value) {
        let at = Member::DOCUMENT;
        match value {
            Value::Float(value) => self.float(at, *value),
            Value::BigInteger(value) => self.big_integer(at, value),
            Value::BigDecimal(value) => self.big_decimal(at, value),
            Value::Blob(value) => self.blob(at, value),
            Value::Stream(value) => self.stream(at, value),
            other @ Value::Events(_) => {
                let error = Error::new(ErrorKind::WrongType).in_format("CBOR");
                self.fail(error.found(other.describe()));
            }
            Value::Timestamp(value) => self.timestamp(at, *value),
            // `Null`. The other variants are handled by `document_value`.
            _ => self.null(at),
        }
    }
}
