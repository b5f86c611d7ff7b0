//! The reference implementation of [`json`](crate::json): RFC 8259.

mod parse;
mod write;

pub use write::JsonEncoder;

use polywire_schema::{Error, Limits, Member, ShapeKind, Text, Timestamp, TimestampFormat, Value};

use super::decode::{DecodeFormat, Rules, TreeDecoder, instant, unbase64};
use super::node::{Budget, Data, Node, check_bytes};
use crate::json::JsonProfile;

/// How JSON reads a tree.
#[derive(Debug)]
pub struct JsonReader(JsonProfile);

/// The reference implementation of [`crate::json::JsonDecoder`].
pub type JsonDecoder = TreeDecoder<JsonReader>;

impl JsonDecoder {
    /// A decoder of the value that begins at `start`.
    ///
    /// # Errors
    ///
    /// There is no value of JSON.
    pub fn new(
        text: &str,
        start: usize,
        profile: JsonProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        Self::begin(JsonReader(profile), limits, || {
            check_bytes(text.len(), limits)?;
            parse::parse(text, start, limits)
        })
    }
}

/// Numbers for which JSON has no digits.
const WORDS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

impl DecodeFormat for JsonReader {
    const NAME: &'static str = "JSON";

    fn rules(&self) -> Rules {
        let profile = &self.0;
        Rules {
            skip_nulls: profile.skip_nulls,
            required: profile.required,
            refuse_unknown: profile.refuse_unknown,
            names: profile.names.source(),
            defaults: profile.defaults,
            part: profile.part,
            ..Rules::DEFAULT
        }
    }

    fn text(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        match &node.data {
            Data::Text(text) => {
                budget.check_length(text.len(), node.start)?;
                Ok(text.clone())
            }
            _ => node.wrong_type("a string"),
        }
    }

    fn digits(&self, node: &Node, at: Member<'_>, _: &mut Budget) -> Result<String, Error> {
        use ShapeKind::{BigDecimal, BigInteger, Double, Float};
        match (&node.data, at.kind()) {
            (Data::Digits(digits), _) => Ok(digits.clone()),
            (Data::Text(digits), BigInteger | BigDecimal) if self.0.quoted_big_numbers => {
                Ok(digits.clone())
            }
            (Data::Text(word), Float | Double) => match WORDS.contains(&&**word) {
                true => Ok(word.clone()),
                false => Err(node.invalid("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")),
            },
            _ => node.wrong_type(at.kind().describe()),
        }
    }

    fn boolean(&self, node: &Node, _: Member<'_>, _: &mut Budget) -> Result<bool, Error> {
        match node.data {
            Data::Boolean(value) => Ok(value),
            _ => node.wrong_type("true or false"),
        }
    }

    fn blob(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Vec<u8>, Error> {
        let text = self.text(node, at, budget)?;
        match self.0.text_blobs {
            true => Ok(text.into_bytes()),
            false => unbase64(node, &text, false),
        }
    }

    fn timestamp(
        &self,
        node: &Node,
        at: Member<'_>,
        budget: &mut Budget,
    ) -> Result<Timestamp, Error> {
        let format = match &node.data {
            _ if !self.0.any_timestamp => self.0.timestamp_format_of(at),
            // An HTTP-date begins with the name of a day.
            Data::Text(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                TimestampFormat::DateTime
            }
            Data::Text(_) => TimestampFormat::HttpDate,
            _ => TimestampFormat::EpochSeconds,
        };
        let text = match format {
            TimestampFormat::EpochSeconds => match &node.data {
                Data::Digits(digits) => digits.clone(),
                _ => return node.wrong_type("a timestamp"),
            },
            _ => self.text(node, at, budget)?,
        };
        instant(&text, format, self.0.required).ok_or_else(|| node.invalid("a timestamp"))
    }

    fn document(&self, node: &Node, at: Member<'_>, budget: &mut Budget) -> Result<Value, Error> {
        let number = match &node.data {
            Data::Null => return Ok(Value::Null),
            Data::Boolean(value) => return Ok(Value::Boolean(*value)),
            Data::Digits(number) => number,
            _ => return Ok(Value::String(Text::from(self.text(node, at, budget)?))),
        };
        // An integer where it has neither fraction nor exponent, else the nearest double; digits
        // where neither can hold it. A negative zero is one that a double wrote.
        let is_integer = !number.contains(['.', 'e', 'E']);
        if number == "-0" {
            return Ok(Value::Double(-0.0));
        }
        if is_integer && let Ok(value) = number.parse::<i64>() {
            return Ok(Value::Integer(value));
        }
        if !is_integer
            && let Ok(value) = number.parse::<f64>()
            && value.is_finite()
        {
            return Ok(Value::Double(value));
        }
        Ok(match is_integer {
            true => Value::BigInteger(self.big_integer(node, at, budget)?),
            false => Value::BigDecimal(self.big_decimal(node, at, budget)?),
        })
    }
}
