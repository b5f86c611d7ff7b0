//! Timestamps, by pattern matching and counting of days.
//!
//! A pattern describes a format, with one letter per field, and is read together with the text. The
//! days of a date are counted year by year and month by month.

use crate::Timestamp;
use crate::timestamp::{Fraction, ReadPolicy};

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The offset of [`Malformed`](crate::Malformed): 0 if a field is out of range, else the first byte
/// that does not match.
pub type Offset = usize;

/// Whether the year has 366 days.
#[must_use]
pub fn is_leap_year(year: i64) -> bool {
    if year.rem_euclid(400) == 0 {
        true
    } else if year.rem_euclid(100) == 0 {
        false
    } else {
        year.rem_euclid(4) == 0
    }
}

/// The number of days of a month, 1 to 12.
#[must_use]
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 31,
    }
}

fn days_in_year(year: i64) -> i64 {
    if is_leap_year(year) { 366 } else { 365 }
}

/// Days from 1970-01-01 to a date; negative before it.
#[must_use]
pub fn days_from_epoch(year: i64, month: u32, day: u32) -> i64 {
    // 400 years have 146097 days, so only the remainder is counted.
    let eras = (year - 1970).div_euclid(400);
    let mut days = eras * 146_097;
    for earlier in 1970..year - eras * 400 {
        days += days_in_year(earlier);
    }
    for earlier in 1..month {
        days += i64::from(days_in_month(year, earlier));
    }
    days + i64::from(day) - 1
}

/// Year, month and day, `days` after 1970-01-01.
#[must_use]
pub fn date_of_day(days: i64) -> (i64, u32, u32) {
    let mut year = 1970 + days.div_euclid(146_097) * 400;
    let mut days = days.rem_euclid(146_097);
    while days >= days_in_year(year) {
        days -= days_in_year(year);
        year += 1;
    }
    let mut month = 1;
    while days >= i64::from(days_in_month(year, month)) {
        days -= i64::from(days_in_month(year, month));
        month += 1;
    }
    (year, month, days as u32 + 1)
}

/// The fields of a text.
#[derive(Default)]
struct Fields {
    year: i64,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    /// The digits after the point.
    fraction: String,
    /// `Z`, or a sign and four digits.
    zone: Option<String>,
    /// The year was written with two digits.
    short: bool,
}

/// Reads `text` by a pattern of these letters:
///
/// - `Y M D h m s`: a digit of year, month, day, hour, minute, second;
/// - `d`: the first digit of a day, or a space in its place;
/// - `w`: the name of a day, which is not checked; `b`: the name of a month;
/// - `T`: that letter, of either case; `_`: that or a space;
/// - `.`: an optional point and digits;
/// - `z`: an offset with a colon; `o`: an optional offset, whose colon is optional;
/// - `$`: the word GMT;
/// - anything else: itself.
fn read(text: &[u8], pattern: &str) -> Result<Fields, Offset> {
    let mut fields = Fields::default();
    let mut at = 0;
    let digit = |at: usize| match text.get(at) {
        Some(byte) if byte.is_ascii_digit() => Ok(u32::from(byte - b'0')),
        _ => Err(at),
    };
    let letters = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
        String::from_utf8_lossy(&rest[..len.count()]).into_owned()
    };
    for letter in pattern.chars() {
        let byte = text.get(at).copied();
        match letter {
            'Y' => fields.year = fields.year * 10 + i64::from(digit(at)?),
            'M' => fields.month = fields.month * 10 + digit(at)?,
            'D' => fields.day = fields.day * 10 + digit(at)?,
            'd' if byte == Some(b' ') => {}
            'd' => fields.day = digit(at)?,
            'h' => fields.hour = fields.hour * 10 + digit(at)?,
            'm' => fields.minute = fields.minute * 10 + digit(at)?,
            's' => fields.second = fields.second * 10 + digit(at)?,
            'w' | 'b' | '$' => {
                let word = letters(at);
                match letter {
                    'b' => match MONTHS.iter().position(|month| *month == word) {
                        Some(month) => fields.month = month as u32 + 1,
                        None => return Err(at),
                    },
                    '$' if word == "GMT" => fields.zone = Some("Z".to_owned()),
                    '$' => return Err(at),
                    // Checked before the pattern was chosen.
                    _ => {}
                }
                at += word.len();
                continue;
            }
            'T' | '_' => match byte {
                Some(b'T' | b't') => {}
                Some(b' ') if letter == '_' => {}
                _ => return Err(at),
            },
            '.' => {
                if byte == Some(b'.') {
                    at += 1;
                    digit(at)?;
                    while let Ok(digit) = digit(at) {
                        fields.fraction += &digit.to_string();
                        at += 1;
                    }
                }
                continue;
            }
            'z' | 'o' => {
                let start = at;
                match byte {
                    Some(b'Z' | b'z') => {
                        fields.zone = Some("Z".to_owned());
                        at += 1;
                    }
                    Some(b'+' | b'-') => {
                        let mut zone = String::from(if byte == Some(b'-') { "-" } else { "+" });
                        at += 1;
                        for place in 0..4 {
                            if place == 2 {
                                match text.get(at) {
                                    Some(b':') => at += 1,
                                    _ if letter == 'o' => {}
                                    _ => return Err(at),
                                }
                            }
                            zone += &digit(at)?.to_string();
                            at += 1;
                        }
                        if &zone[1..3] > "23" || &zone[3..5] > "59" {
                            return Err(start);
                        }
                        fields.zone = Some(zone);
                    }
                    _ if letter == 'o' => {}
                    _ => return Err(at),
                }
                continue;
            }
            literal => {
                if byte.map(char::from) != Some(literal) {
                    return Err(at);
                }
            }
        }
        at += 1;
    }
    if at < text.len() {
        return Err(at);
    }
    fields.short = pattern.matches('Y').count() == 2;
    Ok(fields)
}

/// The instant of the fields, if they are in range.
fn instant(fields: &Fields) -> Option<Timestamp> {
    let Fields {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = *fields;
    let year = match fields.short {
        true => (1970..=2069).find(|full| full % 100 == year)?,
        false => year,
    };
    let fits = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 60
        && year != 0;
    if !fits {
        return None;
    }
    let offset = match fields.zone.as_deref() {
        None | Some("Z") => 0,
        Some(zone) => {
            let minutes = zone[1..3].parse::<i64>().ok()? * 60 + zone[3..5].parse::<i64>().ok()?;
            if zone.starts_with('-') {
                -minutes * 60
            } else {
                minutes * 60
            }
        }
    };
    let minutes = i64::from(hour) * 60 + i64::from(minute);
    let start_of_minute = days_from_epoch(year, month, day) * 86_400 + minutes * 60 - offset;
    let seconds = start_of_minute + i64::from(second);
    let nanoseconds = nanoseconds(&fields.fraction);
    if second == 60 {
        let minute_of_day = start_of_minute.rem_euclid(86_400) / 60;
        let may_leap = match fields.zone {
            Some(_) => minute_of_day == 23 * 60 + 59,
            None => minute == 59,
        };
        if !may_leap {
            return None;
        }
    }
    let (year_in_utc, ..) = date_of_day(seconds.div_euclid(86_400));
    if !(1..=9999).contains(&year_in_utc) {
        return None;
    }
    Some(Timestamp::new(seconds, nanoseconds).with_unzoned(fields.zone.is_none()))
}

/// The first nine digits of a fraction.
fn nanoseconds(fraction: &str) -> u32 {
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    digits.parse().unwrap_or(0)
}

/// Reads RFC 3339.
///
/// # Errors
///
/// The first byte that does not match, or 0 if a field is out of range.
pub fn date_time(text: &[u8], policy: ReadPolicy) -> Result<Timestamp, Offset> {
    let fields = read(text, "YYYY-MM-DDThh:mm:ss.z")?;
    let instant = instant(&fields).ok_or(0_usize)?;
    match text.last() {
        Some(b'Z' | b'z') => Ok(instant),
        _ if !policy.utc => Ok(instant),
        _ => Err(text.len() - "+00:00".len()),
    }
}

/// Reads an XML-RPC date.
///
/// # Errors
///
/// The first byte that does not match, or 0 if a field is out of range.
pub fn xmlrpc(text: &[u8]) -> Result<Timestamp, Offset> {
    let fields = if text.get(4) == Some(&b'-') {
        read(text, "YYYY-MM-DD_hh:mm:ss.o")?
    } else {
        read(text, "YYYYMMDD_hh:mm:ss.o")?
    };
    instant(&fields).ok_or(0)
}

/// Reads an HTTP-date.
///
/// # Errors
///
/// The first byte that does not match, or 0 if a field is out of range.
pub fn http_date(text: &[u8]) -> Result<Timestamp, Offset> {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let name = String::from_utf8_lossy(&text[..letters.count()]).into_owned();
    let mut fields = if DAYS.contains(&name.as_str()) {
        read(text, "w, DD-b-YY hh:mm:ss. $")?
    } else if !DAYS.iter().any(|day| day[..3] == name) {
        return Err(0);
    } else if text.get(3) == Some(&b',') {
        read(text, "w, DD b YYYY hh:mm:ss. $")?
    } else {
        read(text, "w b dD hh:mm:ss. YYYY")?
    };
    fields.zone = Some("Z".to_owned());
    instant(&fields).ok_or(0)
}

/// Reads seconds since the epoch. `None` is an error.
#[must_use]
pub fn epoch_seconds(text: &str) -> Option<Timestamp> {
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    let power = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let fits = digits(unsigned)
        && (unsigned == "0" || !unsigned.starts_with('0'))
        && fraction.is_none_or(digits)
        && power.is_none_or(digits);
    if !fits {
        return None;
    }
    let exponent = exponent.unwrap_or("0");
    // Larger than any text has zeros.
    let endless = if exponent.starts_with('-') { -1 } else { 1 } * (1 << 60);
    let exponent: i64 = exponent.parse().unwrap_or(endless).clamp(-1 << 60, 1 << 60);
    let digits = format!("{unsigned}{}", fraction.unwrap_or_default());
    let zeros = digits.bytes().take_while(|digit| *digit == b'0').count();
    if zeros == digits.len() {
        return Some(Timestamp::EPOCH);
    }
    // The number of digits of the nanoseconds, at most 28.
    let count = usize::try_from(unsigned.len() as i64 + exponent + 9).unwrap_or(0);
    if count > zeros + 30 {
        return None;
    }
    let digits: String = digits
        .chars()
        .chain(std::iter::repeat('0'))
        .take(count)
        .collect();
    let size = format!("0{digits}").parse::<i128>().ok()?;
    Timestamp::from_nanoseconds(if whole.starts_with('-') { -size } else { size })
}

/// Year, month and day, hour, minute and second.
fn fields_of(instant: Timestamp) -> ((i64, u32, u32), (i64, i64, i64)) {
    let second = instant.seconds().rem_euclid(86_400);
    (
        date_of_day(instant.seconds().div_euclid(86_400)),
        (second / 3600, second / 60 % 60, second % 60),
    )
}

/// An optional point and digits.
fn fraction_text(nanoseconds: u32, fraction: Fraction) -> String {
    let digits = format!("{nanoseconds:09}");
    let digits = match fraction {
        Fraction::Needed => digits.trim_end_matches('0'),
        Fraction::Exactly(count) => &digits[..usize::from(count).min(9)],
        Fraction::AllOrNone(count) => {
            let digits = &digits[..usize::from(count).min(9)];
            if digits.bytes().all(|digit| digit == b'0') {
                ""
            } else {
                digits
            }
        }
    };
    match digits {
        "" => String::new(),
        digits => format!(".{digits}"),
    }
}

/// RFC 3339.
#[must_use]
pub fn write_date_time(instant: Timestamp, fraction: Fraction) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let fraction = fraction_text(instant.nanoseconds(), fraction);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The format of XML-RPC.
#[must_use]
pub fn write_xmlrpc(instant: Timestamp, fraction: Fraction) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let fraction = fraction_text(instant.nanoseconds(), fraction);
    format!("{year:04}{month:02}{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// The name of the day. 1970-01-01 was a Thursday.
fn weekday(instant: Timestamp) -> &'static str {
    DAYS[(instant.seconds().div_euclid(86_400) + 3).rem_euclid(7) as usize]
}

/// The preferred HTTP-date.
#[must_use]
pub fn write_http_date(instant: Timestamp, fraction: Fraction) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let fraction = fraction_text(instant.nanoseconds(), fraction);
    let (weekday, month) = (&weekday(instant)[..3], MONTHS[month as usize - 1]);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02}{fraction} GMT")
}

/// The format of RFC 850, whose year has two digits.
#[must_use]
pub fn write_rfc850(instant: Timestamp) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let (weekday, month) = (weekday(instant), MONTHS[month as usize - 1]);
    let year = year.rem_euclid(100);
    format!("{weekday}, {day:02}-{month}-{year:02} {hour:02}:{minute:02}:{second:02} GMT")
}

/// The format of `asctime` in C.
#[must_use]
pub fn write_asctime(instant: Timestamp) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let (weekday, month) = (&weekday(instant)[..3], MONTHS[month as usize - 1]);
    format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year:04}")
}

/// Seconds since the epoch.
#[must_use]
pub fn write_epoch_seconds(instant: Timestamp, fraction: Fraction) -> String {
    let unit = match fraction {
        Fraction::Needed => 1,
        Fraction::Exactly(count) | Fraction::AllOrNone(count) => {
            10_i128.pow(9 - u32::from(count.min(9)))
        }
    };
    let nanoseconds = instant.as_nanoseconds().div_euclid(unit) * unit;
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    let (whole, rest) = (size / 1_000_000_000, (size % 1_000_000_000) as u32);
    format!("{sign}{whole}{}", fraction_text(rest, fraction))
}

/// The nearest double, computed by the standard library.
#[must_use]
pub fn as_f64(instant: Timestamp) -> f64 {
    let text = write_epoch_seconds(instant, Fraction::Needed);
    text.parse().unwrap_or(f64::NAN)
}
