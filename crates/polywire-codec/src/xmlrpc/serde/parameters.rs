//! The parameters of a call as one serde type.

use polywire_schema::{Decoder, Error, ErrorKind};
use serde::de::value::UnitDeserializer;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::ser::{
    Impossible, Serialize, SerializeSeq, SerializeTuple, SerializeTupleStruct, Serializer,
};

use super::de::Reader;
use super::ser::{Entries, Writer, Written};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

/// All parameters of a call.
pub(super) struct Parameters<'a, 'de>(pub(super) &'a mut XmlRpcDecoder<'de>);

impl<'a, 'de> Parameters<'a, 'de> {
    /// Reads parameters one by one: so many, if the type says how many it has.
    fn each<V: Visitor<'de>>(self, wanted: Option<usize>, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.0;
        let mut each = Each {
            decoder,
            wanted,
            count: 0,
            missing: false,
        };
        let value = visitor.visit_seq(&mut each);
        let (count, missing) = (each.count, each.missing);
        match (value, wanted) {
            (Err(_), Some(wanted)) if missing => Err(decoder.few_parameters(count, wanted)),
            (value, Some(wanted)) if count >= wanted => {
                let value = value?;
                match decoder.parameter()? {
                    false => Ok(value),
                    true => Err(decoder.many_parameters(wanted)),
                }
            }
            (value, _) => value,
        }
    }

    /// The reader of the only parameter.
    fn only<V, R>(self, read: V) -> Result<R, Error>
    where
        V: FnOnce(Reader<'_, 'de>) -> Result<R, Error>,
    {
        if !self.0.parameter()? {
            return Err(self.0.few_parameters(0, 1));
        }
        let value = read(Reader::new(self.0))?;
        match self.0.parameter()? {
            false => Ok(value),
            true => Err(self.0.many_parameters(1)),
        }
    }
}

impl XmlRpcDecoder<'_> {
    #[cold]
    fn few_parameters(&self, found: usize, wanted: usize) -> Error {
        self.error(ErrorKind::Missing, "")
            .expected(count_of(wanted))
            .found(count_of(found))
    }

    #[cold]
    fn many_parameters(&self, wanted: usize) -> Error {
        let most = match wanted {
            0 => "no parameters".to_owned(),
            wanted => format!("at most {}", count_of(wanted)),
        };
        self.error(ErrorKind::Unknown, "")
            .expected(most)
            .found("one more")
    }
}

fn count_of(parameters: usize) -> String {
    match parameters {
        0 => "none".to_owned(),
        1 => "1 parameter".to_owned(),
        count => format!("{count} parameters"),
    }
}

/// What a type of one value asks for, forwarded to the only parameter.
macro_rules! only {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {
        $(
            fn $method<V: Visitor<'de>>(
                self,
                $($name: $type,)*
                visitor: V,
            ) -> Result<V::Value, Error> {
                self.only(|reader| reader.$method($($name,)* visitor))
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Parameters<'_, 'de> {
    type Error = Error;

    only! {
        deserialize_any();
        deserialize_bool();
        deserialize_byte_buf();
        deserialize_bytes();
        deserialize_char();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_f32();
        deserialize_f64();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_identifier();
        deserialize_map();
        deserialize_newtype_struct(name: &'static str);
        deserialize_str();
        deserialize_string();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
    }

    /// The first parameter, if there is one.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.0.parameter()? {
            return visitor.visit_none();
        }
        let value = Reader::new(self.0).deserialize_option(visitor)?;
        match self.0.parameter()? {
            false => Ok(value),
            true => Err(self.0.many_parameters(1)),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.parameter()? {
            false => visitor.visit_unit(),
            true => Err(self.0.many_parameters(0)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.each(None, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.each(Some(len), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.each(Some(len), visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        while self.0.parameter()? {
            self.0.skip_value()?;
        }
        visitor.visit_unit()
    }
}

/// Parameters one by one.
struct Each<'a, 'de> {
    decoder: &'a mut XmlRpcDecoder<'de>,
    wanted: Option<usize>,
    count: usize,
    /// Whether a parameter that did not come is no option.
    missing: bool,
}

impl<'de> SeqAccess<'de> for &mut Each<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.decoder.parameter()? {
            self.count += 1;
            return seed.deserialize(Reader::new(self.decoder)).map(Some);
        }
        if self.wanted.is_none() {
            return Ok(None);
        }
        // Options at the end may be left out.
        self.missing = true;
        let value = seed.deserialize(Nothing)?;
        self.missing = false;
        Ok(Some(value))
    }
}

/// A parameter that did not come: nothing for an option, an error for all else.
struct Nothing;

impl<'de> Deserializer<'de> for Nothing {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        UnitDeserializer::new().deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// Writes what it is given as the parameters of a call.
pub(super) struct ParametersWriter<'a>(pub(super) &'a mut XmlRpcEncoder);

impl ParametersWriter<'_> {
    fn one<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.0.parameter();
        self.0.serialize(value)
    }
}

/// Types that are the one parameter.
macro_rules! one {
    ($($method:ident $type:ty;)*) => {
        $(
            fn $method(self, value: $type) -> Result<Written, Error> {
                self.0.parameter();
                Writer::new(self.0).$method(value)
            }
        )*
    };
}

impl<'a> Serializer for ParametersWriter<'a> {
    type Ok = Written;
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Impossible<Written, Error>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Entries<'a>;
    type SerializeStructVariant = Impossible<Written, Error>;

    one! {
        serialize_bool bool;
        serialize_bytes &[u8];
        serialize_char char;
        serialize_f32 f32;
        serialize_f64 f64;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_str &str;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
    }

    fn serialize_none(self) -> Result<Written, Error> {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Written, Error> {
        Ok(true)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Error> {
        Ok(true)
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
        self.0.parameter();
        Writer::new(self.0).serialize_newtype_struct(name, value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Written, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_newtype_variant(name, index, variant, value)
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

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<Written, Error>, Error> {
        Err(no_parameters())
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_map(len)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, Error> {
        self.0.parameter();
        Writer::new(self.0).serialize_struct(name, len)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<Written, Error>, Error> {
        Err(no_parameters())
    }
}

#[cold]
fn no_parameters() -> Error {
    Error::new(ErrorKind::Unwritable)
        .in_format("XML-RPC")
        .expected("a tuple of parameters")
        .found("a variant of an enum; put it into a tuple of one")
}

impl SerializeSeq for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}

impl SerializeTuple for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}

impl SerializeTupleStruct for ParametersWriter<'_> {
    type Ok = Written;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ParametersWriter(self.0).one(value)
    }

    fn end(self) -> Result<Written, Error> {
        Ok(true)
    }
}
