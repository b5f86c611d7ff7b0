//! Days and dates.

use super::Timestamp;
use crate::Malformed;
use crate::number::pair;

/// 0001-01-01T00:00:00Z.
pub(super) const FIRST_SECOND: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z.
pub(super) const LAST_SECOND: i64 = 253_402_300_799;
pub(super) const DAY: i64 = 86_400;

pub(super) const DAYS: [[u8; 3]; 7] = [
    *b"Mon", *b"Tue", *b"Wed", *b"Thu", *b"Fri", *b"Sat", *b"Sun",
];
pub(super) const MONTHS: [[u8; 3]; 12] = [
    *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct",
    *b"Nov", *b"Dec",
];

pub(super) struct Civil {
    /// Days since Monday.
    pub(super) weekday: u32,
    pub(super) year: u32,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
}

impl Civil {
    /// `HH:MM:SS`.
    pub(super) fn time(&self) -> [u8; 8] {
        let ([a, b], [c, d], [e, f]) = (pair(self.hour), pair(self.minute), pair(self.second));
        [a, b, b':', c, d, b':', e, f]
    }
}

impl Timestamp {
    pub(super) fn civil(self) -> Result<Civil, Malformed> {
        if !(FIRST_SECOND..=LAST_SECOND).contains(&self.seconds) {
            return Err(Malformed::new(
                0,
                "a timestamp within the years 0001 to 9999",
            ));
        }
        let days = self.seconds.div_euclid(DAY);
        let (year, month, day) = date_of_day(days);
        let second = (self.seconds - days * DAY) as u32;
        Ok(Civil {
            // 1970-01-01 was a Thursday, day 3 of a week that begins on Monday.
            weekday: (days + 3).rem_euclid(7) as u32,
            year,
            month,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
        })
    }
}

/// Year, month and day of a day since 1970-01-01, which must be of the years
/// that a [`Civil`] may have.
///
/// The years begin in March, so that the leap day is the last of them. Each
/// division is by a constant that turns a count of days into a fixed-point
/// number: its whole part is the year (or month), its fraction holds the day
/// within. Neri and Schneider, "Euclidean affine functions and their
/// application to calendar algorithms", 2022, prove the constants.
pub(super) fn date_of_day(day: i64) -> (u32, u32, u32) {
    /// 400 years.
    const ERA: u32 = 146_097;
    // Since 0000-03-01: no day that has come so far is before it.
    let quarters = (day + 719_468) as u32 * 4 + 3;
    let (century, quarters) = (quarters / ERA, (quarters % ERA) | 3);
    // 2^32 / 1461, rounded up: the years of a century, in quarters of days.
    let years = u64::from(quarters) * 2_939_745;
    let day_of_year = years as u32 / (2_939_745 * 4);
    // 153 days are five months: 2141 / 2^16 is 1 / 30.61, from month 3 on.
    let months = day_of_year * 2_141 + 197_913;
    let (month, day) = (months >> 16, (months & 0xffff) / 2_141 + 1);
    let year = century * 100 + (years >> 32) as u32;
    if day_of_year >= 306 {
        (year + 1, month - 12, day)
    } else {
        (year, month, day)
    }
}

pub(super) fn day_of_date(year: u32, month: u32, day: u32) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

pub(super) fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
