//! Reading values.

use polywire_schema::{Container, Error, ErrorKind, Member};
use serde::de::value::SeqDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};

use super::access::{Elements, Variant};
use super::{Kind, SerdeReader};

type Result<T> = std::result::Result<T, Error>;

/// A reader of the next value.
pub(crate) struct ValueDeserializer<'a, R: ?Sized>(pub(crate) &'a mut R);

/// Reads the next value as a type of serde.
pub(crate) fn deserialize<'de, R, T>(reader: &mut R) -> Result<T>
where
    R: SerdeReader<'de> + ?Sized,
    T: Deserialize<'de>,
{
    let start = reader.position();
    at(T::deserialize(ValueDeserializer(reader)), start, reader)
}

/// Adds the position to an error of a visitor, which knows none.
#[inline(always)]
fn at<'de, T, R: SerdeReader<'de> + ?Sized>(
    result: Result<T>,
    start: usize,
    reader: &R,
) -> Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(located(error, start, reader)),
    }
}

#[cold]
fn located<'de, R: SerdeReader<'de> + ?Sized>(error: Error, start: usize, reader: &R) -> Error {
    if error.offset().is_some() || !error.is_sender_fault() {
        return error;
    }
    reader.locate(error, start)
}

impl<'de, R: SerdeReader<'de> + ?Sized> ValueDeserializer<'_, R> {
    /// A value of any type. `check_keys` says that no key of a map may come twice.
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
        at(result, start, reader)
    }

    #[inline]
    fn boolean<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_boolean() {
            Some(value) => at(visitor.visit_bool(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// A signed integer, or another value, which the visitor rejects.
    #[inline]
    fn signed<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_integer() {
            Some(value) => at(visitor.visit_i64(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// An integer, or another value, which the visitor rejects.
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
        at(result, start, self.0)
    }

    /// A floating-point number, or another value.
    #[inline]
    fn double<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_double() {
            Some(value) => at(visitor.visit_f64(value), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// Text, or another value.
    #[inline]
    fn string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_str() {
            Some(text) => at(visitor.visit_borrowed_str(text), start, self.0),
            None => self.any(true, visitor),
        }
    }

    /// Text for a type that keeps its own copy.
    #[inline]
    fn owned_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.quick_str() {
            Some(text) => at(visitor.visit_str(text), start, self.0),
            None => self.slow_string(visitor),
        }
    }

    #[inline(never)]
    fn slow_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let reader = self.0;
        let start = reader.position();
        reader.skip_extensions()?;
        if reader.kind()? != Kind::String {
            return ValueDeserializer(reader).any(true, visitor);
        }
        let result = reader.visit_string(false, visitor);
        at(result, start, reader)
    }

    /// A list, or another value.
    #[inline]
    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.kind()? {
            Kind::List => Elements::list(self.0, visitor),
            Kind::Bytes => self.list_of_bytes(visitor),
            _ => self.any(true, visitor),
        }
    }

    /// Bytes are a list of small numbers too.
    #[inline(never)]
    fn list_of_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        let bytes = self.0.byte_string()?;
        let items = SeqDeserializer::new(bytes.iter().copied());
        at(visitor.visit_seq(items), start, self.0)
    }

    /// A map, or another value.
    #[inline]
    fn map<V: Visitor<'de>>(self, check_keys: bool, visitor: V) -> Result<V::Value> {
        match self.0.is_map()? {
            true => Elements::map(self.0, check_keys, visitor),
            false => self.any(check_keys, visitor),
        }
    }
}

/// Methods that try the kind of value that the type expects, and pass any other value to the
/// visitor, which rejects it.
macro_rules! expect {
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

    expect! {
        signed: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64;
        integer: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        double: deserialize_f32 deserialize_f64;
        string: deserialize_char deserialize_str deserialize_identifier;
        owned_string: deserialize_string;
        list: deserialize_seq;
        boolean: deserialize_bool;
        deserialize_any: deserialize_bytes deserialize_byte_buf deserialize_unit;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.any(true, visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let start = self.0.position();
        match self.0.wide_integer()? {
            Some(bytes) => at(
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
            Some(bytes) => at(
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
        at(visitor.visit_unit(), start, reader)
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name.starts_with('$') {
            false => visitor.visit_newtype_struct(self),
            true => {
                let start = self.0.position();
                let result = self.0.own_newtype(name, visitor);
                at(result, start, self.0)
            }
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.map(true, visitor)
    }

    /// A structure checks itself that no member comes twice.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.map(false, visitor)
    }

    /// The name of a variant, or a map of one entry.
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
                at(visitor.visit_enum(name.into_deserializer()), start, reader)
            }
            Kind::Map => {
                let mut seq = reader.begin(Container::Map, Member::DOCUMENT)?;
                let one = || Error::new(ErrorKind::InvalidValue).expected(EXPECTED);
                if !reader.next_element(true, &mut seq)? {
                    return Err(reader.locate(one(), start));
                }
                let value = at(visitor.visit_enum(Variant(reader)), start, reader)?;
                if reader.next_element(true, &mut seq)? {
                    return Err(reader.locate(one(), start));
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
