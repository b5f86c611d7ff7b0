//! Converts a mantissa times a power of ten to the nearest float.
//!
//! Most decimals have at most 19 digits and a small exponent. They need one multiplication or
//! division and only small tables:
//!
//! 1. [`easy`]: a mantissa below 2^53 and a power of ten up to 10^22 are exact doubles, so one
//!    division or multiplication of doubles rounds once (W. D. Clinger, "How to read floating point
//!    numbers accurately", 1990).
//! 2. [`exact`]: `10^n` is `5^n * 2^n`, and 5^27 is the largest power that fits 64 bits. Up to
//!    there, the mantissa times 5^n is an exact integer of 128 bits, and the mantissa divided by
//!    5^n has an exact quotient and remainder. The quotient has at least 62 bits, and its lowest
//!    bit is set if there is a remainder. Converting this integer rounds correctly: more than two
//!    bits are dropped, and the lowest decides ties. The power of two is applied last, without an
//!    error.
//! 3. [`near`]: larger powers of five are truncated to 64 bits, and the product is between two
//!    integers that differ by four. If both round to the same float, it is the result.
//!
//! Divisions are multiplications by a precomputed reciprocal, with the correction of N. Moller and
//! T. Granlund, "Improved division by invariant integers" (2011), algorithm 4.
//!
//! The rest is left to fast-float2: more digits, numbers close to the ends of the range, and about
//! one in 300 numbers of the third kind.

/// The largest power of five in 64 bits.
const LARGEST: usize = 27;

/// 10^0 to 10^22, exact as doubles.
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

/// A power of five as a divisor.
#[derive(Clone, Copy)]
struct Divisor {
    /// The power, shifted left until its highest bit is set.
    divisor: u64,
    /// `(2^128 - 1) / divisor - 2^64`.
    reciprocal: u64,
    /// The number of bits by which it is shifted.
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
            // The truncation to 64 bits subtracts 2^64.
            reciprocal: (u128::MAX / divisor as u128) as u64,
            shift,
        };
        at += 1;
    }
    divisors
};

/// `5^(28 k) / 2^power`, truncated to 64 bits, of which the highest is set. The error is slightly
/// above 1 at most.
#[derive(Clone, Copy)]
struct Truncated {
    mantissa: u64,
    power: i32,
}

/// The first k, for 10^-364: 10^-342 times 19 digits is half of the smallest number.
const FIRST_STRIDE: i32 = -13;
/// The last k, for 10^308.
const LAST_STRIDE: i32 = 11;
const STRIDE: i32 = LARGEST as i32 + 1;

static TRUNCATED: [Truncated; (LAST_STRIDE - FIRST_STRIDE + 1) as usize] = {
    let mut powers = [Truncated {
        mantissa: 0,
        power: 0,
    }; (LAST_STRIDE - FIRST_STRIDE + 1) as usize];
    let mut at = 0;
    while at < powers.len() {
        let fives = (at as i32 + FIRST_STRIDE) * STRIDE;
        // Computed with 128 bits: the errors of all steps add up to less than 2^16 in the low half.
        let (mut mantissa, mut power, mut left) = (1_u128 << 127, -127, fives);
        while left != 0 {
            if left > 0 {
                // Times 5/8, which needs a shift by at most one bit.
                mantissa = mantissa / 8 * 5;
                power += 3;
                left -= 1;
            } else {
                mantissa /= 5;
                left += 1;
            }
            let zeros = mantissa.leading_zeros();
            mantissa <<= zeros;
            power -= zeros as i32;
        }
        powers[at] = Truncated {
            mantissa: (mantissa >> 64) as u64,
            power: power + 64,
        };
        at += 1;
    }
    powers
};

/// A number between `mantissa * 2^power` and `(mantissa + ERROR) * 2^power`. If `ERROR` is 0, the
/// lowest bit is set if the number was truncated. The mantissa is zero or has 62 or 63 bits.
#[derive(Clone, Copy)]
struct Binary<const ERROR: i64> {
    mantissa: i64,
    power: i32,
}

impl<const ERROR: i64> Binary<ERROR> {
    /// The nearest double, ties to even. `None` if it is ambiguous, or close to the ends of the
    /// range.
    #[inline]
    fn to_f64(self) -> Option<f64> {
        let rounded = self.mantissa as f64;
        // Rounding is monotonic, so all numbers in between round to the same double.
        if ERROR != 0 && rounded != self.mantissa.wrapping_add(ERROR) as f64 {
            return None;
        }
        scaled(rounded, self.power)
    }

    /// The nearest `f32`: see [`Self::to_f64`].
    #[inline]
    fn to_f32(self) -> Option<f32> {
        let rounded = self.mantissa as f32;
        if ERROR != 0 && rounded != self.mantissa.wrapping_add(ERROR) as f32 {
            return None;
        }
        // Exact as a double, and as an `f32` if that is normal.
        let value = scaled(f64::from(rounded), self.power)?;
        let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        (value == 0.0 || normal.contains(&value)).then_some(value as f32)
    }
}

/// `value * 2^power`, if that is zero or normal. `value` must be zero, or positive and normal.
#[inline]
fn scaled(value: f64, power: i32) -> Option<f64> {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32 + power;
    if value == 0.0 {
        return Some(value);
    }
    (1..2047)
        .contains(&exponent)
        .then(|| f64::from_bits((bits & ((1 << 52) - 1)) | (exponent as u64) << 52))
}

/// The double nearest to `mantissa * 10^exponent`, ties to even. `None` if these algorithms cannot
/// tell.
#[inline]
pub(super) fn nearest_f64(mantissa: u64, exponent: i32) -> Option<f64> {
    if let Some(value) = easy(mantissa, exponent) {
        return Some(value);
    }
    match exact(mantissa, exponent) {
        Some(binary) => binary.to_f64(),
        None => near(mantissa, exponent)?.to_f64(),
    }
}

/// The `f32` nearest to `mantissa * 10^exponent`: see [`nearest_f64`].
#[inline]
pub(super) fn nearest_f32(mantissa: u64, exponent: i32) -> Option<f32> {
    // Rounding twice is only wrong if the double is half way between two floats.
    const DROPPED: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    if let Some(value) = easy(mantissa, exponent)
        && value.to_bits() & DROPPED != HALF
    {
        // Zero, or between 10^-22 and 10^38, so it is normal.
        return Some(value as f32);
    }
    match exact(mantissa, exponent) {
        Some(binary) => binary.to_f32(),
        None => near(mantissa, exponent)?.to_f32(),
    }
}

/// `mantissa * 10^exponent`, if both are exact doubles.
#[inline]
fn easy(mantissa: u64, exponent: i32) -> Option<f64> {
    if mantissa >> 53 != 0 {
        return None;
    }
    let power = POWERS_OF_TEN.get(exponent.unsigned_abs() as usize)?;
    // The conversion takes one instruction for signed integers, several for unsigned ones.
    let mantissa = mantissa as i64 as f64;
    Some(if exponent < 0 {
        mantissa / power
    } else {
        mantissa * power
    })
}

/// `mantissa * 10^exponent` for exponents of -27 to 27.
#[inline]
fn exact(mantissa: u64, exponent: i32) -> Option<Binary<0>> {
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

/// `mantissa * 10^exponent` for all exponents of the table.
#[inline(never)]
fn near(mantissa: u64, exponent: i32) -> Option<Binary<4>> {
    if mantissa == 0 {
        return Some(Binary {
            mantissa: 0,
            power: 0,
        });
    }
    let at = exponent.div_euclid(STRIDE) - FIRST_STRIDE;
    let power = TRUNCATED.get(usize::try_from(at).ok()?)?;
    let five = *POWERS_OF_FIVE.get(exponent.rem_euclid(STRIDE) as usize)?;
    let factor = u128::from(mantissa) * u128::from(five);
    let zeros = factor.leading_zeros();
    let product = u128::from(((factor << zeros) >> 64) as u64) * u128::from(power.mantissa);
    // The errors of the factors are slightly above 1 at most, so that of the product is slightly
    // above 2^65: 2 in the high half, 3 with the truncated low half. The shift makes that at most
    // 5, and half of it is below 4.
    let shift = product.leading_zeros();
    Some(Binary {
        mantissa: ((product << shift) >> 65) as i64,
        power: 64 - zeros as i32 + power.power + 65 - shift as i32 + exponent,
    })
}

impl Divisor {
    /// The integer quotient of `dividend * 2^62`, and whether there is a remainder. The highest
    /// bits of dividend and divisor must be set, so that the quotient has 62 or 63 bits.
    #[inline]
    fn divide(self, dividend: u64) -> (u64, bool) {
        // High and low word. The high one is below the divisor, as the algorithm requires.
        let (high, low) = (dividend >> 2, dividend << 62);
        let estimate = u128::from(self.reciprocal) * u128::from(high)
            + (u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.divisor));
        if rest > estimate as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.divisor);
        }
        // Rare.
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

    #[test]
    fn few_numbers_are_ambiguous() {
        let mut mantissa = 0x9e37_79b9_7f4a_7c15_u64;
        let mut left = 0;
        for at in 0..10_000 {
            mantissa = mantissa.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1);
            let exponent = 28 + at % 250;
            left += u32::from(nearest_f64(mantissa, exponent).is_none());
            left += u32::from(nearest_f64(mantissa, -exponent).is_none());
        }
        assert!(left < 20_000 / 200, "{left}");
    }

    // Numbers whose double is half way between two floats.
    #[test]
    fn floats_are_rounded_once() {
        let mut half_way = 0;
        for odd in ((1_u128 << 24) + 1..1 << 25).step_by(9998) {
            let middle = odd << 40;
            for mantissa in [middle / 10_000, middle / 10_000 + 1] {
                let mantissa = mantissa as u64;
                let double = easy(mantissa, 4).unwrap();
                half_way += u32::from(double == middle as f64);
                let expected = format!("{mantissa}e4").parse::<f32>().unwrap();
                assert_eq!(nearest_f32(mantissa, 4), Some(expected));
            }
        }
        assert!(half_way > 100, "{half_way}");
    }

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
        fn nearest_matches_the_standard_library(
            mantissa: u64,
            narrow in 0..64_u32,
            exponent in prop_oneof![-30..=30_i32, -400..=400],
        ) {
            let mantissa = mantissa >> narrow;
            let text = format!("{mantissa}e{exponent}");
            let (double, float) = (text.parse::<f64>().unwrap(), text.parse::<f32>().unwrap());
            if exponent.abs() <= 27 {
                prop_assert_eq!(nearest_f64(mantissa, exponent), Some(double));
                let found = exact(mantissa, exponent).unwrap();
                prop_assert_eq!(found.to_f64(), Some(double));
                prop_assert_eq!(found.to_f32(), Some(float).filter(|float| float.is_finite()));
            }
            if let Some(found) = near(mantissa, exponent).and_then(Binary::to_f64) {
                prop_assert_eq!(found, double);
            }
            if let Some(found) = near(mantissa, exponent).and_then(Binary::to_f32) {
                prop_assert_eq!(found, float);
            }
            if let Some(value) = easy(mantissa, exponent) {
                prop_assert_eq!(value, double);
            }
        }

        // Half way between two doubles, and the neighbours.
        #[test]
        fn ties(value in 1_u64 << 53..1 << 54, exponent in 0..4_u32, by in -1..=1_i64) {
            let five = 5_u64.pow(exponent);
            let Some(mantissa) = (value | 1).checked_mul(five) else { return Ok(()) };
            let mantissa = mantissa.wrapping_add_signed(by);
            let text = format!("{mantissa}e-{exponent}");
            let found = exact(mantissa, -(exponent as i32)).unwrap();
            prop_assert_eq!(found.to_f64(), text.parse().ok());
            if let Some(found) = near(mantissa, -(exponent as i32)).unwrap().to_f64() {
                prop_assert_eq!(Some(found), text.parse().ok());
            }
        }
    }
}
