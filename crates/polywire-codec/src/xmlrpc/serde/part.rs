//! Writing what has one form only.

use polywire_schema::serde_names::number_of_digits;
use polywire_schema::{Encode, Encoder, Error, ErrorKind, Member, Timestamp};
use serde::ser::{Error as _, Impossible, Serialize, Serializer};

use super::ser::Written;
use crate::xmlrpc::XmlRpcEncoder;

/// Writes what has one form only: the bytes of a blob, the text of a date, the digits of
/// a number of serde_json, the name of a map's entry.
pub(super) enum Part<'a> {
    Bytes(&'a mut XmlRpcEncoder),
    Date(&'a mut XmlRpcEncoder),
    Digits(&'a mut XmlRpcEncoder),
    Key(&'a mut XmlRpcEncoder),
}

impl Part<'_> {
    #[cold]
    fn refuse(&self) -> Error {
        let expected = match self {
            Self::Bytes(_) => "bytes",
            Self::Date(_) => "a date",
            Self::Digits(_) => "the digits of a number",
            Self::Key(_) => "a string as the key of a map",
        };
        Error::new(ErrorKind::Unwritable)
            .in_format("XML-RPC")
            .expected(expected)
    }

    fn digits(self, value: impl std::fmt::Display) -> Result<Written, Error> {
        match &self {
            Self::Key(_) => self.serialize_str(&value.to_string()),
            _ => Err(self.refuse()),
        }
    }
}

macro_rules! refused {
    ($($method:ident($($type:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<$result, Error> {
            Err(self.refuse())
        })*
    };
}

macro_rules! digits {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Result<Written, Error> {
            self.digits(value)
        })*
    };
}

impl Serializer for Part<'_> {
    type Ok = Written;
    type Error = Error;
    type SerializeSeq = Impossible<Written, Error>;
    type SerializeTuple = Impossible<Written, Error>;
    type SerializeTupleStruct = Impossible<Written, Error>;
    type SerializeTupleVariant = Impossible<Written, Error>;
    type SerializeMap = Impossible<Written, Error>;
    type SerializeStruct = Impossible<Written, Error>;
    type SerializeStructVariant = Impossible<Written, Error>;

    /// A blob gives its bytes, not text.
    fn is_human_readable(&self) -> bool {
        !matches!(self, Self::Bytes(_))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Written, Error> {
        match self {
            Self::Bytes(encoder) => encoder.blob(Member::DOCUMENT, value),
            _ => return Err(self.refuse()),
        }
        Ok(true)
    }

    fn serialize_str(self, value: &str) -> Result<Written, Error> {
        match self {
            Self::Key(encoder) => encoder.key(Member::DOCUMENT, value),
            Self::Date(encoder) => {
                let timestamp: Timestamp = value.parse().map_err(Error::custom)?;
                encoder.timestamp(Member::DOCUMENT, timestamp);
            }
            Self::Digits(encoder) => match number_of_digits(value) {
                Some(number) => number.encode(Member::DOCUMENT, encoder),
                None => return Err(Self::Digits(encoder).refuse()),
            },
            Self::Bytes(_) => return Err(self.refuse()),
        }
        Ok(true)
    }

    fn serialize_char(self, value: char) -> Result<Written, Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
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
        _: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Error> {
        value.serialize(self)
    }

    digits! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
    }

    refused! {
        serialize_f32(f32) -> Written;
        serialize_f64(f64) -> Written;
        serialize_none() -> Written;
        serialize_unit() -> Written;
        serialize_unit_struct(&'static str) -> Written;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Written, Error> {
        Err(self.refuse())
    }
}
