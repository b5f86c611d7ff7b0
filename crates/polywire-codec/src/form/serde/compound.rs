//! Writing structures, maps and lists.

use polywire_schema::Error;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::super::text::push_number;
use super::serializer::ValueSerializer;
use super::writer::FormWriter;
use crate::serde::Capture;

type Result<T> = std::result::Result<T, Error>;

/// A structure, map or list that is being written.
///
/// Its own key is in the output, and is that of the first field; the others copy it.
pub(super) struct Compound<'w> {
    pub(super) writer: &'w mut FormWriter,
    /// Where its key is, and its length.
    pub(super) key: usize,
    pub(super) len: usize,
    /// Whether it is the whole form, which has no key.
    pub(super) is_top: bool,
    /// The number of items so far, if it is a list.
    pub(super) items: Option<u64>,
    /// Where the field and its key are whose value comes next, if it is a map.
    pub(super) pending: (usize, usize),
}

impl Compound<'_> {
    /// Begins a field. Returns where it and its key are.
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

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
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

/// The traits for elements without names, and for members.
macro_rules! elements {
    ($($name:ident $method:ident)*) => {
        $(impl $name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

macro_rules! members {
    ($($name:ident)*) => {
        $(impl $name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.member(name, value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

members! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let place = self.begin();
        self.pending = place;
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
