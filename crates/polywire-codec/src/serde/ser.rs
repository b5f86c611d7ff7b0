//! Serializing values.

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Encoder, Error, Member};
use serde::ser::{Serialize, Serializer};

use super::compound::Compound;
use super::{SerdeWriter, is_reserved};

type Result<T> = std::result::Result<T, Error>;

/// What a value is written as.
pub(crate) trait Role<W> {
    /// Whether it is the content of a blob, which serializes as bytes and not as text.
    const IS_BLOB: bool = false;

    /// Writes `None`.
    fn none(self, writer: &mut W);
}

/// A value.
pub(crate) struct Plain;

/// The content of a blob.
pub(crate) struct BlobContent;

impl<W: SerdeWriter> Role<W> for Plain {
    #[inline]
    fn none(self, writer: &mut W) {
        writer.null(Member::DOCUMENT);
    }
}

impl<W: SerdeWriter> Role<W> for BlobContent {
    const IS_BLOB: bool = true;

    fn none(self, writer: &mut W) {
        Plain.none(writer);
    }
}

/// A writer of the next value.
pub(crate) struct ValueSerializer<'a, W, R = Plain>(&'a mut W, R);

impl<'a, W> ValueSerializer<'a, W> {
    #[inline(always)]
    pub(crate) const fn new(writer: &'a mut W) -> Self {
        Self(writer, Plain)
    }
}

impl<'a, W, R> ValueSerializer<'a, W, R> {
    #[inline(always)]
    pub(crate) const fn with_role(writer: &'a mut W, role: R) -> Self {
        Self(writer, role)
    }
}

/// Serializes a value.
pub(crate) fn serialize<W: SerdeWriter, T: Serialize + ?Sized>(
    writer: &mut W,
    value: &T,
) -> Result<()> {
    let result = value.serialize(ValueSerializer::new(writer));
    result.map_err(|error| writer.failed(error))
}

macro_rules! scalars {
    ($($method:ident $type:ty => $write:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<()> {
                Encoder::$write(self.0, Member::DOCUMENT, value.into());
                Ok(())
            }
        )*
    };
    (unsigned $($method:ident $type:ty;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<()> {
                self.0.unsigned(value.into())
            }
        )*
    };
}

impl<'a, W: SerdeWriter, R: Role<W>> Serializer for ValueSerializer<'a, W, R> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a, W>;
    type SerializeTuple = Compound<'a, W>;
    type SerializeTupleStruct = Compound<'a, W>;
    type SerializeTupleVariant = Compound<'a, W>;
    type SerializeMap = Compound<'a, W>;
    type SerializeStruct = Compound<'a, W>;
    type SerializeStructVariant = Compound<'a, W>;

    scalars! {
        serialize_bool bool => boolean;
        serialize_i8 i8 => integer;
        serialize_i16 i16 => integer;
        serialize_i32 i32 => integer;
        serialize_i64 i64 => integer;
        serialize_f32 f32 => float;
        serialize_f64 f64 => double;
        serialize_str &str => string;
    }

    scalars! {
        unsigned
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.0.bytes(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.0.integer(Member::DOCUMENT, value),
            (_, Ok(value)) => return self.0.unsigned(value),
            _ => return self.0.wide_signed(value),
        }
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        match u64::try_from(value) {
            Ok(value) => self.0.unsigned(value),
            Err(_) => self.0.wide_unsigned(value),
        }
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_none(self) -> Result<()> {
        self.1.none(self.0);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(ValueSerializer::new(self.0))
    }

    fn serialize_unit(self) -> Result<()> {
        self.0.null(Member::DOCUMENT);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.0.unit_struct();
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        self.serialize_str(name)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        match is_reserved(name) {
            false => value.serialize(ValueSerializer::new(self.0)),
            true => self.0.reserved_newtype(name, value),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        let start = self.0.len();
        self.0.begin(true, Some(1));
        self.0.name(name);
        value.serialize(ValueSerializer::new(&mut *self.0))?;
        self.0.end(true, start, Some(1), 1);
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'a, W>> {
        Ok(Compound::begin(self.0, false, len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'a, W>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'a, W>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Compound<'a, W>> {
        Ok(Compound::begin_variant(self.0, name, false, Some(len)))
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'a, W>> {
        Ok(Compound::begin(self.0, true, len))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Compound<'a, W>> {
        if name == NUMBER_KEY {
            return Ok(Compound::begin_number(self.0));
        }
        Ok(Compound::begin(self.0, true, Some(len)))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Compound<'a, W>> {
        Ok(Compound::begin_variant(self.0, name, true, Some(len)))
    }

    fn is_human_readable(&self) -> bool {
        !R::IS_BLOB && W::HUMAN_READABLE
    }
}
