//! The numbers of serde_json.
//!
//! With its feature `arbitrary_precision` serde_json gives each number as a map of one
//! entry, whose key is a name of its own and whose value holds the digits. Cargo
//! unifies features, so any crate of a build may switch that on; numbers are
//! therefore recognised in that form too.
//!
//! A sender can write such a map out. What tells the two apart is who owns the text:
//! serde_json lends its key, and gives the digits away; of a JSON text it lends both,
//! and of its own values it gives both away or lends both. Formats of ours lend no key
//! that is asked for as [`Key`]. One map is taken for the number that it spells all the
//! same: one whose digits stand in a JSON text with an escape, which serde_json must
//! undo and cannot lend. Whoever can send it could have sent the number.

use std::fmt;

use polywire_text::Text;
use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, Visitor};

use crate::{BigDecimal, Value};

/// The key under which serde_json hides the digits of a number.
pub const NUMBER: &str = "$serde_json::private::Number";

/// A key of a map, and whether it was lent.
pub(super) struct Key<'a> {
    pub(super) lent: &'a mut bool,
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
        *self.lent = true;
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

/// Digits that were not lent.
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

/// A number by JSON's grammar as the JSON reader reads it in a document: an
/// integer if it has neither fraction nor exponent, else a double; the digits
/// where those are too small.
#[doc(hidden)]
#[must_use]
pub fn number(digits: &str) -> Option<Value> {
    let (len, integer) = json_number(digits.as_bytes()).ok()?;
    if len < digits.len() {
        return None;
    }
    Some(match integer_prefix(digits.as_bytes()) {
        // An integer has no such zero: a double wrote it.
        _ if digits == "-0" => Value::Double(-0.0),
        Integer::Small(value, _) if integer => Value::Integer(value),
        _ if integer => Value::BigInteger(digits.parse().ok()?),
        _ => match parse_f64(digits.as_bytes()) {
            Ok(double) => Value::Double(double),
            Err(_) => Value::BigDecimal(BigDecimal::parse(Text::from(digits)).ok()?),
        },
    })
}
