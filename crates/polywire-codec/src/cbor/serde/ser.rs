//! Writing.

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Encoder, Error, Member};
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::super::CborEncoder;
use super::super::encode::{ARRAY, MAP, NEGATIVE, UNSIGNED};
use super::kept::{self, Kept};
use super::unwritable;

type Result<T> = std::result::Result<T, Error>;

/// A writer of the next data item.
pub(super) struct Writer<'a>(pub(super) &'a mut CborEncoder);

/// A list or map that is being written.
pub(super) struct Compound<'a> {
    encoder: &'a mut CborEncoder,
    /// The elements that the head speaks of.
    told: Option<usize>,
    written: usize,
    /// Where the head stands, for a length that is told by the end.
    head: usize,
    major: u8,
    /// Whether it is a number of serde_json, whose digits are the only member.
    number: bool,
}

impl<'a> Compound<'a> {
    #[inline]
    fn begin(encoder: &'a mut CborEncoder, major: u8, told: Option<usize>) -> Self {
        let head = encoder.out.len();
        encoder.head(major, told.unwrap_or(0) as u64);
        Self {
            encoder,
            told,
            written: 0,
            head,
            major,
            number: false,
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<()> {
        self.written += 1;
        // Kept: a type may go on as if nothing had happened, and what it makes is no message.
        element
            .serialize(Writer(self.encoder))
            .map_err(|error| self.encoder.failed(error))
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        // The name first: the compiler knows it, so that nothing is left of this elsewhere.
        if name == NUMBER_KEY && self.number {
            self.written += 1;
            self.encoder.out.truncate(self.head);
            return kept::number(self.encoder, |encoder| value.serialize(Writer(encoder)));
        }
        self.encoder.string(Member::DOCUMENT, name);
        self.element(value)
    }

    #[inline]
    fn finish(self) -> Result<()> {
        match self.told {
            Some(told) if told == self.written => Ok(()),
            Some(told) => Err(wrong_count(told, self.written)),
            // Most such lists are short, and their head is one byte.
            None => {
                let mut head = CborEncoder::new(Vec::new());
                head.head(self.major, self.written as u64);
                let place = self.head..self.head + 1;
                self.encoder.out.splice(place, head.out);
                Ok(())
            }
        }
    }
}

#[cold]
fn wrong_count(told: usize, written: usize) -> Error {
    unwritable(format!(
        "{told} elements, as the type had said, and not {written}"
    ))
}

impl<'a> Writer<'a> {
    #[inline]
    fn signed(self, value: i64) -> Result<()> {
        self.0.push_integer(value);
        Ok(())
    }

    /// The head of a variant with data: a map of one entry.
    fn variant(&mut self, name: &'static str) {
        self.0.head(MAP, 1);
        self.0.string(Member::DOCUMENT, name);
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.0.boolean(Member::DOCUMENT, value);
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<()> {
        self.signed(value.into())
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<()> {
        self.signed(value.into())
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<()> {
        self.signed(value.into())
    }

    #[inline]
    fn serialize_i64(self, value: i64) -> Result<()> {
        self.signed(value)
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        match (u64::try_from(value), u64::try_from(!value)) {
            (Ok(value), _) => self.0.head(UNSIGNED, value),
            // -1 - value, which is the complement.
            (_, Ok(value)) => self.0.head(NEGATIVE, value),
            _ => self.0.push_big(&value.to_string()),
        }
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u64(self, value: u64) -> Result<()> {
        self.0.head(UNSIGNED, value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        match u64::try_from(value) {
            Ok(value) => self.0.head(UNSIGNED, value),
            Err(_) => self.0.push_big(&value.to_string()),
        }
        Ok(())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        self.0.float(Member::DOCUMENT, value);
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<()> {
        self.0.double(Member::DOCUMENT, value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.0.string(Member::DOCUMENT, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.0.blob(Member::DOCUMENT, value);
        Ok(())
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.0.null(Member::DOCUMENT);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<()> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        match Kept::of(name) {
            None => value.serialize(self),
            Some(kept) => kept.write(self.0, |encoder| value.serialize(Writer(encoder))),
        }
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

    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'a>> {
        Ok(Compound::begin(self.0, ARRAY, len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Compound<'a>> {
        self.variant(name);
        self.serialize_seq(Some(len))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'a>> {
        Ok(Compound::begin(self.0, MAP, len))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Compound<'a>> {
        let mut compound = Compound::begin(self.0, MAP, Some(len));
        compound.number = name == NUMBER_KEY;
        Ok(compound)
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Compound<'a>> {
        self.variant(name);
        self.serialize_map(Some(len))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The traits of what has elements without names.
macro_rules! elements {
    ($($name:ident $method:ident)*) => {
        $(impl $name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

/// The traits of what has members.
macro_rules! members {
    ($($name:ident)*) => {
        $(impl $name for Compound<'_> {
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

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        key.serialize(Writer(self.encoder))
            .map_err(|error| self.encoder.failed(error))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}
