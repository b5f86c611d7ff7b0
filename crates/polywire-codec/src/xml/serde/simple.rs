//! Writing values as text: in attributes, in `$text` fields and in lists.

use polywire_schema::Error;
use polywire_text::number::{self, Spelling};
use polywire_text::{base64, scan};
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant, Serializer,
};

use super::TEXT;
use super::writer::{XmlWriter, unwritable};

type Result<T> = std::result::Result<T, Error>;

/// A writer of a value as text. Returns whether there is a value.
pub(super) struct TextSerializer<'w> {
    pub(super) writer: &'w mut XmlWriter,
    pub(super) is_attribute: bool,
    /// Whether the text is one of several with white space between them.
    pub(super) in_list: bool,
}

#[cold]
fn no_text() -> Error {
    unwritable("a value that is text, or a list of such values".to_owned())
}

macro_rules! scalars {
    ($($method:ident($type:ty) $value:ident $out:ident => $push:expr;)*) => {
        $(
            #[inline]
            fn $method(self, $value: $type) -> Result<bool> {
                let $out = &mut self.writer.out;
                $push;
                Ok(true)
            }
        )*
    };
}

/// Writes a number as XML Schema spells it.
pub(super) fn push_float<F: number::Float>(out: &mut Vec<u8>, value: F) {
    // This spelling has words for all values.
    let _ = number::push_float(out, value, Spelling::XML_SCHEMA);
}

impl<'w> Serializer for TextSerializer<'w> {
    type Ok = bool;
    type Error = Error;
    type SerializeSeq = TextList<'w>;
    type SerializeTuple = TextList<'w>;
    type SerializeTupleStruct = TextList<'w>;
    type SerializeTupleVariant = TextList<'w>;
    type SerializeMap = Impossible<bool, Error>;
    type SerializeStruct = Impossible<bool, Error>;
    type SerializeStructVariant = Impossible<bool, Error>;

    scalars! {
        serialize_bool(bool) value out => out.extend_from_slice(if value { b"true" } else { b"false" });
        serialize_i8(i8) value out => number::push_i64(out, value.into());
        serialize_i16(i16) value out => number::push_i64(out, value.into());
        serialize_i32(i32) value out => number::push_i64(out, value.into());
        serialize_i64(i64) value out => number::push_i64(out, value);
        serialize_i128(i128) value out => out.extend_from_slice(value.to_string().as_bytes());
        serialize_u8(u8) value out => number::push_u64(out, value.into());
        serialize_u16(u16) value out => number::push_u64(out, value.into());
        serialize_u32(u32) value out => number::push_u64(out, value.into());
        serialize_u64(u64) value out => number::push_u64(out, value);
        serialize_u128(u128) value out => out.extend_from_slice(value.to_string().as_bytes());
        serialize_f32(f32) value out => push_float(out, value);
        serialize_f64(f64) value out => push_float(out, value);
        serialize_bytes(&[u8]) value out => base64::push(out, value);
    }

    fn serialize_char(self, value: char) -> Result<bool> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<bool> {
        if self.in_list {
            let spaces = |byte: u8| scan::white_space(&[byte]) > 0;
            if value.is_empty() || value.bytes().any(spaces) {
                let expected = "an item that is not empty and has no white space";
                return Err(unwritable(expected.to_owned()));
            }
        }
        match self.is_attribute {
            true => self.writer.attribute_text(value)?,
            false => self.writer.text(value)?,
        }
        Ok(true)
    }

    fn serialize_none(self) -> Result<bool> {
        match self.in_list {
            true => Err(unwritable("a value for each item of a list".to_owned())),
            false => Ok(false),
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<bool> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<bool> {
        self.serialize_none().map(|_| true)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<bool> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<bool> {
        self.serialize_str(if name == TEXT { "" } else { name })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<bool> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<bool> {
        Err(no_text())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<TextList<'w>> {
        match self.in_list {
            true => Err(no_text()),
            false => Ok(TextList {
                writer: self.writer,
                is_attribute: self.is_attribute,
                is_first: true,
                close: None,
            }),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<TextList<'w>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<TextList<'w>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<TextList<'w>> {
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

/// Values with spaces between them.
pub(super) struct TextList<'w> {
    pub(super) writer: &'w mut XmlWriter,
    pub(super) is_attribute: bool,
    pub(super) is_first: bool,
    /// The element to be closed at the end.
    pub(super) close: Option<String>,
}

impl TextList<'_> {
    pub(super) fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.writer.out.push(b' ');
        }
        let result = value.serialize(TextSerializer {
            writer: self.writer,
            is_attribute: self.is_attribute,
            in_list: true,
        });
        self.writer.keep(result).map(|_| ())
    }

    pub(super) fn finish(self) {
        if let Some(name) = self.close {
            self.writer.close(&name);
        }
    }
}

macro_rules! items {
    ($($name:ident $method:ident)*) => {
        $(impl $name for TextList<'_> {
            type Ok = bool;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<bool> {
                self.finish();
                Ok(true)
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}
