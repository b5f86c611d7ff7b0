//! Writing serde types as values.

use polywire_schema::serde_names::{BLOB, NUMBER_KEY, TIMESTAMP};
use polywire_schema::{Encoder, Error, ErrorKind, Member};
use serde::ser::{Serialize, Serializer};

use super::compound::{Entries, Items, Of};
use super::part::Part;
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

    /// A writer of a member, which leaves `None` out.
    #[inline]
    pub(super) const fn of_member(encoder: &'a mut XmlRpcEncoder) -> Self {
        Self {
            encoder,
            optional: true,
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

    #[inline]
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
            of: Of::Structure,
        })
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Entries<'a>, Error> {
        if name == NUMBER_KEY {
            return Ok(Entries {
                encoder: self.encoder,
                of: Of::Number,
            });
        }
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
            of: Of::Variant,
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
