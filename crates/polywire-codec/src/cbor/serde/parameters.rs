//! The parameters of a call.

use polywire_schema::{Error, ErrorKind, Member, Seq};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::super::CborDecoder;
use super::de::Reader;

type Result<T> = std::result::Result<T, Error>;

/// A reader of all parameters of a call.
pub(super) struct Parameters<'a, 'de>(pub(super) &'a mut CborDecoder<'de>);

impl<'de> Parameters<'_, 'de> {
    /// `wanted` is how many the type has, if it is known.
    fn read<V: Visitor<'de>>(self, wanted: Option<usize>, visitor: V) -> Result<V::Value> {
        let decoder = self.0;
        let seq = match decoder.bytes.is_empty() {
            true => Seq::default(),
            false => decoder.enter(4, Member::DOCUMENT)?,
        };
        let mut rest = Rest {
            ended: decoder.bytes.is_empty(),
            decoder,
            seq,
            read: 0,
            wanted,
        };
        let value = visitor.visit_seq(&mut rest)?;
        if rest.next()? {
            let most = wanted.unwrap_or(rest.read);
            return Err(rest.wrong_count(&format!("{most} parameters")));
        }
        Ok(value)
    }
}

/// The parameters that are left.
struct Rest<'a, 'de> {
    decoder: &'a mut CborDecoder<'de>,
    seq: Seq,
    ended: bool,
    read: usize,
    wanted: Option<usize>,
}

impl Rest<'_, '_> {
    fn next(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let more = self.decoder.next(&mut self.seq)?;
        self.ended = !more;
        Ok(more)
    }

    #[cold]
    fn wrong_count(&self, expected: &str) -> Error {
        use polywire_schema::Decoder as _;

        let error = self.decoder.error(ErrorKind::Unknown, "");
        error.expected(expected.to_owned()).found("one more")
    }
}

impl<'de> SeqAccess<'de> for &mut Rest<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let at = self.read;
        if self.next()? {
            self.read += 1;
            return seed.deserialize(Reader(self.decoder)).map(Some);
        }
        match self.wanted {
            Some(wanted) if at < wanted => {
                self.read += 1;
                seed.deserialize(Absent(&*self.decoder, at, wanted))
                    .map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// A parameter that did not come.
struct Absent<'a, 'de>(&'a CborDecoder<'de>, usize, usize);

impl<'de> Deserializer<'de> for Absent<'_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        use polywire_schema::Decoder as _;

        let Self(decoder, came, wanted) = self;
        let error = decoder.error(ErrorKind::Missing, "");
        let error = error.expected(format!("{wanted} parameters"));
        Err(error.found(came.to_string()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> Deserializer<'de> for Parameters<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.read(None, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.read(Some(len), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.read(Some(len), visitor)
    }

    /// No parameters at all.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        struct None;

        impl<'de> Visitor<'de> for None {
            type Value = ();

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("no parameters")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> std::result::Result<(), A::Error> {
                Ok(())
            }
        }

        self.read(Some(0), None)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    /// The type inside says what it wants.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        seq map struct enum identifier ignored_any
    }
}
