//! Decimal numbers whose exponent is applied digit by digit: slow paths.

use super::grammar::{self, Grammar};
use super::integer::whole;
use crate::Malformed;

/// A JSON number as digits: `0.HEADTAIL * 10^point`, without leading zeros.
pub(crate) struct Decimal<'text> {
    negative: bool,
    head: &'text [u8],
    tail: &'text [u8],
    point: i64,
}

impl<'text> Decimal<'text> {
    /// Reads all of `bytes`.
    ///
    /// # Errors
    ///
    /// The first byte that does not match the grammar.
    pub(crate) fn parse(bytes: &'text [u8]) -> Result<Self, Malformed> {
        let layout = grammar::layout(bytes, Grammar::Json)?;
        if layout.end < bytes.len() {
            return Err(Malformed::new(layout.end, "the end of the number"));
        }
        let head = without_zeros(&bytes[layout.sign..layout.whole]);
        let places = match &bytes[layout.whole..layout.fraction] {
            [b'.', places @ ..] => places,
            _ => &[],
        };
        let (tail, point) = match head {
            [] => {
                let tail = without_zeros(places);
                (tail, tail.len() as i64 - places.len() as i64)
            }
            _ => (places, head.len() as i64),
        };
        let exponent = exponent(&bytes[layout.fraction..]);
        Ok(Self {
            negative: layout.sign == 1,
            head,
            tail,
            point: point.saturating_add(exponent),
        })
    }

    /// The value times `10^places`, without its fraction; `None` if that does not fit.
    pub(crate) fn scaled(&self, places: i64) -> Option<i128> {
        let point = self.point.saturating_add(places);
        // 40 digits exceed the range. Zero has no digits.
        let mut digits = [b'0'; 40];
        if point <= 0 || self.len() == 0 {
            return Some(0);
        }
        let kept = digits.get_mut(..usize::try_from(point).ok()?)?;
        for (kept, digit) in kept.iter_mut().zip(self.head.iter().chain(self.tail)) {
            *kept = *digit;
        }
        whole(self.negative, kept)
    }

    /// Appends the number, which must not be zero, without an exponent: for numbers of this
    /// program, as the length follows from the exponent.
    pub(super) fn push_plain(&self, out: &mut Vec<u8>) {
        let (len, point) = (self.len(), self.point);
        let zeros = |count: i64| std::iter::repeat_n(b'0', count.max(0) as usize);
        if self.negative {
            out.push(b'-');
        }
        if point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(zeros(-point));
        }
        let start = out.len();
        out.extend_from_slice(self.head);
        out.extend_from_slice(self.tail);
        if 0 < point && point < len {
            out.insert(start + point as usize, b'.');
        }
        out.extend(zeros(point - len));
    }

    fn len(&self) -> i64 {
        (self.head.len() + self.tail.len()) as i64
    }
}

/// The value of `e` or `E`, an optional sign and digits. Saturates at 2^62 either way, which is
/// more than any text has digits, and does not overflow in sums.
fn exponent(text: &[u8]) -> i64 {
    const LIMIT: i64 = 1 << 62;
    let (negative, digits) = match text {
        [] => return 0,
        [_, b'-', digits @ ..] => (true, digits),
        [_, b'+', digits @ ..] | [_, digits @ ..] => (false, digits),
    };
    let value = whole(false, digits).map_or(LIMIT, |value: i64| value.min(LIMIT));
    if negative { -value } else { value }
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}
