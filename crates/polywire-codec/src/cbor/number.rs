//! Numbers and timestamps: the slow paths.

use polywire_schema::{
    BigDecimal, BigInteger, Decoder, Error, ErrorKind, Event, Member, Timestamp, Value,
};

use super::head::Tag;
use super::{CborDecoder, big};

/// How many bytes of a bignum count as one item. Conversion to digits takes quadratic time.
const BYTES_PER_ITEM: usize = 64;

impl CborDecoder<'_> {
    /// A floating-point number of any width, or an integer.
    pub(super) fn slow_double(&mut self, expected: &'static str) -> Result<f64, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_unknown_tags()?;
        }
        let start = self.at;
        if self.at >= self.bytes.len() {
            return Err(self.error(ErrorKind::Truncated, expected));
        }
        if !matches!(self.peek() >> 5, 0 | 1 | 7) {
            return Err(self.wrong_type(expected));
        }
        let head = self.head(expected)?;
        Ok(match (head.major, head.info) {
            (0, _) => head.argument as f64,
            // `-1.0 - argument as f64` would round twice.
            (1, _) => (-1 - i128::from(head.argument)) as f64,
            (_, 25) => half(head.argument as u16),
            (_, 26) => f64::from(f32::from_bits(head.argument as u32)),
            (_, 27) => f64::from_bits(head.argument),
            _ => {
                self.at = start;
                return Err(self.wrong_type(expected));
            }
        })
    }

    #[inline(never)]
    pub(super) fn slow_integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.skip_unknown_tags()?;
        let start = self.at;
        let value = self.small_integer(at.kind().describe())?;
        let (min, max) = at.kind().integer_range();
        if value < min || value > max {
            return Err(self.invalid_value(start, at.kind().describe()));
        }
        Ok(value)
    }

    /// An integer of 64 bits: major types 0 and 1.
    #[inline]
    pub(super) fn small_integer(&mut self, expected: &'static str) -> Result<i64, Error> {
        if self.peek() >> 5 > 1 {
            self.skip_unknown_tags()?;
            if self.peek() >> 5 > 1 {
                return Err(self.wrong_type(expected));
            }
        }
        let start = self.at;
        let head = self.head(expected)?;
        match i64::try_from(head.argument) {
            Ok(value) if head.major == 0 => Ok(value),
            Ok(value) => Ok(!value),
            Err(_) => Err(self.invalid_value(start, expected)),
        }
    }

    /// An integer of at most 64 bits and its length. `None` for anything else.
    #[inline(always)]
    pub(super) fn quick_integer(&self) -> Option<(i64, usize)> {
        let rest = self.rest();
        let is_negative = match rest.first()? >> 5 {
            0 => false,
            1 => true,
            _ => return None,
        };
        let (argument, len) = Self::quick_head(rest)?;
        let argument = i64::try_from(argument).ok()?;
        // -1 - argument is the complement.
        Some((if is_negative { !argument } else { argument }, len))
    }

    /// An integer of major type 0 or 1 as a value.
    pub(super) fn integer_value(&mut self) -> Result<Value, Error> {
        let head = self.head("an integer")?;
        Ok(match i64::try_from(head.argument) {
            Ok(argument) if head.major == 0 => Value::Integer(argument),
            Ok(argument) => Value::Integer(!argument),
            Err(_) => Value::from(integer_of(head.major == 1, head.argument)),
        })
    }

    /// An integer of major type 0 or 1.
    #[inline]
    pub(super) fn plain_integer(&mut self) -> Result<BigInteger, Error> {
        let head = self.head("an integer")?;
        Ok(integer_of(head.major == 1, head.argument))
    }

    /// A bignum, whose tag began at `start`.
    pub(super) fn bignum(&mut self, tag: Tag, start: usize) -> Result<BigInteger, Error> {
        let bytes = self.string_bytes(2, "a byte string")?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let bytes = &bytes[zeros..];
        if bytes.len() > big::MAX_BYTES {
            let max = big::MAX_BYTES;
            let error = self.invalid_value(start, "");
            return Err(error.expected(format!("an integer of at most {max} bytes")));
        }
        self.count_items((bytes.len() / BYTES_PER_ITEM) as u32)?;
        let digits = big::digits(bytes);
        let digits = if tag == Tag::Negative {
            format!("-{}", big::increment(&digits))
        } else {
            digits
        };
        self.check_digits(start, digits.len())?;
        digits
            .parse()
            .map_err(|_| self.invalid_value(start, "an integer"))
    }

    /// Checks the number of digits of a big number whose tag began at `start`.
    pub(super) fn check_digits(&mut self, start: usize, digits: usize) -> Result<(), Error> {
        if !self.budget.fits(digits) {
            self.at = start;
        }
        self.check_length(digits)
    }

    /// The exponent and mantissa of a decimal, whose tag began at `start`.
    pub(super) fn decimal(&mut self, start: usize) -> Result<BigDecimal, Error> {
        let mut seq = self.enter(4, Member::DOCUMENT)?;
        if !self.next_item(&mut seq)? {
            return Err(self.invalid_value(start, "an exponent and a mantissa"));
        }
        let exponent = self.small_integer("an exponent of 64 bits")?;
        if !self.next_item(&mut seq)? {
            return Err(self.invalid_value(start, "an exponent and a mantissa"));
        }
        let mantissa = self.big_integer(Member::DOCUMENT)?;
        if self.next_item(&mut seq)? {
            return Err(self.invalid_value(start, "an exponent and a mantissa"));
        }
        let Some(decimal) = decimal_of(&mantissa, exponent) else {
            return Err(self.invalid_value(start, "a decimal number"));
        };
        self.check_digits(start, decimal.as_str().len())?;
        Ok(decimal)
    }

    /// Reads a tagged value. Unknown tags are ignored.
    pub(super) fn tagged(&mut self) -> Result<Event, Error> {
        let Some((tag, start)) = self.tag()? else {
            return self.any();
        };
        Ok(Event::Scalar(match tag {
            Tag::DateTime => Value::Timestamp(self.date_time(start)?),
            Tag::Epoch => Value::Timestamp(self.epoch(start)?),
            Tag::Unsigned | Tag::Negative => Value::from(self.bignum(tag, start)?),
            Tag::Decimal => Value::BigDecimal(self.decimal(start)?),
        }))
    }

    /// A timestamp in seconds, whose tag began at `start`.
    pub(super) fn epoch(&mut self, start: usize) -> Result<Timestamp, Error> {
        if self.peek() >> 5 == 6 {
            self.skip_unknown_tags()?;
        }
        if self.peek() >> 5 <= 1 {
            let seconds = self.small_integer("seconds since the epoch")?;
            return Ok(Timestamp::new(seconds, 0));
        }
        let seconds = self.slow_double("seconds since the epoch")?;
        Timestamp::from_f64(seconds)
            .ok_or_else(|| self.invalid_value(start, "seconds since the epoch"))
    }

    /// A timestamp as text, whose tag began at `start`.
    pub(super) fn date_time(&mut self, start: usize) -> Result<Timestamp, Error> {
        let text = self.text_string()?;
        Timestamp::parse_date_time(&text)
            .map_err(|malformed| self.invalid_value(start, malformed.expected))
    }

    /// A timestamp whose tag is not encoded in the shortest form or follows other tags.
    #[cold]
    pub(super) fn tagged_timestamp(&mut self) -> Result<Timestamp, Error> {
        match self.tag()? {
            Some((Tag::DateTime, start)) => return self.date_time(start),
            Some((Tag::Epoch, start)) => return self.epoch(start),
            Some((_, start)) => self.at = start,
            None => {}
        }
        Err(self.wrong_type("a timestamp (tag 1)"))
    }
}

fn integer_of(is_negative: bool, argument: u64) -> BigInteger {
    match (is_negative, i64::try_from(argument)) {
        (false, Ok(value)) => BigInteger::from(value),
        (true, Ok(value)) => BigInteger::from(!value),
        // More than 63 bits: through the digits, which always parse.
        (false, Err(_)) => argument.to_string().parse().unwrap_or(BigInteger::from(0)),
        (true, Err(_)) => format!("-{}", u128::from(argument) + 1)
            .parse()
            .unwrap_or(BigInteger::from(0)),
    }
}

/// A decimal from its mantissa and exponent. Exponents from -64 to -1 give a plain fraction, so
/// that `1.10` remains `1.10`; others give scientific notation.
fn decimal_of(mantissa: &BigInteger, exponent: i64) -> Option<BigDecimal> {
    let digits = mantissa.as_str();
    if exponent == 0 {
        return digits.parse().ok();
    }
    if !(-64..0).contains(&exponent) {
        return format!("{digits}e{exponent}").parse().ok();
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let places = exponent.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}").parse().ok()
}

/// A half-precision number, RFC 8949, appendix D.
fn half(bits: u16) -> f64 {
    let mantissa = f64::from(bits & 0x3ff);
    let exponent = i32::from(bits >> 10 & 0x1f);
    let value = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc400, -4.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn decimals() {
        for (mantissa, exponent, text) in [
            ("110", -2, "1.10"),
            ("-5", -3, "-0.005"),
            ("5", 3, "5e3"),
            ("5", 0, "5"),
            ("1", -100, "1e-100"),
        ] {
            assert_eq!(
                decimal_of(&mantissa.parse().unwrap(), exponent)
                    .unwrap()
                    .as_str(),
                text
            );
        }
    }
}
