//! Timestamps and big numbers, which are tagged values in CBOR.
//!
//! serde has no types for them. They are newtypes with reserved names around text, and text is also
//! how other formats write them.

use polywire_schema::serde_names::{BIG_DECIMAL, BIG_INTEGER, ExtendedValue, TIMESTAMP, VALUE};
use polywire_schema::{Encoder as _, Error, Event, Member, TokenReader as _, Value};
use serde::Serialize;
use serde::de::value::StrDeserializer;
use serde::de::{IntoDeserializer, Visitor};

use super::super::{CborDecoder, CborEncoder};
use crate::serde::{ValueDeserializer, ValueSerializer, parse, timestamp_text};

type Result<T> = std::result::Result<T, Error>;

/// Writes a newtype with a reserved name.
pub(super) fn write<T: Serialize + ?Sized>(
    encoder: &mut CborEncoder,
    name: &'static str,
    value: &T,
) -> Result<()> {
    let document = Member::DOCUMENT;
    match name {
        TIMESTAMP => {
            let value = parse(encoder, value)?;
            encoder.timestamp(document, value);
        }
        BIG_INTEGER => {
            let value = parse(encoder, value)?;
            encoder.big_integer(document, &value);
        }
        BIG_DECIMAL => {
            let value = parse(encoder, value)?;
            encoder.big_decimal(document, &value);
        }
        _ => return value.serialize(ValueSerializer::new(encoder)),
    }
    Ok(())
}

/// Reads a newtype with a reserved name, as a newtype around text. Values that other writers have
/// written as text are accepted too.
pub(super) fn read<'de, V: Visitor<'de>>(
    decoder: &mut CborDecoder<'de>,
    name: &'static str,
    visitor: V,
) -> Result<V::Value> {
    if !matches!(name, TIMESTAMP | BIG_INTEGER | BIG_DECIMAL | VALUE) {
        return visitor.visit_newtype_struct(ValueDeserializer(decoder));
    }
    decoder.skip_unknown_tags()?;
    let text = match (name, decoder.peek() >> 5) {
        (VALUE, 6) => return tagged_value(decoder, visitor),
        // `Value` checks for duplicate keys itself.
        (VALUE, _) => return ValueDeserializer(decoder).any(false, visitor),
        (_, 3) => return visitor.visit_newtype_struct(ValueDeserializer(decoder)),
        (TIMESTAMP, _) => timestamp(decoder)?,
        (BIG_INTEGER, _) => decoder.big_integer(Member::DOCUMENT)?.as_str().to_owned(),
        _ => decoder.big_decimal(Member::DOCUMENT)?.as_str().to_owned(),
    };
    let text: StrDeserializer<'_, Error> = text.as_str().into_deserializer();
    visitor.visit_newtype_struct(text)
}

/// A timestamp as RFC 3339 text.
pub(super) fn timestamp(decoder: &mut CborDecoder<'_>) -> Result<String> {
    let start = decoder.at;
    let timestamp = decoder.timestamp(Member::DOCUMENT)?;
    let text = timestamp_text(timestamp);
    text.ok_or_else(|| decoder.invalid_value(start, "a timestamp within the years 0001 to 9999"))
}

/// A value with a tag.
fn tagged_value<'de, V: Visitor<'de>>(
    decoder: &mut CborDecoder<'de>,
    visitor: V,
) -> Result<V::Value> {
    let start = decoder.at;
    match decoder.tagged()? {
        Event::Scalar(Value::Timestamp(value)) => ExtendedValue::Timestamp(value).visit(visitor),
        Event::Scalar(Value::BigInteger(value)) => ExtendedValue::BigInteger(value).visit(visitor),
        Event::Scalar(Value::BigDecimal(value)) => ExtendedValue::BigDecimal(value).visit(visitor),
        Event::Scalar(Value::Integer(value)) => visitor.visit_i64(value),
        _ => Err(decoder.invalid_value(start, "a value of a known type after the tag")),
    }
}
