//! serde implementations of the big numbers.

use std::fmt;

use polywire_text::number::push_f64;
use polywire_text::{Malformed, Text};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use super::json_number::{Digits, Key, NUMBER};
use super::{BIG_DECIMAL, BIG_INTEGER};
use crate::{BigDecimal, BigInteger};

impl Serialize for BigInteger {
    /// Serializes the digits as text, because few formats have such numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(BIG_INTEGER, self.as_str())
    }
}

impl Serialize for BigDecimal {
    /// Serializes the number as text, because few formats have such numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(BIG_DECIMAL, self.as_str())
    }
}

impl<'de> Deserialize<'de> for BigInteger {
    /// Accepts text. Self-describing formats can also pass a number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        digits(
            BIG_INTEGER,
            deserializer,
            "an integer, or one as text",
            Self::parse,
        )
    }
}

impl<'de> Deserialize<'de> for BigDecimal {
    /// Accepts text. Self-describing formats can also pass a number. For a double, uses the
    /// shortest digits that represent it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        digits(
            BIG_DECIMAL,
            deserializer,
            "a decimal number, or one as text",
            Self::parse,
        )
    }
}

fn digits<'de, T, D: Deserializer<'de>>(
    name: &'static str,
    deserializer: D,
    expected: &'static str,
    parse: fn(Text) -> Result<T, Malformed>,
) -> Result<T, D::Error> {
    let visitor = DigitsVisitor(expected);
    let text = deserializer.deserialize_newtype_struct(name, visitor)?;
    parse(text).map_err(D::Error::custom)
}

/// Reads the digits of a number, or text.
struct DigitsVisitor(&'static str);

impl<'de> Visitor<'de> for DigitsVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        // Binary formats are often not self-describing.
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(self),
            false => deserializer.deserialize_str(self),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Text, E> {
        Ok(Text::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Text, E> {
        Ok(Text::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
        Ok(Text::from(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Text, E> {
        Ok(Text::from(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Text, E> {
        Ok(Text::from(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Text, E> {
        Ok(Text::from(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Text, E> {
        let mut digits = Vec::new();
        push_f64(&mut digits, value);
        Ok(Text::from(String::from_utf8_lossy(&digits)))
    }

    /// Accepts a number of serde_json: see [`super::json_number`].
    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Text, A::Error> {
        let mut is_borrowed = false;
        match items.next_key_seed(Key {
            is_borrowed: &mut is_borrowed,
        })? {
            Some(key) if is_borrowed && key == NUMBER => {
                items.next_value::<Digits>().map(|Digits(text)| text)
            }
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}
