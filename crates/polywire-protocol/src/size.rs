//! Estimates the memory of decoded inputs.

use std::fmt;

use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, ByteStream, Encoder, Error, Member, Text, Timestamp, Value,
};

use crate::Fault;

/// A counter for the memory of decoded inputs on a server.
pub trait InputMemory: fmt::Debug {
    /// Reserves about this many bytes for an input, in addition to its body.
    ///
    /// # Errors
    ///
    /// Not enough memory is left.
    fn take(&self, bytes: usize) -> Result<(), Fault>;
}

/// Estimates how many bytes a message takes in addition to the body from which it was decoded.
/// Counts values, members and entries with their size in a [`Value`], absent members like values,
/// and strings and blobs that are copies. Does not count unused capacity.
pub(crate) fn size(root: Member<'_>, message: &dyn Message) -> usize {
    let mut size = Size(0);
    message.encode_any(root, &mut size);
    size.0
}

const VALUE: usize = size_of::<Value>();
const ENTRY: usize = size_of::<(Text, Value)>();

/// An encoder that only adds up sizes.
struct Size(usize);

impl Size {
    fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// Adds a string or blob, unless it is a slice of the body.
    fn add_copy(&mut self, is_shared: bool, heap_size: usize) {
        self.add(if is_shared { 0 } else { heap_size });
    }
}

impl Encoder for Size {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        // A typed structure also has fields for absent members.
        let typed = at.target().len() as usize * VALUE;
        self.add(VALUE + typed.max(present.saturating_mul(ENTRY)));
    }

    fn member(&mut self, _: Member<'_>) -> bool {
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {}

    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.add(len.saturating_mul(VALUE));
    }

    fn end_list(&mut self, _: Member<'_>) {}

    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.add(len.saturating_mul(ENTRY));
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.add(key.len());
    }

    fn text_key(&mut self, _: Member<'_>, key: &Text) {
        self.add_copy(key.is_shared(), key.heap_size());
    }

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, _: Member<'_>, _: bool) {}

    fn integer(&mut self, _: Member<'_>, _: i64) {}

    fn float(&mut self, _: Member<'_>, _: f32) {}

    fn double(&mut self, _: Member<'_>, _: f64) {}

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.add(value.as_str().len());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.add(value.as_str().len());
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.add(value.len());
    }

    fn text(&mut self, _: Member<'_>, value: &Text) {
        self.add_copy(value.is_shared(), value.heap_size());
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.add(value.len());
    }

    fn shared_blob(&mut self, _: Member<'_>, value: &Blob) {
        self.add_copy(value.is_shared(), value.heap_size());
    }

    fn stream(&mut self, at: Member<'_>, value: &ByteStream) {
        // A stream takes no memory before it is read.
        if let Some(blob) = value.as_blob() {
            self.shared_blob(at, blob);
        }
    }

    fn timestamp(&mut self, _: Member<'_>, _: Timestamp) {}

    fn null(&mut self, _: Member<'_>) {}

    fn fail(&mut self, _: Error) {}
}

#[cfg(test)]
mod tests {
    use polywire_codec::Dynamic;
    use polywire_schema::{Body, Map};

    use super::*;

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may panic")]
    fn collections_strings_and_copies() {
        let size = |value: &Value| size(Member::DOCUMENT, &Dynamic(value));
        assert_eq!(size(&Value::from(1)), 0);
        assert_eq!(size(&Value::List(vec![Value::Null; 1000])), 1000 * VALUE);
        let entries = (0..10).map(|number| (number.to_string(), 0));
        assert_eq!(size(&Map::from_iter(entries).into()), 10 * ENTRY);
        assert_eq!(size(&Value::from("short")), 0);
        assert_eq!(size(&Value::from("x".repeat(100))), 100);
        // A slice of the body takes no additional memory.
        let body = Body::from(vec![b'x'; 1000]);
        let whole = std::str::from_utf8(body.as_bytes()).unwrap();
        assert_eq!(size(&Value::String(body.text(&whole[..100]))), 0);
    }
}
