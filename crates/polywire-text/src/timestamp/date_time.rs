//! RFC 3339, section 5.6: Smithy's `date-time`.

use std::str::FromStr;

use super::calendar::{EPOCH_DAY, date_of_day, day_of_date, distant_date_of_day};
use super::fields::{Fields, fraction_digits, instant};
use super::policy::{ReadPolicy, WritePolicy, Years};
use super::words::{Pattern, pair_text, time, time_text};
use super::{DAY, FIRST_SECOND, Fraction, LAST_SECOND, Timestamp, push_words};
use crate::number::push_padded;
use crate::{Malformed, percent};

impl Timestamp {
    /// Reads RFC 3339, section 5.6.
    ///
    /// ```text
    /// date-time = 4DIGIT "-" 2DIGIT "-" 2DIGIT ("T" / "t") 2DIGIT ":" 2DIGIT ":" 2DIGIT
    ///             ["." 1*DIGIT] ("Z" / "z" / ("+" / "-") 2DIGIT ":" 2DIGIT)
    /// ```
    ///
    /// Fields are those of the calendar and of a clock: no 31 February, no hour
    /// 24, offsets below a day. Second 60 is read by [`LeapSecond`]. `-00:00`,
    /// by which a sender says that it does not know its offset, is `Z`. The
    /// offset itself is not kept: the result is an instant. In UTC the year
    /// must be within 0001 to 9999, so that it can be written.
    ///
    /// [`LeapSecond`]: super::LeapSecond
    ///
    /// # Errors
    ///
    /// Where the form was left; or offset 0 and the first field that is out of
    /// range.
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
        read(text.as_bytes(), &ReadPolicy::new())
    }

    /// The same from bytes or a string, by `policy`.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_date_time`].
    ///
    /// ```
    /// use polywire_text::timestamp::{ReadPolicy, Timestamp, Years};
    ///
    /// let policy = ReadPolicy::new().space(true).years(Years::Expanded);
    /// let read = Timestamp::parse_date_time_with(b"-000043-03-15 12:00:00Z", policy)?;
    /// assert_eq!(read.civil().year, -43);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_date_time_with(
        text: impl AsRef<[u8]>,
        policy: ReadPolicy,
    ) -> Result<Self, Malformed> {
        read(text.as_ref(), &policy)
    }

    /// Appends the RFC 3339 form in UTC, with a fraction of as many digits as
    /// it needs, and none if it is zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999; nothing is appended.
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
        // A copy of its own, which has to ask the policy nothing.
        self.push_by(out, WritePolicy::new())
    }

    /// The same by `policy`.
    ///
    /// # Errors
    ///
    /// The year is not of the policy's; nothing is appended.
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

    /// As [`Timestamp::push_date_time`], percent-encoded as a value of a form or
    /// query: the colons are `%3A`.
    ///
    /// # Errors
    ///
    /// As there.
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
            return self.push_encoded_distant(out);
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

    #[cold]
    fn push_encoded_distant(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut plain = Vec::with_capacity(40);
        self.push_date_time(&mut plain)?;
        percent::push_bytes(out, &plain, &percent::UNRESERVED);
        Ok(())
    }

    #[inline(always)]
    fn push_by(self, out: &mut Vec<u8>, policy: WritePolicy) -> Result<(), Malformed> {
        let Some(words) = self.whole_seconds() else {
            return self.push_distant(out, policy);
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

    /// `YYYY-MM-DDTHH:MM:SSZ` and zeros behind it, of years that everybody knows and
    /// without a fraction.
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

    /// Years that not everybody knows.
    #[cold]
    fn push_distant(self, out: &mut Vec<u8>, policy: WritePolicy) -> Result<(), Malformed> {
        let date = self.distant_date(policy.years)?;
        let (year, month, day) = date;
        match year {
            0..=9999 => push_padded(out, year as u32, 4),
            _ => {
                out.push(if year < 0 { b'-' } else { b'+' });
                push_padded(out, year.unsigned_abs() as u32, 6);
            }
        }
        out.push(b'-');
        push_padded(out, month, 2);
        out.push(b'-');
        push_padded(out, day, 2);
        out.push(b'T');
        self.push_time(out);
        policy.fraction.of(self.nanoseconds).push(out);
        out.push(b'Z');
        Ok(())
    }

    /// The day since 0000-03-01 and the second of that day, of the years 0001
    /// to 9999.
    #[inline]
    pub(super) fn common_day(self) -> Option<(u32, u32)> {
        if !(FIRST_SECOND..=LAST_SECOND).contains(&self.seconds) {
            return None;
        }
        let second = (self.seconds + EPOCH_DAY * DAY) as u64;
        let day = second / DAY as u64;
        Some((day as u32, (second - day * DAY as u64) as u32))
    }

    /// Year, month and day, if the years reach so far.
    pub(super) fn distant_date(self, years: Years) -> Result<(i64, u32, u32), Malformed> {
        let date = distant_date_of_day(self.seconds.div_euclid(DAY));
        let (first, last, expected) = match years {
            Years::Common => (1, 9999, "a timestamp within the years 0001 to 9999"),
            Years::FourDigits => (0, 9999, "a timestamp within the years 0000 to 9999"),
            Years::Expanded => (
                -999_999,
                999_999,
                "a timestamp within the years -999999 to 999999",
            ),
        };
        if (first..=last).contains(&date.0) {
            Ok(date)
        } else {
            Err(Malformed::new(0, expected))
        }
    }

    /// `HH:MM:SS`.
    pub(super) fn push_time(self, out: &mut Vec<u8>) {
        let second = self.seconds.rem_euclid(DAY) as u32;
        out.extend_from_slice(&time_text(second).to_le_bytes());
    }
}

fn read(bytes: &[u8], policy: &ReadPolicy) -> Result<Timestamp, Malformed> {
    let read = match usual(bytes) {
        Some(instant) if !instant.unzoned => Ok(instant),
        _ => unusual(bytes, policy, Zone::Required),
    };
    if policy.utc && read.is_ok() && !matches!(bytes.last(), Some(b'Z' | b'z')) {
        // An offset has six characters.
        return Err(Malformed::new(bytes.len().saturating_sub(6), "Z, for UTC"));
    }
    read
}

/// The date that was read last. Timestamps that stand together often are of one day,
/// and to see that it is the same one takes less than to read it.
#[derive(Clone, Copy, Debug)]
pub struct LastDate {
    /// `YYYY-MM-` and `Y-MM-DDT`, which overlap.
    words: [u64; 2],
    /// The second at which the day begins.
    seconds: i64,
}

impl Default for LastDate {
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

impl LastDate {
    /// The date and time of the usual layout in UTC, up to a `Z`, that `bytes` begin
    /// with, and its length: the quick way from a parser's input. `None` says
    /// nothing but that it is not so usual.
    ///
    /// ```
    /// use polywire_text::timestamp::{LastDate, Timestamp};
    ///
    /// let mut last = LastDate::default();
    /// let read = last.utc_prefix(b"1970-01-01T00:01:00Z</Time>");
    /// assert_eq!(read, Some((Timestamp::new(60, 0), 20)));
    /// ```
    #[inline]
    #[must_use]
    pub fn utc_prefix(&mut self, bytes: &[u8]) -> Option<(Timestamp, usize)> {
        let head: &[u8; USUAL] = bytes.first_chunk()?;
        let words = date_words(head)?;
        if words != self.words {
            let seconds = (i64::from(usual_day(words)?) - EPOCH_DAY) * DAY;
            *self = Self { words, seconds };
        }
        let second = time(*head[11..].first_chunk()?)?;
        let mut nanoseconds = 0;
        let mut at = USUAL;
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

/// Whether a date must have a zone.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Zone {
    Required,
    Optional,
}

impl FromStr for Timestamp {
    type Err = Malformed;

    /// Reads what `Display` writes of the years 0001 to 9999: RFC 3339 as
    /// [`Timestamp::parse_date_time`] has it, or the same without a zone, which
    /// makes the instant [unzoned](Timestamp::is_unzoned).
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
        match usual(text.as_bytes()) {
            Some(instant) => Ok(instant),
            None => unusual(text.as_bytes(), &ReadPolicy::new(), Zone::Optional),
        }
    }
}

/// `YYYY-MM-`.
#[inline]
fn year_and_month(century: u32, short: u32, month: u32) -> u64 {
    let values = u64::from(century) | u64::from(short) << 16 | u64::from(month) << 40;
    pair_text(values, 0x0000_0f00_000f_000f) | u64::from_le_bytes(*b"0000-00-")
}

/// The usual layout, with or without a zone: places are known up to the second,
/// then come a fraction or none, and the zone or nothing. `None` is anything
/// else, be it good or bad.
// Always inline: returned through memory the three fields are written one by
// one and read as one, which processors wait for.
#[inline(always)]
pub(super) fn usual(bytes: &[u8]) -> Option<Timestamp> {
    let (day, second) = usual_second(bytes)?;
    tail(bytes, USUAL, day, second)
}

/// How many bytes the usual layout has up to the second.
const USUAL: usize = "0000-00-00T00:00:00".len();

/// The day and the second of the day of the usual layout.
#[inline(always)]
fn usual_second(bytes: &[u8]) -> Option<(u32, u32)> {
    let head: &[u8; USUAL] = bytes.first_chunk()?;
    let second = time(*head[11..].first_chunk()?)?;
    Some((usual_day(date_words(head)?)?, second))
}

/// The date of the usual layout, in two words that overlap.
#[inline(always)]
fn date_words(head: &[u8; USUAL]) -> Option<[u64; 2]> {
    let (first, second) = (head.first_chunk()?, head[3..].first_chunk()?);
    Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second)])
}

/// The day since 0000-03-01 of such words.
#[inline(always)]
fn usual_day([first, second]: [u64; 2]) -> Option<u32> {
    const YEAR_AND_MONTH: Pattern = Pattern::new(*b"0000-00-");
    // Overlaps what comes before and looks at it again, so as to be a word.
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

/// What stands behind the time: a fraction or none, a zone with its colon or
/// none.
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

/// The seconds of `HH:MM`, the last five of these bytes.
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

/// Every layout and every error.
#[cold]
fn unusual(bytes: &[u8], policy: &ReadPolicy, need: Zone) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    let date = fields.dashed_date(policy.years)?;
    let separators: &[u8] = if policy.space { b"Tt " } else { b"Tt" };
    fields.one_of(separators, "T between date and time")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    let zone = fields.zone(false)?;
    if zone.is_none() && (need == Zone::Required || fields.peek().is_some()) {
        return Err(fields.expected("Z or an offset such as +01:00"));
    }
    fields.end()?;
    instant(date, time, zone, nanoseconds, policy)
}
