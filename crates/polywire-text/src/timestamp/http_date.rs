//! HTTP-date, RFC 9110, section 5.6.7: three forms to read, one to write.

use super::calendar::{date_of_day, day_of_date};
use super::date_time::tail;
use super::fields::{Date, Fields, Time, instant};
use super::names::{
    DAY_WORDS, DAYS, MONTH_WORDS, MONTHS, is_day, is_full_day, month_name, month_of, weekday,
};
use super::policy::{ReadPolicy, ShortYear, WritePolicy, Years};
use super::words::{Pattern, pair_text, time, time_text};
use super::{DAY, Timestamp, push_words};
use crate::Malformed;
use crate::number::push_padded;

impl Timestamp {
    /// Reads an HTTP-date, RFC 9110, section 5.6.7, in its three historic
    /// forms; also with a fraction of a second, as some services send it.
    ///
    /// ```text
    /// IMF-fixdate  = day-name ", " 2DIGIT " " month " " 4DIGIT " " time " GMT"
    /// rfc850-date  = full-day-name ", " 2DIGIT "-" month "-" 2DIGIT " " time " GMT"
    /// asctime-date = day-name " " month " " (2DIGIT / " " DIGIT) " " time " " 4DIGIT
    /// time         = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT]
    /// ```
    ///
    /// Names are case-sensitive, as there. A name must be that of a day, but
    /// not of the date's: the instant is told without it, and senders get it
    /// wrong. A year of two digits is taken as 1970 to 2069;
    /// [`Timestamp::parse_http_date_at`] knows the rule of the RFC.
    ///
    /// # Errors
    ///
    /// Where the form was left; or offset 0 and the first field that is out of
    /// range.
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
        read(text.as_bytes(), &ReadPolicy::new())
    }

    /// The same with a year of two digits near `now`: the latest that is not
    /// more than 50 years after it, as the RFC has it.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_http_date`].
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let now = Timestamp::parse_date_time("2026-11-21T00:00:00Z")?;
    /// let year = |text| Timestamp::parse_http_date_at(text, now).map(|read| read.civil().year);
    /// assert_eq!(year("Saturday, 21-Nov-76 00:00:00 GMT")?, 2076);
    /// assert_eq!(year("Sunday, 21-Nov-76 00:00:01 GMT")?, 1976);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_http_date_at(text: impl AsRef<[u8]>, now: Self) -> Result<Self, Malformed> {
        let policy = ReadPolicy::new().short_year(ShortYear::Near(now));
        Self::parse_http_date_with(text, policy)
    }

    /// The same from bytes or a string, by `policy`.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_http_date`].
    ///
    /// ```
    /// use polywire_text::timestamp::{LeapSecond, ReadPolicy, Timestamp};
    ///
    /// let policy = ReadPolicy::new().leap_second(LeapSecond::Hold);
    /// let read = Timestamp::parse_http_date_with(b"Sat, 31 Dec 2016 23:59:60 GMT", policy)?;
    /// assert_eq!(read.civil().year, 2016);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_http_date_with(
        text: impl AsRef<[u8]>,
        policy: ReadPolicy,
    ) -> Result<Self, Malformed> {
        read(text.as_ref(), &policy)
    }

    /// Appends the preferred HTTP-date, `IMF-fixdate`; a fraction, which that
    /// form has no place for, only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999; nothing is appended.
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
        self.push_http_date_with(out, WritePolicy::new())
    }

    /// The same by `policy`: `Fraction::Exactly(0)` writes what the RFC has.
    /// The form has no expanded years.
    ///
    /// # Errors
    ///
    /// The year is not of the policy's or has more than four digits; nothing is
    /// appended.
    ///
    /// ```
    /// use polywire_text::timestamp::{Fraction, Timestamp, WritePolicy};
    ///
    /// let mut out = Vec::new();
    /// let whole = WritePolicy::new().fraction(Fraction::Exactly(0));
    /// Timestamp::new(784_111_777, 999_999_999).push_http_date_with(&mut out, whole)?;
    /// assert_eq!(out, b"Sun, 06 Nov 1994 08:49:37 GMT");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_http_date_with(
        self,
        out: &mut Vec<u8>,
        policy: WritePolicy,
    ) -> Result<(), Malformed> {
        let Some((days, second)) = self.common_day() else {
            return self.push_distant_http_date(out, policy);
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
        let fraction = policy.fraction.of(self.nanoseconds);
        if !fraction.is_empty() {
            out.truncate(out.len() - " GMT".len());
            fraction.push(out);
            out.extend_from_slice(b" GMT");
        }
        Ok(())
    }

    #[cold]
    fn push_distant_http_date(
        self,
        out: &mut Vec<u8>,
        policy: WritePolicy,
    ) -> Result<(), Malformed> {
        let years = match policy.years {
            Years::Common => Years::Common,
            Years::FourDigits | Years::Expanded => Years::FourDigits,
        };
        let (year, month, day) = self.distant_date(years)?;
        // 1970-01-01 was a Thursday.
        let weekday = (self.seconds.div_euclid(DAY) + 3).rem_euclid(7);
        out.extend_from_slice(&DAYS[weekday as usize]);
        out.extend_from_slice(b", ");
        push_padded(out, day, 2);
        out.push(b' ');
        out.extend_from_slice(&MONTHS[month as usize - 1]);
        out.push(b' ');
        push_padded(out, year as u32, 4);
        out.push(b' ');
        self.push_time(out);
        policy.fraction.of(self.nanoseconds).push(out);
        out.extend_from_slice(b" GMT");
        Ok(())
    }
}

fn read(bytes: &[u8], policy: &ReadPolicy) -> Result<Timestamp, Malformed> {
    let read = match bytes.len() {
        29 => fixdate(bytes),
        24 => asctime(bytes),
        30..=33 => rfc850(bytes, policy.short_year),
        _ => None,
    };
    match read {
        Some(instant) => Ok(instant),
        None => unusual(bytes, policy),
    }
}

/// A space, two digits and a space, in the upper half of a word.
#[inline]
fn day_text(day: u32) -> u64 {
    pair_text(day.into(), 0x0f) << 40 | u64::from_le_bytes(*b"\0\0\0\0 00 ")
}

/// Four digits.
#[inline]
fn year_text(century: u32, short: u32) -> u64 {
    let values = u64::from(century) | u64::from(short) << 16;
    pair_text(values, 0x000f_000f) | u64::from_le_bytes(*b"0000\0\0\0\0")
}

/// In the lower half of a word.
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
    // Behind the name of the day.
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
    // Behind the time, which begins at the eleventh byte.
    const DAY_OF_MONTH: Pattern = Pattern::new(*b"00 \0\0\0\0\0");
    let text: &[u8; 24] = bytes.try_into().ok()?;
    let first = u64::from_le_bytes(*text.first_chunk()?);
    let seconds = time(*text[11..].first_chunk()?)?;
    let month = month_of((first >> 32) as u32)?;
    let mut day = u64::from(u32::from_le_bytes(*text[8..].first_chunk()?) & 0x00ff_ffff);
    // A space in place of the first digit counts as zero.
    if day as u8 == b' ' {
        day |= u64::from(b'0');
    }
    let (day, wrong) = DAY_OF_MONTH.pairs(day);
    let year = u32::from_le_bytes(*text.last_chunk()?);
    let (year, also_wrong) = YEAR.pairs(year.into());
    // A comma in place of the space: `Sun,`.
    let is_day = is_day(first as u32 ^ SPACE_OR_COMMA);
    if wrong | also_wrong != 0 || !is_day || text[19] != b' ' {
        return None;
    }
    let [day, ..] = day.to_le_bytes();
    let [century, _, short, ..] = year.to_le_bytes();
    zoned(century, short, month, day, seconds)
}

/// What makes a space at the end of a word a comma.
const SPACE_OR_COMMA: u32 = ((b' ' ^ b',') as u32) << 24;

/// `Sunday, 06-Nov-94 08:49:37 GMT`: of known length behind the day.
#[inline(always)]
fn rfc850(bytes: &[u8], short_year: ShortYear) -> Option<Timestamp> {
    // From the comma to the first letter of the month, and from the first dash
    // behind it to the space in front of the time.
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
    if wrong | also_wrong != 0 || !is_day || !ends || short_year != ShortYear::From1970 {
        return None;
    }
    let [_, _, day, ..] = day.to_le_bytes();
    let [_, short, ..] = year.to_le_bytes();
    let century = if short < 70 { 20 } else { 19 };
    zoned(century, short, month, day, seconds)
}

/// What makes a dash at the end of a word a space.
const SPACE_OR_DASH: u32 = ((b' ' ^ b'-') as u32) << 24;

/// Every layout and every error.
#[cold]
fn unusual(bytes: &[u8], policy: &ReadPolicy) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    // Only RFC 850's form has the day in full, dashes and a short year.
    let (date, time, nanoseconds) = match (weekday(&mut fields)?, fields.peek()) {
        (true, _) => rfc850_fields(&mut fields, policy.short_year)?,
        (false, Some(b',')) => fixdate_fields(&mut fields)?,
        (false, _) => asctime_fields(&mut fields)?,
    };
    fields.end()?;
    instant(date, time, Some(0), nanoseconds, policy)
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

fn rfc850_fields(
    fields: &mut Fields<'_>,
    short_year: ShortYear,
) -> Result<(Date, Time, u32), Malformed> {
    fields.one_of(b",", "a comma")?;
    fields.one_of(b" ", "a space")?;
    let day = fields.day()?;
    fields.one_of(b"-", "a dash")?;
    let month = month_name(fields)?;
    fields.one_of(b"-", "a dash")?;
    let short = i64::from(fields.number(2, "a year of two digits")?);
    let (time, nanoseconds) = time_in_gmt(fields)?;
    let year = match short_year {
        ShortYear::From1970 if short < 70 => 2000 + short,
        ShortYear::From1970 => 1900 + short,
        ShortYear::Near(now) => near(now, short, (month, day, time, nanoseconds)),
    };
    Ok(((year, month, day), time, nanoseconds))
}

/// The latest year that ends in `short` and is not more than 50 years away, to
/// the nanosecond.
fn near(now: Timestamp, short: i64, within_year: (u32, u32, Time, u32)) -> i64 {
    let civil = now.civil();
    let latest = civil.year + 50;
    let year = latest - (latest - short).rem_euclid(100);
    let time = (civil.hour.into(), civil.minute.into(), civil.second.into());
    let now = (
        u32::from(civil.month),
        u32::from(civil.day),
        time,
        civil.nanosecond,
    );
    if year == latest && within_year > now {
        year - 100
    } else {
        year
    }
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

/// A space, the time, a fraction or none, a space and `GMT`.
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
