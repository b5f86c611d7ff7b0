//! The reference implementation of [`cbor`](crate::cbor): RFC 8949.

mod big;
mod parse;
mod write;

pub use write::CborEncoder;

use polywire_schema::{
    BigDecimal, BigInteger, Error, Limits, ShapeKind, Timestamp, TimestampFormat, Value,
};
use polywire_text::number;

use super::decode::TreeDecoder;
use super::encode::digits;
use super::format::{DecodeFormat, Format, Input, Options};
use super::node::{Data, check_bytes};
use crate::cbor::CborProfile;

/// The known tags, section 3.4.
const DATE_TIME: u64 = 0;
const EPOCH: u64 = 1;
const UNSIGNED: u64 = 2;
const NEGATIVE: u64 = 3;
const DECIMAL: u64 = 4;

/// CBOR with a profile.
#[derive(Debug)]
pub struct CborFormat(CborProfile);

/// The reference implementation of [`crate::cbor::CborDecoder`].
pub type CborDecoder = TreeDecoder<CborFormat>;

impl CborDecoder {
    /// A decoder of the data item that begins at `start`.
    ///
    /// # Errors
    ///
    /// There is no data item.
    pub fn new(
        bytes: &[u8],
        start: usize,
        profile: CborProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        Self::begin(CborFormat(profile), limits, || {
            check_bytes(bytes.len(), limits)?;
            parse::parse(bytes, start, limits)
        })
    }
}

impl Format for CborFormat {
    const NAME: &'static str = "CBOR";

    fn options(&self) -> Options {
        Options {
            rules: self.0.rules,
            ..Options::DEFAULT
        }
    }
}

impl DecodeFormat for CborFormat {
    fn blob(&self, input: Input<'_>) -> Result<Vec<u8>, Error> {
        match &input.node.data {
            Data::Bytes(bytes) => {
                input.budget.check_length(bytes.len(), input.start)?;
                Ok(bytes.clone())
            }
            _ => input.wrong_type("a byte string"),
        }
    }

    fn boolean(&self, input: Input<'_>) -> Result<bool, Error> {
        match input.data {
            Data::Boolean(value) => Ok(value),
            _ => input.wrong_kind(),
        }
    }

    /// The digits of an integer: major types 0 and 1, tags 2 and 3.
    fn digits(&self, input: Input<'_>) -> Result<String, Error> {
        use ShapeKind::{BigDecimal, BigInteger, Document};
        let big = matches!(input.kind, BigInteger | BigDecimal | Document);
        match &input.node.data {
            Data::Integer(value) => Ok(value.to_string()),
            Data::Tagged(tag @ (UNSIGNED | NEGATIVE), inner) if big => {
                self.bignum(*tag, input.with(inner))
            }
            _ => input.wrong_type("an integer"),
        }
    }

    fn double(&self, input: Input<'_>) -> Result<f64, Error> {
        match input.data {
            Data::Integer(value) => Ok(value as f64),
            Data::Single(value) => Ok(value.into()),
            Data::Double(value) => Ok(value),
            _ => input.wrong_type("a number"),
        }
    }

    fn float(&self, input: Input<'_>) -> Result<f32, Error> {
        let double = self.double(input)?;
        let single = double as f32;
        match single.is_infinite() && double.is_finite() {
            true => Err(input.invalid("a number of 32 bits")),
            false => Ok(single),
        }
    }

    fn big_integer(&self, input: Input<'_>) -> Result<BigInteger, Error> {
        let digits = self.digits(input)?;
        digits.parse().map_err(|_| input.invalid("an integer"))
    }

    fn big_decimal(&self, input: Input<'_>) -> Result<BigDecimal, Error> {
        let text = match &input.node.data {
            Data::Tagged(DECIMAL, inner) => self.decimal(input.with(inner))?,
            Data::Integer(_) | Data::Tagged(UNSIGNED | NEGATIVE, _) => self.digits(input)?,
            // A decimal keeps its digits. A double has the same digits as in the fast format.
            _ => digits(self.double(input)?, number::push_f64),
        };
        text.parse().map_err(|_| input.invalid("a decimal number"))
    }

    /// Sections 3.4.1 and 3.4.2.
    fn timestamp(&self, input: Input<'_>) -> Result<Timestamp, Error> {
        let (tag, inner) = match &input.node.data {
            Data::Tagged(tag @ (DATE_TIME | EPOCH), inner) => (*tag, input.with(inner)),
            _ => return input.wrong_type("a timestamp (tag 1)"),
        };
        if tag == DATE_TIME {
            return inner.instant(&self.text(inner)?, TimestampFormat::DateTime, false);
        }
        let instant = match inner.data {
            Data::Integer(seconds) => seconds
                .try_into()
                .ok()
                .map(|whole| Timestamp::new(whole, 0)),
            _ => Timestamp::from_f64(self.double(inner)?),
        };
        instant.ok_or_else(|| inner.invalid("seconds since the epoch"))
    }

    fn document(&self, input: Input<'_>) -> Result<Value, Error> {
        Ok(match &input.node.data {
            Data::Null => Value::Null,
            Data::Boolean(value) => Value::Boolean(*value),
            Data::Single(value) => Value::Float(*value),
            Data::Double(value) => Value::Double(*value),
            Data::Text(_) => Value::String(self.text(input)?.into()),
            Data::Bytes(_) => Value::Blob(self.blob(input)?.into()),
            Data::Integer(_) | Data::Tagged(UNSIGNED | NEGATIVE, _) => {
                Value::from(self.big_integer(input)?)
            }
            Data::Tagged(DECIMAL, _) => Value::BigDecimal(self.big_decimal(input)?),
            Data::Tagged(..) => Value::Timestamp(self.timestamp(input)?),
            _ => return input.wrong_type("a value"),
        })
    }
}

impl CborFormat {
    /// Section 3.4.3: a byte string is the number n of tag 2, or -1 - n of tag 3.
    fn bignum(&self, tag: u64, input: Input<'_>) -> Result<String, Error> {
        let bytes = self.blob(input)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = &bytes[zeros..];
        if significant.len() > big::MOST_BYTES {
            return Err(input.invalid("an integer of at most 512 bytes"));
        }
        // 64 bytes count as one item.
        input.count(significant.len() / 64)?;
        input.limited(&match tag {
            NEGATIVE => format!("-{}", big::digits_of_bytes(significant, 1)),
            _ => big::digits_of_bytes(significant, 0),
        })
    }

    /// Section 3.4.4: an array of an exponent of ten and a mantissa.
    fn decimal(&self, input: Input<'_>) -> Result<String, Error> {
        let items = self.items(input)?;
        input.count(items.len() + input.budget.depth.get().min(1))?;
        let [exponent, mantissa] = &items[..] else {
            return Err(input.invalid("an exponent and a mantissa"));
        };
        let Data::Integer(exponent) = exponent.data else {
            return exponent.wrong_type("an exponent");
        };
        let exponent = i64::try_from(exponent).map_err(|_| input.invalid("64 bits"))?;
        let mantissa = self.digits(input.with(mantissa))?;
        input.limited(&big::decimal_text(&mantissa, exponent))
    }
}
