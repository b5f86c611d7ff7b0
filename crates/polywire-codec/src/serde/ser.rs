//! Writing values.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Encoder, Error, ErrorKind, Member};
use polywire_text::Malformed;
use serde::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::SerdeWriter;

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

/// Writes a value of a type of serde.
pub(crate) fn serialize<W: SerdeWriter, T: Serialize + ?Sized>(
    writer: &mut W,
    value: &T,
) -> Result<()> {
    let result = value.serialize(ValueSerializer::new(writer));
    result.map_err(|error| writer.failed(error))
}

/// A list or map that is being written.
pub(crate) struct Compound<'a, W> {
    writer: &'a mut W,
    start: usize,
    /// The number of elements that the type has announced.
    len: Option<usize>,
    count: usize,
    is_map: bool,
    /// Of a variant with data: the start of the map of one entry around it.
    variant: Option<usize>,
    /// Whether it is a number of serde_json, whose only member has its digits.
    is_number: bool,
}

impl<'a, W: SerdeWriter> Compound<'a, W> {
    #[inline]
    fn begin(writer: &'a mut W, is_map: bool, len: Option<usize>) -> Self {
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

    fn begin_variant(
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
        // The name is compared first: the compiler knows it.
        if name == NUMBER_KEY && self.is_number {
            let mut digits = String::new();
            value.serialize(Capture::new(|text: &str| digits.push_str(text)))?;
            return self.writer.digits(&digits);
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
        match name.starts_with('$') {
            false => value.serialize(ValueSerializer::new(self.0)),
            true => self.0.own_newtype(name, value),
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
            let start = self.0.len();
            return Ok(Compound {
                writer: self.0,
                start,
                len: None,
                count: 0,
                is_map: true,
                variant: None,
                is_number: true,
            });
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

/// The traits for elements without names, and for members.
macro_rules! elements {
    ($($name:ident $method:ident)*) => {
        $(impl<W: SerdeWriter> $name for Compound<'_, W> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

macro_rules! members {
    ($($name:ident)*) => {
        $(impl<W: SerdeWriter> $name for Compound<'_, W> {
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

/// Passes the text of a value to a function: of a key in a format whose keys are text, or of
/// the digits of a number.
pub(crate) struct Capture<F>(F);

impl<F: FnOnce(&str)> Capture<F> {
    pub(crate) const fn new(push: F) -> Self {
        Self(push)
    }

    fn push(self, value: impl Display) -> Result<()> {
        (self.0)(&value.to_string());
        Ok(())
    }

    /// A floating-point number, with a fraction also if it is whole.
    fn float(self, is_finite: bool, value: impl Debug) -> Result<()> {
        if !is_finite {
            return Err(no_text());
        }
        (self.0)(&format!("{value:?}"));
        Ok(())
    }
}

/// The value in the text of a newtype of ours, such as a timestamp.
pub(crate) fn parse<V, T>(writer: &impl SerdeWriter, value: &T) -> Result<V>
where
    V: FromStr<Err = Malformed>,
    T: Serialize + ?Sized,
{
    let mut parsed = None;
    value.serialize(Capture::new(|text: &str| parsed = Some(text.parse())))?;
    match parsed {
        Some(Ok(value)) => Ok(value),
        Some(Err(malformed)) => Err(writer.unwritable(malformed.expected.to_owned())),
        None => Err(no_text()),
    }
}

#[cold]
fn no_text() -> Error {
    Error::new(ErrorKind::Unwritable).expected("a string, a finite number or a boolean as a key")
}

macro_rules! captured {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, value: $type) -> Result<()> {
            self.push(value)
        })*
    };
}

impl<F: FnOnce(&str)> Serializer for Capture<F> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    captured! {
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
        serialize_char char;
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.float(value.is_finite(), value)
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        self.float(value.is_finite(), value)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        (self.0)(value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<()> {
        Err(no_text())
    }

    fn serialize_none(self) -> Result<()> {
        Err(no_text())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        Err(no_text())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        Err(no_text())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        (self.0)(name);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<()> {
        Err(no_text())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq> {
        Err(no_text())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple> {
        Err(no_text())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct> {
        Err(no_text())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Err(no_text())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
        Err(no_text())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct> {
        Err(no_text())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Err(no_text())
    }
}
