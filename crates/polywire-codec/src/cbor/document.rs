//! Values without a schema.
//!
//! As `Value` is read by [`Decoder::any`], in one piece: short strings and integers,
//! which most of a message is, are made where they are wanted, and lists and maps get
//! their room at once, since CBOR tells how long they are.

use polywire_schema::{Decoder, Error, ErrorKind, Event, Map, Member, Seq, Text, Value};

use super::CborDecoder;

impl CborDecoder<'_> {
    /// The value that stands here. It calls itself for each level, of which the
    /// budget allows so many.
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
        // Tags may stand before a list or map.
        match self.any()? {
            Event::Scalar(value) => Ok(value),
            Event::List(seq) => self.document_list(seq),
            Event::Map(seq) => self.document_map(seq),
            // There is nothing else.
            _ => Err(self.error(ErrorKind::Internal, "a value")),
        }
    }

    #[inline(never)]
    fn document_list(&mut self, mut seq: Seq) -> Result<Value, Error> {
        let mut list = Vec::new();
        while self.item(Member::DOCUMENT, &mut seq)? {
            let value = self.document_value()?;
            if list.capacity() == 0 {
                // Once the first is there: what only says that it is long gets none.
                list.reserve_exact(self.expected(Member::DOCUMENT, &seq));
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
                entries.reserve_exact(self.expected(Member::DOCUMENT, &seq));
            }
            entries.push((key, value));
        }
        match Map::from_entries(entries) {
            Ok(map) => Ok(Value::Map(map)),
            Err((position, entries)) => Err(self.twice(&entries[position].0)),
        }
    }

    #[cold]
    fn twice(&self, key: &str) -> Error {
        let key: String = key.escape_debug().take(64).collect();
        let error = self.error(ErrorKind::Duplicate, "each key once");
        error.found(format!("`{key}`"))
    }
}
