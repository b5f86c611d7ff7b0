//! Calendar date and time of day in UTC.

use super::calendar::{DAY, days_in_month, distant_date_of_day, distant_day_of_date};
use super::{NANOSECONDS, Timestamp};
use crate::Malformed;

/// A date in the proleptic Gregorian calendar and a time of day, for programs that use no date
/// library.
///
/// Not `#[non_exhaustive]`: a date and time has no other fields.
///
/// ```
/// use polywire_text::timestamp::{Civil, Timestamp};
///
/// let noon = Civil { year: 2026, month: 11, day: 21, hour: 12, ..Civil::default() };
/// let instant = Timestamp::from_civil(noon)?;
/// assert_eq!(instant.to_string(), "2026-11-21T12:00:00Z");
/// assert_eq!(instant.civil(), noon);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Civil {
    /// Year 0 is the year before 0001.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Less than 1,000,000,000.
    pub nanosecond: u32,
}

impl Default for Civil {
    /// 1970-01-01T00:00:00.
    fn default() -> Self {
        Self {
            year: 1970,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            nanosecond: 0,
        }
    }
}

impl Timestamp {
    /// The date and time in UTC.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let civil = Timestamp::new(-1, 0).civil();
    /// assert_eq!((civil.year, civil.month, civil.day), (1969, 12, 31));
    /// assert_eq!((civil.hour, civil.minute, civil.second), (23, 59, 59));
    /// ```
    #[must_use]
    pub const fn civil(self) -> Civil {
        let (year, month, day) = distant_date_of_day(self.seconds.div_euclid(DAY));
        let second = self.seconds.rem_euclid(DAY);
        Civil {
            year,
            month: month as u8,
            day: day as u8,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            nanosecond: self.nanoseconds,
        }
    }

    /// The instant of a date and time in UTC.
    ///
    /// # Errors
    ///
    /// Offset 0, if a field is out of range or the seconds since the epoch exceed `i64`.
    ///
    /// ```
    /// use polywire_text::timestamp::{Civil, Timestamp};
    ///
    /// let date = Civil { year: 2026, month: 2, day: 31, ..Civil::default() };
    /// assert_eq!(Timestamp::from_civil(date).unwrap_err().expected, "a day of that month");
    /// ```
    pub const fn from_civil(civil: Civil) -> Result<Self, Malformed> {
        let (year, month, day) = (civil.year, civil.month as u32, civil.day as u32);
        let expected = if civil.month == 0 || civil.month > 12 {
            "a month within 01 to 12"
        } else if civil.day == 0 || day > days_in_month(year, month) {
            "a day of that month"
        } else if civil.hour > 23 || civil.minute > 59 || civil.second > 59 {
            "a time within 00:00:00 to 23:59:59"
        } else if civil.nanosecond >= NANOSECONDS {
            "nanoseconds below a second"
        } else if let Some(seconds) = seconds_of(civil) {
            return Ok(Self::new(seconds, civil.nanosecond));
        } else {
            "seconds since the epoch within 64 bits"
        };
        Err(Malformed::new(0, expected))
    }
}

const fn seconds_of(civil: Civil) -> Option<i64> {
    // Larger than any instant, and small enough that the days do not overflow.
    if civil.year.unsigned_abs() > 300_000_000_000 {
        return None;
    }
    let day = distant_day_of_date(civil.year, civil.month as u32, civil.day as u32);
    let time = civil.hour as i64 * 3600 + civil.minute as i64 * 60 + civil.second as i64;
    // Only part of the first and last day is within `i64`.
    let seconds = day as i128 * DAY as i128 + time as i128;
    if seconds < i64::MIN as i128 || seconds > i64::MAX as i128 {
        return None;
    }
    Some(seconds as i64)
}
