//! The slow path of all formats: a cursor that reads a date field by field. Unlike the fast paths,
//! it accepts every layout and produces errors.

use super::Timestamp;
use super::calendar::{DAY, FIRST_SECOND, LAST_SECOND, days_in_month, distant_day_of_date};
use super::words::leading_digits;
use crate::Malformed;
use crate::number::digits;

pub(super) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// Year, month and day.
pub(super) type Date = (i64, u32, u32);
/// Hour, minute and second.
pub(super) type Time = (u32, u32, u32);

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[cold]
    pub(super) fn expected(&self, expected: &'static str) -> Malformed {
        Malformed::new(self.at, expected)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn one_of(&mut self, bytes: &[u8], expected: &'static str) -> Result<(), Malformed> {
        match self.peek() {
            Some(byte) if bytes.contains(&byte) => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// Reads as many ASCII letters as there are.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    pub(super) fn number(
        &mut self,
        width: usize,
        expected: &'static str,
    ) -> Result<u32, Malformed> {
        let mut value = 0;
        for _ in 0..width {
            match self.peek() {
                Some(digit @ b'0'..=b'9') => value = value * 10 + u32::from(digit - b'0'),
                _ => return Err(self.expected(expected)),
            }
            self.at += 1;
        }
        Ok(value)
    }

    pub(super) fn year(&mut self) -> Result<i64, Malformed> {
        self.number(4, "a year of four digits").map(i64::from)
    }

    pub(super) fn month(&mut self) -> Result<u32, Malformed> {
        self.number(2, "a month of two digits")
    }

    pub(super) fn day(&mut self) -> Result<u32, Malformed> {
        self.number(2, "a day of two digits")
    }

    /// `YYYY-MM-DD`.
    pub(super) fn dashed_date(&mut self) -> Result<Date, Malformed> {
        let year = self.year()?;
        self.one_of(b"-", "- between year and month")?;
        let month = self.month()?;
        self.one_of(b"-", "- between month and day")?;
        Ok((year, month, self.day()?))
    }

    /// `HH:MM:SS`.
    pub(super) fn time(&mut self) -> Result<Time, Malformed> {
        let hour = self.number(2, "an hour of two digits")?;
        self.one_of(b":", ": between hour and minute")?;
        let minute = self.number(2, "a minute of two digits")?;
        self.one_of(b":", ": between minute and second")?;
        Ok((hour, minute, self.number(2, "a second of two digits")?))
    }

    /// An optional point and digits, in nanoseconds.
    pub(super) fn fraction(&mut self) -> Result<u32, Malformed> {
        if !self.skip(b'.') {
            return Ok(0);
        }
        let Some((nanoseconds, end)) = fraction_digits(self.bytes, self.at) else {
            return Err(self.expected("a digit of the fraction"));
        };
        self.at = end;
        Ok(nanoseconds)
    }

    /// An optional offset from UTC, in seconds. `basic` is the format of ISO 8601 that needs no
    /// colon.
    pub(super) fn zone(&mut self, basic: bool) -> Result<Option<i64>, Malformed> {
        let sign = match self.peek() {
            Some(b'Z' | b'z') => {
                self.at += 1;
                return Ok(Some(0));
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok(None),
        };
        let start = self.at;
        self.at += 1;
        let hours = self.number(2, "hours of the offset")?;
        if !self.skip(b':') && !basic {
            return Err(self.expected(": between hours and minutes of the offset"));
        }
        let minutes = self.number(2, "minutes of the offset")?;
        if hours > 23 || minutes > 59 {
            return Err(Malformed::new(start, "an offset of less than a day"));
        }
        Ok(Some(sign * i64::from(hours * 3600 + minutes * 60)))
    }

    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(self.expected("the end of the date"))
        }
    }
}

/// The instant of a date and time, which are checked. Without a zone they are taken as UTC.
pub(super) fn instant(
    (year, month, day): Date,
    (hour, minute, second): Time,
    zone: Option<i64>,
    nanoseconds: u32,
) -> Result<Timestamp, Malformed> {
    let wrong = |expected| Err(Malformed::new(0, expected));
    if year == 0 {
        return wrong("a year within 0001 to 9999");
    }
    if !(1..=12).contains(&month) {
        return wrong("a month within 01 to 12");
    }
    if day == 0 || day > days_in_month(year, month) {
        return wrong("a day of that month");
    }
    if hour > 23 || minute > 59 || second > 60 {
        return wrong("a time within 00:00:00 to 23:59:60");
    }
    let time = i64::from(hour * 3600 + minute * 60 + second);
    let seconds = distant_day_of_date(year, month, day) * DAY + time - zone.unwrap_or(0);
    if second == 60 {
        let unit = if zone.is_some() { DAY } else { 3600 };
        // The same second as the first of the next minute, as in POSIX.
        if seconds.rem_euclid(unit) != 0 {
            return wrong("a leap second at the end of a day");
        }
    }
    if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
        return wrong("a time within the years 0001 to 9999 of UTC");
    }
    Ok(Timestamp::new(seconds, nanoseconds).with_unzoned(zone.is_none()))
}

/// The digits at `at`, as a fraction in nanoseconds, and where they end. Digits after the ninth are
/// skipped. `None` if there is no digit.
#[inline]
pub(super) fn fraction_digits(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let rest = bytes.get(at..)?;
    let word = match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(chunk), _) => u64::from_le_bytes(*chunk),
        // Shifts out the bytes before the fraction, and shifts in zero bytes, which are not digits.
        (None, Some(chunk)) => u64::from_le_bytes(*chunk)
            .checked_shr(64 - 8 * rest.len() as u32)
            .unwrap_or(0),
        (None, None) => {
            let mut chunk = [0; 8];
            chunk[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(chunk)
        }
    };
    let (count, value) = leading_digits(word);
    match count {
        0 => None,
        8 => Some(long_fraction(rest, value * 10, at)),
        _ => Some((value * 10, at + count as usize)),
    }
}

/// The ninth digit, which is added to `eight`, and any after it.
#[inline]
fn long_fraction(rest: &[u8], eight: u32, at: usize) -> (u32, usize) {
    let Some(digit @ b'0'..=b'9') = rest.get(8) else {
        return (eight, at + 8);
    };
    let nanoseconds = eight + u32::from(digit - b'0');
    match rest.get(9) {
        Some(b'0'..=b'9') => (nanoseconds, at + end_after_nine(rest)),
        _ => (nanoseconds, at + 9),
    }
}

// Cold and not inlined, so that `fraction_digits` is inlined.
#[cold]
#[inline(never)]
fn end_after_nine(rest: &[u8]) -> usize {
    digits::end(rest, 10)
}
