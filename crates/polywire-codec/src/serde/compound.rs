//! Writing lists, maps and structures.

use polywire_schema::Error;
use polywire_schema::serde_names::NUMBER_KEY;
use serde::ser::{Serialize, SerializeMap};

use super::SerdeWriter;
use super::capture::capture;
use super::ser::ValueSerializer;

type Result<T> = std::result::Result<T, Error>;

/// A list, map or structure that is being written.
pub(crate) struct Compound<'a, W> {
    writer: &'a mut W,
    start: usize,
    /// The number of elements that the type has announced.
    len: Option<usize>,
    count: usize,
    is_map: bool,
    /// The start of the surrounding map with one entry, for a variant with data.
    variant: Option<usize>,
    /// Whether this is a number of serde_json: a structure whose only member holds the digits.
    is_number: bool,
}

impl<'a, W: SerdeWriter> Compound<'a, W> {
    #[inline]
    pub(super) fn begin(writer: &'a mut W, is_map: bool, len: Option<usize>) -> Self {
        let start = writer.len();
        writer.begin(is_map, len);
        Self {
            writer,
            start,
            len,
            count: 0,
            is_map,
            variant: None,
            is_number: false,
        }
    }

    /// Begins a number of serde_json, which is not written as a map.
    pub(super) fn begin_number(writer: &'a mut W) -> Self {
        Self {
            start: writer.len(),
            writer,
            len: None,
            count: 0,
            is_map: true,
            variant: None,
            is_number: true,
        }
    }

    pub(super) fn begin_variant(
        writer: &'a mut W,
        name: &'static str,
        is_map: bool,
        len: Option<usize>,
    ) -> Self {
        let variant = writer.len();
        writer.begin(true, Some(1));
        writer.name(name);
        Self {
            variant: Some(variant),
            ..Self::begin(writer, is_map, len)
        }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<()> {
        self.count += usize::from(W::CHECKS_COUNT);
        // The error is kept: a type may ignore it, and the message is not complete then.
        match element.serialize(ValueSerializer::new(&mut *self.writer)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.writer.failed(error)),
        }
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        // The name is compared first, because the compiler can evaluate that comparison.
        if name == NUMBER_KEY && self.is_number {
            return self.writer.digits(&capture(value)?);
        }
        self.count += usize::from(W::CHECKS_COUNT);
        match SerdeWriter::member(self.writer, name, value) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.writer.failed(error)),
        }
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if self.is_number {
            return Ok(());
        }
        if W::CHECKS_COUNT && self.len.is_some_and(|len| len != self.count) {
            return Err(self.wrong_count());
        }
        self.writer
            .end(self.is_map, self.start, self.len, self.count);
        if let Some(variant) = self.variant {
            self.writer.end(true, variant, Some(1), 1);
        }
        Ok(())
    }

    #[cold]
    fn wrong_count(&self) -> Error {
        let (len, count) = (self.len.unwrap_or_default(), self.count);
        let expected = format!("{len} elements, as the type announced, not {count}");
        self.writer.unwritable(expected)
    }
}

super::impl_compound!([W: SerdeWriter] Compound<'_, W>);

impl<W: SerdeWriter> SerializeMap for Compound<'_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        match self.writer.map_key(key) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.writer.failed(error)),
        }
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.finish()
    }
}
