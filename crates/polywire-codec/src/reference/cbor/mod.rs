//! The reference implementation of [`cbor`](crate::cbor): RFC 8949.

mod big;
mod parse;
mod write;

pub use write::CborEncoder;

use polywire_schema::{
    BigDecimal, BigInteger, Error, Limits, Member, ShapeKind, Timestamp, TimestampFormat, Value,
};
use polywire_text::number;

use super::decode::{DecodeFormat, Rules, TreeDecoder, instant};
use super::encode::digits;
use super::node::{Budget, Data, Node, check_bytes};
use crate::cbor::CborProfile;

/// The tags that have a meaning here, section 3.4.
const DATE_TIME: u64 = 0;
const EPOCH: u64 = 1;
const UNSIGNED: u64 = 2;
const NEGATIVE: u64 = 3;
const DECIMAL: u64 = 4;

/// How CBOR reads a tree.
#[derive(Debug)]
pub struct CborReader(CborProfile);

/// The reference implementation of [`crate::cbor::CborDecoder`].
pub type CborDecoder = TreeDecoder<CborReader>;

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
        Self::begin(CborReader(profile), limits, || {
            check_bytes(bytes.len(), limits)?;
            parse::parse(bytes, start, limits)
        })
    }
}

impl DecodeFormat for CborReader {
    const NAME: &'static str = "CBOR";

    fn rules(&self) -> Rules {
        Rules {
            skip_nulls: self.0.skip_nulls,
            required: self.0.required,
            defaults: self.0.defaults,
            ..Rules::DEFAULT
        }
    }

    fn text(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        match &node.data {
            Data::Text(text) => {
                budget.check_length(text.len(), node.start)?;
                Ok(text.clone())
            }
            _ => node.wrong_type("a text string"),
        }
    }

    fn blob(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<Vec<u8>, Error> {
        match &node.data {
            Data::Bytes(bytes) => {
                budget.check_length(bytes.len(), node.start)?;
                Ok(bytes.clone())
            }
            _ => node.wrong_type("a byte string"),
        }
    }

    fn boolean(&self, node: &Node, _: Member<'_>, _: &mut Budget) -> Result<bool, Error> {
        match node.data {
            Data::Boolean(value) => Ok(value),
            _ => node.wrong_type("true or false"),
        }
    }

    /// Of integers: major types 0 and 1, and for big ones tags 2 and 3.
    fn digits(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        use ShapeKind::{BigDecimal, BigInteger, Document};
        let big = matches!(at.kind(), BigInteger | BigDecimal | Document);
        match &node.data {
            Data::Integer(value) => Ok(value.to_string()),
            Data::Tagged(tag @ (UNSIGNED | NEGATIVE), inner) if big => {
                self.bignum(*tag, inner, budget)
            }
            _ => node.wrong_type("an integer"),
        }
    }

    fn double(&self, node: &Node, _: Member<'_>, _: &mut Budget) -> Result<f64, Error> {
        match node.data {
            Data::Integer(value) => Ok(value as f64),
            Data::Single(value) => Ok(value.into()),
            Data::Double(value) => Ok(value),
            _ => node.wrong_type("a number"),
        }
    }

    fn float(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<f32, Error> {
        let double = self.double(node, at, budget)?;
        let single = double as f32;
        match single.is_infinite() && double.is_finite() {
            true => Err(node.invalid("a number of 32 bits")),
            false => Ok(single),
        }
    }

    fn big_integer(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<BigInteger, Error> {
        let digits = self.digits(node, at, budget)?.parse();
        digits.map_err(|_| node.invalid("an integer"))
    }

    fn big_decimal(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<BigDecimal, Error> {
        let text = match &node.data {
            Data::Tagged(DECIMAL, inner) => self.decimal(inner, at, budget)?,
            Data::Integer(_) | Data::Tagged(UNSIGNED | NEGATIVE, _) => {
                self.digits(node, at, budget)?
            }
            // A decimal keeps its spelling, and that of a double is one for all of Polywire.
            _ => digits(self.double(node, at, budget)?, number::push_f64),
        };
        text.parse().map_err(|_| node.invalid("a decimal number"))
    }

    /// Sections 3.4.1 and 3.4.2.
    fn timestamp(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<Timestamp, Error> {
        let instant = match &node.data {
            Data::Tagged(DATE_TIME, inner) => {
                let text = self.text(inner, at, budget)?;
                instant(&text, TimestampFormat::DateTime, false)
            }
            Data::Tagged(EPOCH, inner) => match inner.data {
                Data::Integer(seconds) => {
                    let seconds = i64::try_from(seconds).ok();
                    seconds.map(|seconds| Timestamp::new(seconds, 0))
                }
                _ => Timestamp::from_f64(self.double(inner, at, budget)?),
            },
            _ => return node.wrong_type("a timestamp (tag 1)"),
        };
        instant.ok_or_else(|| node.invalid("a timestamp"))
    }

    fn document(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Value, Error> {
        Ok(match &node.data {
            Data::Null => Value::Null,
            Data::Boolean(value) => Value::Boolean(*value),
            Data::Single(value) => Value::Float(*value),
            Data::Double(value) => Value::Double(*value),
            Data::Text(_) => Value::String(self.text(node, at, budget)?.into()),
            Data::Bytes(_) => Value::Blob(self.blob(node, at, budget)?.into()),
            Data::Integer(_) | Data::Tagged(UNSIGNED | NEGATIVE, _) => {
                Value::from(self.big_integer(node, at, budget)?)
            }
            Data::Tagged(DECIMAL, _) => Value::BigDecimal(self.big_decimal(node, at, budget)?),
            Data::Tagged(..) => Value::Timestamp(self.timestamp(node, at, budget)?),
            _ => return node.wrong_type("a value"),
        })
    }
}

impl CborReader {
    /// Section 3.4.3: a byte string is the number n of tag 2, or -1 - n of tag 3.
    fn bignum(&self, tag: u64, node: &Node, budget: &mut Budget) -> Result<String, Error> {
        let bytes = self.blob(node, Member::DOCUMENT, budget)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = &bytes[zeros..];
        if significant.len() > big::MOST_BYTES {
            return Err(node.invalid("an integer of at most 512 bytes"));
        }
        // Long ones cost more than other values: 64 bytes are an item.
        budget.count(significant.len() / 64, node.start)?;
        let digits = match (tag, big::digits_of_bytes(significant)) {
            (NEGATIVE, digits) => format!("-{}", big::plus_one(&digits)),
            (_, digits) if digits.is_empty() => "0".to_owned(),
            (_, digits) => digits,
        };
        budget.check_length(digits.len(), node.start)?;
        Ok(digits)
    }

    /// Section 3.4.4: an array of an exponent of ten and a mantissa.
    fn decimal(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        let items = self.items(node.clone(), at, budget)?;
        budget.count(items.len() + usize::from(budget.depth > 0), node.start)?;
        let [exponent, mantissa] = &items[..] else {
            return Err(node.invalid("an exponent and a mantissa"));
        };
        let Data::Integer(exponent) = exponent.data else {
            return exponent.wrong_type("an exponent");
        };
        let exponent = i64::try_from(exponent).map_err(|_| node.invalid("64 bits"))?;
        let text = big::decimal_text(&self.digits(mantissa, at, budget)?, exponent);
        budget.check_length(text.len(), node.start)?;
        Ok(text)
    }
}
