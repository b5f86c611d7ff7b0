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
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::{BigDecimal, Value};

/// The key under which serde_json hides the digits of a number.
pub const NUMBER: &str = "$serde_json::private::Number";

/// The first key of a map.
pub(super) struct Key {
    pub(super) text: Text,
    lent: bool,
}

impl Key {
    /// Whether what comes under it may be the digits of a number.
    pub(super) fn is_number(&self) -> bool {
        self.lent && self.text == NUMBER
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_string(KeyVisitor)
    }
}

struct KeyVisitor;

impl KeyVisitor {
    fn given(text: Text) -> Key {
        Key { text, lent: false }
    }
}

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key, E> {
        Ok(Key {
            text: Text::from(text),
            lent: true,
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
        Ok(Self::given(Text::from(text)))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Key, E> {
        Ok(Self::given(Text::from(text)))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Key, E> {
        Text::from_utf8(bytes).map(Self::given).map_err(E::custom)
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Key, E> {
        Text::try_from(bytes).map(Self::given).map_err(E::custom)
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
