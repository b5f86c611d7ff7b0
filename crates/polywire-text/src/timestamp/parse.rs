//! Reading the forms of a timestamp.

use super::Timestamp;
use super::calendar::{DAY, DAYS, FIRST_SECOND, LAST_SECOND, MONTHS, day_of_date, days_in_month};
use crate::Malformed;

const FULL_DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

impl Timestamp {
    /// Reads RFC 3339, section 5.6: `YYYY-MM-DDTHH:MM:SS[.fraction](Z|±HH:MM)`.
    /// In UTC the year must be within 0001 to 9999, so that it can be written.
    ///
    /// # Errors
    ///
    /// Where the form was left, or the first field that is out of range.
    pub fn parse_date_time(text: &str) -> Result<Self, Malformed> {
        let mut fields = Fields::new(text);
        let (year, month, day) = fields.dashed_date()?;
        fields.one_of(b"Tt", "T between date and time")?;
        let time = fields.time()?;
        let nanoseconds = fields.fraction()?;
        let zone = fields.zone(false)?;
        if zone.is_none() {
            return Err(fields.expected("Z or an offset such as +01:00"));
        }
        fields.end()?;
        fields.instant((year, month, day), time, zone, nanoseconds)
    }

    /// Reads XML-RPC's `dateTime.iso8601`: date with or without dashes, time,
    /// and, as some peers send, a fraction, `Z` or an offset, with or without
    /// its colon. Without a zone the result is [unzoned](Timestamp::is_unzoned).
    ///
    /// # Errors
    ///
    /// Where the form was left, or the first field that is out of range.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let read = Timestamp::parse_xmlrpc("20260231T00:00:00");
    /// assert_eq!(read.unwrap_err().expected, "a day of that month");
    /// assert!(Timestamp::parse_xmlrpc("20261121T20:30:00")?.is_unzoned());
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn parse_xmlrpc(text: &str) -> Result<Self, Malformed> {
        let mut fields = Fields::new(text);
        let dashed = text.as_bytes().get(4) == Some(&b'-');
        let date = if dashed {
            fields.dashed_date()?
        } else {
            (
                fields.number(4, "a year of four digits")?,
                fields.month()?,
                fields.number(2, "a day of two digits")?,
            )
        };
        fields.one_of(b"Tt ", "T between date and time")?;
        let time = fields.time()?;
        let nanoseconds = fields.fraction()?;
        let zone = fields.zone(true)?;
        fields.end()?;
        let instant = fields.instant(date, time, zone, nanoseconds)?;
        Ok(instant.with_unzoned(zone.is_none()))
    }

    /// Reads an HTTP-date, RFC 9110, section 5.6.7, in its three historic
    /// forms; also with a fraction of a second, as some services send it. A
    /// year of two digits is taken as 1970 to 2069.
    ///
    /// # Errors
    ///
    /// Where the form was left, or the first field that is out of range.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let preferred = Timestamp::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")?;
    /// assert_eq!(Timestamp::parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT")?, preferred);
    /// assert_eq!(Timestamp::parse_http_date("Sun Nov  6 08:49:37 1994")?, preferred);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn parse_http_date(text: &str) -> Result<Self, Malformed> {
        let mut fields = Fields::new(text);
        // Only RFC 850's form has the day in full, dashes and a short year.
        let rfc850 = fields.weekday()?;
        if rfc850 || fields.bytes.get(fields.at) == Some(&b',') {
            fields.one_of(b",", "a comma")?;
            fields.one_of(b" ", "a space")?;
            let day = fields.number(2, "a day of two digits")?;
            let (separator, expected): (&[u8], _) = match rfc850 {
                true => (b"-", "a dash"),
                false => (b" ", "a space"),
            };
            fields.one_of(separator, expected)?;
            let month = fields.month_name()?;
            fields.one_of(separator, expected)?;
            let year = if rfc850 {
                let year = fields.number(2, "a year of two digits")?;
                if year < 70 { 2000 + year } else { 1900 + year }
            } else {
                fields.number(4, "a year of four digits")?
            };
            fields.one_of(b" ", "a space")?;
            let time = fields.time()?;
            let nanoseconds = fields.fraction()?;
            fields.one_of(b" ", "a space")?;
            if fields.word() != "GMT" {
                return Err(fields.expected("GMT"));
            }
            fields.end()?;
            return fields.instant((year, month, day), time, Some(0), nanoseconds);
        }
        fields.one_of(b" ", "a space")?;
        let month = fields.month_name()?;
        fields.one_of(b" ", "a space")?;
        let day = if fields.skip(b' ') {
            fields.number(1, "a day of one digit")?
        } else {
            fields.number(2, "a day of two digits")?
        };
        fields.one_of(b" ", "a space")?;
        let time = fields.time()?;
        let nanoseconds = fields.fraction()?;
        fields.one_of(b" ", "a space")?;
        let year = fields.number(4, "a year of four digits")?;
        fields.end()?;
        fields.instant((year, month, day), time, Some(0), nanoseconds)
    }

    /// Reads seconds since the epoch: a number by JSON's grammar, so with an
    /// optional `-`, fraction and exponent, and without a `+`. Exact to the
    /// nanosecond where there is no exponent; as [`Timestamp::from_f64`] where
    /// there is one.
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
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn parse_epoch_seconds(text: &str) -> Result<Self, Malformed> {
        let bytes = text.as_bytes();
        let beyond = Malformed::new(0, "seconds since the epoch within 64 bits");
        let (len, integer) = crate::number::json_number(bytes)?;
        if len < bytes.len() {
            return Err(Malformed::new(len, "the end of the number"));
        }
        if integer {
            return match crate::number::integer_prefix(bytes) {
                crate::number::Integer::Small(seconds, _) => Ok(Self::new(seconds, 0)),
                _ => Err(beyond),
            };
        }
        if bytes.contains(&b'e') || bytes.contains(&b'E') {
            return Self::from_f64(crate::number::parse_f64(bytes)?).ok_or(beyond);
        }
        let point = bytes.iter().position(|byte| *byte == b'.').unwrap_or(len);
        let crate::number::Integer::Small(whole, _) =
            crate::number::integer_prefix(&bytes[..point])
        else {
            return Err(beyond);
        };
        let nanoseconds = fraction_digits(&bytes[point + 1..]);
        if bytes[0] == b'-' && nanoseconds > 0 {
            let whole = whole.checked_sub(1).ok_or(beyond)?;
            return Ok(Self::new(whole, 1_000_000_000 - nanoseconds));
        }
        Ok(Self::new(whole, nanoseconds))
    }
}

/// Up to nine digits of a fraction as nanoseconds; later digits are cut off.
fn fraction_digits(digits: &[u8]) -> u32 {
    let mut nanoseconds = 0;
    for index in 0..9 {
        let digit = digits
            .get(index)
            .map_or(0, |byte| u32::from(byte.wrapping_sub(b'0')));
        nanoseconds = nanoseconds * 10 + digit;
    }
    nanoseconds
}

/// A cursor over the fields of a date.
struct Fields<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            text,
            at: 0,
        }
    }

    #[cold]
    fn expected(&self, expected: &'static str) -> Malformed {
        Malformed::new(self.at, expected)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn one_of(&mut self, bytes: &[u8], expected: &'static str) -> Result<(), Malformed> {
        match self.bytes.get(self.at) {
            Some(byte) if bytes.contains(byte) => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn number(&mut self, width: usize, expected: &'static str) -> Result<u32, Malformed> {
        let mut value = 0;
        for _ in 0..width {
            match self.bytes.get(self.at) {
                Some(digit @ b'0'..=b'9') => value = value * 10 + u32::from(digit - b'0'),
                _ => return Err(self.expected(expected)),
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn month(&mut self) -> Result<u32, Malformed> {
        self.number(2, "a month of two digits")
    }

    /// A day of the week; whether its name is in full.
    fn weekday(&mut self) -> Result<bool, Malformed> {
        let start = self.at;
        let word = self.word().as_bytes();
        if DAYS.iter().any(|day| day == word) {
            return Ok(false);
        }
        if FULL_DAYS.iter().any(|day| day.as_bytes() == word) {
            return Ok(true);
        }
        Err(Malformed::new(start, "a day of the week"))
    }

    fn month_name(&mut self) -> Result<u32, Malformed> {
        let start = self.at;
        let word = self.word();
        match MONTHS.iter().position(|month| month == word.as_bytes()) {
            Some(index) => Ok(index as u32 + 1),
            None => Err(Malformed::new(start, "a month of three letters")),
        }
    }

    fn dashed_date(&mut self) -> Result<(u32, u32, u32), Malformed> {
        let year = self.number(4, "a year of four digits")?;
        self.one_of(b"-", "- between year and month")?;
        let month = self.month()?;
        self.one_of(b"-", "- between month and day")?;
        Ok((year, month, self.number(2, "a day of two digits")?))
    }

    fn time(&mut self) -> Result<(u32, u32, u32), Malformed> {
        let hour = self.number(2, "an hour of two digits")?;
        self.one_of(b":", ": between hour and minute")?;
        let minute = self.number(2, "a minute of two digits")?;
        self.one_of(b":", ": between minute and second")?;
        Ok((hour, minute, self.number(2, "a second of two digits")?))
    }

    fn fraction(&mut self) -> Result<u32, Malformed> {
        if !self.skip(b'.') {
            return Ok(0);
        }
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit of the fraction"));
        }
        Ok(fraction_digits(&self.bytes[start..self.at]))
    }

    /// The offset from UTC in seconds, if there is one. ISO 8601's basic format
    /// has no colon in it.
    fn zone(&mut self, basic: bool) -> Result<Option<i64>, Malformed> {
        let sign = match self.bytes.get(self.at) {
            Some(b'Z' | b'z') => {
                self.at += 1;
                return Ok(Some(0));
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok(None),
        };
        self.at += 1;
        let hours = self.number(2, "hours of the offset")?;
        if !self.skip(b':') && !basic {
            return Err(self.expected(": between hours and minutes of the offset"));
        }
        let minutes = self.number(2, "minutes of the offset")?;
        if hours > 23 || minutes > 59 {
            return Err(self.expected("an offset of less than a day"));
        }
        Ok(Some(sign * i64::from(hours * 3600 + minutes * 60)))
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(self.expected("the end of the date"))
        }
    }

    fn instant(
        &self,
        (year, month, day): (u32, u32, u32),
        (hour, minute, second): (u32, u32, u32),
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
        let seconds = day_of_date(year, month, day) * DAY + time - zone.unwrap_or(0);
        let unit = if zone.is_some() { DAY } else { 3600 };
        if second == 60 && seconds.rem_euclid(unit) != 0 {
            return wrong("a leap second at the end of a day");
        }
        if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
            return wrong("a time within the years 0001 to 9999 of UTC");
        }
        Ok(Timestamp::new(seconds, nanoseconds))
    }
}
