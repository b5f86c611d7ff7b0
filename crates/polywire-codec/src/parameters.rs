//! Deserializing the parameters of a call as one value, in any format.
//!
//! A tuple has one parameter for each element, a `Vec` contains all parameters, `()` means no
//! parameters, and any other type is the only parameter. Newtypes, `Box` and `Option` are read as
//! their contents. An `Option` is `None` if there are no parameters or the only parameter is null.

use polywire_schema::{Error, ErrorKind};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};

use crate::serde::is_reserved;

/// A source of parameters.
pub(crate) trait ParameterSource<'de> {
    /// The deserializer of one parameter.
    type Reader<'a>: Deserializer<'de, Error = Error>
    where
        Self: 'a;

    /// Moves to the next parameter. Returns `false` after the last one, also if called again.
    fn next(&mut self) -> Result<bool, Error>;

    /// The deserializer of the current parameter.
    fn reader(&mut self) -> Self::Reader<'_>;

    /// Whether there are no parameters, or null is the only one. Call it before [`next`](Self::next).
    /// If it returns `false`, no parameter has been consumed.
    fn is_none(&mut self) -> Result<bool, Error>;

    /// An error at the current position.
    fn error(&self, kind: ErrorKind) -> Error;
}

/// All parameters of a call.
pub(crate) struct Parameters<S>(pub(crate) S);

/// The error for fewer parameters than the type has.
#[cold]
fn too_few<'de>(source: &impl ParameterSource<'de>, count: usize, expected: usize) -> Error {
    let error = source.error(ErrorKind::Missing);
    error.expected(count_of(expected)).found(count_of(count))
}

/// The error for more parameters than the type has.
#[cold]
fn too_many<'de>(source: &impl ParameterSource<'de>, max: usize) -> Error {
    let expected = match max {
        0 => "no parameters".to_owned(),
        max => format!("at most {}", count_of(max)),
    };
    let error = source.error(ErrorKind::Unknown);
    error.expected(expected).found("one more")
}

fn count_of(parameters: usize) -> String {
    match parameters {
        0 => "none".to_owned(),
        1 => "1 parameter".to_owned(),
        count => format!("{count} parameters"),
    }
}

impl<'de, S: ParameterSource<'de>> Parameters<S> {
    /// Reads the parameters as a sequence of `expected` elements, if that is known.
    #[inline(always)]
    fn sequence<V: Visitor<'de>>(
        self,
        expected: Option<usize>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut access = ParameterAccess {
            source: self.0,
            expected,
            count: 0,
        };
        let value = visitor.visit_seq(&mut access)?;
        if access.source.next()? {
            return Err(too_many(&access.source, expected.unwrap_or(access.count)));
        }
        Ok(value)
    }

    /// Moves to the only parameter.
    fn first(&mut self) -> Result<(), Error> {
        match self.0.next()? {
            true => Ok(()),
            false => Err(too_few(&self.0, 0, 1)),
        }
    }

    /// Checks that there are no more than `max` parameters, which have been read.
    fn end(&mut self, max: usize) -> Result<(), Error> {
        match self.0.next()? {
            false => Ok(()),
            true => Err(too_many(&self.0, max)),
        }
    }
}

/// Defines methods that forward to the deserializer of the only parameter.
macro_rules! forward_to_only_parameter {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {
        $(
            fn $method<V: Visitor<'de>>(
                mut self,
                $($name: $type,)*
                visitor: V,
            ) -> Result<V::Value, Error> {
                self.first()?;
                let value = self.0.reader().$method($($name,)* visitor)?;
                self.end(1)?;
                Ok(value)
            }
        )*
    };
}

impl<'de, S: ParameterSource<'de>> Deserializer<'de> for Parameters<S> {
    type Error = Error;

    forward_to_only_parameter! {
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
        deserialize_str();
        deserialize_string();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.0.is_none()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !is_reserved(name) {
            return visitor.visit_newtype_struct(self);
        }
        self.first()?;
        let reader = self.0.reader();
        let value = reader.deserialize_newtype_struct(name, visitor)?;
        self.end(1)?;
        Ok(value)
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.end(0)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.sequence(None, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.sequence(Some(len), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.sequence(Some(len), visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        while self.0.next()? {
            let IgnoredAny = serde::Deserialize::deserialize(self.0.reader())?;
        }
        visitor.visit_unit()
    }
}

/// Access to the parameters as a sequence.
struct ParameterAccess<S> {
    source: S,
    expected: Option<usize>,
    count: usize,
}

impl<'de, S: ParameterSource<'de>> SeqAccess<'de> for &mut ParameterAccess<S> {
    type Error = Error;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.source.next()? {
            self.count += 1;
            return seed.deserialize(self.source.reader()).map(Some);
        }
        self.missing(seed)
    }
}

impl<'de, S: ParameterSource<'de>> ParameterAccess<S> {
    /// Deserializes an element after the last parameter.
    #[cold]
    fn missing<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(expected) = self.expected else {
            return Ok(None);
        };
        let missing = MissingParameter {
            source: &self.source,
            count: self.count,
            expected,
        };
        seed.deserialize(missing).map(Some)
    }
}

/// A missing parameter: `None` for an option, an error for any other type. The error also applies to
/// `()` and to types that accept any value, because the caller probably forgot the parameter.
struct MissingParameter<'a, S> {
    source: &'a S,
    count: usize,
    expected: usize,
}

impl<'de, S: ParameterSource<'de>> Deserializer<'de> for MissingParameter<'_, S> {
    type Error = Error;

    #[cold]
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(too_few(self.source, self.count, self.expected))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_none()
    }

    crate::serde::deserialize_transparent!();

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
