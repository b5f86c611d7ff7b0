//! HTTP-date, RFC 9110, section 5.6.7: reads three formats, writes one.

use super::calendar::{date_of_day, day_of_date};
use super::date_time::{out_of_years, tail};
use super::fields::{Date, Fields, Time, instant};
use super::names::{DAY_WORDS, MONTH_WORDS, is_day, is_full_day, month_name, month_of, weekday};
use super::policy::Fraction;
use super::words::{Pattern, pair_text, time, time_text};
use super::{Timestamp, push_words};
use crate::Malformed;

impl Timestamp {
    /// Reads an HTTP-date, RFC 9110, section 5.6.7, in any of its three formats, with an optional
    /// fraction of a second, which some services send.
    ///
    /// ```text
    /// IMF-fixdate  = day-name ", " 2DIGIT " " month " " 4DIGIT " " time " GMT"
    /// rfc850-date  = full-day-name ", " 2DIGIT "-" month "-" 2DIGIT " " time " GMT"
    /// asctime-date = day-name " " month " " (2DIGIT / " " DIGIT) " " time " " 4DIGIT
    /// time         = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT]
    /// ```
    ///
    /// Names are case-sensitive. The name of the day need not match the date: it is redundant, and
    /// some senders get it wrong. A year of two digits is within 1970 to 2069.
    ///
    /// # Errors
    ///
    /// The first byte that does not match the grammar; offset 0 if a field is out of range.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let preferred = Timestamp::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")?;
    /// assert_eq!(Timestamp::parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT")?, preferred);
    /// assert_eq!(Timestamp::parse_http_date("Sun Nov  6 08:49:37 1994")?, preferred);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_http_date(text: &str) -> Result<Self, Malformed> {
        read(text.as_bytes())
    }

    /// Appends an HTTP-date in the preferred format, `IMF-fixdate`. A fraction, which that format
    /// does not have, is written only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999. `out` is unchanged.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let mut out = Vec::new();
    /// Timestamp::new(784_111_777, 0).push_http_date(&mut out)?;
    /// assert_eq!(out, b"Sun, 06 Nov 1994 08:49:37 GMT");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_http_date(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let Some((days, second)) = self.common_day() else {
            return Err(out_of_years());
        };
        let (century, short, month, day) = date_of_day(days);
        let time = time_text(second);
        push_words(
            out,
            [
                // 0000-03-01 was a Wednesday.
                u64::from(DAY_WORDS[(days + 2) as usize % 7]) | day_text(day),
                u64::from(MONTH_WORDS[month as usize & 15]) | year_text(century, short) << 32,
                u64::from(b' ') | time << 8,
                time >> 56 | u64::from_le_bytes(*b" GMT\0\0\0\0") << 8,
            ],
            "DDD, DD MMM YYYY HH:MM:SS GMT".len(),
        );
        let fraction = Fraction::Needed.of(self.nanoseconds);
        if !fraction.is_empty() {
            out.truncate(out.len() - " GMT".len());
            fraction.push(out);
            out.extend_from_slice(b" GMT");
        }
        Ok(())
    }
}

fn read(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let read = match bytes.len() {
        29 => fixdate(bytes),
        24 => asctime(bytes),
        30..=33 => rfc850(bytes),
        _ => None,
    };
    match read {
        Some(instant) => Ok(instant),
        None => slow(bytes),
    }
}

/// A space, two digits and a space, in the upper half of a word.
#[inline]
fn day_text(day: u32) -> u64 {
    pair_text(day.into(), 0x0f) << 40 | u64::from_le_bytes(*b"\0\0\0\0 00 ")
}

/// Four digits of a year, in the lower half of a word.
#[inline]
fn year_text(century: u32, short: u32) -> u64 {
    let values = u64::from(century) | u64::from(short) << 16;
    pair_text(values, 0x000f_000f) | u64::from_le_bytes(*b"0000\0\0\0\0")
}

/// A year in the lower half of a word.
const YEAR: Pattern = Pattern::new(*b"0000\0\0\0\0");

/// An instant in UTC.
#[inline(always)]
fn zoned(century: u8, short: u8, month: u32, day: u8, second: u32) -> Option<Timestamp> {
    let day = day_of_date(century.into(), short.into(), month, day.into())?;
    tail(b"Z", 0, day, second)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
#[inline(always)]
fn fixdate(bytes: &[u8]) -> Option<Timestamp> {
    // After the name of the day.
    const DAY_OF_MONTH: Pattern = Pattern::new(*b" 00 \0\0\0\0");
    let text: &[u8; 29] = bytes.try_into().ok()?;
    let first = u64::from_le_bytes(*text.first_chunk()?);
    let second = u64::from_le_bytes(*text[8..].first_chunk()?);
    let seconds = time(*text[17..].first_chunk()?)?;
    let (day, wrong) = DAY_OF_MONTH.pairs(first >> 32);
    let (year, also_wrong) = YEAR.pairs(second >> 32);
    let month = month_of(second as u32)?;
    let ends = text.last_chunk() == Some(b" GMT") && text[16] == b' ';
    if wrong | also_wrong != 0 || !ends || !is_day(first as u32) {
        return None;
    }
    let [_, day, ..] = day.to_le_bytes();
    let [century, _, short, ..] = year.to_le_bytes();
    zoned(century, short, month, day, seconds)
}

/// `Sun Nov  6 08:49:37 1994`.
#[inline(always)]
fn asctime(bytes: &[u8]) -> Option<Timestamp> {
    // Masked out of the four bytes at 8.
    const DAY_OF_MONTH: Pattern = Pattern::new(*b"00 \0\0\0\0\0");
    let text: &[u8; 24] = bytes.try_into().ok()?;
    let first = u64::from_le_bytes(*text.first_chunk()?);
    let seconds = time(*text[11..].first_chunk()?)?;
    let month = month_of((first >> 32) as u32)?;
    let mut day = u64::from(u32::from_le_bytes(*text[8..].first_chunk()?) & 0x00ff_ffff);
    // A space instead of the first digit is a zero.
    if day as u8 == b' ' {
        day |= u64::from(b'0');
    }
    let (day, wrong) = DAY_OF_MONTH.pairs(day);
    let year = u32::from_le_bytes(*text.last_chunk()?);
    let (year, also_wrong) = YEAR.pairs(year.into());
    // `is_day` expects `Sun,` instead of `Sun `.
    let is_day = is_day(first as u32 ^ SPACE_OR_COMMA);
    if wrong | also_wrong != 0 || !is_day || text[19] != b' ' {
        return None;
    }
    let [day, ..] = day.to_le_bytes();
    let [century, _, short, ..] = year.to_le_bytes();
    zoned(century, short, month, day, seconds)
}

/// Converts a space in the last byte of a word to a comma, by exclusive or.
const SPACE_OR_COMMA: u32 = ((b' ' ^ b',') as u32) << 24;

/// `Sunday, 06-Nov-94 08:49:37 GMT`: the length after the name of the day is fixed.
#[inline(always)]
fn rfc850(bytes: &[u8]) -> Option<Timestamp> {
    // From the comma to the dash before the month, and from the dash after the month to the space
    // before the time.
    const DAY_OF_MONTH: Pattern = Pattern::new(*b", 00-\0\0\0");
    const SHORT_YEAR: Pattern = Pattern::new(*b"-00 \0\0\0\0");
    let text: &[u8; 24] = bytes.last_chunk()?;
    let seconds = time(*text[12..].first_chunk()?)?;
    let day = u64::from_le_bytes(*text.first_chunk()?) & 0x00ff_ffff_ffff;
    let (day, wrong) = DAY_OF_MONTH.pairs(day);
    let month = u32::from_le_bytes(*text[5..].first_chunk()?);
    let month = month_of(month ^ SPACE_OR_DASH)?;
    let year = u32::from_le_bytes(*text[8..].first_chunk()?);
    let (year, also_wrong) = SHORT_YEAR.pairs(year.into());
    let is_day = is_full_day(bytes, bytes.len() - text.len());
    let ends = text.last_chunk() == Some(b" GMT");
    if wrong | also_wrong != 0 || !is_day || !ends {
        return None;
    }
    let [_, _, day, ..] = day.to_le_bytes();
    let [_, short, ..] = year.to_le_bytes();
    let century = if short < 70 { 20 } else { 19 };
    zoned(century, short, month, day, seconds)
}

/// Converts a dash in the last byte of a word to a space, by exclusive or.
const SPACE_OR_DASH: u32 = ((b' ' ^ b'-') as u32) << 24;

/// The slow path: every layout, and the errors.
#[cold]
fn slow(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    // Only the format of RFC 850 has the full name of the day.
    let (date, time, nanoseconds) = match (weekday(&mut fields)?, fields.peek()) {
        (true, _) => rfc850_fields(&mut fields)?,
        (false, Some(b',')) => fixdate_fields(&mut fields)?,
        (false, _) => asctime_fields(&mut fields)?,
    };
    fields.end()?;
    instant(date, time, Some(0), nanoseconds)
}

fn fixdate_fields(fields: &mut Fields<'_>) -> Result<(Date, Time, u32), Malformed> {
    fields.one_of(b",", "a comma")?;
    fields.one_of(b" ", "a space")?;
    let day = fields.day()?;
    fields.one_of(b" ", "a space")?;
    let month = month_name(fields)?;
    fields.one_of(b" ", "a space")?;
    let year = fields.year()?;
    let (time, nanoseconds) = time_in_gmt(fields)?;
    Ok(((year, month, day), time, nanoseconds))
}

fn rfc850_fields(fields: &mut Fields<'_>) -> Result<(Date, Time, u32), Malformed> {
    fields.one_of(b",", "a comma")?;
    fields.one_of(b" ", "a space")?;
    let day = fields.day()?;
    fields.one_of(b"-", "a dash")?;
    let month = month_name(fields)?;
    fields.one_of(b"-", "a dash")?;
    let short = i64::from(fields.number(2, "a year of two digits")?);
    let (time, nanoseconds) = time_in_gmt(fields)?;
    let year = if short < 70 {
        2000 + short
    } else {
        1900 + short
    };
    Ok(((year, month, day), time, nanoseconds))
}

fn asctime_fields(fields: &mut Fields<'_>) -> Result<(Date, Time, u32), Malformed> {
    fields.one_of(b" ", "a space")?;
    let month = month_name(fields)?;
    fields.one_of(b" ", "a space")?;
    let day = if fields.skip(b' ') {
        fields.number(1, "a day of one digit")?
    } else {
        fields.day()?
    };
    fields.one_of(b" ", "a space")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    fields.one_of(b" ", "a space")?;
    Ok(((fields.year()?, month, day), time, nanoseconds))
}

/// A space, the time with an optional fraction, a space and `GMT`.
fn time_in_gmt(fields: &mut Fields<'_>) -> Result<(Time, u32), Malformed> {
    fields.one_of(b" ", "a space")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    fields.one_of(b" ", "a space")?;
    let start = fields.at;
    if fields.word() != b"GMT" {
        return Err(Malformed::new(start, "GMT"));
    }
    Ok((time, nanoseconds))
}
