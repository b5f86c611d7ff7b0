//! Instants, and the forms in which wires write them.
//!
//! | form | written | also read |
//! |---|---|---|
//! | RFC 3339 (`date-time`) | `2026-11-21T20:30:00.25Z` | any offset, lower-case `t` and `z` |
//! | HTTP-date | `Sat, 21 Nov 2026 20:30:00 GMT` | RFC 850's and asctime's forms, a fraction |
//! | epoch seconds | `1795293000.25` | a fraction of any length |
//! | XML-RPC | `20261121T20:30:00` | dashes, a fraction, `Z`, an offset |
//!
//! Years run from 0001 to 9999 in the forms with a calendar. Fractions in text
//! are kept to the nanosecond; digits beyond are cut off, never rounded, so that
//! no instant moves into the next second. A double has no digits to cut: it is
//! rounded to the instant that it was written for
//! ([`Timestamp::from_f64`]). A leap second (`:60`) is read as the first instant
//! of the following minute, and only where one can stand: at the end of a day
//! in UTC or, where the zone is not known, of an hour.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::Malformed;
use crate::number::{pair, push_f64, push_i64, push_padded};

/// An instant to the nanosecond.
///
/// XML-RPC's dates have no time zone. An instant read from such a date is
/// [unzoned](Timestamp::is_unzoned): its seconds count as if it stood in UTC,
/// and the caller who knows the zone can correct it.
///
/// ```
/// use polywire_text::Timestamp;
///
/// let read = Timestamp::parse_date_time("2026-11-21T21:30:00.25+01:00")?;
/// assert_eq!(read.seconds(), 1_795_293_000);
/// assert_eq!(read.nanoseconds(), 250_000_000);
/// assert_eq!(read.to_string(), "2026-11-21T20:30:00.25Z");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
// Invariant: nanoseconds < 1_000_000_000.
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
    unzoned: bool,
}

/// 0001-01-01T00:00:00Z.
const FIRST_SECOND: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z.
const LAST_SECOND: i64 = 253_402_300_799;
const DAY: i64 = 86_400;

/// From here on neighbouring doubles are more than a nanosecond apart: 2^23.
const NANOSECONDS_APART: f64 = 8_388_608.0;
/// From here on they are more than a microsecond apart: 2^33.
const MICROSECONDS_APART: f64 = 8_589_934_592.0;

const DAYS: [[u8; 3]; 7] = [
    *b"Mon", *b"Tue", *b"Wed", *b"Thu", *b"Fri", *b"Sat", *b"Sun",
];
const FULL_DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [[u8; 3]; 12] = [
    *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct",
    *b"Nov", *b"Dec",
];

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self {
        seconds: 0,
        nanoseconds: 0,
        unzoned: false,
    };

    /// The instant this many seconds after (or before) the epoch, and
    /// `nanoseconds` after that. Nanoseconds beyond a second carry over.
    #[must_use]
    pub const fn new(seconds: i64, nanoseconds: u32) -> Self {
        Self {
            seconds: seconds.saturating_add((nanoseconds / 1_000_000_000) as i64),
            nanoseconds: nanoseconds % 1_000_000_000,
            unzoned: false,
        }
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
        // The comparison is false for NaN as well.
        if !(-9.2e18..=9.2e18).contains(&whole) {
            return None;
        }
        // Exact: both are multiples of the last bit of `seconds`.
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
        let mut shortest = Vec::with_capacity(24);
        push_f64(&mut shortest, seconds);
        // Below 2^53, where doubles have fractions, the digits come without an
        // exponent, and at most nine of them behind the point.
        let shortest = std::str::from_utf8(&shortest).ok()?;
        Self::parse_epoch_seconds(shortest).ok()
    }

    /// Whole seconds since the epoch, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after [`Timestamp::seconds`], below one thousand million.
    #[must_use]
    pub const fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Whether the instant came without a time zone.
    #[must_use]
    pub const fn is_unzoned(self) -> bool {
        self.unzoned
    }

    /// The same instant, marked as unzoned or not.
    #[must_use]
    pub const fn with_unzoned(self, unzoned: bool) -> Self {
        Self { unzoned, ..self }
    }

    /// Seconds since the epoch as a double.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.seconds as f64 + f64::from(self.nanoseconds) / 1e9
    }

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

    /// Appends the RFC 3339 form in UTC, with a fraction of as many digits as
    /// it needs, and none if it is zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_date_time(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let ([a, b], [c, d]) = (pair(civil.year / 100), pair(civil.year));
        let ([e, f], [g, h]) = (pair(civil.month), pair(civil.day));
        let [i, j, k, l, m, n, o, p] = civil.time();
        let all = [
            a, b, c, d, b'-', e, f, b'-', g, h, b'T', i, j, k, l, m, n, o, p, b'Z',
        ];
        if self.nanoseconds == 0 {
            out.extend_from_slice(&all);
        } else {
            out.extend_from_slice(&all[..all.len() - 1]);
            self.push_fraction(out);
            out.push(b'Z');
        }
        Ok(())
    }

    /// Appends XML-RPC's form, `YYYYMMDDTHH:MM:SS`, in UTC and without a zone;
    /// with a fraction only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_xmlrpc(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let ([a, b], [c, d]) = (pair(civil.year / 100), pair(civil.year));
        let ([e, f], [g, h]) = (pair(civil.month), pair(civil.day));
        let [i, j, k, l, m, n, o, p] = civil.time();
        out.extend_from_slice(&[a, b, c, d, e, f, g, h, b'T', i, j, k, l, m, n, o, p]);
        self.push_fraction(out);
        Ok(())
    }

    /// Appends the preferred HTTP-date, RFC 9110, section 5.6.7; a fraction,
    /// which that form has no place for, only if it is not zero.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    pub fn push_http_date(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let civil = self.civil()?;
        let [a, b, c] = DAYS[civil.weekday as usize];
        let [d, e, f] = MONTHS[civil.month as usize - 1];
        let ([g, h], [i, j], [k, l]) = (pair(civil.day), pair(civil.year / 100), pair(civil.year));
        let [m, n, o, p, q, r, s, t] = civil.time();
        let all = [
            a, b, c, b',', b' ', g, h, b' ', d, e, f, b' ', i, j, k, l, b' ', m, n, o, p, q, r, s,
            t, b' ', b'G', b'M', b'T',
        ];
        let (date_and_time, zone) = all.split_at(all.len() - b" GMT".len());
        if self.nanoseconds == 0 {
            out.extend_from_slice(&all);
        } else {
            out.extend_from_slice(date_and_time);
            self.push_fraction(out);
            out.extend_from_slice(zone);
        }
        Ok(())
    }

    /// Appends seconds since the epoch, with a fraction of as many digits as
    /// it needs.
    pub fn push_epoch_seconds(self, out: &mut Vec<u8>) {
        if self.seconds >= 0 || self.nanoseconds == 0 {
            push_i64(out, self.seconds);
            return self.push_fraction(out);
        }
        // -1.5 is stored as -2 seconds and half a second after that.
        out.push(b'-');
        push_i64(out, -(self.seconds + 1));
        let mirrored = Self {
            nanoseconds: 1_000_000_000 - self.nanoseconds,
            ..self
        };
        mirrored.push_fraction(out);
    }

    fn push_fraction(self, out: &mut Vec<u8>) {
        if self.nanoseconds == 0 {
            return;
        }
        out.push(b'.');
        push_padded(out, self.nanoseconds, 9);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }

    fn civil(self) -> Result<Civil, Malformed> {
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

impl Default for Timestamp {
    fn default() -> Self {
        Self::EPOCH
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::new(after.as_secs() as i64, after.subsec_nanos()),
            Err(before) => {
                let before = before.duration();
                let seconds = -(before.as_secs() as i64);
                match before.subsec_nanos() {
                    0 => Self::new(seconds, 0),
                    nanoseconds => Self::new(seconds - 1, 1_000_000_000 - nanoseconds),
                }
            }
        }
    }
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = Malformed;

    /// # Errors
    ///
    /// The instant is beyond what the system's clock can tell.
    fn try_from(timestamp: Timestamp) -> Result<Self, Malformed> {
        let whole = Duration::from_secs(timestamp.seconds.unsigned_abs());
        let base = if timestamp.seconds < 0 {
            Self::UNIX_EPOCH.checked_sub(whole)
        } else {
            Self::UNIX_EPOCH.checked_add(whole)
        };
        base.and_then(|base| base.checked_add(Duration::from_nanos(timestamp.nanoseconds.into())))
            .ok_or(Malformed::new(
                0,
                "a timestamp within the range of the system clock",
            ))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, or `@` and epoch seconds for years that it has no form for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(32);
        if self.push_date_time(&mut out).is_err() {
            out.push(b'@');
            self.push_epoch_seconds(&mut out);
        }
        if self.unzoned && out.last() == Some(&b'Z') {
            out.pop();
        }
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

struct Civil {
    /// Days since Monday.
    weekday: u32,
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl Civil {
    /// `HH:MM:SS`.
    fn time(&self) -> [u8; 8] {
        let ([a, b], [c, d], [e, f]) = (pair(self.hour), pair(self.minute), pair(self.second));
        [a, b, b':', c, d, b':', e, f]
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
fn date_of_day(day: i64) -> (u32, u32, u32) {
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

fn day_of_date(year: u32, month: u32, day: u32) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(push: impl Fn(&mut Vec<u8>) -> Result<(), Malformed>) -> String {
        let mut out = Vec::new();
        push(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_instants() {
        for (text, seconds) in [
            ("0001-01-01T00:00:00Z", FIRST_SECOND),
            ("1969-12-31T23:59:59Z", -1),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("9999-12-31T23:59:59Z", LAST_SECOND),
        ] {
            let instant = Timestamp::parse_date_time(text).unwrap();
            assert_eq!(instant.seconds(), seconds, "{text}");
            assert_eq!(instant.to_string(), text);
        }
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "2026",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zx",
            "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00+01",
            // In UTC these are of the years 0000 and 10000.
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "9999-12-31T23:59:60Z",
            // No leap second stands there.
            "2016-12-31T23:58:60Z",
            "2016-12-31T12:59:60Z",
            "2016-12-31T23:59:60+01:00",
        ] {
            assert!(Timestamp::parse_date_time(text).is_err(), "{text}");
        }
        for text in [
            "20260231T00:00:00",
            "2026-1-1T00:00:00",
            "20260101",
            "20260101T000000",
            "20260101T00:58:60",
        ] {
            assert!(Timestamp::parse_xmlrpc(text).is_err(), "{text}");
        }
        for text in [
            "",
            "-",
            "1.",
            ".5",
            "1e",
            "NaN",
            "1 ",
            "99999999999999999999",
            "-9223372036854775808.5",
            "+5",
        ] {
            assert!(Timestamp::parse_epoch_seconds(text).is_err(), "{text}");
        }
        for text in [
            "Sunrise, 06 Nov 1994 08:49:37 GMT",
            "Sun. 06 Nov 1994 08:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT",
            // Each form has its own day, separators and year.
            "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06-Nov 94 08:49:37 GMT",
            "Sunday, 06 Nov-94 08:49:37 GMT",
            "Sun, 06 Nov-1994 08:49:37 GMT",
            "Sunday Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:60 GMT",
        ] {
            assert!(Timestamp::parse_http_date(text).is_err(), "{text}");
        }
        assert!(Timestamp::from_f64(f64::NAN).is_none());
        assert!(Timestamp::from_f64(1e30).is_none());
    }

    #[test]
    fn xmlrpc_forms_that_peers_send() {
        let expected = Timestamp::parse_date_time("2026-01-02T03:04:05Z").unwrap();
        for (text, unzoned) in [
            ("20260102T03:04:05", true),
            ("2026-01-02T03:04:05", true),
            ("20260102T03:04:05Z", false),
            ("2026-01-02T04:04:05+01:00", false),
            ("2026-01-01T22:04:05-0500", false),
        ] {
            assert_eq!(
                Timestamp::parse_xmlrpc(text).unwrap(),
                expected.with_unzoned(unzoned),
                "{text}"
            );
        }
        assert_eq!(
            Timestamp::parse_xmlrpc("20260102T03:04:05.250")
                .unwrap()
                .nanoseconds(),
            250_000_000
        );
        assert_eq!(
            written(|out| expected.push_xmlrpc(out)),
            "20260102T03:04:05"
        );
    }

    #[test]
    fn a_leap_second_is_the_next_minute() {
        let leap = Timestamp::parse_date_time("2016-12-31T23:59:60Z").unwrap();
        assert_eq!(leap.to_string(), "2017-01-01T00:00:00Z");
        // The same instant where clocks show something else.
        for text in ["2017-01-01T05:29:60+05:30", "2016-12-31T15:59:60-08:00"] {
            assert_eq!(Timestamp::parse_date_time(text), Ok(leap), "{text}");
        }
        let local = Timestamp::parse_xmlrpc("20161231T15:59:60").unwrap();
        assert_eq!(local.to_string(), "2016-12-31T16:00:00");
    }

    #[test]
    fn doubles_mean_short_fractions() {
        assert_eq!(
            Timestamp::from_f64(1_795_293_000.25),
            Some(Timestamp::new(1_795_293_000, 250_000_000))
        );
        assert_eq!(
            Timestamp::from_f64(1_795_293_000.1).unwrap().nanoseconds(),
            100_000_000
        );
        assert_eq!(
            Timestamp::from_f64(-1.5),
            Some(Timestamp::new(-2, 500_000_000))
        );
        assert_eq!(
            Timestamp::from_f64(1_795_293_000.999_999_9)
                .unwrap()
                .nanoseconds(),
            0
        );
    }

    #[test]
    fn doubles_tell_what_they_can() {
        for (seconds, nanoseconds) in [
            (2_000_000.123456789, 123_456_789),
            (8_388_607.999_999_999, 999_999_999),
            // Six and a half: the next one, where a cut would give 6.
            (8_388_600.0 + 7.0 / 1_073_741_824.0, 7),
            (8_388_609.123_456_79, 123_456_790),
            (1_795_293_000.123457, 123_457_000),
            (1_795_293_000.2, 200_000_000),
            (10_000_000_000.7, 700_000_000),
            (-1_795_293_000.1, 900_000_000),
            (4_503_599_627_370_495.5, 500_000_000),
            (1e12 + 0.3, 300_000_000),
            (9e18, 0),
            (-1e-20, 0),
        ] {
            let instant = Timestamp::from_f64(seconds).unwrap();
            assert_eq!(instant.nanoseconds(), nanoseconds, "{seconds}");
        }
    }

    #[test]
    fn system_time_both_ways() {
        for timestamp in [
            Timestamp::EPOCH,
            Timestamp::new(-2, 500_000_000),
            Timestamp::new(5, 1),
        ] {
            let time = SystemTime::try_from(timestamp).unwrap();
            assert_eq!(Timestamp::from(time), timestamp);
        }
    }

    #[test]
    fn every_day_is_the_one_after_the_day_before() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for at in FIRST_SECOND / DAY..=LAST_SECOND / DAY {
            assert_eq!(date_of_day(at), (year, month, day));
            assert_eq!(day_of_date(year, month, day), at);
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    proptest! {
        #[test]
        fn every_form_round_trips(
            seconds in FIRST_SECOND..=LAST_SECOND,
            nanoseconds in prop_oneof![Just(0_u32), 0..1_000_000_000_u32],
        ) {
            let instant = Timestamp::new(seconds, nanoseconds);
            let text = written(|out| instant.push_date_time(out));
            prop_assert_eq!(Timestamp::parse_date_time(&text), Ok(instant));
            let text = written(|out| instant.push_http_date(out));
            prop_assert_eq!(Timestamp::parse_http_date(&text), Ok(instant));
            let text = written(|out| { instant.push_epoch_seconds(out); Ok(()) });
            prop_assert_eq!(Timestamp::parse_epoch_seconds(&text), Ok(instant));
            let text = written(|out| instant.push_xmlrpc(out));
            prop_assert_eq!(Timestamp::parse_xmlrpc(&text), Ok(instant.with_unzoned(true)));
        }

        /// As doubles are far enough apart to tell nanoseconds, or microseconds.
        #[test]
        fn doubles_round_trip(
            near in -8_388_607..8_388_607_i64,
            nanoseconds in 0..1_000_000_000_u32,
            far in -8_589_934_591..8_589_934_591_i64,
            digits in 0..1_000_000_u32,
        ) {
            let instant = Timestamp::new(near, nanoseconds);
            prop_assert_eq!(Timestamp::from_f64(instant.as_f64()), Some(instant));
            let instant = Timestamp::new(far, digits * 1000);
            prop_assert_eq!(Timestamp::from_f64(instant.as_f64()), Some(instant));
        }

        /// It means the double, and no shorter decimal does, by the standard
        /// library. (Where two are equally short and near, either will do.)
        #[test]
        fn far_doubles_have_the_shortest_fraction(
            bits in 0x4160_0000_0000_0000..0x4330_0000_0000_0000_u64,
        ) {
            let seconds = f64::from_bits(bits);
            let instant = Timestamp::from_f64(seconds).unwrap();
            let digits = written(|out| { instant.push_epoch_seconds(out); Ok(()) });
            prop_assert_eq!(digits.parse::<f64>(), Ok(seconds));
            prop_assert_eq!(digits.len(), seconds.to_string().len());
        }

        #[test]
        fn nothing_panics(text in "[0-9TZ:., +a-zA-Z-]{0,40}") {
            let _ = Timestamp::parse_date_time(&text);
            let _ = Timestamp::parse_http_date(&text);
            let _ = Timestamp::parse_epoch_seconds(&text);
            let _ = Timestamp::parse_xmlrpc(&text);
        }
    }
}
