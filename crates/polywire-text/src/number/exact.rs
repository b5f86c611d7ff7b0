//! A mantissa times a power of ten to the nearest floating-point number.
//!
//! Nearly all decimals that people and programs send have at most nineteen
//! digits and a small exponent. For those this needs one multiplication or one
//! division of integers, no big tables and no second try:
//!
//! - With a mantissa below 2^53 and a power of ten up to 10^22 both are doubles
//!   without error, so one division or multiplication of doubles rounds once
//!   (W. D. Clinger, "How to read floating point numbers accurately", 1990).
//! - Else, `10^n` is `5^n * 2^n`, and 5^27 is the last one that fits 64 bits. So
//!   up to there the mantissa times 5^n is an exact integer of 128 bits, and the
//!   mantissa divided by 5^n has an exact quotient and remainder. The quotient
//!   is made 62 bits long or longer; its lowest bit is set when anything is left
//!   below it. Converting that integer rounds as the exact number would: more
//!   than two bits are dropped, and the lowest says on which side of a tie it
//!   is. The power of two is applied last, and without error.
//!
//! The division is a multiplication by a reciprocal that is known when
//! compiling, with the correction of N. Moller and T. Granlund, "Improved
//! division by invariant integers" (2011), algorithm 4.
//!
//! All else (more digits, larger exponents) is fast-float2's.

/// The largest power of five in 64 bits.
const LARGEST: usize = 27;

/// 10^0 to 10^22: doubles without error.
static POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// 5^0 to 5^27.
static POWERS_OF_FIVE: [u64; LARGEST + 1] = {
    let mut powers = [1; LARGEST + 1];
    let mut at = 1;
    while at <= LARGEST {
        powers[at] = powers[at - 1] * 5;
        at += 1;
    }
    powers
};

/// A power of five to divide by.
#[derive(Clone, Copy)]
struct Divisor {
    /// The power, shifted left until its highest bit is set.
    divisor: u64,
    /// `(2^128 - 1) / divisor - 2^64`.
    reciprocal: u64,
    /// By how many bits it is shifted.
    shift: u32,
}

static DIVISORS: [Divisor; LARGEST + 1] = {
    let mut divisors = [Divisor {
        divisor: 0,
        reciprocal: 0,
        shift: 0,
    }; LARGEST + 1];
    let mut at = 0;
    while at <= LARGEST {
        let shift = POWERS_OF_FIVE[at].leading_zeros();
        let divisor = POWERS_OF_FIVE[at] << shift;
        divisors[at] = Divisor {
            divisor,
            // Cut off at 64 bits, which takes 2^64 away.
            reciprocal: (u128::MAX / divisor as u128) as u64,
            shift,
        };
        at += 1;
    }
    divisors
};

/// `mantissa * 2^power`, but for what was cut off; where something was, the
/// lowest bit is set. The mantissa is zero or has 62 or 63 bits.
#[derive(Clone, Copy)]
struct Binary {
    mantissa: i64,
    power: i32,
}

impl Binary {
    /// The nearest double, ties to even.
    #[inline]
    fn to_f64(self) -> f64 {
        // The powers lie between -151 and 92, so this is a normal number.
        let power = f64::from_bits(((1023 + self.power) as u64) << 52);
        self.mantissa as f64 * power
    }

    /// The nearest float, ties to even; infinite beyond its range.
    #[inline]
    fn to_f32(self) -> f32 {
        // Rounded here; the rest is exact, since no number that comes here is
        // below 10^-27 but zero, and floats are normal from 10^-37 on.
        let rounded = self.mantissa as f32;
        let power = f64::from_bits(((1023 + self.power) as u64) << 52);
        (f64::from(rounded) * power) as f32
    }
}

/// The double nearest to `mantissa * 10^exponent`, ties to even. `None` if the
/// exponent is beyond 27 either way.
#[inline]
pub(super) fn nearest_f64(mantissa: u64, exponent: i32) -> Option<f64> {
    match easy(mantissa, exponent) {
        Some(value) => Some(value),
        None => Some(binary(mantissa, exponent)?.to_f64()),
    }
}

/// The same to 32 bits, infinite beyond their range. By no double: that would
/// round twice.
#[inline]
pub(super) fn nearest_f32(mantissa: u64, exponent: i32) -> Option<f32> {
    Some(binary(mantissa, exponent)?.to_f32())
}

/// `mantissa * 10^exponent` if both are doubles, and so is easily rounded.
#[inline]
fn easy(mantissa: u64, exponent: i32) -> Option<f64> {
    if mantissa >> 53 != 0 {
        return None;
    }
    let power = POWERS_OF_TEN.get(exponent.unsigned_abs() as usize)?;
    let mantissa = mantissa as f64;
    Some(if exponent < 0 {
        mantissa / power
    } else {
        mantissa * power
    })
}

/// `mantissa * 10^exponent`, where the exponent is not beyond 27 either way.
#[inline]
fn binary(mantissa: u64, exponent: i32) -> Option<Binary> {
    let at = exponent.unsigned_abs() as usize;
    if mantissa == 0 {
        return Some(Binary {
            mantissa: 0,
            power: 0,
        });
    }
    if exponent >= 0 {
        let product = u128::from(mantissa) * u128::from(*POWERS_OF_FIVE.get(at)?);
        let zeros = product.leading_zeros();
        let product = product << zeros;
        let rest = (product as u64) != 0 || (product >> 64) & 1 != 0;
        return Some(Binary {
            mantissa: (product >> 65) as i64 | i64::from(rest),
            power: 65 - zeros as i32 + exponent,
        });
    }
    let divisor = DIVISORS.get(at)?;
    let zeros = mantissa.leading_zeros();
    let (quotient, rest) = divisor.divide(mantissa << zeros);
    Some(Binary {
        mantissa: quotient as i64 | i64::from(rest),
        power: divisor.shift as i32 - zeros as i32 + exponent - 62,
    })
}

impl Divisor {
    /// The whole quotient of `dividend * 2^62`, and whether something remains.
    /// The highest bit of `dividend` is set, as that of the divisor is, so their
    /// quotient lies between a half and two: it has 62 or 63 bits.
    #[inline]
    fn divide(self, dividend: u64) -> (u64, bool) {
        // High and low word of the dividend; the high one is below the divisor,
        // as the algorithm asks for.
        let (high, low) = (dividend >> 2, dividend << 62);
        let estimate = u128::from(self.reciprocal) * u128::from(high)
            + (u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.divisor));
        if rest > estimate as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.divisor);
        }
        // Seldom.
        if rest >= self.divisor {
            quotient = quotient.wrapping_add(1);
            rest -= self.divisor;
        }
        (quotient, rest != 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn quotients_are_exact(dividend: u64, at in 0..=LARGEST) {
            let divisor = DIVISORS[at];
            let dividend = dividend | 1 << 63;
            let wide = u128::from(dividend) << 62;
            let expected = wide / u128::from(divisor.divisor);
            let rest = wide % u128::from(divisor.divisor);
            prop_assert_eq!(divisor.divide(dividend), (expected as u64, rest != 0));
        }

        #[test]
        fn nearest_as_the_standard_library_has_it(
            mantissa: u64,
            narrow in 0..64_u32,
            exponent in -30..=30,
        ) {
            let mantissa = mantissa >> narrow;
            let text = format!("{mantissa}e{exponent}");
            match binary(mantissa, exponent) {
                Some(binary) => {
                    prop_assert_eq!(binary.to_f64(), text.parse::<f64>().unwrap());
                    prop_assert_eq!(binary.to_f32(), text.parse::<f32>().unwrap());
                }
                None => prop_assert!(exponent.abs() > 27),
            }
            if let Some(value) = easy(mantissa, exponent) {
                prop_assert_eq!(value, text.parse::<f64>().unwrap());
            }
        }

        // Half way between two doubles: the hard case, and its neighbours.
        #[test]
        fn ties(value in 1_u64 << 53..1 << 54, exponent in 0..4_u32, by in -1..=1_i64) {
            let five = 5_u64.pow(exponent);
            let Some(mantissa) = (value | 1).checked_mul(five) else { return Ok(()) };
            let mantissa = mantissa.wrapping_add_signed(by);
            let text = format!("{mantissa}e-{exponent}");
            let found = binary(mantissa, -(exponent as i32)).unwrap();
            prop_assert_eq!(found.to_f64(), text.parse::<f64>().unwrap());
        }
    }
}
