//! The big numbers.

use std::fmt;

use polywire_text::number::push_f64;
use polywire_text::{Malformed, Text};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use super::foreign::{Digits, Key, NUMBER};
use super::{BIG_DECIMAL, BIG_INTEGER};
use crate::{BigDecimal, BigInteger};

impl Serialize for BigInteger {
    /// The digits as text: few formats have such numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(BIG_INTEGER, self.as_str())
    }
}

impl Serialize for BigDecimal {
    /// The number as text: few formats have such numbers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(BIG_DECIMAL, self.as_str())
    }
}

impl<'de> Deserialize<'de> for BigInteger {
    /// Text, or a number where the format tells one from the other.
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
    /// Text, or a number where the format tells one from the other. A format
    /// that keeps no digits gives the shortest that mean its double.
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

/// The digits of a number or of text.
struct DigitsVisitor(&'static str);

impl<'de> Visitor<'de> for DigitsVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        // Formats that are not for people often cannot tell what comes.
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

    /// A number of serde_json.
    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Text, A::Error> {
        let mut lent = false;
        match items.next_key_seed(Key { lent: &mut lent })? {
            Some(key) if lent && key == NUMBER => {
                items.next_value::<Digits>().map(|Digits(text)| text)
            }
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}
