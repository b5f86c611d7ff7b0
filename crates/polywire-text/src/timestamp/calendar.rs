//! Conversion between days and dates of the proleptic Gregorian calendar.

/// 0001-01-01T00:00:00Z.
pub(super) const FIRST_SECOND: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z.
pub(super) const LAST_SECOND: i64 = 253_402_300_799;
pub(super) const DAY: i64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01. Years that begin in March have the leap day at their end.
pub(super) const EPOCH_DAY: i64 = 719_468;
/// Days in 400 years, after which the calendar repeats.
const ERA: u32 = 146_097;

/// Days before a month in a year that begins in March. Index 1 is January.
const BEFORE_MONTH: [u16; 16] = [
    0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 0, 0, 0,
];

/// Days of a month without the leap day. Index 1 is January; other indices have no days.
const DAYS_OF_MONTH: [u8; 16] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0];

/// Converts days since 0000-03-01 to century, year of the century, month and day.
///
/// Each division multiplies by a constant, which gives a fixed-point number: the integer part is
/// the year or month, the fraction is the day within it. The constants are proved in Neri and
/// Schneider, "Euclidean affine functions and their application to calendar algorithms", 2022.
#[inline]
pub(super) const fn date_of_day(day: u32) -> (u32, u32, u32, u32) {
    let quarters = day * 4 + 3;
    let (century, quarters) = (quarters / ERA, (quarters % ERA) | 3);
    // 2939745 is 2^32 / 1461, rounded up; 1461 is a year in quarters of days.
    let years = quarters as u64 * 2_939_745;
    let day_of_year = years as u32 / (2_939_745 * 4);
    // Five months have 153 days: 2141 / 2^16 is 1 / 30.61. The constant starts at month 3.
    let months = day_of_year * 2_141 + 197_913;
    let (month, day) = (months >> 16, (months & 0xffff) / 2_141 + 1);
    let late = day_of_year >= 306;
    let month = if late { month - 12 } else { month };
    // January and February belong to the next year, which may be in the next century.
    let short = (years >> 32) as u32 + late as u32;
    match short {
        100 => (century + 1, 0, month, day),
        _ => (century, short, month, day),
    }
}

/// Converts days since 1970-01-01 to year, month and day. Year 0 is the year before 0001.
pub(super) const fn distant_date_of_day(day: i64) -> (i64, u32, u32) {
    let day = day + EPOCH_DAY;
    let era = day.div_euclid(ERA as i64);
    let (century, short, month, day) = date_of_day(day.rem_euclid(ERA as i64) as u32);
    ((century * 100 + short) as i64 + era * 400, month, day)
}

/// Days since 0000-03-01 of a date within the years 0001 to 9999. Each argument must be below 128.
/// `None` if the date does not exist.
#[inline]
pub(super) const fn day_of_date(century: u32, short: u32, month: u32, day: u32) -> Option<u32> {
    let year = century * 100 + short;
    // A year that ends in 00 is a leap year if its century is divisible by four.
    let leap = if short == 0 { century } else { short } % 4 == 0;
    let days = DAYS_OF_MONTH[(month & 15) as usize] as u32 + (leap && month == 2) as u32;
    if month > 12 || day.wrapping_sub(1) >= days || year == 0 {
        return None;
    }
    let year = year - (month <= 2) as u32;
    let century = year / 100;
    let before_year = year * 365 + year / 4 - century + century / 4;
    Some(before_year + BEFORE_MONTH[(month & 15) as usize] as u32 + day - 1)
}

/// Days since 1970-01-01. The date must exist. The year must be small enough that days do not
/// overflow.
pub(super) const fn distant_day_of_date(year: i64, month: u32, day: u32) -> i64 {
    let year = year - (month <= 2) as i64;
    let before_year = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    before_year + BEFORE_MONTH[(month & 15) as usize] as i64 + day as i64 - 1 - EPOCH_DAY
}

pub(super) const fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    DAYS_OF_MONTH[(month & 15) as usize] as u32 + (leap && month == 2) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_the_one_after_the_day_before() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for at in FIRST_SECOND / DAY..=LAST_SECOND / DAY {
            let since_march = (at + EPOCH_DAY) as u32;
            let date = (year / 100, year % 100, month, day);
            assert_eq!(date_of_day(since_march), date);
            assert_eq!(distant_date_of_day(at), (i64::from(year), month, day));
            let found = day_of_date(year / 100, year % 100, month, day);
            assert_eq!(found, Some(since_march));
            assert_eq!(distant_day_of_date(i64::from(year), month, day), at);
            day += 1;
            if day > days_in_month(i64::from(year), month) {
                let after = day_of_date(year / 100, year % 100, month, day);
                assert_eq!(after, None);
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    #[test]
    fn distant_years_round_trip() {
        for year in (-1_000_000..1_000_000).step_by(97) {
            for month in 1..=12 {
                let day = distant_day_of_date(year, month, 1);
                assert_eq!(distant_date_of_day(day), (year, month, 1));
                let last = days_in_month(year, month);
                let day = distant_day_of_date(year, month, last);
                assert_eq!(distant_date_of_day(day), (year, month, last));
            }
        }
    }

    #[test]
    fn dates_outside_of_the_calendar_are_rejected() {
        for (month, day) in [(0, 1), (13, 1), (16, 1), (19, 1), (99, 1), (1, 0), (2, 30)] {
            assert_eq!(day_of_date(20, 24, month, day), None, "{month} {day}");
        }
        assert_eq!(day_of_date(0, 0, 1, 1), None);
        assert!(day_of_date(20, 0, 2, 29).is_some());
        assert_eq!(day_of_date(19, 0, 2, 29), None);
    }
}
