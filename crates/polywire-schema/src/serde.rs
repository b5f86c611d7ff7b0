//! `Value`, `Map` and the big numbers through serde.
//!
//! serde_json with `arbitrary_precision` gives each number as a map of one
//! entry, whose key is a name of its own and whose value holds the digits.
//! Cargo unifies features, so any crate of a build may switch that on; numbers
//! are therefore recognised in that form too.

use std::fmt;

use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64, push_f64};
use polywire_text::{Blob, Malformed, Text};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::error::quoted;
use crate::{BigDecimal, BigInteger, Error, ErrorKind, Map, Value};

/// The key under which serde_json hides the digits of a number.
pub const NUMBER: &str = "$serde_json::private::Number";

/// The newtype as which a value is asked of a format: ours then give timestamps as
/// such, which to others are strings.
#[doc(hidden)]
pub const TOKEN: &str = "$polywire::Value";

/// The key of the map of one entry as which our formats give a timestamp, by RFC
/// 3339, to who asks for a value.
#[doc(hidden)]
pub const TIMESTAMP: &str = "$polywire::private::Timestamp";

/// The same of a decimal number, by its digits.
#[doc(hidden)]
pub const DECIMAL: &str = "$polywire::private::BigDecimal";

/// The newtypes as which big numbers are given to a format and asked of it, around
/// their digits: text to others, numbers to those of ours that have such numbers.
#[doc(hidden)]
pub const BIG_INTEGER: &str = "$polywire::BigInteger";
#[doc(hidden)]
pub const BIG_DECIMAL: &str = "$polywire::BigDecimal";

impl Serialize for Value {
    /// Blobs and timestamps as they are by themselves, numbers beyond 64 bits
    /// as text: read back, they are strings in most formats.
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
            Self::Timestamp(value) => value.serialize(serializer),
            Self::List(list) => {
                let mut seq = serializer.serialize_seq(Some(list.len()))?;
                for item in list {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
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
        deserializer.deserialize_newtype_struct(TOKEN, ValueVisitor)
    }
}

/// A number by JSON's grammar as the JSON reader reads it in a document: an
/// integer if it has neither fraction nor exponent, else a double; the digits
/// where those are too small.
fn number(digits: &str) -> Option<Value> {
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

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
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
        while let Some(entry) = items.next_entry()? {
            entries.push(entry);
        }
        if let [(key, Value::String(text))] = &entries[..] {
            if *key == NUMBER
                && let Some(number) = number(text)
            {
                return Ok(number);
            }
            if *key == DECIMAL
                && let Ok(decimal) = BigDecimal::parse(text.clone())
            {
                return Ok(Value::BigDecimal(decimal));
            }
            if *key == TIMESTAMP
                && let Ok(timestamp) = text.parse()
            {
                return Ok(Value::Timestamp(timestamp));
            }
        }
        distinct(entries).map(Value::Map)
    }
}

fn distinct<E: serde::de::Error>(entries: Vec<(Text, Value)>) -> Result<Map, E> {
    Map::from_entries(entries).map_err(|(position, entries)| {
        let key = quoted(&entries[position].0);
        E::custom(format_args!("key {key} given twice"))
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
        distinct(entries)
    }
}

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
        match items.next_entry::<Text, Text>()? {
            Some((key, digits)) if key == NUMBER => Ok(digits),
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}

fn big_integer<E: serde::de::Error>(digits: &str) -> Result<Value, E> {
    let digits: BigInteger = digits.parse().map_err(E::custom)?;
    Ok(Value::BigInteger(digits))
}

/// What a type makes of what it is given. Offset and path are the reader's to add.
impl serde::de::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::InvalidValue).found(message.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(ErrorKind::WrongType)
            .expected(noun(expected))
            .found(unexpected(found))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(ErrorKind::InvalidValue)
            .expected(noun(expected))
            .found(unexpected(found))
    }

    #[cold]
    fn invalid_length(len: usize, expected: &dyn serde::de::Expected) -> Self {
        Self::new(ErrorKind::InvalidValue)
            .expected(noun(expected))
            .found(format!("{len} of them"))
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::Unknown)
            .expected(one_of(expected))
            .found(quoted(variant))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::Unknown)
            .expected(one_of(expected))
            .found(quoted(field))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Missing).expected(format!("the member `{field}`"))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Duplicate)
            .expected("each member once")
            .found(format!("`{field}`"))
    }
}

impl serde::ser::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Unwritable).found(message.to_string())
    }
}

/// What serde calls a type, as people do.
fn noun(expected: &dyn serde::de::Expected) -> String {
    let name = expected.to_string();
    let noun = match &*name {
        "i8" => "an integer of 8 bits",
        "i16" => "an integer of 16 bits",
        "i32" => "an integer of 32 bits",
        "i64" | "isize" => "an integer of 64 bits",
        "i128" => "an integer of 128 bits",
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 2^32 - 1",
        "u64" | "usize" => "an integer from 0 to 2^64 - 1",
        "u128" => "an integer from 0 to 2^128 - 1",
        "f32" | "f64" => "a number",
        "unit" => "nothing",
        "byte array" => "bytes",
        _ => return name,
    };
    noun.to_owned()
}

/// What came, short, and without what must not reach a log raw.
fn unexpected(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Str(text) => quoted(text),
        Unexpected::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        other => other.to_string(),
    }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [name] => format!("`{name}`"),
        names => format!("one of `{}`", names.join("`, `")),
    }
}
