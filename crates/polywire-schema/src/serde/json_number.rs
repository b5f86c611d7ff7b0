//! The numbers of serde_json.
//!
//! With the feature `arbitrary_precision`, serde_json passes each number as a map with one entry: a
//! private key, and the digits as the value. Cargo unifies features, so any crate in a build can
//! enable the feature. So numbers have to be recognized in this form too.
//!
//! A message can contain a map with the same key. The two are distinguished by which strings are
//! borrowed:
//!
//! | source | key | digits |
//! |---|---|---|
//! | a number of serde_json | borrowed | owned |
//! | a map in JSON text | borrowed | borrowed |
//! | a map in a `serde_json::Value` | owned, or borrowed | same as the key |
//! | a map in a format of Polywire | owned | any |
//!
//! One map is mistaken for a number: a map in JSON text whose digits contain an escape, because
//! serde_json cannot borrow a string with escapes. This is harmless, because the sender could have
//! sent the number.

use std::fmt;

use polywire_text::Text;
use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, Visitor};

use crate::{BigDecimal, Value};

/// The private key of serde_json for the digits of a number.
pub const NUMBER: &str = "$serde_json::private::Number";

/// Reads a key of a map, and records whether it was borrowed.
pub(super) struct Key<'a> {
    pub(super) is_borrowed: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Text;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_string(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text, E> {
        *self.is_borrowed = true;
        Ok(Text::from(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Text::from_utf8(bytes).map_err(E::custom)
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Text, E> {
        Text::try_from(bytes).map_err(E::custom)
    }
}

/// The digits of a number. Rejects borrowed strings.
pub(super) struct Digits(pub(super) Text);

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_string(DigitsVisitor)
    }
}

struct DigitsVisitor;

impl<'de> Visitor<'de> for DigitsVisitor {
    type Value = Digits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the digits of a number")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Digits, E> {
        Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Digits, E> {
        Ok(Digits(Text::from(text)))
    }
}

/// Parses a number in the grammar of JSON. Like the JSON reader does for documents, returns an
/// integer if there is neither a fraction nor an exponent, and otherwise a double. If the number is
/// out of range, returns an arbitrary-precision number.
#[doc(hidden)]
#[must_use]
pub fn number(digits: &str) -> Option<Value> {
    let (len, is_integer) = json_number(digits.as_bytes()).ok()?;
    if len < digits.len() {
        return None;
    }
    Some(match integer_prefix(digits.as_bytes()) {
        // Integers have no negative zero.
        _ if digits == "-0" => Value::Double(-0.0),
        Integer::Small(value, _) if is_integer => Value::Integer(value),
        _ if is_integer => Value::BigInteger(digits.parse().ok()?),
        _ => match parse_f64(digits.as_bytes()) {
            Ok(double) => Value::Double(double),
            Err(_) => Value::BigDecimal(BigDecimal::parse(Text::from(digits)).ok()?),
        },
    })
}
