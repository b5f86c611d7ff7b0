//! Seconds since the epoch: as text, as numbers, as counts of smaller units.

use super::fields::fraction_digits;
use super::policy::Fraction;
use super::{NANOSECONDS, Timestamp};
use crate::Malformed;
use crate::number::{Decimal, Grammar, Integer, integer_prefix, push_i64};

/// From here on neighbouring doubles are more than a nanosecond apart: 2^23.
const NANOSECONDS_APART: f64 = 8_388_608.0;
/// From here on they are more than a microsecond apart: 2^33.
const MICROSECONDS_APART: f64 = 8_589_934_592.0;

impl Timestamp {
    /// Reads seconds since the epoch: a number by JSON's grammar, so with an
    /// optional `-`, fraction and exponent, and without a `+` or leading zeros.
    ///
    /// ```text
    /// seconds = ["-"] ("0" / (1-9) *DIGIT) ["." 1*DIGIT] [("e" / "E") ["+" / "-"] 1*DIGIT]
    /// ```
    ///
    /// Exact to the nanosecond, with an exponent too; digits beyond are cut off.
    /// Any instant can come, beyond the years of the forms with a calendar too.
    ///
    /// # Errors
    ///
    /// Where the number was left, or offset 0 if it is out of range.
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
        Self::parse_epoch_seconds_bytes(text.as_bytes())
    }

    /// The same from bytes.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_epoch_seconds`].
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::parse_epoch_seconds_bytes(b"0"), Ok(Timestamp::EPOCH));
    /// assert_eq!(Timestamp::parse_epoch_seconds_bytes(b"1.").unwrap_err().offset, 2);
    /// ```
    #[inline]
    pub fn parse_epoch_seconds_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        match usual(bytes) {
            Some(instant) => Ok(instant),
            None => unusual(bytes),
        }
    }

    /// Appends seconds since the epoch, with a fraction of as many digits as
    /// it needs.
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
        self.push_epoch_seconds_with(out, Fraction::Needed);
    }

    /// The same with so many digits of a fraction.
    ///
    /// ```
    /// use polywire_text::timestamp::{Fraction, Timestamp};
    ///
    /// let mut out = Vec::new();
    /// Timestamp::new(-2, 500_000_000).push_epoch_seconds_with(&mut out, Fraction::Exactly(0));
    /// // The last whole second before.
    /// assert_eq!(out, b"-2");
    /// ```
    #[inline]
    pub fn push_epoch_seconds_with(self, out: &mut Vec<u8>, fraction: Fraction) {
        if self.seconds >= 0 || self.nanoseconds == 0 {
            push_i64(out, self.seconds);
            return fraction.of(self.nanoseconds).push(out);
        }
        self.push_before_epoch(out, fraction);
    }

    /// -1.5 is stored as -2 seconds and half a second after that.
    #[cold]
    fn push_before_epoch(self, out: &mut Vec<u8>, fraction: Fraction) {
        let kept = fraction.cut(self.nanoseconds);
        if kept == 0 {
            push_i64(out, self.seconds);
            return fraction.of(0).push(out);
        }
        out.push(b'-');
        push_i64(out, -(self.seconds + 1));
        fraction.of(NANOSECONDS - kept).push(out);
    }

    /// The instant of a number of seconds since the epoch. `None` for NaN,
    /// infinities and numbers beyond 64 bits.
    ///
    /// Up to 2^23 seconds, doubles are less than a nanosecond apart, and the
    /// nearest nanosecond counts. Further out one double stands for several
    /// nanoseconds, and the one with the shortest decimal fraction counts:
    /// that is the one that a writer meant, and its digits are not binary noise.
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
        // The comparison is false for NaN as well. 2^63 is the first double
        // that is too great.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
            return None;
        }
        // Exact, but for the last bit within a second before the epoch: far
        // less than a nanosecond.
        let fraction = seconds - whole;
        let exact = |nanoseconds: f64| Some(Self::new(whole as i64, nanoseconds as u32));
        if fraction == 0.0 {
            return exact(0.0);
        }
        let size = seconds.abs();
        if size < NANOSECONDS_APART {
            return exact((fraction * 1e9).round());
        }
        // Most clocks tell microseconds. Where doubles are closer than those,
        // only one such fraction can mean this double.
        let microseconds = (fraction * 1e6).round();
        if size < MICROSECONDS_APART && whole + microseconds / 1e6 == seconds {
            return exact(microseconds * 1e3);
        }
        // Below 2^53, where doubles have fractions, the digits come without an
        // exponent, and at most nine of them behind the point.
        Self::parse_epoch_seconds(zmij::Buffer::new().format_finite(seconds)).ok()
    }

    /// Seconds since the epoch as the nearest double. For an instant of whole
    /// microseconds within 2^33 seconds of the epoch, [`Timestamp::from_f64`]
    /// finds the way back.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// assert_eq!(Timestamp::new(-1, 999_999_999).as_f64(), -1e-9);
    /// ```
    #[must_use]
    pub fn as_f64(self) -> f64 {
        // Counted from zero outwards: the sum of a negative number and a
        // fraction would cancel digits.
        let (size, nanoseconds) = match (self.seconds < 0, self.nanoseconds) {
            (true, 1..) => (!self.seconds as u64, NANOSECONDS - self.nanoseconds),
            (_, nanoseconds) => (self.seconds.unsigned_abs(), nanoseconds),
        };
        let size = nearest(size, nanoseconds);
        if self.seconds < 0 { -size } else { size }
    }

    /// The instant this many milliseconds after (or before) the epoch.
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

    /// The instant this many nanoseconds after (or before) the epoch; `None`
    /// if its seconds are beyond 64 bits.
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

    /// Whole milliseconds since the epoch, rounded down; `None` beyond 64 bits.
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

    /// The instant this many microseconds after (or before) the epoch.
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

    /// Whole microseconds since the epoch, rounded down; `None` beyond 64 bits.
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

    /// Whole units of so many nanoseconds, rounded down; `None` beyond 64 bits.
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

/// The double nearest to these seconds, where `seconds as f64 + nanoseconds /
/// 1e9` would round twice.
fn nearest(seconds: u64, nanoseconds: u32) -> f64 {
    const SCALE: f64 = 17_179_869_184.0;
    if seconds < 1 << 23 {
        // The dividend is below 2^53, so exact: one rounding.
        let nanoseconds = seconds * u64::from(NANOSECONDS) + u64::from(nanoseconds);
        return nanoseconds as f64 / 1e9;
    }
    if seconds < 1 << 29 {
        // In units of 2^-34 seconds, with the last bit set where something was
        // cut off: from 57 bits on it decides no more than a tie.
        let scaled = u64::from(nanoseconds) << 34;
        let units = scaled / u64::from(NANOSECONDS);
        let sticky = u64::from(!scaled.is_multiple_of(u64::from(NANOSECONDS)));
        return ((seconds << 34 | units) | sticky) as f64 / SCALE;
    }
    if seconds >= 1 << 53 {
        // Whole seconds are ties, and any nanosecond decides them.
        let halves = u128::from(seconds) << 1 | u128::from(nanoseconds > 0);
        return halves as f64 / 2.0;
    }
    // The quotient is rounded by less than 2^-54. The sum's ties are multiples
    // of 2^-24 or coarser, and a number of nanoseconds that is none of these
    // is further from each than 2^-54: it stays on its side.
    seconds as f64 + f64::from(nanoseconds) / 1e9
}

/// Up to eighteen digits, and a fraction or none.
#[inline]
fn usual(bytes: &[u8]) -> Option<Timestamp> {
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

/// Exponents and errors.
#[cold]
fn unusual(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let nanoseconds = Decimal::parse(bytes, Grammar::Json)?.scaled(9);
    nanoseconds
        .and_then(Timestamp::from_nanoseconds)
        .ok_or(Malformed::new(0, "seconds since the epoch within 64 bits"))
}
