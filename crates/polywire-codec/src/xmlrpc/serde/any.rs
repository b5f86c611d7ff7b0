//! Values whose type the message tells.

use std::borrow::Cow;

use polywire_schema::serde_names::ExtendedValue;
use polywire_schema::{Decoder, Error, ErrorKind, Event, Timestamp, Value};
use serde::de::{Deserializer, Error as _, Unexpected, Visitor};

use super::de::Reader;
use crate::integers;
use crate::xmlrpc::XmlRpcDecoder;
use crate::xmlrpc::value::Type;

impl<'de> Reader<'_, 'de> {
    /// A string, however it is spelled, or a date as one.
    #[inline(never)]
    pub(super) fn any_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = self.decoder;
        let start = decoder.cursor.at;
        if !decoder.empty_value && decoder.cursor.skip(b"<string>") {
            if let Some(text) = decoder.escaped_text() {
                let visited = visitor.visit_str(&text);
                return visited.map_err(|error| decoder.placed(error, start));
            }
            decoder.cursor.at = start;
        }
        let text = match decoder.is_date() {
            true => {
                let value = decoder.any_timestamp()?;
                Cow::Owned(iso_8601(value, decoder, start)?)
            }
            false => decoder.string()?,
        };
        let visited = match text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        visited.map_err(|error| decoder.placed(error, start))
    }

    /// Hands a scalar over. Without optimizations its variables would stand on the stack at
    /// every level of a nested value.
    #[cfg_attr(debug_assertions, inline(never))]
    fn visit_scalar<V: Visitor<'de>>(
        self,
        value: Value,
        start: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let decoder = &mut *self.decoder;
        let visited = match value {
            Value::Null => visitor.visit_unit(),
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Integer(value) => visitor.visit_i64(value),
            Value::BigInteger(value) if self.for_value => {
                ExtendedValue::BigInteger(value).visit(visitor)
            }
            Value::BigInteger(value) => integers::visit(&value, visitor),
            Value::Double(value) => visitor.visit_f64(value),
            Value::BigDecimal(value) if self.for_value => {
                ExtendedValue::BigDecimal(value).visit(visitor)
            }
            Value::BigDecimal(value) => visitor.visit_str(value.as_str()),
            Value::Blob(value) => visitor.visit_byte_buf(value.to_vec()),
            Value::Timestamp(value) if self.for_value => {
                ExtendedValue::Timestamp(value).visit(visitor)
            }
            Value::Timestamp(value) => visitor.visit_string(iso_8601(value, decoder, start)?),
            // The reader makes no others.
            _ => Err(Error::invalid_type(Unexpected::Other("a value"), &visitor)),
        };
        visited.map_err(|error| self.decoder.placed(error, start))
    }

    /// Whatever stands there.
    pub(super) fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let decoder = &mut *self.decoder;
        let start = decoder.cursor.at;
        let (kind, _) = decoder.value_type()?;
        decoder.cursor.at = start;
        let value = match kind {
            Type::String | Type::Untyped => return self.deserialize_str(visitor),
            _ => match decoder.any()? {
                Event::List(seq) => return self.sequence(seq, visitor),
                // A value sees to it itself that none comes twice.
                Event::Map(seq) => {
                    let distinct = !self.for_value;
                    return self.mapping(seq, distinct, visitor);
                }
                Event::Scalar(value) => value,
                _ => return Err(decoder.error(ErrorKind::Internal, "a value")),
            },
        };
        self.visit_scalar(value, start, visitor)
    }
}

/// An instant as text that types of other crates read: with a zone if it has one.
fn iso_8601(
    value: Timestamp,
    decoder: &mut XmlRpcDecoder<'_>,
    start: usize,
) -> Result<String, Error> {
    let mut text = Vec::with_capacity(32);
    if let Err(malformed) = value.push_date_time(&mut text) {
        return Err(decoder.invalid(start, malformed.expected));
    }
    if value.is_unzoned() {
        // The `Z`.
        text.pop();
    }
    // A date is ASCII, so nothing is lost.
    Ok(String::from_utf8_lossy(&text).into_owned())
}
