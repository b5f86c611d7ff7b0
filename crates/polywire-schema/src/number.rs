//! Arbitrary-precision numbers.

use std::fmt;
use std::str::FromStr;

use polywire_text::number::{Integer, integer_prefix, json_number, parse_f64};
use polywire_text::{Malformed, Text};

/// An arbitrary-precision integer, stored as decimal digits.
///
/// ```
/// use polywire_schema::BigInteger;
///
/// let big: BigInteger = "25000000000000000000".parse()?;
/// assert_eq!(big.as_str(), "25000000000000000000");
/// assert_eq!(big.to_i64(), None);
/// assert_eq!(BigInteger::from(42).to_i64(), Some(42));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
// Invariant: an optional minus sign and decimal digits, without leading zeros, and not "-0".
pub struct BigInteger(Text);

/// An arbitrary-precision decimal number, stored as text. `1.0` and `1.00` are not equal.
///
/// ```
/// use polywire_schema::BigDecimal;
///
/// let price: BigDecimal = "1.10".parse()?;
/// assert_eq!(price.as_str(), "1.10");
/// assert!("1.".parse::<BigDecimal>().is_err());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
// Invariant: a number in the grammar of JSON.
pub struct BigDecimal(Text);

/// Zero.
impl Default for BigInteger {
    fn default() -> Self {
        Self::from(0)
    }
}

/// Zero.
impl Default for BigDecimal {
    fn default() -> Self {
        Self::from(0)
    }
}

impl BigInteger {
    /// Parses an optional `-` and decimal digits. Removes leading zeros.
    ///
    /// # Errors
    ///
    /// Returns the offset of the first invalid byte.
    pub fn parse(text: Text) -> Result<Self, Malformed> {
        let bytes = text.as_bytes();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let digits = &bytes[sign..];
        if let Some(offset) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
            return Err(Malformed::new(sign + offset, "a decimal digit"));
        }
        if digits.is_empty() {
            return Err(Malformed::new(sign, "a decimal integer"));
        }
        if digits[0] != b'0' {
            return Ok(Self(text));
        }
        let significant = text[sign..].trim_start_matches('0');
        Ok(match (significant, sign) {
            ("", _) => Self::from(0),
            (digits, 0) => Self(Text::from(digits)),
            (digits, _) => Self(Text::from(format!("-{digits}"))),
        })
    }

    /// Converts an unsigned number. There is no `From<u64>`, because `from(42)` would be ambiguous
    /// with `From<i64>`.
    #[must_use]
    pub fn from_u64(value: u64) -> Self {
        let mut digits = Vec::new();
        polywire_text::number::push_u64(&mut digits, value);
        Self(Text::from(String::from_utf8_lossy(&digits)))
    }

    /// Returns the sign and the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts to `i64`, if the number fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match integer_prefix(self.0.as_bytes()) {
            Integer::Small(value, _) => Some(value),
            _ => None,
        }
    }
}

impl BigDecimal {
    /// Parses a number in the grammar of JSON: digits, with an optional fraction and exponent.
    ///
    /// # Errors
    ///
    /// Returns the offset of the first invalid byte.
    pub fn parse(text: Text) -> Result<Self, Malformed> {
        let (len, _) = json_number(text.as_bytes())?;
        if len < text.len() {
            return Err(Malformed::new(len, "the end of the number"));
        }
        Ok(Self(text))
    }

    /// Returns the number as it was parsed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts to the nearest double. Returns an infinity if the number is out of range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        // The parser accepts the grammar of JSON, so the only error is an out-of-range number.
        parse_f64(self.0.as_bytes()).unwrap_or(if self.0.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    }
}

impl From<i64> for BigInteger {
    fn from(value: i64) -> Self {
        let mut digits = Vec::new();
        polywire_text::number::push_i64(&mut digits, value);
        Self(Text::from(String::from_utf8_lossy(&digits)))
    }
}

impl From<i64> for BigDecimal {
    fn from(value: i64) -> Self {
        Self(BigInteger::from(value).0)
    }
}

impl From<BigInteger> for BigDecimal {
    fn from(value: BigInteger) -> Self {
        Self(value.0)
    }
}

impl From<BigInteger> for Text {
    fn from(value: BigInteger) -> Self {
        value.0
    }
}

impl From<BigDecimal> for Text {
    fn from(value: BigDecimal) -> Self {
        value.0
    }
}

impl FromStr for BigInteger {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        Self::parse(Text::from(text))
    }
}

impl FromStr for BigDecimal {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        Self::parse(Text::from(text))
    }
}

impl fmt::Display for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BigDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_removed() {
        for (text, expected) in [
            ("000", "0"),
            ("-0", "0"),
            ("-007", "-7"),
            ("10", "10"),
            ("0010", "10"),
        ] {
            assert_eq!(text.parse::<BigInteger>().unwrap().as_str(), expected);
        }
        for bad in ["", "-", "1.0", "+1", "1e3", " 1"] {
            assert!(bad.parse::<BigInteger>().is_err(), "{bad}");
        }
    }
}
