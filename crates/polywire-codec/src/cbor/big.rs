//! Big integers: decimal digits and big-endian bytes.
//!
//! The conversion takes quadratic time, so the length is limited. Each step handles nineteen digits
//! or 64 bits. The division by the constant 10^19 is done with multiplications (Moeller and
//! Granlund, "Improved division by invariant integers", algorithm 4).

use std::fmt::Write;

/// The maximum length of a big integer in bytes, enough for an RSA key of 4,096 bits. It limits the
/// time per byte of a message.
pub(super) const MAX_BYTES: usize = 512;
/// The maximum number of decimal digits in [`MAX_BYTES`]. A byte has 2.40824 digits.
pub(super) const MAX_DIGITS: usize = (MAX_BYTES * 240_824).div_ceil(100_000);

/// The largest power of ten in 64 bits. Its highest bit is set.
const GROUP: u64 = 10_u64.pow(DIGITS as u32);
const DIGITS: usize = 19;
/// (2^128 - 1) / [`GROUP`] - 2^64.
const RECIPROCAL: u64 = (u128::MAX / GROUP as u128 - (1 << 64)) as u64;

/// Converts decimal digits to big-endian bytes without leading zeros.
pub(super) fn bytes(digits: &str) -> Vec<u8> {
    // Limbs of 64 bits, the least significant first.
    let mut limbs: Vec<u64> = Vec::with_capacity(digits.len() / DIGITS + 1);
    for chunk in digits.as_bytes().chunks(DIGITS) {
        let mut carry = chunk
            .iter()
            .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        let factor = 10_u64.pow(chunk.len() as u32);
        for limb in &mut limbs {
            let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            *limb = product as u64;
            carry = (product >> 64) as u64;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let bytes = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes());
    bytes.skip_while(|byte| *byte == 0).collect()
}

/// Converts big-endian bytes to decimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    let mut limbs: Vec<u64> = Vec::with_capacity(bytes.len() / 8 + 1);
    for chunk in bytes.rchunks(8) {
        limbs.push(
            chunk
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
        );
    }
    // Groups of digits, the least significant first.
    let mut groups = Vec::with_capacity(bytes.len() / 7 + 1);
    loop {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        if limbs.is_empty() {
            break;
        }
        let mut remainder = 0;
        for limb in limbs.iter_mut().rev() {
            (*limb, remainder) = divide(remainder, *limb);
        }
        groups.push(remainder);
    }
    let Some((first, rest)) = groups.split_last() else {
        return "0".to_owned();
    };
    let mut digits = first.to_string();
    for group in rest.iter().rev() {
        // Writing to a string does not fail.
        let _ = write!(digits, "{group:0DIGITS$}");
    }
    digits
}

/// Divides `high * 2^64 + low`, where `high` is below [`GROUP`], by [`GROUP`]:
/// quotient and remainder.
#[inline]
fn divide(high: u64, low: u64) -> (u64, u64) {
    let product = u128::from(RECIPROCAL) * u128::from(high);
    let sum = product.wrapping_add(u128::from(high) << 64 | u128::from(low));
    let mut quotient = ((sum >> 64) as u64).wrapping_add(1);
    let mut remainder = low.wrapping_sub(quotient.wrapping_mul(GROUP));
    // The quotient is one too large in about half of the cases. A mask avoids a branch that the
    // processor cannot predict.
    let mask = u64::from(remainder > sum as u64).wrapping_neg();
    quotient = quotient.wrapping_add(mask);
    remainder = remainder.wrapping_add(mask & GROUP);
    if remainder >= GROUP {
        quotient = quotient.wrapping_add(1);
        remainder -= GROUP;
    }
    (quotient, remainder)
}

/// The decimal digits of a number plus one: tag 3 holds -1 - n.
pub(super) fn increment(digits: &str) -> String {
    let mut out = digits.as_bytes().to_vec();
    for digit in out.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return String::from_utf8_lossy(&out).into_owned();
        }
        *digit = b'0';
    }
    format!("1{}", String::from_utf8_lossy(&out))
}

/// The decimal digits of a number of at least one, minus one.
pub(super) fn decrement(digits: &str) -> String {
    let mut out = digits.as_bytes().to_vec();
    for digit in out.iter_mut().rev() {
        if *digit != b'0' {
            *digit -= 1;
            break;
        }
        *digit = b'9';
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_numbers() {
        assert_eq!(bytes("18446744073709551616"), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(digits(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), "18446744073709551616");
        assert_eq!(digits(&[]), "0");
        assert_eq!(increment("199"), "200");
        assert_eq!(increment("999"), "1000");
        assert_eq!(decrement("1000"), "0999");
    }

    #[test]
    fn the_longest_number_has_the_maximum_of_digits() {
        assert_eq!(digits(&[0xff; MAX_BYTES]).len(), MAX_DIGITS);
    }

    #[test]
    fn divisions_at_the_edges() {
        let edges = [0, 1, GROUP - 1, GROUP, GROUP + 1, u64::MAX - 1, u64::MAX];
        for high in edges.into_iter().filter(|high| *high < GROUP) {
            for low in edges {
                divides(high, low);
            }
        }
    }

    /// Compares with the division of the processor.
    fn divides(high: u64, low: u64) {
        let number = u128::from(high) << 64 | u128::from(low);
        let (quotient, remainder) = divide(high, low);
        assert_eq!(u128::from(quotient), number / u128::from(GROUP));
        assert_eq!(u128::from(remainder), number % u128::from(GROUP));
    }

    proptest! {
        #[test]
        fn divisions(high in 0..GROUP, low in any::<u64>()) {
            divides(high, low);
        }

        #[test]
        fn round_trips(text in "[1-9][0-9]{0,400}") {
            prop_assert_eq!(digits(&bytes(&text)), text);
        }

        #[test]
        fn round_trips_of_bytes(rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let number = [&[1][..], &rest].concat();
            prop_assert_eq!(bytes(&digits(&number)), number);
        }
    }
}
