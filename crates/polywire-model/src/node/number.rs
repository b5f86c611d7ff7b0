//! Exact numbers.

use std::cmp::Ordering;
use std::fmt;

use polywire_text::number::json_number;

/// An exact number: a 64-bit integer, or the digits as written.
///
/// # Examples
///
/// ```
/// use polywire_model::Number;
///
/// let big = Number::parse("100000000000000000000001.0").unwrap();
/// assert_eq!(big.as_i64(), None);
/// assert_eq!(big.to_string(), "100000000000000000000001.0");
/// assert_eq!(Number::parse("1.50").unwrap(), Number::parse("15e-1").unwrap());
/// ```
#[derive(Clone, Debug)]
pub struct Number(Representation);

#[derive(Clone, Debug)]
enum Representation {
    Integer(i64),
    /// A JSON number that `Integer` cannot represent with the same digits.
    Digits(Box<str>),
}

impl Number {
    /// Parses a JSON number: `-1`, `2.50`, `6e23`. `None` if it is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (length, _) = json_number(text.as_bytes()).ok()?;
        (length == text.len()).then(|| Self::from_scanned(text))
    }

    /// Creates a number from a text that [`json_number`] has accepted.
    pub(crate) fn from_scanned(text: &str) -> Self {
        match text.parse::<i64>() {
            // `-0` is a number of its own for floats.
            Ok(value) if text != "-0" => Self(Representation::Integer(value)),
            _ => Self(Representation::Digits(Box::from(text))),
        }
    }

    /// The value, if it is an integer that fits. `1.0` and `1e3` are integers.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Representation::Integer(value) => Some(*value),
            Representation::Digits(_) => i64::try_from(self.as_i128()?).ok(),
        }
    }

    /// The value, if it is an integer that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(self.as_i128()?).ok()
    }

    /// The value, if it is an integer that fits.
    #[must_use]
    pub fn as_i128(&self) -> Option<i128> {
        match &self.0 {
            Representation::Integer(value) => Some(i128::from(*value)),
            Representation::Digits(text) => {
                let decimal = Decimal::of(text);
                let zeros = usize::try_from(decimal.exponent)
                    .ok()
                    .filter(|zeros| *zeros < 39)?;
                if decimal.digits.len() + zeros > 39 {
                    return None;
                }
                let sign = if decimal.negative { "-" } else { "" };
                let digits = if decimal.digits.is_empty() {
                    "0"
                } else {
                    &decimal.digits
                };
                format!("{sign}{digits}{}", "0".repeat(zeros)).parse().ok()
            }
        }
    }

    /// The nearest `f64`. Infinite if the number is out of range.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Representation::Integer(value) => *value as f64,
            // `f64::from_str` accepts every JSON number.
            Representation::Digits(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// The digits as written, unless the number is an `i64`.
    pub(crate) fn written(&self) -> Option<&str> {
        match &self.0 {
            Representation::Integer(_) => None,
            Representation::Digits(text) => Some(text),
        }
    }

    /// A text that equal numbers share.
    pub(crate) fn canonical(&self) -> String {
        let decimal = Decimal::of(&self.to_string());
        let sign = if decimal.negative { "-" } else { "" };
        format!("{sign}{}e{}", decimal.digits, decimal.exponent)
    }

    /// Whether the number has no fraction: `1.0` has none.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Representation::Integer(_) => true,
            Representation::Digits(text) => Decimal::of(text).exponent >= 0,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Representation::Integer(value))
    }
}

impl fmt::Display for Number {
    /// The number as written.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Representation::Integer(value) => value.fmt(formatter),
            Representation::Digits(text) => formatter.write_str(text),
        }
    }
}

impl PartialEq for Number {
    /// Compares values, not digits: `1.0` equals `1`.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Representation::Integer(left), Representation::Integer(right)) => left == right,
            _ => Decimal::of(&self.to_string()) == Decimal::of(&other.to_string()),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        match (self.as_i128(), other.as_i128()) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

/// `(-1)^negative * digits * 10^exponent`. `digits` has no zeros at either end. Zero has no digits,
/// no sign and the exponent 0.
#[derive(Debug, Eq, PartialEq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            // An exponent out of range of i64 saturates.
            Some(at) => (&text[..at], saturating_exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: String = [whole, fraction].concat();
        let trimmed = all.trim_end_matches('0');
        let digits = trimmed.trim_start_matches('0');
        if digits.is_empty() {
            return Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            };
        }
        let exponent = exponent
            .saturating_sub(fraction.len() as i64)
            .saturating_add((all.len() - trimmed.len()) as i64);
        Self {
            negative,
            digits: digits.to_owned(),
            exponent,
        }
    }
}

fn saturating_exponent(text: &str) -> i64 {
    let digits = text.trim_start_matches('+');
    digits.parse().unwrap_or(if digits.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("1e3").as_i64(), Some(1000));
        assert_eq!(number("1.0").as_i64(), Some(1));
        assert_eq!(number("1.5").as_i64(), None);
        assert_eq!(number("-0").as_i64(), Some(0));
        assert!(number("-0").as_f64().is_sign_negative());
        assert_eq!(number("1e999999999999999999999").as_i64(), None);
        assert_eq!(
            number("0.100000000000000000000001").to_string(),
            "0.100000000000000000000001"
        );
    }

    #[test]
    fn equal_numbers_are_spelled_in_many_ways() {
        assert_eq!(number("1.0"), number("1"));
        assert_eq!(number("100"), number("1e2"));
        assert_eq!(number("-0.0"), number("0"));
        assert_ne!(number("0.1"), number("0.100000000000000000000001"));
        assert_ne!(number("1"), number("-1"));
        assert!(number("2") < number("1e400"));
    }

    #[test]
    fn malformed_numbers() {
        for text in [
            "", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_0", "NaN",
        ] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }
}
