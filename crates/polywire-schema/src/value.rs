//! [`Value`]: a dynamically typed value.

use std::fmt;

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, ByteStream, EventStream, Map};

/// A dynamically typed value. It can hold a value of any shape, such as an XML-RPC value, a Smithy
/// document, or a structure without a generated type.
///
/// Structures and unions are maps with the member names as keys. Enums are strings, and integer
/// enums are integers. A `Value` has 32 bytes.
///
/// ```
/// use polywire_schema::{Map, Value};
///
/// let city = Value::from(Map::from_iter([
///     ("name", Value::from("Oslo")),
///     ("population", Value::from(709_037)),
/// ]));
/// assert_eq!(city["population"].as_i64(), Some(709_037));
/// assert!(city["mayor"].is_null());
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// JSON null or XML-RPC nil.
    #[default]
    Null,
    /// A boolean.
    Boolean(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// An integer that does not fit 64 bits.
    BigInteger(BigInteger),
    /// A 32-bit floating-point number.
    Float(f32),
    /// A 64-bit floating-point number.
    Double(f64),
    /// An arbitrary-precision decimal number.
    BigDecimal(BigDecimal),
    /// A string.
    String(Text),
    /// Bytes.
    Blob(Blob),
    /// Bytes that are read piece by piece: a blob with `@streaming`. Such blobs that are in memory are
    /// [`Value::Blob`]s.
    Stream(Box<ByteStream>),
    /// A stream of events: the value of a union with `@streaming`.
    Events(Box<EventStream<Value>>),
    /// A timestamp.
    Timestamp(Timestamp),
    /// A list.
    List(Vec<Value>),
    /// A map, a structure or a union.
    Map(Map),
}

const _: () = assert!(size_of::<Value>() == 32);

static NULL: Value = Value::Null;

impl Value {
    /// Returns the type of the value as a noun phrase for error messages, such as `a string`.
    #[must_use]
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::BigInteger(_) => "an integer",
            Self::Float(_) | Self::Double(_) | Self::BigDecimal(_) => "a number",
            Self::String(_) => "a string",
            Self::Blob(_) => "a blob",
            Self::Stream(_) => "a stream",
            Self::Events(_) => "a stream of events",
            Self::Timestamp(_) => "a timestamp",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// Returns whether the value is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns whether a structure is written without this member: it is null, or a stream of events, which is sent after
    /// the structure.
    #[inline]
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Null | Self::Events(_))
    }

    /// Returns the boolean, or `None` for other types.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the integer, or `None` for other types and big integers.
    #[must_use]
    pub const fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// Converts a number of any type to the nearest double. Returns `None` for other types.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(f64::from(*value)),
            Self::Double(value) => Some(*value),
            Self::BigInteger(value) => Some(BigDecimal::from(value.clone()).to_f64()),
            Self::BigDecimal(value) => Some(value.to_f64()),
            _ => None,
        }
    }

    /// Returns the string, or `None` for other types.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the bytes of a blob, or `None` for other types.
    #[must_use]
    pub fn as_blob(&self) -> Option<&[u8]> {
        match self {
            Self::Blob(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the stream of events. Returns `None` for other types.
    #[must_use]
    pub fn into_events(self) -> Option<EventStream<Self>> {
        match self {
            Self::Events(events) => Some(*events),
            _ => None,
        }
    }

    /// Converts a blob or stream to a stream. Returns `None` for other types.
    #[must_use]
    pub fn into_stream(self) -> Option<ByteStream> {
        match self {
            Self::Blob(value) => Some(value.into()),
            Self::Stream(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the timestamp, or `None` for other types.
    #[must_use]
    pub const fn as_timestamp(&self) -> Option<Timestamp> {
        match self {
            Self::Timestamp(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the items of a list, or `None` for other types.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the map, or `None` for other types.
    #[must_use]
    pub const fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(value) => Some(value),
            _ => None,
        }
    }

    /// Copies all strings and blobs that share the memory of a message.
    ///
    /// A decoded string or blob can be a range of the message, and then keeps the entire message in
    /// memory (see [`Text`]). Call this method before you store a value for longer than a call.
    ///
    /// ```
    /// use polywire_schema::{Body, Value};
    ///
    /// let body = Body::from(vec![b'x'; 1000]);
    /// let part = body.blob(&body.as_bytes()[..30]);
    /// let list = Value::List(vec![Value::Blob(part)]);
    /// let Value::Blob(stored) = &list.into_owned()[0] else { unreachable!() };
    /// assert_eq!(stored.heap_size(), 30);
    /// ```
    #[must_use]
    pub fn into_owned(self) -> Self {
        match self {
            Self::String(text) => Self::String(text.into_owned()),
            Self::Blob(blob) => Self::Blob(blob.into_owned()),
            Self::List(items) => Self::List(items.into_iter().map(Self::into_owned).collect()),
            Self::Map(map) => Self::Map(map.into_owned()),
            other => other,
        }
    }

    /// Returns the value of a key. Returns `None` if this is not a map or does not contain the key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }
}

impl std::ops::Index<&str> for Value {
    type Output = Value;

    /// Returns the value of a key, or null if this is not a map or does not contain the key.
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }
}

impl std::ops::Index<usize> for Value {
    type Output = Value;

    /// Returns an item of a list, or null if this is not a list or the index is out of bounds.
    fn index(&self, index: usize) -> &Value {
        self.as_list()
            .and_then(|list| list.get(index))
            .unwrap_or(&NULL)
    }
}

impl fmt::Debug for Value {
    /// Formats the value as JSON, with extensions for types that JSON does not have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::BigInteger(value) => fmt::Display::fmt(value, f),
            Self::Float(value) => write!(f, "{value:?}f32"),
            Self::Double(value) => value.fmt(f),
            Self::BigDecimal(value) => write!(f, "{value}dec"),
            Self::String(value) => value.fmt(f),
            Self::Blob(value) => value.fmt(f),
            Self::Stream(value) => value.fmt(f),
            Self::Events(value) => value.fmt(f),
            Self::Timestamp(value) => write!(f, "@{value}"),
            Self::List(value) => value.fmt(f),
            Self::Map(value) => value.fmt(f),
        }
    }
}

impl From<EventStream<Self>> for Value {
    fn from(events: EventStream<Self>) -> Self {
        Self::Events(Box::new(events))
    }
}

impl From<ByteStream> for Value {
    /// A blob if the bytes are in memory, otherwise a stream.
    fn from(stream: ByteStream) -> Self {
        match stream.as_blob() {
            Some(blob) => Self::Blob(blob.clone()),
            None => Self::Stream(Box::new(stream)),
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident,)*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from! {
    bool => Boolean,
    i8 => Integer,
    i16 => Integer,
    i32 => Integer,
    i64 => Integer,
    u8 => Integer,
    u16 => Integer,
    u32 => Integer,
    f32 => Float,
    f64 => Double,
    &str => String,
    String => String,
    Text => String,
    Vec<u8> => Blob,
    Blob => Blob,
    Timestamp => Timestamp,
    Vec<Value> => List,
    Map => Map,
    BigDecimal => BigDecimal,
}

impl From<BigInteger> for Value {
    /// Converts to [`Value::Integer`] if the number fits, otherwise to [`Value::BigInteger`].
    fn from(value: BigInteger) -> Self {
        match value.to_i64() {
            Some(value) => Self::Integer(value),
            None => Self::BigInteger(value),
        }
    }
}

impl From<u64> for Value {
    /// Converts to [`Value::Integer`] if the number fits, otherwise to [`Value::BigInteger`].
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self::Integer(value),
            Err(_) => Self::BigInteger(BigInteger::from_u64(value)),
        }
    }
}

impl From<usize> for Value {
    /// Like `From<u64>`: no supported platform has a larger `usize`.
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_numbers_keep_their_value() {
        assert_eq!(Value::from(5_u64), Value::Integer(5));
        assert_eq!(Value::from(vec![(); 3].len()), Value::Integer(3));
        assert_eq!(Value::from(i64::MAX as u64), Value::Integer(i64::MAX));
        let big = "18446744073709551615".parse().unwrap();
        assert_eq!(Value::from(u64::MAX), Value::BigInteger(big));
    }
}
