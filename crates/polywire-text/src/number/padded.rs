//! Numbers of a known width, for dates and times.

/// "00" to "99".
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut value = 0;
    while value < 100 {
        pairs[value * 2] = b'0' + (value / 10) as u8;
        pairs[value * 2 + 1] = b'0' + (value % 10) as u8;
        value += 1;
    }
    pairs
};

/// Two decimal digits of a number below one hundred; of a greater one its last
/// two.
#[inline]
pub(crate) fn pair(value: u32) -> [u8; 2] {
    let at = (value % 100) as usize * 2;
    [PAIRS[at], PAIRS[at + 1]]
}

/// Appends exactly `width` decimal digits of `value`, with leading zeros.
/// Higher digits are lost; callers pass values that fit.
pub(crate) fn push_padded(out: &mut Vec<u8>, value: u32, width: u32) {
    let mut divisor = 10_u32.pow(width - 1);
    for _ in 0..width {
        out.push(b'0' + (value / divisor % 10) as u8);
        divisor /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_is_format() {
        for value in [0, 7, 42, 999, 2026, 9999] {
            let mut out = Vec::new();
            push_padded(&mut out, value, 4);
            assert_eq!(out, format!("{value:04}").as_bytes());
        }
        assert_eq!(pair(7), *b"07");
    }
}
