//! Seconds since the epoch, as text, `f64`, and counts of smaller units.

use super::fields::fraction_digits;
use super::policy::Fraction;
use super::{NANOSECONDS, Timestamp};
use crate::Malformed;
use crate::number::{Decimal, Integer, integer_prefix, push_i64};

/// 2^23: adjacent doubles from here on are more than a nanosecond apart.
const NANOSECONDS_APART: f64 = 8_388_608.0;
/// 2^33: adjacent doubles from here on are more than a microsecond apart.
const MICROSECONDS_APART: f64 = 8_589_934_592.0;

impl Timestamp {
    /// Reads seconds since the epoch, by the grammar of JSON numbers.
    ///
    /// ```text
    /// seconds = ["-"] ("0" / (1-9) *DIGIT) ["." 1*DIGIT] [("e" / "E") ["+" / "-"] 1*DIGIT]
    /// ```
    ///
    /// The result is exact to the nanosecond, also with an exponent; further digits are cut off.
    /// The year is not limited to 0001 to 9999.
    ///
    /// # Errors
    ///
    /// The first byte that does not match the grammar; offset 0 if the seconds exceed `i64`.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let read = Timestamp::parse_epoch_seconds("-1.5")?;
    /// assert_eq!((read.seconds(), read.nanoseconds()), (-2, 500_000_000));
    /// let read = Timestamp::parse_epoch_seconds("1795293000123456789e-9")?;
    /// assert_eq!(read.nanoseconds(), 123_456_789);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_epoch_seconds(text: &str) -> Result<Self, Malformed> {
        let bytes = text.as_bytes();
        match common(bytes) {
            Some(instant) => Ok(instant),
            None => slow(bytes),
        }
    }

    /// Appends seconds since the epoch, with as many digits of a fraction as needed.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let mut out = Vec::new();
    /// Timestamp::new(-2, 500_000_000).push_epoch_seconds(&mut out);
    /// assert_eq!(out, b"-1.5");
    /// ```
    #[inline]
    pub fn push_epoch_seconds(self, out: &mut Vec<u8>) {
        if self.seconds >= 0 || self.nanoseconds == 0 {
            push_i64(out, self.seconds);
            return Fraction::Needed.of(self.nanoseconds).push(out);
        }
        self.push_before_epoch(out);
    }

    /// -1.5 is stored as -2 seconds plus 500,000,000 nanoseconds.
    #[cold]
    fn push_before_epoch(self, out: &mut Vec<u8>) {
        out.push(b'-');
        push_i64(out, -(self.seconds + 1));
        Fraction::Needed
            .of(NANOSECONDS - self.nanoseconds)
            .push(out);
    }

    /// Converts seconds since the epoch. `None` for NaN, infinities and values outside of `i64`.
    ///
    /// Below 2^23 seconds, doubles are less than a nanosecond apart, and the result is the nearest
    /// nanosecond. Above, several nanoseconds have the same double, and the result is the one with
    /// the shortest decimal fraction: most likely what the double was made from.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let nanoseconds = |seconds| Timestamp::from_f64(seconds).map(Timestamp::nanoseconds);
    /// assert_eq!(nanoseconds(2_000_000.123456789), Some(123_456_789));
    /// assert_eq!(nanoseconds(1_795_293_000.123457), Some(123_457_000));
    /// ```
    #[must_use]
    pub fn from_f64(seconds: f64) -> Option<Self> {
        let whole = seconds.floor();
        // False for NaN, too. 2^63 is the smallest double that is too large.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
            return None;
        }
        // Exact, except that the last bit may be lost in the second before the epoch.
        let fraction = seconds - whole;
        let exact = |nanoseconds: f64| Some(Self::new(whole as i64, nanoseconds as u32));
        if fraction == 0.0 {
            return exact(0.0);
        }
        let size = seconds.abs();
        if size < NANOSECONDS_APART {
            return exact((fraction * 1e9).round());
        }
        // A shortcut for whole microseconds. While doubles are less than a microsecond apart, at
        // most one such fraction has this double.
        let microseconds = (fraction * 1e6).round();
        if size < MICROSECONDS_APART && whole + microseconds / 1e6 == seconds {
            return exact(microseconds * 1e3);
        }
        // Doubles with a fraction are below 2^53: zmij writes no exponent and at most nine digits
        // after the point.
        Self::parse_epoch_seconds(zmij::Buffer::new().format_finite(seconds)).ok()
    }

    /// Seconds since the epoch as the nearest double. For whole microseconds within 2^33 seconds of
    /// the epoch, [`Timestamp::from_f64`] is the inverse.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::new(-1, 999_999_999).as_f64(), -1e-9);
    /// ```
    #[must_use]
    pub fn as_f64(self) -> f64 {
        // Computed on the absolute value: adding a fraction to a negative number would cancel
        // digits.
        let (size, nanoseconds) = match (self.seconds < 0, self.nanoseconds) {
            (true, 1..) => (!self.seconds as u64, NANOSECONDS - self.nanoseconds),
            (_, nanoseconds) => (self.seconds.unsigned_abs(), nanoseconds),
        };
        let size = nearest(size, nanoseconds);
        if self.seconds < 0 { -size } else { size }
    }

    /// The instant `milliseconds` after the epoch.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let instant = Timestamp::from_milliseconds(-1);
    /// assert_eq!((instant.seconds(), instant.nanoseconds()), (-1, 999_000_000));
    /// ```
    #[must_use]
    pub const fn from_milliseconds(milliseconds: i64) -> Self {
        let nanoseconds = milliseconds.rem_euclid(1000) as u32 * 1_000_000;
        Self::new(milliseconds.div_euclid(1000), nanoseconds)
    }

    /// The instant `nanoseconds` after the epoch, or `None` if the seconds exceed `i64`.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::from_nanoseconds(1), Some(Timestamp::new(0, 1)));
    /// assert_eq!(Timestamp::from_nanoseconds(i128::MAX), None);
    /// ```
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        let seconds = nanoseconds.div_euclid(NANOSECONDS as i128);
        if seconds < i64::MIN as i128 || seconds > i64::MAX as i128 {
            return None;
        }
        let nanoseconds = nanoseconds.rem_euclid(NANOSECONDS as i128) as u32;
        Some(Self::new(seconds as i64, nanoseconds))
    }

    /// Whole milliseconds since the epoch, rounded down, or `None` if they exceed `i64`.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::new(1, 2_999_999).as_milliseconds(), Some(1002));
    /// assert_eq!(Timestamp::new(i64::MAX, 0).as_milliseconds(), None);
    /// ```
    #[must_use]
    pub const fn as_milliseconds(self) -> Option<i64> {
        self.in_units_of(1_000_000)
    }

    /// The instant `microseconds` after the epoch.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::from_microseconds(-1), Timestamp::new(-1, 999_999_000));
    /// ```
    #[must_use]
    pub const fn from_microseconds(microseconds: i64) -> Self {
        let nanoseconds = microseconds.rem_euclid(1_000_000) as u32 * 1000;
        Self::new(microseconds.div_euclid(1_000_000), nanoseconds)
    }

    /// Whole microseconds since the epoch, rounded down, or `None` if they exceed `i64`.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::new(1, 2_999).as_microseconds(), Some(1_000_002));
    /// assert_eq!(Timestamp::new(i64::MAX, 0).as_microseconds(), None);
    /// ```
    #[must_use]
    pub const fn as_microseconds(self) -> Option<i64> {
        self.in_units_of(1000)
    }

    /// Whole units of `nanoseconds` since the epoch, rounded down, or `None` if they exceed `i64`.
    const fn in_units_of(self, nanoseconds: i128) -> Option<i64> {
        let units = self.as_nanoseconds().div_euclid(nanoseconds);
        if units < i64::MIN as i128 || units > i64::MAX as i128 {
            return None;
        }
        Some(units as i64)
    }

    /// Nanoseconds since the epoch.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::new(-1, 5).as_nanoseconds(), -999_999_995);
    /// ```
    #[must_use]
    pub const fn as_nanoseconds(self) -> i128 {
        self.seconds as i128 * NANOSECONDS as i128 + self.nanoseconds as i128
    }
}

/// The double nearest to `seconds + nanoseconds / 1e9`, which computed directly would be rounded
/// twice.
fn nearest(seconds: u64, nanoseconds: u32) -> f64 {
    const SCALE: f64 = 17_179_869_184.0;
    if seconds < 1 << 23 {
        // The dividend is below 2^53, so it is exact, and only the division rounds.
        let nanoseconds = seconds * u64::from(NANOSECONDS) + u64::from(nanoseconds);
        return nanoseconds as f64 / 1e9;
    }
    if seconds < 1 << 29 {
        // In units of 2^-34 seconds. The last bit is set if the division had a remainder: with 57
        // bits or more it only decides ties.
        let scaled = u64::from(nanoseconds) << 34;
        let units = scaled / u64::from(NANOSECONDS);
        let sticky = u64::from(!scaled.is_multiple_of(u64::from(NANOSECONDS)));
        return ((seconds << 34 | units) | sticky) as f64 / SCALE;
    }
    if seconds >= 1 << 53 {
        // A tie is a whole second, and any nanosecond breaks it.
        let halves = u128::from(seconds) << 1 | u128::from(nanoseconds > 0);
        return halves as f64 / 2.0;
    }
    // The error of the quotient is below 2^-54. Ties of the sum are multiples of 2^-24 or more, and
    // any other number of nanoseconds differs from them by more than 2^-54, so it stays on its
    // side.
    seconds as f64 + f64::from(nanoseconds) / 1e9
}

/// Up to eighteen digits and an optional fraction.
#[inline]
fn common(bytes: &[u8]) -> Option<Timestamp> {
    let Integer::Small(seconds, len) = integer_prefix(bytes) else {
        return None;
    };
    let negative = bytes[0] == b'-';
    let digits = len - usize::from(negative);
    if digits > 1 && bytes[usize::from(negative)] == b'0' {
        return None;
    }
    let nanoseconds = match bytes.get(len) {
        None => 0,
        Some(b'.') => match fraction_digits(bytes, len + 1)? {
            (nanoseconds, end) if end == bytes.len() => nanoseconds,
            _ => return None,
        },
        Some(_) => return None,
    };
    if negative && nanoseconds > 0 {
        let seconds = seconds.checked_sub(1)?;
        return Some(Timestamp::new(seconds, NANOSECONDS - nanoseconds));
    }
    Some(Timestamp::new(seconds, nanoseconds))
}

/// The slow path: exponents, and the errors.
#[cold]
fn slow(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let nanoseconds = Decimal::parse(bytes)?.scaled(9);
    nanoseconds
        .and_then(Timestamp::from_nanoseconds)
        .ok_or(Malformed::new(0, "seconds since the epoch within 64 bits"))
}
