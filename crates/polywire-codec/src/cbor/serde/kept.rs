//! Types of ours that have a form of their own in CBOR, though serde has none for
//! them.
//!
//! To serde they are a newtype around text, which is what other formats make of
//! them; the name of that newtype tells ours what they are.

use polywire_schema::serde_names::{
    BIG_DECIMAL, BIG_INTEGER, Handed, TIMESTAMP, VALUE, number_of_digits,
};
use polywire_schema::{BigDecimal, BigInteger, Decoder, Encoder, Error, Member, Text, Timestamp};
use polywire_text::utf8;
use serde::de::value::StrDeserializer;
use serde::de::{IntoDeserializer, Visitor};

use super::super::{CborDecoder, CborEncoder};
use super::de::{Reader, at, timestamp};
use super::unwritable;

type Result<T> = std::result::Result<T, Error>;

/// A type that is more than the text in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kept {
    Timestamp,
    BigInteger,
    BigDecimal,
    /// Any value: what is one of the others says so.
    Value,
}

impl Kept {
    /// The type that the name of a newtype stands for.
    #[inline]
    pub(super) fn of(name: &str) -> Option<Self> {
        if !name.starts_with('$') {
            return None;
        }
        match name {
            TIMESTAMP => Some(Self::Timestamp),
            BIG_INTEGER => Some(Self::BigInteger),
            BIG_DECIMAL => Some(Self::BigDecimal),
            VALUE => Some(Self::Value),
            _ => None,
        }
    }

    /// Writes the text, and then what it says in its place.
    pub(super) fn write(
        self,
        encoder: &mut CborEncoder,
        write: impl FnOnce(&mut CborEncoder) -> Result<()>,
    ) -> Result<()> {
        let start = encoder.out.len();
        write(encoder)?;
        if self == Self::Value {
            return Ok(());
        }
        let text = Text::from(text_of(&encoder.out[start..])?);
        encoder.out.truncate(start);
        let document = Member::DOCUMENT;
        match self {
            Self::Timestamp => match text.parse::<Timestamp>() {
                Ok(value) => encoder.timestamp(document, value),
                Err(malformed) => return Err(unwritable(malformed.expected)),
            },
            Self::BigInteger => match text.parse::<BigInteger>() {
                Ok(value) => encoder.big_integer(document, &value),
                Err(malformed) => return Err(unwritable(malformed.expected)),
            },
            Self::BigDecimal => match text.parse::<BigDecimal>() {
                Ok(value) => encoder.big_decimal(document, &value),
                Err(malformed) => return Err(unwritable(malformed.expected)),
            },
            Self::Value => {}
        }
        Ok(())
    }

    /// Reads it as a newtype around the text.
    pub(super) fn read<'de, V: Visitor<'de>>(
        self,
        reader: Reader<'_, 'de>,
        visitor: V,
    ) -> Result<V::Value> {
        let decoder = reader.0;
        let start = decoder.at;
        // Text is what other writers have for all of them.
        decoder.skip_plain_tags()?;
        let text = match (self, decoder.peek() >> 5) {
            (Self::Value, 6) => return value(decoder, start, visitor),
            // A value sees to it itself that no key comes twice.
            (Self::Value, _) => return Reader(decoder).any_by::<(), V>(visitor),
            (_, 3) => return visitor.visit_newtype_struct(Reader(decoder)),
            (Self::Timestamp, _) => timestamp(decoder)?,
            (Self::BigInteger, _) => decoder.big_integer(Member::DOCUMENT)?.as_str().to_owned(),
            (Self::BigDecimal, _) => decoder.big_decimal(Member::DOCUMENT)?.as_str().to_owned(),
        };
        let text: StrDeserializer<'_, Error> = text.as_str().into_deserializer();
        at(decoder, start, visitor.visit_newtype_struct(text))
    }
}

/// Writes the digits of a number of serde_json, and then the number in their place.
#[cold]
pub(super) fn number(
    encoder: &mut CborEncoder,
    write: impl FnOnce(&mut CborEncoder) -> Result<()>,
) -> Result<()> {
    let start = encoder.out.len();
    write(encoder)?;
    let Some(number) = number_of_digits(text_of(&encoder.out[start..])?) else {
        return Err(unwritable("the digits of a number"));
    };
    encoder.out.truncate(start);
    encoder.document_value(&number);
    Ok(())
}

/// The text of a text string that our own writer has written.
fn text_of(bytes: &[u8]) -> Result<&str> {
    let text = match *bytes {
        [0x60..0x78, ref text @ ..] => text,
        [0x78, _, ref text @ ..] => text,
        [0x79, _, _, ref text @ ..] => text,
        _ => return Err(unwritable("text for a number or a timestamp")),
    };
    utf8::validate(text).map_err(|malformed| unwritable(malformed.expected))
}

/// A value that a tag says more of.
fn value<'de, V: Visitor<'de>>(
    decoder: &mut CborDecoder<'de>,
    start: usize,
    visitor: V,
) -> Result<V::Value> {
    use polywire_schema::{Event, Value};

    let result = match decoder.tagged()? {
        Event::Scalar(Value::Timestamp(value)) => Handed::Timestamp(value).visit(visitor),
        Event::Scalar(Value::BigInteger(value)) => Handed::BigInteger(value).visit(visitor),
        Event::Scalar(Value::BigDecimal(value)) => Handed::BigDecimal(value).visit(visitor),
        Event::Scalar(Value::Integer(value)) => visitor.visit_i64(value),
        _ => return Err(decoder.invalid(start, "a value behind a tag")),
    };
    at(decoder, start, result)
}
