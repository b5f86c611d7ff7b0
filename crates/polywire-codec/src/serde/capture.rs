//! The text of a value.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use polywire_schema::{Error, ErrorKind};
use polywire_text::Malformed;
use serde::ser::{Impossible, Serialize, Serializer};

use super::SerdeWriter;

type Result<T> = std::result::Result<T, Error>;

/// A serializer that passes the text of a value to a function. Keys of text formats and the digits
/// of numbers are written with it.
pub(crate) struct Capture<F>(F);

impl<F: FnOnce(&str)> Capture<F> {
    pub(crate) const fn new(push: F) -> Self {
        Self(push)
    }

    fn push(self, value: impl Display) -> Result<()> {
        (self.0)(&value.to_string());
        Ok(())
    }

    /// Writes a floating-point number. Integral values get the fraction `.0`.
    fn float(self, is_finite: bool, value: impl Debug) -> Result<()> {
        if !is_finite {
            return Err(no_text());
        }
        (self.0)(&format!("{value:?}"));
        Ok(())
    }
}

/// Returns the text of a value.
pub(crate) fn capture<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut captured = String::new();
    value.serialize(Capture::new(|text: &str| captured.push_str(text)))?;
    Ok(captured)
}

/// Parses the text of a value, such as a timestamp.
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

    super::serialize_transparent!();

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        (self.0)(name);
        Ok(())
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

    super::unsupported! {
        no_text();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeStructVariant;
    }
}
