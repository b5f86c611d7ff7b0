//! Numbers of any size, one digit at a time.

/// The maximum length of a big integer in bytes.
pub(super) const MOST_BYTES: usize = 512;

/// Converts decimal digits minus `minus` to big-endian bytes without leading zeros. The number is
/// divided by 256 until it is 0. The remainders are the bytes, the last byte first.
pub(super) fn bytes_of_digits(digits: &str, minus: u32) -> Vec<u8> {
    let digits = digits.bytes();
    let mut digits: Vec<u32> = digits.map(|digit| u32::from(digit - b'0')).collect();
    let mut borrow = minus;
    for digit in digits.iter_mut().rev() {
        (*digit, borrow) = match *digit < borrow {
            true => (*digit + 10 - borrow, 1),
            false => (*digit - borrow, 0),
        };
    }
    let mut bytes = Vec::new();
    while digits.iter().any(|digit| *digit > 0) {
        let mut remainder = 0;
        for digit in &mut digits {
            let value = remainder * 10 + *digit;
            (*digit, remainder) = (value / 256, value % 256);
        }
        bytes.insert(0, remainder as u8);
    }
    bytes
}

/// Converts big-endian bytes plus `plus` to decimal digits. For each byte, the number is multiplied by
/// 256, and the byte is added.
pub(super) fn digits_of_bytes(bytes: &[u8], plus: u32) -> String {
    // The last digit first.
    let mut digits = vec![0_u32];
    let bytes = bytes.iter().map(|byte| (256, u32::from(*byte)));
    for (times, more) in bytes.chain([(1, plus)]) {
        let mut carry = more;
        for digit in &mut digits {
            let value = *digit * times + carry;
            (*digit, carry) = (value % 10, value / 10);
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    digits.iter().rev().map(u32::to_string).collect()
}

/// Up to 64 decimal places are written with a point, others with an exponent.
pub(super) fn decimal_text(mantissa: &str, exponent: i64) -> String {
    if exponent == 0 {
        return mantissa.to_owned();
    }
    if !(-64..0).contains(&exponent) {
        return format!("{mantissa}e{exponent}");
    }
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let mut digits = digits.to_owned();
    let places = exponent.unsigned_abs() as usize;
    while digits.len() <= places {
        digits.insert(0, '0');
    }
    digits.insert(digits.len() - places, '.');
    format!("{sign}{digits}")
}
