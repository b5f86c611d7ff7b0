//! Serializers for the values of fields and for the form.

use polywire_schema::Error;
use polywire_text::base64;
use polywire_text::number::{self, Float, Spelling};
use serde::ser::{Serialize, Serializer};

use super::compound::Compound;
use super::pairs::Pairs;
use super::writer::{FormWriter, unwritable};

type Result<T> = std::result::Result<T, Error>;

/// A serializer of a value. Its key has just been written.
pub(super) struct ValueSerializer<'w> {
    pub(super) writer: &'w mut FormWriter,
    /// The offset of the field.
    pub(super) start: usize,
    /// The offset of the key.
    pub(super) key: usize,
    /// Whether `None` omits the field.
    pub(super) is_optional: bool,
}

#[cold]
fn missing_value() -> Error {
    unwritable("a value in a list or variant")
}

pub(super) fn push_float<F: Float>(out: &mut Vec<u8>, value: F) {
    let start = out.len();
    // Cannot fail: this spelling covers all values.
    let _ = number::push_float(out, value, Spelling::SMITHY);
    super::super::text::encode_plus(out, start);
}

/// Writes base64. Its `+` and `/` are percent-encoded.
pub(super) fn push_base64(writer: &mut FormWriter, value: &[u8]) {
    let mut text = String::new();
    base64::STANDARD.push_str(&mut text, value);
    writer.text(&text);
}

macro_rules! scalars {
    ($($method:ident($type:ty) $value:ident $writer:ident => $push:expr;)*) => {
        $(
            #[inline]
            fn $method(self, $value: $type) -> Result<()> {
                let $writer = self.scalar();
                $push;
                Ok(())
            }
        )*
    };
}

impl<'w> ValueSerializer<'w> {
    #[inline]
    fn scalar(self) -> &'w mut FormWriter {
        self.writer.out.push(b'=');
        self.writer
    }

    fn compound(self, is_list: bool) -> Compound<'w> {
        let len = self.writer.out.len() - self.key;
        Compound {
            writer: self.writer,
            key: self.key,
            len,
            is_top: false,
            items: is_list.then_some(0),
            pending: (0, 0),
        }
    }

    /// Appends the name of a variant to the key.
    fn variant(&mut self, name: &str) {
        self.writer.out.push(b'.');
        self.writer.name(name);
        self.is_optional = false;
    }
}

impl<'w> Serializer for ValueSerializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Compound<'w>;
    type SerializeStructVariant = Compound<'w>;

    scalars! {
        serialize_bool(bool) value writer =>
            writer.out.extend_from_slice(if value { b"true" } else { b"false" });
        serialize_i8(i8) value writer => number::push_i64(&mut writer.out, value.into());
        serialize_i16(i16) value writer => number::push_i64(&mut writer.out, value.into());
        serialize_i32(i32) value writer => number::push_i64(&mut writer.out, value.into());
        serialize_i64(i64) value writer => number::push_i64(&mut writer.out, value);
        serialize_i128(i128) value writer => writer.text(&value.to_string());
        serialize_u8(u8) value writer => number::push_u64(&mut writer.out, value.into());
        serialize_u16(u16) value writer => number::push_u64(&mut writer.out, value.into());
        serialize_u32(u32) value writer => number::push_u64(&mut writer.out, value.into());
        serialize_u64(u64) value writer => number::push_u64(&mut writer.out, value);
        serialize_u128(u128) value writer => writer.text(&value.to_string());
        serialize_f32(f32) value writer => push_float(&mut writer.out, value);
        serialize_f64(f64) value writer => push_float(&mut writer.out, value);
        serialize_char(char) value writer => writer.text(value.encode_utf8(&mut [0; 4]));
        serialize_str(&str) value writer => writer.text(value);
        serialize_bytes(&[u8]) value writer => push_base64(writer, value);
    }

    fn serialize_none(self) -> Result<()> {
        if !self.is_optional {
            return Err(missing_value());
        }
        self.writer.out.truncate(self.start);
        Ok(())
    }

    crate::serde::serialize_transparent!();

    fn serialize_unit(self) -> Result<()> {
        self.scalar();
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        self.serialize_str(name)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.variant(name);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w>> {
        Ok(self.compound(true))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w>> {
        Ok(self.compound(true))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>> {
        Ok(self.compound(true))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w>> {
        self.variant(name);
        Ok(self.compound(true))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w>> {
        Ok(self.compound(false))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>> {
        Ok(self.compound(false))
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w>> {
        self.variant(name);
        Ok(self.compound(false))
    }
}

/// A serializer of the form.
pub(super) struct FormSerializer<'w>(pub(super) &'w mut FormWriter);

impl<'w> FormSerializer<'w> {
    /// Begins the value of a variant. The name of the variant is the first segment of the keys.
    fn variant(self, name: &str) -> ValueSerializer<'w> {
        let key = self.0.out.len();
        self.0.name(name);
        ValueSerializer {
            writer: self.0,
            start: key,
            key,
            is_optional: false,
        }
    }

    fn members(self) -> Compound<'w> {
        Compound {
            key: self.0.out.len(),
            writer: self.0,
            len: 0,
            is_top: true,
            items: None,
            pending: (0, 0),
        }
    }
}

impl<'w> Serializer for FormSerializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Pairs<'w>;
    type SerializeTuple = Pairs<'w>;
    type SerializeTupleStruct = Pairs<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Compound<'w>;
    type SerializeStructVariant = Compound<'w>;

    crate::serde::unsupported! {
        unwritable("a structure, map or list of pairs");
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
    }

    fn serialize_none(self) -> Result<()> {
        Ok(())
    }

    crate::serde::serialize_transparent!();

    fn serialize_unit(self) -> Result<()> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        self.variant(name).serialize_unit()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self.variant(name))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Pairs<'w>> {
        Ok(Pairs(self.0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Pairs<'w>> {
        Ok(Pairs(self.0))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Pairs<'w>> {
        Ok(Pairs(self.0))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w>> {
        Ok(self.variant(name).compound(true))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w>> {
        Ok(self.members())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>> {
        Ok(self.members())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w>> {
        Ok(self.variant(name).compound(false))
    }
}
