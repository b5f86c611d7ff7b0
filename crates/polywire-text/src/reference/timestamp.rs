//! Timestamps, by the grammars and by counting days.
//!
//! A form is described by a pattern in which a letter stands for a field, and
//! read by walking both strings. A date becomes a number of days by going
//! through the years and months one by one.

use crate::Timestamp;
use crate::timestamp::{Fraction, LeapSecond, ReadPolicy, ShortYear, Years};

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

/// Offset 0 of [`Malformed`](crate::Malformed) where a field is out of range,
/// else where the text leaves the form.
pub type Offset = usize;

/// The years with 366 days.
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

/// How many days a month has, counted from 1.
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

/// Days from 1970-01-01 to a date, which may be before it.
#[must_use]
pub fn days_from_epoch(year: i64, month: u32, day: u32) -> i64 {
    // 400 years have 146097 days: a shorter way to years far away.
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

/// Year, month and day of so many days after 1970-01-01.
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

/// What the fields of a text say.
#[derive(Default)]
struct Fields {
    year: i64,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    /// The digits behind the point.
    fraction: String,
    /// `Z`, or a sign and four digits.
    zone: Option<String>,
    /// The year was written with two digits.
    short: bool,
}

/// Reads `text` by a pattern:
///
/// - `Y M D h m s`: a digit of year, month, day, hour, minute, second;
/// - `d`: the first digit of a day, or a space in its place;
/// - `-` in front of `YYYYYY` at the beginning: a sign;
/// - `w`, `W`: the name of a day, short or full; `b`: the name of a month;
/// - `T`: that letter, of either case; `_`: that or a space;
/// - `.`: a point and digits, or nothing;
/// - `z`: a zone with a colon; `o`: a zone with or without one, or nothing;
/// - `$`: the word GMT;
/// - anything else: itself.
fn read(text: &[u8], pattern: &str) -> Result<Fields, Offset> {
    let mut fields = Fields::default();
    let mut sign = 1;
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
    for (index, letter) in pattern.char_indices() {
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
            '-' if index == 0 => sign = if byte == Some(b'-') { -1 } else { 1 },
            'w' | 'W' | 'b' | '$' => {
                let word = letters(at);
                match letter {
                    'b' => match MONTHS.iter().position(|month| *month == word) {
                        Some(month) => fields.month = month as u32 + 1,
                        None => return Err(at),
                    },
                    '$' if word == "GMT" => fields.zone = Some("Z".to_owned()),
                    '$' => return Err(at),
                    // Looked at before the pattern was chosen.
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
    fields.year *= sign;
    fields.short = pattern.matches('Y').count() == 2;
    Ok(fields)
}

/// The instant that fields tell, if they are those of a calendar and a clock.
fn instant(fields: &Fields, policy: ReadPolicy) -> Option<Timestamp> {
    let Fields {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = *fields;
    let year = match policy.short_year {
        _ if !fields.short => year,
        ShortYear::From1970 => (1970..=2069).find(|full| full % 100 == year)?,
        // From 50 years after now downwards.
        ShortYear::Near(now) => {
            let this_year = date_of_day(now.seconds().div_euclid(86_400)).0;
            let mut years = (this_year - 51..=this_year + 50).rev();
            years.find(|full| {
                let within = |seconds: i64| {
                    let days = seconds.div_euclid(86_400);
                    let (_, month, day) = date_of_day(days);
                    (month, day, seconds.rem_euclid(86_400))
                };
                let time = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
                let nanoseconds = nanoseconds(&fields.fraction);
                let (now_month, now_day, now_second) = within(now.seconds());
                let later = ((month, day, time), nanoseconds)
                    > ((now_month, now_day, now_second), now.nanoseconds());
                full.rem_euclid(100) == year && !(*full == this_year + 50 && later)
            })?
        }
    };
    let fits = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 60
        && (year != 0 || policy.years != Years::Common);
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
    let mut seconds = start_of_minute + i64::from(second);
    let mut nanoseconds = nanoseconds(&fields.fraction);
    if second == 60 {
        let minute_of_day = start_of_minute.rem_euclid(86_400) / 60;
        let may_leap = match fields.zone {
            Some(_) => minute_of_day == 23 * 60 + 59,
            None => minute == 59,
        };
        if !may_leap || policy.leap_second == LeapSecond::Refuse {
            return None;
        }
        if policy.leap_second == LeapSecond::Hold {
            (seconds, nanoseconds) = (start_of_minute + 59, 999_999_999);
        }
    }
    let (year_in_utc, ..) = date_of_day(seconds.div_euclid(86_400));
    if policy.years == Years::Common && !(1..=9999).contains(&year_in_utc) {
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
/// Where the text leaves the form, or 0.
pub fn date_time(text: &[u8], policy: ReadPolicy) -> Result<Timestamp, Offset> {
    let expanded = policy.years == Years::Expanded && matches!(text.first(), Some(b'+' | b'-'));
    if expanded && text.starts_with(b"-000000") {
        return Err(0);
    }
    let separator = if policy.space { '_' } else { 'T' };
    let year = if expanded { "-YYYYYY" } else { "YYYY" };
    let fields = read(text, &format!("{year}-MM-DD{separator}hh:mm:ss.z"))?;
    let instant = instant(&fields, policy).ok_or(0_usize)?;
    match text.last() {
        Some(b'Z' | b'z') => Ok(instant),
        _ if !policy.utc => Ok(instant),
        _ => Err(text.len() - "+00:00".len()),
    }
}

/// Reads XML-RPC's form and those that peers send.
///
/// # Errors
///
/// Where the text leaves the form, or 0.
pub fn xmlrpc(text: &[u8], policy: ReadPolicy) -> Result<Timestamp, Offset> {
    let expanded = policy.years == Years::Expanded && matches!(text.first(), Some(b'+' | b'-'));
    if expanded && text.starts_with(b"-000000") {
        return Err(0);
    }
    let fields = if expanded {
        read(text, "-YYYYYY-MM-DD_hh:mm:ss.o")?
    } else if text.get(4) == Some(&b'-') {
        read(text, "YYYY-MM-DD_hh:mm:ss.o")?
    } else {
        read(text, "YYYYMMDD_hh:mm:ss.o")?
    };
    instant(&fields, policy).ok_or(0)
}

/// Reads an HTTP-date.
///
/// # Errors
///
/// Where the text leaves the form, or 0.
pub fn http_date(text: &[u8], policy: ReadPolicy) -> Result<Timestamp, Offset> {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let name = String::from_utf8_lossy(&text[..letters.count()]).into_owned();
    let mut fields = if DAYS.contains(&name.as_str()) {
        read(text, "W, DD-b-YY hh:mm:ss. $")?
    } else if !DAYS.iter().any(|day| day[..3] == name) {
        return Err(0);
    } else if text.get(3) == Some(&b',') {
        read(text, "w, DD b YYYY hh:mm:ss. $")?
    } else {
        read(text, "w b dD hh:mm:ss. YYYY")?
    };
    fields.zone = Some("Z".to_owned());
    instant(&fields, policy).ok_or(0)
}

/// Reads seconds since the epoch. `None` is any error.
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
    // So far away that no text has the zeros.
    let endless = if exponent.starts_with('-') { -1 } else { 1 } * (1 << 60);
    let exponent: i64 = exponent.parse().unwrap_or(endless).clamp(-1 << 60, 1 << 60);
    let digits = format!("{unsigned}{}", fraction.unwrap_or_default());
    let zeros = digits.bytes().take_while(|digit| *digit == b'0').count();
    if zeros == digits.len() {
        return Some(Timestamp::EPOCH);
    }
    // The digits of the nanoseconds, of which 64 bits of seconds have 28.
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

/// A point and digits, or nothing.
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

/// RFC 3339, with an expanded year where it needs one.
#[must_use]
pub fn write_date_time(instant: Timestamp, fraction: Fraction) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let fraction = fraction_text(instant.nanoseconds(), fraction);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// XML-RPC's form.
#[must_use]
pub fn write_xmlrpc(instant: Timestamp, fraction: Fraction) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let fraction = fraction_text(instant.nanoseconds(), fraction);
    format!("{year:04}{month:02}{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// The name of the day, counted on from a Thursday.
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

/// RFC 850's date, whose year has two digits.
#[must_use]
pub fn write_rfc850(instant: Timestamp) -> String {
    let ((year, month, day), (hour, minute, second)) = fields_of(instant);
    let (weekday, month) = (weekday(instant), MONTHS[month as usize - 1]);
    let year = year.rem_euclid(100);
    format!("{weekday}, {day:02}-{month}-{year:02} {hour:02}:{minute:02}:{second:02} GMT")
}

/// The date of C's `asctime`.
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

/// The nearest double, by the standard library.
#[must_use]
pub fn as_f64(instant: Timestamp) -> f64 {
    let text = write_epoch_seconds(instant, Fraction::Needed);
    text.parse().unwrap_or(f64::NAN)
}
