//! Numbers of a known width, for dates and times.

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
    }
}
