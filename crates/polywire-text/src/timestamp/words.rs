//! Reads and writes digits at fixed positions, eight bytes at a time, in general-purpose registers.
//!
//! Reading `08:49:37`:
//!
//! 1. Load the bytes as a little-endian integer, exclusive or with `00:00:00`. Each digit becomes
//!    its value, and each separator becomes zero.
//! 2. Add to each byte 127 minus its largest allowed value: 118 for a digit, 127 for a separator.
//!    The high bit of a byte is now set, or was set before, if and only if the byte is wrong. (A
//!    byte of 128 or more may carry into the next one, but the input is rejected anyway.)
//! 3. Ten times the word plus the word shifted by one byte gives pairs of digits: the hour in byte
//!    0, the minute in byte 3, the second in byte 6.
//! 4. Test the limits of the pairs as in step 2.
//! 5. Extract the pairs, or combine them by one multiplication.
//!
//! Writing is the inverse: of each value below 179, 103 / 1024 are the tens, and the rest the ones.

use crate::number::digits;

/// The high bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The expected bytes of a word: `0` matches any digit, any other byte matches itself.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    bytes: u64,
    limits: u64,
}

impl Pattern {
    pub(super) const fn new(pattern: [u8; 8]) -> Self {
        let mut limits = [127; 8];
        let mut at = 0;
        while at < 8 {
            if pattern[at] == b'0' {
                limits[at] = 127 - 9;
            }
            at += 1;
        }
        Self {
            bytes: u64::from_le_bytes(pattern),
            limits: u64::from_le_bytes(limits),
        }
    }

    /// The value of each pair of digits, in the byte of its first digit; other bytes are
    /// unspecified. The second result is zero if the word matches the pattern; otherwise the pairs
    /// are unspecified.
    #[inline]
    pub(super) const fn pairs(self, word: u64) -> (u64, u64) {
        let digits = word ^ self.bytes;
        let wrong = (digits | digits.wrapping_add(self.limits)) & HIGH;
        (digits.wrapping_mul(10).wrapping_add(digits >> 8), wrong)
    }
}

const TIME: Pattern = Pattern::new(*b"00:00:00");
/// The bytes with pairs in a time, and 127 minus the limits 23, 59 and 59.
const TIME_PAIRS: u64 = 0x00ff_0000_ff00_00ff;
const TIME_LIMITS: u64 = 0x0044_0000_4400_0068;

/// The second of the day of `HH:MM:SS`. `None` if it is not a time, or a leap second.
#[inline]
pub(super) const fn time(text: [u8; 8]) -> Option<u32> {
    let (pairs, wrong) = TIME.pairs(u64::from_le_bytes(text));
    let pairs = pairs & TIME_PAIRS;
    if (wrong | (pairs.wrapping_add(TIME_LIMITS) & HIGH)) != 0 {
        return None;
    }
    let (hour, minute, second) = (pairs as u8, (pairs >> 24) as u8, (pairs >> 48) as u8);
    Some(hour as u32 * 3600 + minute as u32 * 60 + second as u32)
}

/// `HH:MM:SS` of a second of the day.
///
/// The hours are a fixed-point number with a fraction of 32 bits. 1193047 is 2^32 / 3600, rounded
/// up; the error in a day is less than a second. 60 times the fraction are the minutes, and 60
/// times the fraction of those the seconds.
#[inline]
pub(super) const fn time_text(second: u32) -> u64 {
    let hours = second as u64 * 1_193_047;
    let minutes = (hours & 0xffff_ffff) * 60;
    let seconds = (minutes & 0xffff_ffff) * 60;
    let values = (hours >> 32) | (minutes >> 32) << 24 | (seconds >> 32) << 48;
    pair_text(values, 0x000f_0000_0f00_000f) | u64::from_le_bytes(*b"00:00:00")
}

/// Converts each value below 100 to two digits, without the bits of ASCII `0`. `nibbles` has the
/// low four bits of each value's byte set. Each value has a field of sixteen bits.
#[inline]
pub(super) const fn pair_text(values: u64, nibbles: u64) -> u64 {
    let tens = (values.wrapping_mul(103) >> 10) & nibbles;
    // value + 6 * tens = 16 * tens + ones.
    let ones = values.wrapping_add(tens.wrapping_mul(6)) & nibbles;
    tens | ones << 8
}

/// The number of digits at the beginning of a word, and their value when padded with zeros to eight
/// digits.
#[inline]
pub(super) const fn leading_digits(word: u64) -> (u32, u32) {
    let digits = word ^ ZEROS;
    // Carries affect only bytes after the first that is not a digit.
    let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & HIGH;
    let bits = others.trailing_zeros() & !7;
    let digits = match bits {
        64 => digits,
        _ => digits & ((1 << bits) - 1),
    };
    (bits / 8, digits::sum(digits) as u32)
}

/// The nine digits of `nanoseconds`: eight, and the ninth. And how many remain without trailing
/// zeros.
#[inline]
pub(super) const fn fraction_text(nanoseconds: u32) -> (u64, u8, usize) {
    let first = nanoseconds / 10;
    let last = (nanoseconds - first * 10) as u8;
    let digits = digits::spread(first);
    let needed = match last {
        0 => 8 - digits.leading_zeros() as usize / 8,
        _ => 9,
    };
    (digits | ZEROS, last | b'0', needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for second in 0..86_400_u32 {
            let text = format!(
                "{:02}:{:02}:{:02}",
                second / 3600,
                second / 60 % 60,
                second % 60
            );
            assert_eq!(time_text(second).to_le_bytes(), text.as_bytes());
            let text = text.as_bytes().first_chunk().unwrap();
            assert_eq!(time(*text), Some(second));
        }
        for text in [b"24:00:00", b"23:60:00", b"23:59:60", b"99:99:99"] {
            assert_eq!(time(*text), None);
        }
        for at in 0..8 {
            for byte in 0..=u8::MAX {
                let mut text = *b"11:11:11";
                let before = text[at];
                text[at] = byte;
                // Ones may be any digit; no hour begins with 3 to 9, no minute with 6.
                let most = [b'2', b'9', 0, b'5', b'9', 0, b'5', b'9'][at];
                let fits = byte == before || (b'0'..=most).contains(&byte);
                assert_eq!(time(text).is_some(), fits, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn digits_end_at_every_offset() {
        for count in 0..8_usize {
            for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                let mut text = [byte; 8];
                text[..count].fill(b'9');
                let (found, value) = leading_digits(u64::from_le_bytes(text));
                assert_eq!(found as usize, count, "{byte}");
                let expected = "9".repeat(count) + &"0".repeat(8 - count);
                assert_eq!(value, expected.parse::<u32>().unwrap());
            }
        }
    }
}
