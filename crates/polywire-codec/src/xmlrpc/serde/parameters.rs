//! All parameters of a call as one serde type.

use polywire_schema::{Decoder, Error, ErrorKind};
use serde::ser::{Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct, Serializer};

use crate::parameters::ParameterSource;
use crate::serde::{Compound, ValueDeserializer, ValueSerializer, is_reserved};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

impl<'de> ParameterSource<'de> for &mut XmlRpcDecoder<'de> {
    type Reader<'a>
        = ValueDeserializer<'a, XmlRpcDecoder<'de>>
    where
        Self: 'a;

    #[inline(always)]
    fn next(&mut self) -> Result<bool, Error> {
        self.parameter()
    }

    #[inline(always)]
    fn reader(&mut self) -> Self::Reader<'_> {
        ValueDeserializer(self)
    }

    fn is_none(&mut self) -> Result<bool, Error> {
        let position = (self.cursor.at, self.parameters, self.empty_value);
        let (section, budget) = (self.section, self.budget.mark());
        if !self.parameter()? || self.read_nil()? && !self.parameter()? {
            return Ok(true);
        }
        (self.cursor.at, self.parameters, self.empty_value) = position;
        self.section = section;
        self.budget.back_to(budget);
        Ok(false)
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        Decoder::error(&**self, kind, "")
    }
}

/// A serializer that writes a type as the parameters of a call.
pub(super) struct ParametersWriter<'a>(pub(super) &'a mut XmlRpcEncoder);

impl<'a> ParametersWriter<'a> {
    /// Writes one of several parameters.
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.0.parameter();
        self.0.serialize(value)
    }

    /// Begins the only parameter.
    fn only(self) -> ValueSerializer<'a, XmlRpcEncoder> {
        self.0.parameter();
        ValueSerializer::new(self.0)
    }
}

/// Defines methods for types that are the only parameter.
macro_rules! forward_to_only_parameter {
    ($($method:ident($($name:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(
            fn $method(self, $($name: $type),*) -> Result<$ok, Error> {
                self.only().$method($($name),*)
            }
        )*
    };
}

type Elements<'a> = Compound<'a, XmlRpcEncoder>;

impl<'a> Serializer for ParametersWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Elements<'a>;
    type SerializeStruct = Elements<'a>;
    type SerializeStructVariant = Elements<'a>;

    forward_to_only_parameter! {
        serialize_bool(value: bool) -> ();
        serialize_bytes(value: &[u8]) -> ();
        serialize_char(value: char) -> ();
        serialize_f32(value: f32) -> ();
        serialize_f64(value: f64) -> ();
        serialize_i8(value: i8) -> ();
        serialize_i16(value: i16) -> ();
        serialize_i32(value: i32) -> ();
        serialize_i64(value: i64) -> ();
        serialize_i128(value: i128) -> ();
        serialize_str(value: &str) -> ();
        serialize_u8(value: u8) -> ();
        serialize_u16(value: u16) -> ();
        serialize_u32(value: u32) -> ();
        serialize_u64(value: u64) -> ();
        serialize_u128(value: u128) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
        serialize_map(len: Option<usize>) -> Elements<'a>;
        serialize_struct(name: &'static str, len: usize) -> Elements<'a>;
        serialize_tuple_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Elements<'a>;
        serialize_struct_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Elements<'a>;
    }

    fn serialize_none(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        match is_reserved(name) {
            true => self.only().serialize_newtype_struct(name, value),
            false => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.only()
            .serialize_newtype_variant(name, index, variant, value)
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
}

/// Implements traits of serde whose elements are one parameter each.
macro_rules! elements {
    ($($name:ident $method:ident)*) => {
        $(impl $name for ParametersWriter<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
}
