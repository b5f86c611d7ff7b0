//! Writing structures, maps and lists.

use polywire_schema::Error;
use serde::ser::{Serialize, SerializeMap};

use super::super::text::push_number;
use super::serializer::ValueSerializer;
use super::writer::FormWriter;
use crate::serde::Capture;

type Result<T> = std::result::Result<T, Error>;

/// A structure, map or list that is being written.
///
/// Its key is already in the output and begins the first field. The other fields copy it.
pub(super) struct Compound<'w> {
    pub(super) writer: &'w mut FormWriter,
    /// The offset of the key in the output.
    pub(super) key: usize,
    /// The length of the key.
    pub(super) len: usize,
    /// Whether this is the top of the form, which has no key.
    pub(super) is_top: bool,
    /// The number of items so far. `None` for a structure or map.
    pub(super) items: Option<u64>,
    /// The offsets of the current field and its key, between a key and a value of a map.
    pub(super) pending: (usize, usize),
}

impl Compound<'_> {
    /// Begins a field. Returns the offsets of the field and its key.
    #[inline]
    fn begin(&mut self) -> (usize, usize) {
        let start = self.writer.out.len();
        let is_first = start == self.key + self.len;
        if self.is_top {
            self.writer.separator();
            return (start, self.writer.out.len());
        }
        let mut key = self.key;
        if !is_first {
            self.writer.out.push(b'&');
            key = self.writer.out.len();
            let own = self.key..self.key + self.len;
            self.writer.out.extend_from_within(own);
        }
        self.writer.out.push(b'.');
        (start, key)
    }

    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, start: usize, key: usize, value: &T) -> Result<()> {
        let result = value.serialize(ValueSerializer {
            is_optional: self.items.is_none(),
            writer: &mut *self.writer,
            start,
            key,
        });
        self.writer.keep(result)
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        let (start, key) = self.begin();
        self.writer.name(name);
        self.value(start, key, value)
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let (start, key) = self.begin();
        let number = self.items.unwrap_or_default() + 1;
        self.items = Some(number);
        push_number(&mut self.writer.out, number);
        self.value(start, key, value)
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if !self.is_top && self.writer.out.len() == self.key + self.len {
            self.writer.out.push(b'=');
        }
        Ok(())
    }
}

crate::serde::impl_compound!([] Compound<'_>);

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.pending = self.begin();
        let writer = &mut *self.writer;
        let result = key.serialize(Capture::new(|key: &str| writer.name(key)));
        self.writer
            .keep(result.map_err(|error| error.in_format("form")))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let (start, key) = self.pending;
        self.value(start, key, value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}
