//! The parameters of a call as one serde type.

use polywire_schema::{Decoder, Error, ErrorKind};
use serde::ser::{Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct, Serializer};

use super::compound::{Entries, Items};
use super::de::Reader;
use super::ser::{Writer, Written};
use crate::parameters::ParameterSource;
use crate::serde::is_reserved;
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

impl<'de> ParameterSource<'de> for &mut XmlRpcDecoder<'de> {
    type Reader<'a>
        = Reader<'a, 'de>
    where
        Self: 'a;

    #[inline(always)]
    fn next(&mut self) -> Result<bool, Error> {
        self.parameter()
    }

    #[inline(always)]
    fn reader(&mut self) -> Reader<'_, 'de> {
        Reader::new(self)
    }

    fn is_none(&mut self) -> Result<bool, Error> {
        let place = (self.cursor.at, self.parameters, self.empty_value);
        let (frame, budget) = (self.frame, self.budget.mark());
        if !self.parameter()? || self.is_nil()? && !self.parameter()? {
            return Ok(true);
        }
        (self.cursor.at, self.parameters, self.empty_value) = place;
        self.frame = frame;
        self.budget.back_to(budget);
        Ok(false)
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        Decoder::error(&**self, kind, "")
    }
}

/// Writes what it is given as the parameters of a call.
pub(super) struct ParametersWriter<'a>(pub(super) &'a mut XmlRpcEncoder);

impl ParametersWriter<'_> {
    fn one<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.0.parameter();
        self.0.serialize(value)
    }
}

/// Types that are the one parameter.
macro_rules! one {
    ($($method:ident $type:ty;)*) => {
        $(
            fn $method(self, value: $type) -> Result<Written, Error> {
                self.0.parameter();
                Writer::new(self.0).$method(value)
            }
        )*
    };
}

impl<'a> Serializer for ParametersWriter<'a> {
    type Ok = Written;
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Entries<'a>;
    type SerializeStructVariant = Entries<'a>;

    one! {
        serialize_bool bool;
        serialize_bytes &[u8];
        serialize_char char;
        serialize_f32 f32;
        serialize_f64 f64;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_str &str;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
    }

    fn serialize_none(self) -> Result<Written, Error> {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Written, Error> {
        Ok(true)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Error> {
        Ok(true)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Written, Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        if !is_reserved(name) {
            return value.serialize(self);
        }
        self.0.parameter();
        Writer::new(self.0).serialize_newtype_struct(name, value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_newtype_variant(name, index, variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items<'a>, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_tuple_variant(name, index, variant, len)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_map(len)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_struct(name, len)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Entries<'a>, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_struct_variant(name, index, variant, len)
    }
}

impl SerializeSeq for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}

impl SerializeTuple for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}

impl SerializeTupleStruct for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}
