//! serde implementations of [`Value`] and [`Map`].

use std::fmt;

use polywire_text::{Blob, Text};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::error::EACH_KEY_ONCE;
use super::json_number::{self, Key, NUMBER};
use super::{TOKEN, extended};
use crate::{BigInteger, Map, Value};

impl Serialize for Value {
    /// Serializes blobs, timestamps and big numbers with their own implementations, which use text
    /// in most formats. Such text deserializes as a string.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::BigInteger(value) => value.serialize(serializer),
            Self::Float(value) => serializer.serialize_f32(*value),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::BigDecimal(value) => value.serialize(serializer),
            Self::String(value) => serializer.serialize_str(value),
            Self::Blob(value) => value.serialize(serializer),
            Self::Stream(_) | Self::Events(_) => Err(serde::ser::Error::custom(
                "a stream cannot be serialized: collect it first",
            )),
            Self::Timestamp(value) => value.serialize(serializer),
            Self::List(list) => serializer.serialize_newtype_struct(TOKEN, list),
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            entries.serialize_entry(key, value)?;
        }
        entries.end()
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueVisitor::default().deserialize(deserializer)
    }
}

#[derive(Default)]
struct ValueVisitor<'a> {
    /// Set to `true` if the value is a borrowed string.
    is_borrowed: Option<&'a mut bool>,
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(TOKEN, self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(Value::Integer(value)),
            Err(_) => big_integer(&value.to_string()),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.visit_u128(value.into())
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(Value::Integer(value)),
            Err(_) => big_integer(&value.to_string()),
        }
    }

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Double(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Value, E> {
        if let Some(is_borrowed) = self.is_borrowed {
            *is_borrowed = true;
        }
        Ok(Value::String(Text::from(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(Text::from(value)))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(Text::from(value)))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(Value::Blob(Blob::from(value)))
    }

    fn visit_byte_buf<E>(self, value: Vec<u8>) -> Result<Value, E> {
        Ok(Value::Blob(Blob::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(Text, Value)> = Vec::new();
        let mut is_borrowed = false;
        while let Some(key) = items.next_key_seed(Key {
            is_borrowed: &mut is_borrowed,
        })? {
            if is_borrowed && key == NUMBER && entries.is_empty() {
                return number_or_map(key, items);
            }
            entries.push((key, items.next_value()?));
        }
        unique_entries(entries).map(Value::Map)
    }

    /// Accepts an [`ExtendedValue`](super::ExtendedValue).
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        extended::receive(data)
    }
}

/// Reads a number of serde_json, or a map that begins like one.
#[cold]
fn number_or_map<'de, A: MapAccess<'de>>(key: Text, mut items: A) -> Result<Value, A::Error> {
    let mut is_borrowed = false;
    let value = items.next_value_seed(ValueVisitor {
        is_borrowed: Some(&mut is_borrowed),
    })?;
    let number = match &value {
        Value::String(digits) if !is_borrowed => json_number::number(digits),
        _ => None,
    };
    let mut entries = vec![(key, value)];
    while let Some(entry) = items.next_entry()? {
        entries.push(entry);
    }
    match number {
        Some(number) if entries.len() == 1 => Ok(number),
        _ => unique_entries(entries).map(Value::Map),
    }
}

/// Creates a map from entries. Rejects duplicate keys.
fn unique_entries<E: serde::de::Error>(entries: Vec<(Text, Value)>) -> Result<Map, E> {
    Map::from_entries(entries).map_err(|(position, entries)| {
        let key = Unexpected::Str(&entries[position].0);
        E::invalid_value(key, &EACH_KEY_ONCE)
    })
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Map, A::Error> {
        let mut entries: Vec<(Text, Value)> = Vec::new();
        while let Some(entry) = items.next_entry()? {
            entries.push(entry);
        }
        unique_entries(entries)
    }
}

fn big_integer<E: serde::de::Error>(digits: &str) -> Result<Value, E> {
    let digits: BigInteger = digits.parse().map_err(E::custom)?;
    Ok(Value::BigInteger(digits))
}
