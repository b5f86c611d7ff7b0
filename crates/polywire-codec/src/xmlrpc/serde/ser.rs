//! Writing serde types as values.

use polywire_schema::serde_names::{BLOB, TIMESTAMP};
use polywire_schema::{Encoder, Error, ErrorKind, Member, Timestamp};
use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};

use crate::xmlrpc::XmlRpcEncoder;

/// Writes one value.
pub(super) struct Writer<'a> {
    encoder: &'a mut XmlRpcEncoder,
    /// Whether nothing may be written for `None`: a member that is left out.
    optional: bool,
}

/// Whether a value has been written, or left out.
pub(super) type Written = bool;

impl<'a> Writer<'a> {
    #[inline]
    pub(super) const fn new(encoder: &'a mut XmlRpcEncoder) -> Self {
        Self {
            encoder,
            optional: false,
        }
    }

    fn variant(self, variant: &str) -> &'a mut XmlRpcEncoder {
        self.encoder.begin_map(Member::DOCUMENT, 1);
        self.encoder.key(Member::DOCUMENT, variant);
        self.encoder
    }
}

/// Values that an encoder has a method for.
macro_rules! scalars {
    ($($method:ident $type:ty => $encode:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<Written, Error> {
                self.encoder.$encode(Member::DOCUMENT, value.into());
                Ok(true)
            }
        )*
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = Written;
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Entries<'a>;
    type SerializeStructVariant = Entries<'a>;

    scalars! {
        serialize_bool bool => boolean;
        serialize_bytes &[u8] => blob;
        serialize_f32 f32 => float;
        serialize_f64 f64 => double;
        serialize_i8 i8 => integer;
        serialize_i16 i16 => integer;
        serialize_i32 i32 => integer;
        serialize_i64 i64 => integer;
        serialize_str &str => string;
        serialize_u8 u8 => integer;
        serialize_u16 u16 => integer;
        serialize_u32 u32 => integer;
    }

    fn serialize_u64(self, value: u64) -> Result<Written, Error> {
        self.serialize_i128(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Written, Error> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => Err(too_large(&value)),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<Written, Error> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => Err(too_large(&value)),
        }
    }

    fn serialize_char(self, value: char) -> Result<Written, Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_none(self) -> Result<Written, Error> {
        if self.optional {
            return Ok(false);
        }
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Error> {
        // `Some(None)` is something.
        value.serialize(Writer::new(self.encoder))
    }

    fn serialize_unit(self) -> Result<Written, Error> {
        self.encoder.null(Member::DOCUMENT);
        Ok(true)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Error> {
        self.serialize_unit()
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
        match name {
            BLOB => value.serialize(Part::Bytes(self.encoder)),
            TIMESTAMP => value.serialize(Part::Date(self.encoder)),
            // Only options can be missing where a structure is read, no newtypes of them.
            _ => value.serialize(Writer::new(self.encoder)),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        let encoder = self.variant(variant);
        value.serialize(Writer::new(encoder))?;
        encoder.end_map(Member::DOCUMENT);
        Ok(true)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Items<'a>, Error> {
        self.encoder
            .begin_list(Member::DOCUMENT, len.unwrap_or_default());
        Ok(Items {
            encoder: self.encoder,
            variant: false,
        })
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'a>, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items<'a>, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items<'a>, Error> {
        let encoder = self.variant(variant);
        encoder.begin_list(Member::DOCUMENT, len);
        Ok(Items {
            encoder,
            variant: true,
        })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Entries<'a>, Error> {
        self.encoder
            .begin_map(Member::DOCUMENT, len.unwrap_or_default());
        Ok(Entries {
            encoder: self.encoder,
            variant: false,
        })
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Entries<'a>, Error> {
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Entries<'a>, Error> {
        let encoder = self.variant(variant);
        encoder.begin_map(Member::DOCUMENT, len);
        Ok(Entries {
            encoder,
            variant: true,
        })
    }
}

#[cold]
fn too_large(value: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("XML-RPC")
        .expected("an integer of 64 bits")
        .found(value.to_string())
}

/// The items of an array.
pub(super) struct Items<'a> {
    encoder: &'a mut XmlRpcEncoder,
    variant: bool,
}

impl Items<'_> {
    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Writer::new(self.encoder)).map(|_| ())
    }

    #[inline]
    fn finish(self) -> Result<Written, Error> {
        self.encoder.end_list(Member::DOCUMENT);
        if self.variant {
            self.encoder.end_map(Member::DOCUMENT);
        }
        Ok(true)
    }
}

impl SerializeSeq for Items<'_> {
    type Ok = Written;
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTuple for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTupleStruct for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

impl SerializeTupleVariant for Items<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<Written, Error> {
        self.finish()
    }
}

/// The members of a struct.
pub(super) struct Entries<'a> {
    encoder: &'a mut XmlRpcEncoder,
    variant: bool,
}

impl Entries<'_> {
    /// Writes a member, or nothing if its value is `None`.
    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let mark = self.encoder.mark();
        self.encoder.key(Member::DOCUMENT, name);
        let writer = Writer {
            encoder: self.encoder,
            optional: true,
        };
        if !value.serialize(writer)? {
            self.encoder.back_to(mark);
        }
        Ok(())
    }

    #[inline]
    fn finish(self) -> Written {
        self.encoder.end_map(Member::DOCUMENT);
        if self.variant {
            self.encoder.end_map(Member::DOCUMENT);
        }
        true
    }
}

impl SerializeMap for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(Part::Key(self.encoder)).map(|_| ())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Writer::new(self.encoder)).map(|_| ())
    }

    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}

impl SerializeStruct for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    #[inline]
    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Entries<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(self.finish())
    }
}

/// Writes what has one form only: the bytes of a blob, the text of a date, the name
/// of a map's entry.
enum Part<'a> {
    Bytes(&'a mut XmlRpcEncoder),
    Date(&'a mut XmlRpcEncoder),
    Key(&'a mut XmlRpcEncoder),
}

impl Part<'_> {
    #[cold]
    fn refuse(&self) -> Error {
        let expected = match self {
            Self::Bytes(_) => "bytes",
            Self::Date(_) => "a date",
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
