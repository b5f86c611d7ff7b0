//! Exact comparison with the bounds of `@range`.

use std::cmp::Ordering;

use polywire_text::number::{parse_f32, parse_f64};

/// A bound: a decimal number of any size.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) text: String,
    /// The bound as `i64`, if it is one. Most are.
    integer: Option<i64>,
    /// The nearest floating-point numbers. A float that was sent as `8.8` must be equal to the
    /// bound 8.8, although neither is exactly 8.8.
    float: f32,
    double: f64,
}

impl Bound {
    pub(super) fn of(text: &str) -> Self {
        let infinite = if text.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        Self {
            text: text.to_owned(),
            integer: text.parse().ok(),
            float: parse_f32(text.as_bytes()).unwrap_or(infinite as f32),
            double: parse_f64(text.as_bytes()).unwrap_or(infinite),
        }
    }

    pub(super) fn integer(&self, value: i64) -> Ordering {
        match self.integer {
            Some(bound) => value.cmp(&bound),
            None => self.decimal(&value.to_string()),
        }
    }

    /// Returns `None` for NaN, which is outside any range.
    pub(super) fn float(&self, value: f32) -> Option<Ordering> {
        value.partial_cmp(&self.float)
    }

    /// Like [`Bound::float`].
    pub(super) fn double(&self, value: f64) -> Option<Ordering> {
        value.partial_cmp(&self.double)
    }

    /// Compares a number in the grammar of JSON with the bound.
    pub(super) fn decimal(&self, value: &str) -> Ordering {
        compare(value, &self.text)
    }
}

/// Compares two numbers of any size in the grammar of JSON. Takes linear time.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (one, other) = (Parts::of(one), Parts::of(other));
    match (one.sign(), other.sign()) {
        (0, 0) => Ordering::Equal,
        (1, 1) => one.magnitude(&other),
        (-1, -1) => other.magnitude(&one),
        (one, other) => one.cmp(&other),
    }
}

/// Returns a form of a number in the grammar of JSON that is equal for equal numbers.
pub(super) fn canonical(text: &str) -> Vec<u8> {
    let parts = Parts::of(text);
    let (whole, fraction) = parts.digits;
    let mut bytes = Vec::with_capacity(whole.len() + fraction.len() + 24);
    if parts.sign() == 0 {
        return bytes;
    }
    if parts.negative {
        bytes.push(b'-');
    }
    bytes.extend_from_slice(whole);
    bytes.extend_from_slice(fraction);
    bytes.push(b'e');
    bytes.extend_from_slice(parts.exponent.to_string().as_bytes());
    bytes
}

/// A decimal number as 0.DIGITS times ten to the power of the exponent.
struct Parts<'t> {
    negative: bool,
    /// The digits before and after the point, without leading and trailing zeros.
    digits: (&'t [u8], &'t [u8]),
    exponent: i64,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('0');
        let mut fraction = fraction.trim_end_matches('0');
        let mut exponent = exponent_of(exponent).saturating_add(whole.len() as i64);
        if whole.is_empty() {
            let significant = fraction.trim_start_matches('0');
            exponent = exponent.saturating_sub((fraction.len() - significant.len()) as i64);
            fraction = significant;
        }
        let whole = match fraction {
            "" => whole.trim_end_matches('0'),
            _ => whole,
        };
        Self {
            negative,
            digits: (whole.as_bytes(), fraction.as_bytes()),
            exponent,
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits, self.negative) {
            ((b"", b""), _) => 0,
            (_, false) => 1,
            (_, true) => -1,
        }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let digits = |parts: &Self| {
            let (whole, fraction) = parts.digits;
            whole.iter().chain(fraction)
        };
        let exponents = self.exponent.cmp(&other.exponent);
        exponents.then_with(|| digits(self).cmp(digits(other)))
    }
}

/// Parses an exponent and clamps it to half the range of `i64`, so that adding a number of digits
/// does not overflow.
fn exponent_of(text: &str) -> i64 {
    let saturated = if text.starts_with('-') {
        i64::MIN / 2
    } else {
        i64::MAX / 2
    };
    let text = text.strip_prefix('+').unwrap_or(text);
    let exponent = text.parse().unwrap_or(saturated);
    exponent.clamp(i64::MIN / 2, i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_in_order() {
        let sorted: [&[&str]; 13] = [
            &["-1e400", "-10e399"],
            &["-12", "-12.0", "-1.2e1"],
            &["-2"],
            &["-0.5", "-5e-1"],
            &["-1e-400"],
            &["0", "-0", "0.000", "0e999999999999999999999"],
            &["1e-99999999999999999999"],
            &["0.05", "5E-2", "0.0500"],
            &["0.5"],
            &["1", "1.0", "0.1e+1", "10e-1"],
            &["9007199254740993"],
            &["9007199254740993.5"],
            &["1e99999999999999999999"],
        ];
        for (place, numbers) in sorted.iter().enumerate() {
            for (other_place, others) in sorted.iter().enumerate() {
                for number in *numbers {
                    for other in *others {
                        let expected = place.cmp(&other_place);
                        assert_eq!(compare(number, other), expected, "{number} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn integers_against_fractional_bounds() {
        let bound = Bound::of("2.5");
        assert_eq!(bound.integer(2), Ordering::Less);
        assert_eq!(bound.integer(3), Ordering::Greater);
        let bound = Bound::of("-1e2");
        assert_eq!(bound.integer(-100), Ordering::Equal);
        assert_eq!(bound.integer(i64::MIN), Ordering::Less);
    }

    #[test]
    fn equal_numbers_have_one_form() {
        for numbers in [
            &["100", "1e2", "100.00", "0.1E3"][..],
            &["0", "-0.0", "0e9"],
        ] {
            for number in numbers {
                assert_eq!(canonical(number), canonical(numbers[0]), "{number}");
            }
        }
        assert_ne!(canonical("1"), canonical("-1"));
        assert_ne!(canonical("1"), canonical("10"));
    }
}
