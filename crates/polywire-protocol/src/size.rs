//! How much memory a decoded input takes, about.

use std::fmt;

use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Encoder, Error, Member, Text, Timestamp, Value,
};

use crate::Fault;

/// Where a server counts the memory that decoded inputs take.
pub trait InputMemory: fmt::Debug {
    /// Takes memory for an input of about this many bytes, in addition to its body.
    ///
    /// # Errors
    ///
    /// There is not as much left.
    fn take(&self, bytes: usize) -> Result<(), Fault>;
}

/// The bytes that a message takes in addition to the body that it was read from. An estimate: it counts
/// values, members and entries at the size that they have in a [`Value`], members that are absent at
/// that of a value, strings and blobs that are copies, and no unused capacity.
pub(crate) fn size(root: Member<'_>, message: &dyn Message) -> usize {
    let mut size = Size(0);
    message.encode_any(root, &mut size);
    size.0
}

const VALUE: usize = size_of::<Value>();
const ENTRY: usize = size_of::<(Text, Value)>();

/// An encoder that writes nothing and adds up sizes.
struct Size(usize);

impl Size {
    fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// Adds a string or blob, unless it is a range of the body.
    fn add_copy(&mut self, is_shared: bool, heap_size: usize) {
        self.add(if is_shared { 0 } else { heap_size });
    }
}

impl Encoder for Size {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        // A typed structure has space for the members that are absent.
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
        // A range of the body is counted with the body.
        let body = Body::from(vec![b'x'; 1000]);
        let whole = std::str::from_utf8(body.as_bytes()).unwrap();
        assert_eq!(size(&Value::String(body.text(&whole[..100]))), 0);
    }
}
