//! Writing lists of pairs of keys and values.

use polywire_schema::Error;
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct, Serializer,
};

use super::writer::{FormWriter, unwritable};
use crate::serde::Capture;

type Result<T> = std::result::Result<T, Error>;

/// A list of pairs.
pub(super) struct Pairs<'w>(pub(super) &'w mut FormWriter);

impl Pairs<'_> {
    fn pair<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let result = value.serialize(PairSerializer(&mut *self.0));
        self.0.keep(result)
    }
}

macro_rules! pairs {
    ($($name:ident $method:ident)*) => {
        $(impl $name for Pairs<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.pair(value)
            }

            fn end(self) -> Result<()> {
                Ok(())
            }
        })*
    };
}

pairs! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
}

#[cold]
fn not_a_pair() -> Error {
    unwritable("a pair of a key and a value that are text")
}

/// A serializer of one pair.
struct PairSerializer<'w>(&'w mut FormWriter);

/// A pair that is being written.
struct Pair<'w> {
    writer: &'w mut FormWriter,
    /// How many halves have been written.
    count: usize,
}

impl Pair<'_> {
    fn half<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let Self { writer, count } = self;
        match count {
            0 => writer.separator(),
            1 => writer.out.push(b'='),
            _ => return Err(not_a_pair()),
        }
        *count += 1;
        let result = value.serialize(Capture::new(|text: &str| writer.text(text)));
        result.map_err(|_| not_a_pair())
    }

    fn finish(self) -> Result<()> {
        match self.count {
            2 => Ok(()),
            _ => Err(not_a_pair()),
        }
    }
}

impl SerializeTuple for Pair<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.half(value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl SerializeTupleStruct for Pair<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.half(value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl<'w> Serializer for PairSerializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Pair<'w>;
    type SerializeTupleStruct = Pair<'w>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    crate::serde::unsupported! {
        not_a_pair();
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_i128(i128) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_u128(u128) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeStructVariant;
    }

    crate::serde::serialize_transparent!();

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<()> {
        Err(not_a_pair())
    }

    fn serialize_tuple(self, _: usize) -> Result<Pair<'w>> {
        Ok(Pair {
            writer: self.0,
            count: 0,
        })
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Pair<'w>> {
        self.serialize_tuple(2)
    }
}
