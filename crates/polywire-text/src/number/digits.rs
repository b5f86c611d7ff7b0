//! Decimal digits, eight at a time.
//!
//! Eight bytes are a little-endian word. Exclusive or with eight `'0'` converts digits to their
//! values and all other bytes to values above nine, so one addition finds the first byte that is
//! not a digit:
//!
//! ```text
//!     "1234,\"a\""  ^ "00000000"  =  01 02 03 04 1c 12 51 12
//!     + 76 76 76 76 76 76 76 76   =  77 78 79 7a 92 88 c7 88
//!     & 80 80 80 80 80 80 80 80   =  00 00 00 00 80 80 80 80     four digits
//! ```
//!
//! Three multiplications combine eight values to pairs, fours and eight. If the number of digits is
//! known, a left shift puts zeros before fewer than eight digits, without a loop or a branch. This
//! includes short decimals, whose point is removed from the word. If the number of digits is not
//! known, whole words are read while they consist of digits, and then single digits of the last
//! word: with the count from the mask, the following code would depend on it, which is slower than
//! a predicted length.
//!
//! Writing is the inverse: division by 10,000, by 100 and by 10, each in all lanes at once.

/// Eight times `'0'`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

pub(crate) const TEN_TO_8: u64 = 100_000_000;
pub(crate) const TEN_TO_16: u64 = TEN_TO_8 * TEN_TO_8;

/// Eight bytes, the first lowest, as values: digits are below ten.
#[derive(Clone, Copy)]
struct Values(u64);

impl Values {
    #[inline]
    fn of(chunk: &[u8; 8]) -> Self {
        Self(u64::from_le_bytes(*chunk) ^ ZEROS)
    }

    /// The high bit of each byte that is not a digit. Only correct up to the first such byte.
    #[inline]
    fn others(self) -> u64 {
        // A byte of 0x8a or more carries into the next one, which is after the first non-digit.
        (self.0.wrapping_add(0x7676_7676_7676_7676) | self.0) & 0x8080_8080_8080_8080
    }

    /// The number of digits at the beginning, at most eight.
    #[inline]
    fn count(self) -> usize {
        self.others().trailing_zeros() as usize / 8
    }

    /// The number, if all eight are digits.
    #[inline]
    fn number(self) -> Option<u64> {
        (self.others() == 0).then(|| self.sum())
    }

    /// Fewer than eight bytes, followed by non-digits.
    #[inline]
    fn of_few(bytes: &[u8]) -> Self {
        let word = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                let first = u64::from(u32::from_le_bytes(*first));
                let last = u64::from(u32::from_le_bytes(*last));
                // Overlapping bytes are equal.
                first | last << (8 * (bytes.len() & 7) - 32)
            }
            _ => match *bytes {
                [a] => u64::from(a),
                [a, b] => u64::from(u16::from_le_bytes([a, b])),
                [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
                _ => 0,
            },
        };
        Self(word ^ ZEROS)
    }

    /// The high bit of each byte that is not a digit, for all bytes.
    #[inline]
    fn all_others(self) -> u64 {
        // Without high bits, there are no carries.
        let low = self.0 & 0x7f7f_7f7f_7f7f_7f7f;
        (low.wrapping_add(0x7676_7676_7676_7676) | self.0) & 0x8080_8080_8080_8080
    }

    /// The original byte at this bit.
    #[inline]
    fn byte(self, bit: u32) -> u8 {
        (self.0 >> bit) as u8 ^ b'0'
    }

    /// Appends the digits at the beginning to `value`. Returns it and their number.
    #[inline(always)]
    fn one_by_one(self, mut value: u64) -> (u64, usize) {
        for at in 0..8 {
            let digit = (self.0 >> (8 * at)) as u8;
            if digit > 9 {
                return (value, at);
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        (value, 8)
    }

    /// The first `count` values, 1 to 8, after zeros.
    #[inline]
    fn first(self, count: usize) -> Self {
        Self(self.0 << (64 - 8 * count))
    }

    /// The number of eight digits.
    #[inline]
    fn sum(self) -> u64 {
        sum(self.0)
    }
}

/// The number of eight values of digits, the first lowest.
#[inline]
pub(crate) const fn sum(values: u64) -> u64 {
    const EACH_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    // Bytes 0, 2, 4 and 6 have two digits each.
    let twos = values.wrapping_mul(10).wrapping_add(values >> 8);
    // Weights of pairs: 10^6, 10^4, 10^2, 1. The sum is in the high half.
    let odd = (twos & EACH_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let even = (twos >> 16 & EACH_FOURTH).wrapping_mul(1 + (10_000 << 32));
    odd.wrapping_add(even) >> 32
}

/// The value of a byte that is a digit.
#[inline]
fn digit(byte: u8) -> Option<u64> {
    let value = byte.wrapping_sub(b'0');
    (value <= 9).then_some(u64::from(value))
}

/// Removes digits from the beginning of `rest` and appends them to `value`, which is wrong after
/// more than 19 digits.
// Always inline, so that the arguments stay in registers.
#[inline(always)]
pub(super) fn run(rest: &mut &[u8], value: &mut u64) {
    while let Some((chunk, tail)) = rest.split_first_chunk() {
        let values = Values::of(chunk);
        let Some(eight) = values.number() else {
            let count;
            (*value, count) = values.one_by_one(*value);
            *rest = rest.get(count..).unwrap_or_default();
            return;
        };
        *value = value.wrapping_mul(TEN_TO_8).wrapping_add(eight);
        *rest = tail;
    }
    few(rest, value);
}

/// As [`run`], digit by digit, for few digits.
#[inline(always)]
pub(super) fn few(rest: &mut &[u8], value: &mut u64) {
    while let [byte, tail @ ..] = *rest
        && let Some(digit) = digit(*byte)
    {
        *value = value.wrapping_mul(10).wrapping_add(digit);
        *rest = tail;
    }
}

/// An integer of one to seven digits at the beginning, and its length, without branches on the
/// length.
#[inline(always)]
pub(crate) fn short(chunk: &[u8; 8]) -> Option<(u32, usize)> {
    let values = Values::of(chunk);
    let bits = values.others().trailing_zeros() & !7;
    if bits == 0 || bits == 64 {
        return None;
    }
    // Shifts zeros in before the digits.
    let digits = Values(values.0 << (64 - bits));
    Some((digits.sum() as u32, bits as usize / 8))
}

/// An integer of one to 15 digits at the beginning, and its length.
#[inline(always)]
pub(crate) fn up_to_15(chunk: &[u8; 16]) -> Option<(i64, usize)> {
    let [first, second] = chunk.as_chunks().0 else {
        return None;
    };
    let Some(eight) = Values::of(first).number() else {
        return short(first).map(|(value, len)| (i64::from(value), len));
    };
    let values = Values::of(second);
    let bits = values.others().trailing_zeros() & !7;
    // Shifts zeros in before the digits. Two shifts, as there may be no digits, and a shift by 64
    // bits is not defined.
    let digits = Values((values.0 << (63 - bits.min(63))) << 1);
    let weight = TENS.get(bits as usize / 8)?;
    let value = eight * weight + digits.sum();
    Some((value as i64, 8 + bits as usize / 8))
}

/// Powers of ten.
const TENS: [u64; 8] = {
    let mut tens = [1; 8];
    let mut at = 1;
    while at < tens.len() {
        tens[at] = tens[at - 1] * 10;
        at += 1;
    }
    tens
};

/// Fast path for an integer of one to 18 digits at the beginning of `bytes`, and its length. `None`
/// for any other number of digits, and near the end of the input.
#[inline(always)]
pub(super) fn prefix(bytes: &[u8]) -> Option<(u64, usize)> {
    let (first, tail) = bytes.split_first_chunk()?;
    let first = Values::of(first);
    match first.number() {
        Some(eight) => prefix_beyond_8(eight, tail),
        None => match first.one_by_one(0) {
            (_, 0) => None,
            found => Some(found),
        },
    }
}

#[inline(never)]
fn prefix_beyond_8(eight: u64, tail: &[u8]) -> Option<(u64, usize)> {
    let (second, tail) = tail.split_first_chunk()?;
    let second = Values::of(second);
    let Some(second) = second.number() else {
        let (value, count) = second.one_by_one(eight);
        return Some((value, 8 + count));
    };
    let value = eight * TEN_TO_8 + second;
    let [a, b, c] = *tail.first_chunk()?;
    let Some(a) = digit(a) else {
        return Some((value, 16));
    };
    let value = value * 10 + a;
    let Some(b) = digit(b) else {
        return Some((value, 17));
    };
    digit(c).is_none().then_some((value * 10 + b, 18))
}

/// The beginning of a decimal number.
pub(crate) struct Start {
    /// The digits, at most seven, without the point.
    pub(crate) mantissa: u32,
    /// The number of digits before the point: at least one.
    pub(crate) whole: usize,
    /// The number of digits after the point; 0 if there is no point.
    pub(crate) places: usize,
    /// The number of bytes, including the point.
    pub(crate) len: usize,
    /// Whether more digits may follow after the point.
    pub(crate) open: bool,
    /// The byte after the number, if not `open`; zero at the end of the input.
    pub(crate) next: u8,
}

/// Fast path for an unsigned number at the beginning of `bytes`, of which it reads up to eight
/// bytes. Valid in all grammars. `None` if there are eight digits before the point, no digits on
/// one side of it, or a leading zero.
#[inline(always)]
pub(crate) fn start(bytes: &[u8]) -> Option<Start> {
    let values = match bytes.first_chunk() {
        Some(chunk) => Values::of(chunk),
        None => Values::of_few(bytes),
    };
    // The positions are those of high bits, so rounds down to whole bytes.
    let others = values.all_others();
    let whole = others.trailing_zeros() & !7;
    if others == 0 || whole == 0 || (whole > 8 && values.0 as u8 == 0) {
        return None;
    }
    if values.byte(whole) != b'.' {
        return Some(Start {
            mantissa: values.first(whole as usize / 8).sum() as u32,
            whole: whole as usize / 8,
            places: 0,
            len: whole as usize / 8,
            open: false,
            next: values.byte(whole),
        });
    }
    // 64 if all bytes after the point are digits.
    let others = others & (others - 1);
    let end = others.trailing_zeros() & !7;
    let count = end as usize / 8 - 1;
    if end == whole + 8 {
        return None;
    }
    let before = (1 << whole) - 1;
    let digits = Values(values.0 & before | values.0 >> 8 & !before);
    Some(Start {
        mantissa: digits.first(count).sum() as u32,
        whole: whole as usize / 8,
        places: count - whole as usize / 8,
        len: count + 1,
        open: others == 0,
        next: values.byte(end & 63),
    })
}

/// The number of eight digits at the beginning, and the rest.
#[inline(always)]
fn eight(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (chunk, tail) = bytes.split_first_chunk()?;
    Some((Values::of(chunk).number()?, tail))
}

/// The number of four digits at the beginning, and the rest.
#[inline(always)]
fn four(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (chunk, tail) = bytes.split_first_chunk()?;
    let values = u32::from_le_bytes(*chunk) ^ ZEROS as u32;
    if (values.wrapping_add(0x7676_7676) | values) & 0x8080_8080 != 0 {
        return None;
    }
    let twos = values.wrapping_mul(10).wrapping_add(values >> 8);
    let number = (twos & 0xff) * 100 + (twos >> 16 & 0xff);
    Some((u64::from(number), tail))
}

/// All of `bytes`: one to four digits without a leading zero.
#[inline(always)]
pub(super) fn tiny(bytes: &[u8]) -> Option<u64> {
    match *bytes {
        [a] => digit(a),
        [b'0', ..] => None,
        [a, b] => Some(digit(a)? * 10 + digit(b)?),
        [a, b, c] => Some(digit(a)? * 100 + digit(b)? * 10 + digit(c)?),
        [_, _, _, _] => four(bytes).map(|(value, _)| value),
        _ => None,
    }
}

/// All of `bytes`: at most eight digits. `None` if there is another byte.
#[inline]
pub(super) fn up_to_8(bytes: &[u8]) -> Option<u64> {
    if bytes.len() == 8 {
        return eight(bytes).map(|(value, _)| value);
    }
    let (mut rest, mut value) = (bytes, 0);
    if let Some((first, tail)) = four(rest) {
        (rest, value) = (tail, first);
    }
    for byte in rest {
        value = value * 10 + digit(*byte)?;
    }
    Some(value)
}

/// All of `bytes`: eight to 16 digits. `None` if there is another byte.
#[inline]
pub(super) fn up_to_16(bytes: &[u8]) -> Option<u64> {
    let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
    let (first, last) = (Values::of(first), Values::of(last));
    if first.others() | last.others() != 0 {
        return None;
    }
    match bytes.len() - 8 {
        0 => Some(last.sum()),
        before => Some(first.first(before).sum() * TEN_TO_8 + last.sum()),
    }
}

/// All of `bytes`: 16 digits or more. `None` if the number does not fit, or if there is another
/// byte.
pub(super) fn beyond_16(bytes: &[u8]) -> Option<u64> {
    let (high, low) = bytes.split_at_checked(bytes.len().checked_sub(16)?)?;
    let low = up_to_16(low)?;
    if high.len() > 4 {
        // All but the last 20 digits must be zeros.
        let (zeros, high) = high.split_at(high.len() - 4);
        let zero = zeros.iter().all(|byte| *byte == b'0');
        return zero
            .then(|| up_to_8(high))
            .flatten()
            .and_then(|high| high.checked_mul(TEN_TO_16)?.checked_add(low));
    }
    if high.is_empty() {
        return Some(low);
    }
    up_to_8(high)?.checked_mul(TEN_TO_16)?.checked_add(low)
}

/// All of `bytes`: digits. `None` if the number does not fit, or if there is another byte.
pub(super) fn beyond_64_bits(bytes: &[u8]) -> Option<u128> {
    let zeros = bytes.iter().take_while(|byte| **byte == b'0').count();
    let bytes = &bytes[zeros..];
    if bytes.len() > 39 {
        return None;
    }
    let (head, chunks) = bytes.as_rchunks::<16>();
    let mut value = match head.len() {
        0 => 0,
        1..=8 => u128::from(up_to_8(head)?),
        _ => u128::from(up_to_16(head)?),
    };
    for chunk in chunks {
        value = value.checked_mul(u128::from(TEN_TO_16))?;
        value = value.checked_add(u128::from(up_to_16(chunk)?))?;
    }
    Some(value)
}

/// The end of the digits at `at`.
#[inline]
pub(crate) fn end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let count = Values::of(chunk).count();
        at += count;
        if count < 8 {
            return at;
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The eight digits of a number below 10^8, in ASCII, the first lowest.
#[inline]
pub(crate) fn padded(value: u32) -> u64 {
    spread(value) | ZEROS
}

/// The digits of a number below 10^8 without leading zeros, in ASCII, the first lowest; and their
/// number.
#[inline]
pub(crate) fn trimmed(value: u32) -> (u64, usize) {
    let values = spread(value);
    // The extra bit keeps the last digit of zero.
    let zeros = (values | 1 << 56).trailing_zeros() as usize / 8;
    ((values | ZEROS) >> (8 * zeros), 8 - zeros)
}

/// The values of the eight digits of a number below 10^8, the first lowest.
///
/// Each step divides all lanes by a multiplication and a shift, which is exact for the possible
/// values, and replaces each by quotient and remainder: `x / d + (x % d << s)` is
/// `(x << s) - x / d * ((d << s) - 1)`.
#[inline]
pub(crate) const fn spread(value: u32) -> u64 {
    debug_assert!((value as u64) < TEN_TO_8);
    let fours = (value / 10_000) as u64;
    let fours = ((value as u64) << 32).wrapping_sub(fours * ((10_000 << 32) - 1));
    // Exact below 10,000.
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = (fours << 16).wrapping_sub(hundreds.wrapping_mul((100 << 16) - 1));
    // Exact below 100.
    let tens = (twos.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    (twos << 8).wrapping_sub(tens.wrapping_mul((10 << 8) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_ends_a_run() {
        for byte in 0..=255_u8 {
            for at in 0..8 {
                for tail in [b'0', b'9', 0, 255] {
                    let mut bytes = [b'5'; 8];
                    bytes[at + 1..].fill(tail);
                    bytes[at] = byte;
                    let expected = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
                    assert_eq!(Values::of(&bytes).count(), expected, "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn eight_digits_round_trip() {
        for value in (0..TEN_TO_8 as u32)
            .step_by(997)
            .chain([9, 99, 9_999, 99_999_999])
        {
            let text = format!("{value:08}");
            assert_eq!(padded(value).to_le_bytes(), text.as_bytes());
            assert_eq!(up_to_8(text.as_bytes()), Some(u64::from(value)));
            let (word, len) = trimmed(value);
            assert_eq!(&word.to_le_bytes()[..len], value.to_string().as_bytes());
        }
    }

    #[test]
    fn every_quotient_is_exact() {
        for value in 0..10_000_u32 {
            assert_eq!((value * 10_486) >> 20, value / 100);
        }
        for value in 0..100_u32 {
            assert_eq!((value * 103) >> 10, value / 10);
        }
    }
}
