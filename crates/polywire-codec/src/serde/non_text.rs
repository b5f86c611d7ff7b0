//! A visitor for values that must not be accepted as text.

use std::fmt;

use serde::de::{Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// A visitor that rejects text with a type error. It passes any other value to `visitor`.
///
/// Formats pass some values as text although they are not strings, such as the digits of numbers that
/// serde has no type for. Most visitors for strings or bytes would accept them. This one is used if
/// a number stands where a type expects text, and for types that expect bytes in formats where bytes
/// are base64.
pub(crate) struct NonText<V> {
    pub(crate) visitor: V,
    /// What the text is, for the error.
    pub(crate) found: &'static str,
}

macro_rules! forward {
    ($($method:ident($type:ty);)*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for NonText<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(formatter)
    }

    /// The default methods for borrowed and owned text call this one.
    #[cold]
    fn visit_str<E: Error>(self, _: &str) -> Result<V::Value, E> {
        Err(E::invalid_type(
            Unexpected::Other(self.found),
            &self.visitor,
        ))
    }

    forward! {
        visit_bool(bool);
        visit_i64(i64);
        visit_i128(i128);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(value)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(entries)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(variant)
    }
}
