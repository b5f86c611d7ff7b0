//! The names of members, and the keys of maps.

use std::borrow::Cow;

use polywire_schema::Error;
use polywire_schema::serde_names::NUMBER_KEY;
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};

/// The name of a member as it stands in the message. Maps may have keys of other types,
/// which names say.
pub(super) struct PlainKey<'de>(pub(super) &'de str);

/// The same, however it came about.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

/// Whether a name is how a number or boolean is written: two names are then two keys.
fn is_canonical(name: &str) -> bool {
    match name.strip_prefix('-').unwrap_or(name) {
        "0" => name == "0",
        digits => !digits.starts_with(['0', '+']),
    }
}

/// Names as what they are, and as keys that are no text.
macro_rules! keys {
    ($type:ident, $own:ident, $visitor:ident => $visit:expr, $($method:ident $visit_as:ident;)*) => {
        impl<'de> Deserializer<'de> for $type<'de> {
            type Error = Error;

            #[inline]
            fn deserialize_any<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, Error> {
                let $own = self.0;
                $visit
            }

            #[inline]
            fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.deserialize_any(visitor)
            }

            /// Who asks for a string of its own is lent none: keys of values are asked so.
            #[inline]
            fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                match Cow::from(self.0) {
                    Cow::Borrowed(name) => visitor.visit_str(name),
                    Cow::Owned(name) => visitor.visit_string(name),
                }
            }

            $(
                fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                    match self.0.parse() {
                        Ok(value) if is_canonical(&self.0) => visitor.$visit_as(value),
                        _ => Err(Error::invalid_value(Unexpected::Str(&self.0), &visitor)),
                    }
                }
            )*

            fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                visitor.visit_some(self)
            }

            fn deserialize_newtype_struct<V: Visitor<'de>>(
                self,
                _: &'static str,
                visitor: V,
            ) -> Result<V::Value, Error> {
                visitor.visit_newtype_struct(self)
            }

            fn deserialize_enum<V: Visitor<'de>>(
                self,
                _: &'static str,
                _: &'static [&'static str],
                visitor: V,
            ) -> Result<V::Value, Error> {
                visitor.visit_enum(self.0.into_deserializer())
            }

            serde::forward_to_deserialize_any! {
                f32 f64 char str bytes byte_buf unit unit_struct seq tuple tuple_struct map
                struct ignored_any
            }
        }
    };
}

/// Both kinds of names, and all types that keys may have.
macro_rules! all_keys {
    ($type:ident, $own:ident, $visitor:ident => $visit:expr) => {
        keys! {
            $type, $own, $visitor => $visit,
            deserialize_bool visit_bool;
            deserialize_i8 visit_i8;
            deserialize_i16 visit_i16;
            deserialize_i32 visit_i32;
            deserialize_i64 visit_i64;
            deserialize_i128 visit_i128;
            deserialize_u8 visit_u8;
            deserialize_u16 visit_u16;
            deserialize_u32 visit_u32;
            deserialize_u64 visit_u64;
            deserialize_u128 visit_u128;
        }
    };
}

all_keys!(PlainKey, name, visitor => lend(name, visitor));
all_keys!(Key, name, visitor => match name {
    Cow::Borrowed(name) => lend(name, visitor),
    Cow::Owned(name) => visitor.visit_string(name),
});

/// Lends a name, but for that by which serde_json hands its numbers over: types that keep what
/// they read would lend it to others, who take it for serde_json's.
#[inline]
fn lend<'de, V: Visitor<'de>>(name: &'de str, visitor: V) -> Result<V::Value, Error> {
    match name == NUMBER_KEY {
        true => visitor.visit_str(name),
        false => visitor.visit_borrowed_str(name),
    }
}
