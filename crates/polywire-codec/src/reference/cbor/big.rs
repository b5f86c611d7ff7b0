//! Numbers of any size, a digit at a time.

/// The most bytes of a big integer.
pub(super) const MOST_BYTES: usize = 512;

/// The big-endian bytes of a number given by decimal digits, without leading
/// zeros: divided by 256 until nothing is left, the remainders from behind.
pub(super) fn bytes_of_digits(digits: &str) -> Vec<u8> {
    let mut digits: Vec<u32> = digits
        .bytes()
        .map(|digit| u32::from(digit - b'0'))
        .collect();
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

/// The decimal digits of a number given by big-endian bytes: each byte is added
/// to 256 times what came before.
pub(super) fn digits_of_bytes(bytes: &[u8]) -> String {
    // The last digit first.
    let mut digits = vec![0_u32];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = *digit * 256 + carry;
            (*digit, carry) = (value % 10, value / 10);
        }
        while carry > 0 {
            digits.push(carry % 10);
            carry /= 10;
        }
    }
    let digits = digits.iter().rev();
    digits
        .map(|digit| char::from(b'0' + *digit as u8))
        .collect()
}

/// One more.
pub(super) fn plus_one(digits: &str) -> String {
    match digits.strip_suffix('9') {
        None if digits.is_empty() => "1".to_owned(),
        None => next_digit(digits, 1),
        Some(rest) => plus_one(rest) + "0",
    }
}

/// One less; the number is at least 1.
pub(super) fn minus_one(digits: &str) -> String {
    match digits.strip_suffix('0') {
        None => next_digit(digits, -1),
        Some(rest) => minus_one(rest) + "9",
    }
}

/// The digits with the last one changed.
fn next_digit(digits: &str, change: i8) -> String {
    let (rest, last) = digits.split_at(digits.len().saturating_sub(1));
    let last = last.parse::<i8>().unwrap_or(0) + change;
    format!("{rest}{last}")
}

/// A point among the digits for up to 64 places behind it, else an exponent.
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
