//! Big integers: decimal digits and big-endian bytes.
//!
//! Schoolbook conversion, quadratic in the length, so the length is bounded.

/// The most bytes of a big integer: some 9,800 decimal digits.
pub(super) const MOST_BYTES: usize = 4_096;
/// The most decimal digits that are turned into bytes.
pub(super) const MOST_DIGITS: usize = 9_800;

/// The bytes of a number given by decimal digits, without leading zeros.
pub(super) fn bytes(digits: &str) -> Vec<u8> {
    // Little-endian limbs; nine digits are taken at a time.
    let mut limbs: Vec<u32> = Vec::new();
    for chunk in digits.as_bytes().chunks(9) {
        let mut carry = chunk
            .iter()
            .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        let factor = 10_u64.pow(chunk.len() as u32);
        for limb in &mut limbs {
            carry += u64::from(*limb) * factor;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let bytes = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes());
    bytes.skip_while(|byte| *byte == 0).collect()
}

/// The decimal digits of a number given by big-endian bytes.
pub(super) fn digits(bytes: &[u8]) -> String {
    let mut limbs: Vec<u32> = Vec::new();
    for chunk in bytes.rchunks(4) {
        limbs.push(
            chunk
                .iter()
                .fold(0, |value, byte| value << 8 | u32::from(*byte)),
        );
    }
    // Groups of nine digits, the least first.
    let mut groups = Vec::new();
    while limbs.iter().any(|limb| *limb != 0) {
        let mut remainder = 0_u64;
        for limb in limbs.iter_mut().rev() {
            remainder = remainder << 32 | u64::from(*limb);
            *limb = (remainder / 1_000_000_000) as u32;
            remainder %= 1_000_000_000;
        }
        groups.push(remainder as u32);
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
    }
    match groups.split_last() {
        None => "0".to_owned(),
        Some((first, rest)) => {
            let mut digits = first.to_string();
            for group in rest.iter().rev() {
                digits.push_str(&format!("{group:09}"));
            }
            digits
        }
    }
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

    proptest! {
        #[test]
        fn round_trips(text in "[1-9][0-9]{0,80}") {
            prop_assert_eq!(digits(&bytes(&text)), text);
        }
    }
}
