//! Deserializing values.

use polywire_schema::{Container, Error, ErrorKind, Member};
use serde::de::value::SeqDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};

use super::access::{Elements, Variant};
use super::non_text::NonText;
use super::{Kind, SerdeReader, is_reserved};

type Result<T> = std::result::Result<T, Error>;

/// A deserializer of the next value.
pub(crate) struct ValueDeserializer<'a, R: ?Sized>(pub(crate) &'a mut R);

/// Deserializes the next value.
pub(crate) fn deserialize<'de, R, T>(reader: &mut R) -> Result<T>
where
    R: SerdeReader<'de> + ?Sized,
    T: Deserialize<'de>,
{
    let start = reader.position();
    with_position(T::deserialize(ValueDeserializer(reader)), start, reader)
}

/// Adds the position of a value to an error of a visitor.
#[inline(always)]
fn with_position<'de, T, R: SerdeReader<'de> + ?Sized>(
    result: Result<T>,
    start: usize,
    reader: &R,
) -> Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(locate(error, start, reader)),
    }
}

#[cold]
fn locate<'de, R: SerdeReader<'de> + ?Sized>(error: Error, start: usize, reader: &R) -> Error {
    if error.offset().is_some() || !error.is_sender_fault() {
        return error;
    }
    reader.locate(error, start)
}

impl<'de, R: SerdeReader<'de> + ?Sized> ValueDeserializer<'_, R> {
    /// A value of any type. `check_keys` makes duplicate keys of a map an error.
    #[inline(never)]
    pub(crate) fn any<V: Visitor<'de>>(self, check_keys: bool, visitor: V) -> Result<V::Value> {
        let reader = self.0;
        let start = reader.position();
        let result = match reader.kind()? {
            Kind::Null => {
                reader.null()?;
                visitor.visit_unit()
            }
            Kind::Boolean => visitor.visit_bool(reader.boolean(Member::DOCUMENT)?),
            Kind::Number => reader.number(visitor),
            Kind::String => reader.visit_string(true, visitor),
            Kind::Bytes => reader.visit_bytes(visitor),
            Kind::List => return Elements::list(reader, visitor),
            Kind::Map => return Elements::map(reader, check_keys, visitor),
            Kind::Extension => reader.extension(check_keys, visitor),
        };
        with_position(result, start, reader)
    }

    #[inline]
    fn boolean<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_boolean() {
            Some(value) => with_position(visitor.visit_bool(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// A signed integer. Integers in less common forms, and all other values, go through `any`, and
    /// the visitor decides.
    #[inline]
    fn signed<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_integer() {
            Some(value) => with_position(visitor.visit_i64(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// An integer. All other values go through `any`, as for [`signed`](Self::signed).
    #[inline]
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        let Some(value) = self.0.quick_integer() else {
            return self.any(true, visitor);
        };
        let result = match u64::try_from(value) {
            Ok(value) => visitor.visit_u64(value),
            Err(_) => visitor.visit_i64(value),
        };
        with_position(result, start, self.0)
    }

    /// A 32-bit floating-point number or any other value.
    #[inline]
    fn float<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.float_of_digits()? {
            Some(value) => with_position(visitor.visit_f32(value), start, self.0),
            None => self.double(visitor),
        }
    }

    /// A floating-point number or any other value.
    #[inline]
    fn double<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_double() {
            Some(value) => with_position(visitor.visit_f64(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// Text or any other value.
    #[inline]
    fn string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_str() {
            Some(text) => with_position(visitor.visit_borrowed_str(text), start, self.0),
            None => self.slow_string(true, visitor),
        }
    }

    /// Text for a type that copies it.
    #[inline]
    fn owned_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_str() {
            Some(text) => with_position(visitor.visit_str(text), start, self.0),
            None => self.slow_string(false, visitor),
        }
    }

    /// Text or any other value. `lent` says whether the visitor may borrow the text.
    #[inline(never)]
    fn slow_string<V: Visitor<'de>>(self, lent: bool, visitor: V) -> Result<V::Value> {
        let reader = self.0;
        let start = reader.position();
        match reader.kind()? {
            Kind::String => {
                let result = reader.visit_string(lent, visitor);
                with_position(result, start, reader)
            }
            Kind::Number => ValueDeserializer(reader).number_for_text(visitor),
            Kind::Extension => with_position(reader.text_extension(visitor), start, reader),
            _ => ValueDeserializer(reader).any(true, visitor),
        }
    }

    /// A number for a type that expects text. The visitor does not get the digits of a large number
    /// as text.
    #[cold]
    fn number_for_text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        let found = "a number";
        let result = self.0.number(NonText { visitor, found });
        with_position(result, start, self.0)
    }

    /// Bytes or any other value.
    #[inline]
    fn bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if R::TEXT_IS_BYTES {
            return self.any(true, visitor);
        }
        let found = "text";
        self.any(true, NonText { visitor, found })
    }

    /// A list or any other value.
    #[inline]
    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.kind()? {
            Kind::List => Elements::list(self.0, visitor),
            Kind::Bytes => self.list_of_bytes(visitor),
            _ => self.any(true, visitor),
        }
    }

    /// Bytes as a list of numbers.
    #[inline(never)]
    fn list_of_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        let bytes = self.0.byte_string()?;
        let items = SeqDeserializer::new(bytes.iter().copied());
        with_position(visitor.visit_seq(items), start, self.0)
    }

    /// A map or any other value.
    #[inline]
    fn map<V: Visitor<'de>>(self, check_keys: bool, visitor: V) -> Result<V::Value> {
        match self.0.is_map()? {
            true => Elements::map(self.0, check_keys, visitor),
            false => self.any(check_keys, visitor),
        }
    }
}

/// Defines methods of `Deserializer` that forward to a method of `ValueDeserializer`.
macro_rules! forward {
    ($($read:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$read(visitor)
            }
        )*)*
    };
}

impl<'de, R: SerdeReader<'de> + ?Sized> Deserializer<'de> for ValueDeserializer<'_, R> {
    type Error = Error;

    forward! {
        signed: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64;
        integer: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        float: deserialize_f32;
        double: deserialize_f64;
        string: deserialize_char deserialize_str deserialize_identifier;
        owned_string: deserialize_string;
        boolean: deserialize_bool;
        bytes: deserialize_bytes deserialize_byte_buf;
        deserialize_any: deserialize_unit;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.any(true, visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.wide_integer()? {
            Some(bytes) => with_position(
                visitor.visit_i128(i128::from_be_bytes(bytes)),
                start,
                self.0,
            ),
            None => self.integer(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.wide_integer()? {
            Some(bytes) => with_position(
                visitor.visit_u128(u128::from_be_bytes(bytes)),
                start,
                self.0,
            ),
            None => self.integer(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.null()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        let reader = self.0;
        if !R::EMPTY_LIST_IS_UNIT || reader.kind()? != Kind::List {
            return Self(reader).any(true, visitor);
        }
        let start = reader.position();
        let mut seq = reader.begin(Container::List, Member::DOCUMENT)?;
        if reader.next_element(false, &mut seq)? {
            let error = Error::new(ErrorKind::InvalidValue).expected("an empty list");
            return Err(reader.locate(error, start));
        }
        with_position(visitor.visit_unit(), start, reader)
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match is_reserved(name) {
            false => visitor.visit_newtype_struct(self),
            true => {
                let start = self.0.position();
                let result = self.0.reserved_newtype(name, visitor);
                with_position(result, start, self.0)
            }
        }
    }

    super::deserialize_lists_with!(list);

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.map(true, visitor)
    }

    /// Derived implementations check for duplicate members.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.map(false, visitor)
    }

    /// The name of a variant, or a map with one entry.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        const EXPECTED: &str = "a variant: its name, or a map of one entry";
        let reader = self.0;
        reader.skip_extensions()?;
        let start = reader.position();
        match reader.kind()? {
            Kind::String => {
                let name = reader.str(Member::DOCUMENT)?;
                with_position(visitor.visit_enum(name.into_deserializer()), start, reader)
            }
            Kind::Map => {
                let mut seq = reader.begin(Container::Map, Member::DOCUMENT)?;
                let invalid = || Error::new(ErrorKind::InvalidValue).expected(EXPECTED);
                if !reader.next_element(true, &mut seq)? {
                    return Err(reader.locate(invalid(), start));
                }
                let value = with_position(visitor.visit_enum(Variant(reader)), start, reader)?;
                if reader.next_element(true, &mut seq)? {
                    return Err(reader.locate(invalid(), start));
                }
                Ok(value)
            }
            _ => Err(reader.error(ErrorKind::WrongType, EXPECTED)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.skip_value()?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        R::HUMAN_READABLE
    }
}
