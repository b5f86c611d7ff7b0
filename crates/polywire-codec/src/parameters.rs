//! The parameters of a call as one type of serde, in any format.
//!
//! A tuple has a parameter an element, a `Vec` takes them all, `()` has none, and any
//! other type is the one parameter. What only wraps another type is what it wraps: a
//! newtype, a `Box`, an `Option`. `None` is no parameters, and so is a nil alone.

use polywire_schema::{Error, ErrorKind};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// Where parameters come from.
pub(crate) trait Source<'de> {
    /// What reads the value of one.
    type Reader<'a>: Deserializer<'de, Error = Error>
    where
        Self: 'a;

    /// Goes to the next parameter; `false` behind the last, from then on.
    fn next(&mut self) -> Result<bool, Error>;

    /// The reader of the parameter that [`next`](Self::next) went to.
    fn reader(&mut self) -> Self::Reader<'_>;

    /// Before the first: whether there are none, or a nil alone. If not, the first still
    /// comes next.
    fn is_nothing(&mut self) -> Result<bool, Error>;

    /// An error at the reader.
    fn error(&self, kind: ErrorKind) -> Error;
}

/// All parameters of a call.
pub(crate) struct Parameters<S>(pub(crate) S);

/// Whether the name of a newtype is one of ours: a value of a format, whatever it wraps.
pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with('$')
}

/// Fewer came than the type has.
#[cold]
fn few<'de>(source: &impl Source<'de>, came: usize, wanted: usize) -> Error {
    let error = source.error(ErrorKind::Missing);
    error.expected(count_of(wanted)).found(count_of(came))
}

/// More came than the type has.
#[cold]
fn many<'de>(source: &impl Source<'de>, most: usize) -> Error {
    let expected = match most {
        0 => "no parameters".to_owned(),
        most => format!("at most {}", count_of(most)),
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

impl<'de, S: Source<'de>> Parameters<S> {
    /// Reads parameters one by one: so many, if the type says how many it has.
    #[inline(always)]
    fn each<V: Visitor<'de>>(self, wanted: Option<usize>, visitor: V) -> Result<V::Value, Error> {
        let mut each = Each {
            source: self.0,
            wanted,
            came: 0,
        };
        let value = visitor.visit_seq(&mut each)?;
        if each.source.next()? {
            return Err(many(&each.source, wanted.unwrap_or(each.came)));
        }
        Ok(value)
    }

    /// Goes to the only parameter.
    fn first(&mut self) -> Result<(), Error> {
        match self.0.next()? {
            true => Ok(()),
            false => Err(few(&self.0, 0, 1)),
        }
    }

    /// Sees to it that no more than `most` have come.
    fn end(&mut self, most: usize) -> Result<(), Error> {
        match self.0.next()? {
            false => Ok(()),
            true => Err(many(&self.0, most)),
        }
    }
}

/// What a type of one value asks for, forwarded to the only parameter.
macro_rules! only {
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

impl<'de, S: Source<'de>> Deserializer<'de> for Parameters<S> {
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
        match self.0.is_nothing()? {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !is_own(name) {
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

    fn deserialize_ignored_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        while self.0.next()? {
            let IgnoredAny = serde::Deserialize::deserialize(self.0.reader())?;
        }
        visitor.visit_unit()
    }
}

/// Parameters one by one.
struct Each<S> {
    source: S,
    wanted: Option<usize>,
    came: usize,
}

impl<'de, S: Source<'de>> SeqAccess<'de> for &mut Each<S> {
    type Error = Error;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.source.next()? {
            self.came += 1;
            return seed.deserialize(self.source.reader()).map(Some);
        }
        self.absent(seed)
    }
}

impl<'de, S: Source<'de>> Each<S> {
    /// Behind the last parameter.
    #[cold]
    fn absent<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(wanted) = self.wanted else {
            return Ok(None);
        };
        let absent = Absent {
            source: &self.source,
            came: self.came,
            wanted,
        };
        seed.deserialize(absent).map(Some)
    }
}

/// A parameter that did not come: nothing for an option, an error for all else. What
/// takes anything, or nothing at all, is no option: who sends one parameter of two has
/// forgotten one.
struct Absent<'a, S> {
    source: &'a S,
    came: usize,
    wanted: usize,
}

impl<'de, S: Source<'de>> Deserializer<'de> for Absent<'_, S> {
    type Error = Error;

    #[cold]
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(few(self.source, self.came, self.wanted))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
