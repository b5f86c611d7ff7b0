//! Decimal numbers of any length, as they stand in the input.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::float::{Float, float_prefix};
use super::grammar::{self, Grammar, Layout};
use super::integer::{self, Int};
use crate::Malformed;

/// A decimal number of any length and precision: a view of its text, checked
/// once, nothing lost and nothing allocated.
///
/// Two of them are equal when their values are: `1.0`, `1` and `10e-1`. All
/// work is linear in the length of the text. Exponents beyond 2^62 either way,
/// which no text can be laid out for, count as that.
///
/// ```
/// use polywire_text::number::{Decimal, Grammar};
///
/// let big = Decimal::parse(b"25000000000000000000", Grammar::Json)?;
/// assert_eq!(big.to_int::<i64>(), None);
/// assert_eq!(big.to_int::<u128>(), Some(25_000_000_000_000_000_000));
/// assert_eq!(big, Decimal::parse(b"2.50e19", Grammar::Json)?);
/// assert!(big > Decimal::parse(b"1e19", Grammar::Json)?);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug)]
// Invariant: `layout` is that of `text` by some grammar, and `text` ends where
// it does. There is at least one digit.
pub struct Decimal<'text> {
    text: &'text [u8],
    layout: Layout,
}

impl<'text> Decimal<'text> {
    /// Reads all of `bytes` by `grammar`.
    ///
    /// # Errors
    ///
    /// Where the grammar was left.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// assert!(Decimal::parse(b"+.50", Grammar::Plain).is_ok());
    /// assert_eq!(Decimal::parse(b"1.", Grammar::Json).unwrap_err().offset, 2);
    /// assert_eq!(Decimal::parse(b"1.5e3", Grammar::Plain).unwrap_err().offset, 3);
    /// ```
    pub fn parse(bytes: &'text [u8], grammar: Grammar) -> Result<Self, Malformed> {
        let decimal = Self::prefix(bytes, grammar)?;
        match decimal.text.len() {
            end if end < bytes.len() => Err(Malformed::new(end, "the end of the number")),
            _ => Ok(decimal),
        }
    }

    /// Reads the number at the beginning of `bytes`; its text says how long it
    /// is.
    ///
    /// # Errors
    ///
    /// As [`Decimal::parse`].
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// assert_eq!(Decimal::prefix(b"12.50, 3", Grammar::Json)?.as_bytes(), b"12.50");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn prefix(bytes: &'text [u8], grammar: Grammar) -> Result<Self, Malformed> {
        let layout = grammar::layout(bytes, grammar)?;
        Ok(Self {
            text: &bytes[..layout.end],
            layout,
        })
    }

    /// The number as it was written.
    #[must_use]
    pub const fn as_bytes(&self) -> &'text [u8] {
        self.text
    }

    /// Whether it was written as an integer: neither point nor exponent.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.layout.is_integer()
    }

    /// Whether its value is a whole number, however it is written.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// assert!(Decimal::parse(b"1.50e1", Grammar::Json)?.is_whole());
    /// assert!(!Decimal::parse(b"1.5", Grammar::Json)?.is_whole());
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let significant = self.significant();
        significant.point >= significant.len()
    }

    /// Whether its value is zero, with or without a sign.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.significant().len() == 0
    }

    /// Whether there is a minus, before a zero too.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.text.first() == Some(&b'-')
    }

    /// The value, if it is whole and fits the type: exact or not at all.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// assert_eq!(Decimal::parse(b"1.28e2", Grammar::Json)?.to_int::<u8>(), Some(128));
    /// assert_eq!(Decimal::parse(b"1.28e2", Grammar::Json)?.to_int::<i8>(), None);
    /// assert_eq!(Decimal::parse(b"1e999999999", Grammar::Json)?.to_int::<i128>(), None);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[must_use]
    pub fn to_int<T: Int>(&self) -> Option<T> {
        let significant = self.significant();
        if significant.point < significant.len() {
            return None;
        }
        significant.to_int(self.is_signed())
    }

    /// The value times `10^places`, if that fits the type; what is left behind
    /// the point then is cut off.
    #[must_use]
    pub(crate) fn scaled<T: Int>(&self, places: i64) -> Option<T> {
        let mut digits = self.digits();
        digits.point = digits.point.saturating_add(places);
        digits.to_int(self.is_signed())
    }

    /// The nearest number of the type, ties to even; infinite beyond its range.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// let decimal = Decimal::parse(b"-1e400", Grammar::Json)?;
    /// assert_eq!(decimal.to_float::<f64>(), f64::NEG_INFINITY);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[must_use]
    pub fn to_float<F: Float>(&self) -> F {
        // The laxest grammar reads what the others do; only the range is left.
        match float_prefix(self.text, Grammar::XmlSchema) {
            Ok((value, _)) => value,
            Err(_) => F::INFINITY.negate_if(self.is_signed()),
        }
    }

    /// Whether a number of the type keeps it: written at its shortest it is
    /// this number again. `0.1` is kept by both types, though it has no binary
    /// form; `0.10000000000000000001` by neither, and `16777217` by `f64`.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// assert!(Decimal::parse(b"0.10", Grammar::Json)?.fits_float::<f64>());
    /// assert!(!Decimal::parse(b"0.10000000000000000001", Grammar::Json)?.fits_float::<f64>());
    /// assert!(!Decimal::parse(b"16777217", Grammar::Json)?.fits_float::<f32>());
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[must_use]
    pub fn fits_float<F: Float>(&self) -> bool {
        let value: F = self.to_float();
        let mut buffer = zmij::Buffer::new();
        value.is_finite()
            && Decimal::parse(buffer.format_finite(value).as_bytes(), Grammar::Json)
                .is_ok_and(|shortest| shortest == *self)
    }

    /// Appends a text that equal numbers share, and others do not: a minus,
    /// the digits without zeros at either end, and an exponent where it is not
    /// 0. Zero is `0`. Never longer than the number by more than 20 bytes.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// let mut out = Vec::new();
    /// for text in ["-1.50", "1000", "-0.0"] {
    ///     Decimal::parse(text.as_bytes(), Grammar::Json)?.push_canonical(&mut out);
    ///     out.push(b' ');
    /// }
    /// assert_eq!(out, b"-15e-1 1e3 0 ");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn push_canonical(&self, out: &mut Vec<u8>) {
        let significant = self.significant();
        if significant.len() == 0 {
            return out.push(b'0');
        }
        if self.is_signed() {
            out.push(b'-');
        }
        out.extend_from_slice(significant.head);
        out.extend_from_slice(significant.tail);
        let exponent = significant.point - significant.len();
        if exponent != 0 {
            out.push(b'e');
            integer::push_i64(out, exponent);
        }
    }

    /// Appends the number without an exponent, and so that every grammar takes
    /// it: no plus, no zeros before the first digit but one before a point, a
    /// digit on both sides of one. Zeros at the end of the fraction are kept:
    /// `+1.10` is `1.10`. At most `limit` bytes, since `1e999999999` has few:
    /// where the text comes from others, the limit says how much memory may be
    /// reserved for it.
    ///
    /// # Errors
    ///
    /// That it would be longer. `out` is then as it was.
    ///
    /// ```
    /// use polywire_text::number::{Decimal, Grammar};
    ///
    /// let mut out = Vec::new();
    /// Decimal::parse(b"-1.50e-3", Grammar::Json)?.push_plain(&mut out, 100)?;
    /// assert_eq!(out, b"-0.00150");
    /// assert!(Decimal::parse(b"1e100", Grammar::Json)?.push_plain(&mut out, 100).is_err());
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn push_plain(&self, out: &mut Vec<u8>, limit: usize) -> Result<(), Malformed> {
        let digits = self.digits();
        let (len, point) = (digits.len(), digits.point);
        if len == 0 {
            return self.push_zero(out, limit);
        }
        let sign = i64::from(self.is_signed());
        let whole = if point <= 0 {
            // A zero, the point, and zeros.
            2_i64.saturating_sub(point).saturating_add(len)
        } else if point < len {
            len + 1
        } else {
            point
        };
        let total = usize::try_from(whole.saturating_add(sign)).unwrap_or(usize::MAX);
        if total > limit {
            return Err(too_long());
        }
        out.reserve(total);
        if self.is_signed() {
            out.push(b'-');
        }
        let zeros = |count: i64| std::iter::repeat_n(b'0', count.max(0) as usize);
        if point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(zeros(-point));
        }
        let start = out.len();
        out.extend_from_slice(digits.head);
        out.extend_from_slice(digits.tail);
        if 0 < point && point < len {
            out.insert(start + point as usize, b'.');
        }
        out.extend(zeros(point - len));
        Ok(())
    }

    /// Zero; its fraction stays as long as it was written.
    fn push_zero(&self, out: &mut Vec<u8>, limit: usize) -> Result<(), Malformed> {
        let sign: &[u8] = if self.is_signed() { b"-0" } else { b"0" };
        let places = self.parts().1.len();
        let total = sign.len() + if places > 0 { places + 1 } else { 0 };
        if total > limit {
            return Err(too_long());
        }
        out.extend_from_slice(sign);
        if places > 0 {
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', places));
        }
        Ok(())
    }

    /// The digits before the point, and those behind it.
    fn parts(&self) -> (&'text [u8], &'text [u8]) {
        let Layout {
            sign,
            whole,
            fraction,
            ..
        } = self.layout;
        let places = if fraction > whole {
            &self.text[whole + 1..fraction]
        } else {
            &[]
        };
        (&self.text[sign..whole], places)
    }

    fn exponent(&self) -> i64 {
        let Some((_, exponent)) = self.text[self.layout.fraction..].split_first() else {
            return 0;
        };
        let (negative, exponent) = match exponent {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let value = integer::whole::<u64>(false, exponent).unwrap_or(u64::MAX);
        let value = value.min(ENDLESS as u64) as i64;
        if negative { -value } else { value }
    }

    /// The digits without the zeros before them.
    fn digits(&self) -> Digits<'text> {
        let (whole, places) = self.parts();
        let (mut head, mut tail) = (without_zeros(whole), places);
        let mut point = head.len() as i64;
        if head.is_empty() {
            head = &[];
            tail = without_zeros(places);
            point = tail.len() as i64 - places.len() as i64;
            if tail.is_empty() {
                return Digits {
                    head,
                    tail,
                    point: 0,
                };
            }
        }
        point = point.saturating_add(self.exponent());
        Digits { head, tail, point }
    }

    /// The digits without zeros at either end.
    fn significant(&self) -> Digits<'text> {
        let mut digits = self.digits();
        digits.tail = without_last_zeros(digits.tail);
        if digits.tail.is_empty() {
            digits.head = without_last_zeros(digits.head);
        }
        digits
    }
}

/// The value: `0.HEADTAIL * 10^point`. No digits for zero, and the point at 0.
struct Digits<'text> {
    head: &'text [u8],
    tail: &'text [u8],
    point: i64,
}

impl<'text> Digits<'text> {
    fn len(&self) -> i64 {
        (self.head.len() + self.tail.len()) as i64
    }

    /// What stands before the point, if it fits.
    fn to_int<T: Int>(&self, negative: bool) -> Option<T> {
        // No integer has more digits than u128; and zero has one.
        let mut digits = [b'0'; 40];
        if self.len() == 0 || self.point <= 0 {
            return integer::whole(negative, &digits[..1]);
        }
        let len = usize::try_from(self.point).ok()?;
        let places = digits.get_mut(..len)?;
        for (place, digit) in places.iter_mut().zip(self.head.iter().chain(self.tail)) {
            *place = *digit;
        }
        integer::whole(negative, places)
    }

    /// Digit by digit; then who has more of them.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = ((self.head, self.tail), (other.head, other.tail));
        loop {
            if left.0.is_empty() {
                left = (left.1, &[]);
            }
            if right.0.is_empty() {
                right = (right.1, &[]);
            }
            // As far as both go on without a point between.
            let len = left.0.len().min(right.0.len());
            let ((start, rest), (other, other_rest)) =
                (left.0.split_at(len), right.0.split_at(len));
            match start.cmp(other) {
                Ordering::Equal if len == 0 => return left.0.len().cmp(&right.0.len()),
                Ordering::Equal => (left.0, right.0) = (rest, other_rest),
                order => return order,
            }
        }
    }
}

/// Beyond this an exponent is as good as endless; far from overflow still.
const ENDLESS: i64 = 1 << 62;

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

fn without_last_zeros(digits: &[u8]) -> &[u8] {
    let last = digits.iter().rposition(|digit| *digit != b'0');
    &digits[..last.map_or(0, |last| last + 1)]
}

#[cold]
fn too_long() -> Malformed {
    Malformed::new(0, "a number that is shorter without an exponent")
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal<'_> {}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.significant(), other.significant());
        let sign = |decimal: &Self, digits: &Digits<'_>| match (digits.len(), decimal.is_signed()) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let sign = (sign(self, &left), sign(other, &right));
        if sign.0 != sign.1 {
            return sign.0.cmp(&sign.1);
        }
        // The farther the point, the larger; then digit by digit, and who has
        // more of them, as none of them ends in a zero.
        let size = left.point.cmp(&right.point);
        let size = size.then_with(|| left.cmp(&right));
        if sign.0 < 0 { size.reverse() } else { size }
    }
}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let digits = self.significant();
        (digits.len() != 0 && self.is_signed()).hash(state);
        digits.point.hash(state);
        // The same bytes wherever the point stood in the text.
        for digit in digits.head.iter().chain(digits.tail) {
            state.write_u8(*digit);
        }
        state.write_u8(0xff);
    }
}
