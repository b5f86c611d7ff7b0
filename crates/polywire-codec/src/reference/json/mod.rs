//! The reference implementation of [`json`](crate::json): RFC 8259.

mod parse;
mod write;

pub use write::JsonEncoder;

use polywire_schema::{Error, Limits, ShapeKind, Text, Timestamp, TimestampFormat, Value};

use super::decode::TreeDecoder;
use super::format::{DecodeFormat, Format, Input, Options};
use super::node::{Data, check_bytes};
use crate::json::JsonProfile;

/// JSON with a profile.
#[derive(Debug)]
pub struct JsonFormat(JsonProfile);

/// The reference implementation of [`crate::json::JsonDecoder`].
pub type JsonDecoder = TreeDecoder<JsonFormat>;

impl JsonDecoder {
    /// A decoder of the value that begins at `start`.
    ///
    /// # Errors
    ///
    /// The text at `start` is not a JSON value.
    pub fn new(
        text: &str,
        start: usize,
        profile: JsonProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        Self::begin(JsonFormat(profile), limits, || {
            check_bytes(text.len(), limits)?;
            parse::parse(text, start, limits)
        })
    }
}

/// The strings for floating-point numbers without digits.
const WORDS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

impl Format for JsonFormat {
    const NAME: &'static str = "JSON";

    fn options(&self) -> Options {
        let profile = &self.0;
        Options {
            rules: profile.rules,
            refuse_unknown: profile.refuse_unknown,
            names: profile.names.source(),
            part: profile.part,
            ..Options::DEFAULT
        }
    }
}

impl DecodeFormat for JsonFormat {
    fn digits(&self, input: Input<'_>) -> Result<String, Error> {
        use ShapeKind::{BigDecimal, BigInteger, Double, Float};
        match (&input.node.data, input.kind) {
            (Data::Digits(digits), _) => Ok(digits.clone()),
            (Data::Text(digits), BigInteger | BigDecimal) if self.0.quoted_big_numbers => {
                Ok(digits.clone())
            }
            (Data::Text(word), Float | Double) => match WORDS.contains(&&**word) {
                true => Ok(word.clone()),
                false => Err(input.invalid("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")),
            },
            _ => input.wrong_kind(),
        }
    }

    fn boolean(&self, input: Input<'_>) -> Result<bool, Error> {
        match input.data {
            Data::Boolean(value) => Ok(value),
            _ => input.wrong_kind(),
        }
    }

    fn blob(&self, input: Input<'_>) -> Result<Vec<u8>, Error> {
        let text = self.text(input)?;
        match self.0.text_blobs {
            true => Ok(text.into_bytes()),
            false => input.decode_base64(&text, false),
        }
    }

    fn timestamp(&self, input: Input<'_>) -> Result<Timestamp, Error> {
        let format = match &input.node.data {
            _ if !self.0.any_timestamp => self.0.timestamp_format_of(input.at),
            // An HTTP-date begins with the name of a day.
            Data::Text(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                TimestampFormat::DateTime
            }
            Data::Text(_) => TimestampFormat::HttpDate,
            _ => TimestampFormat::EpochSeconds,
        };
        match (format, &input.node.data) {
            (TimestampFormat::EpochSeconds, Data::Digits(digits)) => {
                input.instant(digits, format, self.0.rules.strict)
            }
            (TimestampFormat::EpochSeconds, _) => input.wrong_kind(),
            _ => input.instant(&self.text(input)?, format, self.0.rules.strict),
        }
    }

    fn document(&self, input: Input<'_>) -> Result<Value, Error> {
        let number = match &input.node.data {
            Data::Null => return Ok(Value::Null),
            Data::Boolean(value) => return Ok(Value::Boolean(*value)),
            Data::Digits(number) => number,
            _ => return Ok(Value::String(Text::from(self.text(input)?))),
        };
        // A number without fraction and exponent is an integer, any other is a double. A number that
        // fits neither keeps its digits. A negative zero is a double.
        if number == "-0" {
            return Ok(Value::Double(-0.0));
        }
        if !number.contains(['.', 'e', 'E']) {
            return match number.parse() {
                Ok(value) => Ok(Value::Integer(value)),
                Err(_) => self.big_integer(input).map(Value::BigInteger),
            };
        }
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Double(value)),
            _ => self.big_decimal(input).map(Value::BigDecimal),
        }
    }
}
