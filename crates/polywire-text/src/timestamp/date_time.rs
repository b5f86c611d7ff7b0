//! RFC 3339, section 5.6: the `date-time` of Smithy.

use std::str::FromStr;

use super::calendar::{EPOCH_DAY, date_of_day, day_of_date};
use super::fields::{Fields, fraction_digits, instant};
use super::policy::{ReadPolicy, WritePolicy};
use super::words::{Pattern, pair_text, time, time_text};
use super::{DAY, FIRST_SECOND, Fraction, LAST_SECOND, Timestamp, push_words};
use crate::Malformed;

impl Timestamp {
    /// Reads RFC 3339, section 5.6.
    ///
    /// ```text
    /// date-time = 4DIGIT "-" 2DIGIT "-" 2DIGIT ("T" / "t") 2DIGIT ":" 2DIGIT ":" 2DIGIT
    ///             ["." 1*DIGIT] ("Z" / "z" / ("+" / "-") 2DIGIT ":" 2DIGIT)
    /// ```
    ///
    /// The date must exist in the calendar, the hour must be at most 23, and the offset less than a
    /// day. The year in UTC must be within 0001 to 9999. `-00:00` (offset unknown) is read as `Z`.
    /// For leap seconds see the [module](crate::timestamp).
    ///
    /// # Errors
    ///
    /// The first byte that does not match the grammar; offset 0 if a field is out of range.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let read = Timestamp::parse_date_time("1996-12-19T16:39:57-08:00")?;
    /// assert_eq!(read.to_string(), "1996-12-20T00:39:57Z");
    /// let error = Timestamp::parse_date_time("1996-12-19 16:39:57Z").unwrap_err();
    /// assert_eq!((error.offset, error.expected), (10, "T between date and time"));
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_date_time(text: &str) -> Result<Self, Malformed> {
        read(text.as_bytes(), ReadPolicy::new())
    }

    /// Like [`Timestamp::parse_date_time`], with options, from bytes or a string.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_date_time`].
    ///
    /// ```
    /// use polywire_text::timestamp::{ReadPolicy, Timestamp};
    ///
    /// let policy = ReadPolicy::new().utc(true);
    /// let read = Timestamp::parse_date_time_with(b"2026-11-21T20:30:00Z", policy)?;
    /// assert_eq!(read.seconds(), 1_795_293_000);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_date_time_with(
        text: impl AsRef<[u8]>,
        policy: ReadPolicy,
    ) -> Result<Self, Malformed> {
        read(text.as_ref(), policy)
    }

    /// Appends the instant by RFC 3339, in UTC, with as many digits of a fraction as needed.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999. `out` is unchanged.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let mut out = b"at ".to_vec();
    /// Timestamp::new(1_795_293_000, 250_000_000).push_date_time(&mut out)?;
    /// assert_eq!(out, b"at 2026-11-21T20:30:00.25Z");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_date_time(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        // A separate copy, in which the policy is a constant.
        self.push_by(out, WritePolicy::new())
    }

    /// Like [`Timestamp::push_date_time`], with options.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::push_date_time`].
    ///
    /// ```
    /// use polywire_text::timestamp::{Fraction, Timestamp, WritePolicy};
    ///
    /// let mut out = Vec::new();
    /// let milliseconds = WritePolicy::new().fraction(Fraction::Exactly(3));
    /// Timestamp::EPOCH.push_date_time_with(&mut out, milliseconds)?;
    /// assert_eq!(out, b"1970-01-01T00:00:00.000Z");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_date_time_with(
        self,
        out: &mut Vec<u8>,
        policy: WritePolicy,
    ) -> Result<(), Malformed> {
        self.push_by(out, policy)
    }

    /// Like [`Timestamp::push_date_time`], percent-encoded for a form or query: colons are `%3A`.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::push_date_time`].
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let mut out = b"at=".to_vec();
    /// Timestamp::EPOCH.push_encoded_date_time(&mut out)?;
    /// assert_eq!(out, b"at=1970-01-01T00%3A00%3A00Z");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_encoded_date_time(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let Some((day, second)) = self.common_day() else {
            return Err(out_of_years());
        };
        let (century, short, month, day) = date_of_day(day);
        let time = time_text(second);
        let hour = time & 0xffff;
        let minute = time >> 24 & 0xffff;
        let second = time >> 48;
        push_words(
            out,
            [
                year_and_month(century, short, month),
                pair_text(day.into(), 0x0f) | u64::from_le_bytes(*b"00T\0\0%3A") | hour << 24,
                minute | second << 40 | u64::from_le_bytes(*b"\0\0%3A\0\0Z"),
            ],
            "YYYY-MM-DDTHH%3AMM%3ASSZ".len(),
        );
        let fraction = Fraction::Needed.of(self.nanoseconds);
        if !fraction.is_empty() {
            out.truncate(out.len() - 1);
            fraction.push(out);
            out.push(b'Z');
        }
        Ok(())
    }

    #[inline(always)]
    fn push_by(self, out: &mut Vec<u8>, policy: WritePolicy) -> Result<(), Malformed> {
        let Some(words) = self.whole_seconds() else {
            return Err(out_of_years());
        };
        push_words(out, words, "YYYY-MM-DDTHH:MM:SSZ".len());
        let fraction = policy.fraction.of(self.nanoseconds);
        if !fraction.is_empty() {
            out.truncate(out.len() - 1);
            fraction.push(out);
            out.push(b'Z');
        }
        Ok(())
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`, padded with zero bytes, without the fraction. `None` for years
    /// outside of 0001 to 9999.
    #[inline(always)]
    pub(crate) fn whole_seconds(self) -> Option<[u64; 3]> {
        let (day, second) = self.common_day()?;
        let (century, short, month, day) = date_of_day(day);
        Some([
            year_and_month(century, short, month),
            pair_text(day.into(), 0x0f)
                | u64::from_le_bytes(*b"00T\0\0\0\0\0")
                | time_text(second) << 24,
            time_text(second) >> 40 | u64::from(b'Z') << 24,
        ])
    }

    /// The day since 0000-03-01 and the second of that day. `None` for years outside of 0001 to
    /// 9999.
    #[inline]
    pub(super) fn common_day(self) -> Option<(u32, u32)> {
        if !(FIRST_SECOND..=LAST_SECOND).contains(&self.seconds) {
            return None;
        }
        let second = (self.seconds + EPOCH_DAY * DAY) as u64;
        let day = second / DAY as u64;
        Some((day as u32, (second - day * DAY as u64) as u32))
    }
}

/// The error of writers.
#[cold]
pub(super) const fn out_of_years() -> Malformed {
    Malformed::new(0, "a timestamp within the years 0001 to 9999")
}

fn read(bytes: &[u8], policy: ReadPolicy) -> Result<Timestamp, Malformed> {
    let read = match common(bytes) {
        Some(instant) if !instant.unzoned => Ok(instant),
        _ => slow(bytes, Zone::Required),
    };
    if policy.utc && read.is_ok() && !matches!(bytes.last(), Some(b'Z' | b'z')) {
        // The offset has six characters.
        return Err(Malformed::new(bytes.len().saturating_sub(6), "Z, for UTC"));
    }
    read
}

/// A cache of the last date that was read. Adjacent timestamps often have the same date, and
/// comparing it is faster than parsing it.
#[derive(Clone, Copy, Debug)]
pub struct DateCache {
    /// `YYYY-MM-` and `Y-MM-DDT`, which overlap.
    words: [u64; 2],
    /// The first second of the day, since the epoch.
    seconds: i64,
}

impl Default for DateCache {
    fn default() -> Self {
        Self {
            words: [
                u64::from_le_bytes(*b"1970-01-"),
                u64::from_le_bytes(*b"0-01-01T"),
            ],
            seconds: 0,
        }
    }
}

impl DateCache {
    /// Reads a date in the common layout and in UTC at the beginning of `bytes`. Returns it and its
    /// length, which includes the `Z`. `None` means another layout or an error: call
    /// [`Timestamp::parse_date_time`].
    ///
    /// ```
    /// use polywire_text::timestamp::{DateCache, Timestamp};
    ///
    /// let mut last = DateCache::default();
    /// let read = last.utc_prefix(b"1970-01-01T00:01:00Z</Time>");
    /// assert_eq!(read, Some((Timestamp::new(60, 0), 20)));
    /// ```
    #[inline]
    #[must_use]
    pub fn utc_prefix(&mut self, bytes: &[u8]) -> Option<(Timestamp, usize)> {
        let head: &[u8; COMMON] = bytes.first_chunk()?;
        let words = date_words(head)?;
        if words != self.words {
            let seconds = (i64::from(common_layout_day(words)?) - EPOCH_DAY) * DAY;
            *self = Self { words, seconds };
        }
        let second = time(*head[11..].first_chunk()?)?;
        let mut nanoseconds = 0;
        let mut at = COMMON;
        if bytes.get(at) == Some(&b'.') {
            (nanoseconds, at) = fraction_digits(bytes, at + 1)?;
        }
        if bytes.get(at) != Some(&b'Z') {
            return None;
        }
        let instant = Timestamp {
            seconds: self.seconds + i64::from(second),
            nanoseconds,
            unzoned: false,
        };
        Some((instant, at + 1))
    }
}

/// Whether a date must have an offset or `Z`.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Zone {
    Required,
    Optional,
}

impl FromStr for Timestamp {
    type Err = Malformed;

    /// Reads what `Display` writes for the years 0001 to 9999: as [`Timestamp::parse_date_time`],
    /// or without an offset, which makes the instant [unzoned](Timestamp::is_unzoned).
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_date_time`].
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let zoned: Timestamp = "2026-11-21T21:30:00+01:00".parse()?;
    /// let unzoned: Timestamp = "2026-11-21T20:30:00".parse()?;
    /// assert_eq!(zoned.with_unzoned(true), unzoned);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, Malformed> {
        match common(text.as_bytes()) {
            Some(instant) => Ok(instant),
            None => slow(text.as_bytes(), Zone::Optional),
        }
    }
}

/// `YYYY-MM-`.
#[inline]
fn year_and_month(century: u32, short: u32, month: u32) -> u64 {
    let values = u64::from(century) | u64::from(short) << 16 | u64::from(month) << 40;
    pair_text(values, 0x0000_0f00_000f_000f) | u64::from_le_bytes(*b"0000-00-")
}

/// Reads the common layout: fixed positions up to the second, then an optional fraction and an
/// optional offset. `None` means another layout or an error.
// Always inline: a result in memory would be written as three fields and read as one, which defeats
// store forwarding.
#[inline(always)]
pub(super) fn common(bytes: &[u8]) -> Option<Timestamp> {
    let (day, second) = common_second(bytes)?;
    tail(bytes, COMMON, day, second)
}

/// The length of the common layout up to the second.
const COMMON: usize = "0000-00-00T00:00:00".len();

/// The day since 0000-03-01 and the second of the day.
#[inline(always)]
fn common_second(bytes: &[u8]) -> Option<(u32, u32)> {
    let head: &[u8; COMMON] = bytes.first_chunk()?;
    let second = time(*head[11..].first_chunk()?)?;
    Some((common_layout_day(date_words(head)?)?, second))
}

/// `YYYY-MM-` and `Y-MM-DDT`: two words that overlap.
#[inline(always)]
fn date_words(head: &[u8; COMMON]) -> Option<[u64; 2]> {
    let (first, second) = (head.first_chunk()?, head[3..].first_chunk()?);
    Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second)])
}

/// The day since 0000-03-01, from the result of [`date_words`].
#[inline(always)]
fn common_layout_day([first, second]: [u64; 2]) -> Option<u32> {
    const YEAR_AND_MONTH: Pattern = Pattern::new(*b"0000-00-");
    // Overlaps the first word, so that it is a whole word too.
    const DAY: Pattern = Pattern::new(*b"0-00-00T");
    let (month, wrong) = YEAR_AND_MONTH.pairs(first);
    let (day, also_wrong) = DAY.pairs(second);
    if wrong | also_wrong != 0 {
        return None;
    }
    let [century, _, short, _, _, month, ..] = month.to_le_bytes();
    let [_, _, _, _, _, day, ..] = day.to_le_bytes();
    day_of_date(century.into(), short.into(), month.into(), day.into())
}

/// Reads what follows the time, at `at`: an optional fraction, and an optional offset with a colon.
#[inline(always)]
pub(super) fn tail(bytes: &[u8], at: usize, day: u32, second: u32) -> Option<Timestamp> {
    let mut instant = Timestamp {
        seconds: (i64::from(day) - EPOCH_DAY) * DAY + i64::from(second),
        nanoseconds: 0,
        unzoned: false,
    };
    let mut at = at;
    if bytes.get(at) == Some(&b'.') {
        (instant.nanoseconds, at) = fraction_digits(bytes, at + 1)?;
    }
    match bytes.get(at..)? {
        [b'Z'] => {}
        [] => instant.unzoned = true,
        [sign @ (b'+' | b'-'), _, _, _, _, _] => {
            let offset = offset(*bytes.last_chunk()?)?;
            instant.seconds -= if *sign == b'-' { -offset } else { offset };
            if !(FIRST_SECOND..=LAST_SECOND).contains(&instant.seconds) {
                return None;
            }
        }
        _ => return None,
    }
    Some(instant)
}

/// The seconds of `HH:MM`, which are the last five bytes of `text`.
#[inline]
fn offset(text: [u8; 8]) -> Option<i64> {
    const OFFSET: Pattern = Pattern::new(*b"00:00\0\0\0");
    let (pairs, wrong) = OFFSET.pairs(u64::from_le_bytes(text) >> 24);
    let [hours, _, _, minutes, ..] = pairs.to_le_bytes();
    if wrong != 0 || hours > 23 || minutes > 59 {
        return None;
    }
    Some(i64::from(hours) * 3600 + i64::from(minutes) * 60)
}

/// The slow path: every layout, and the errors.
#[cold]
fn slow(bytes: &[u8], need: Zone) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    let date = fields.dashed_date()?;
    fields.one_of(b"Tt", "T between date and time")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    let zone = fields.zone(false)?;
    if zone.is_none() && (need == Zone::Required || fields.peek().is_some()) {
        return Err(fields.expected("Z or an offset such as +01:00"));
    }
    fields.end()?;
    instant(date, time, zone, nanoseconds)
}
