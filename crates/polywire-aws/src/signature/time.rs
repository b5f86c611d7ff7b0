//! Days and instants in the basic format of ISO 8601, as signatures use them.

use polywire_text::{Timestamp, timestamp::Civil};
use std::fmt;

/// A day in UTC: `YYYYMMDD`.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Date([u8; 8]);

impl Date {
    /// The eight digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        as_ascii(&self.0)
    }

    /// Reads eight digits. Returns `None` for anything else, and for days that do not exist.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 8] = text.as_bytes().try_into().ok()?;
        parse_seconds(&digits, b"000000")?;
        Some(Self(digits))
    }
}

/// An instant with the precision of a second: `YYYYMMDDTHHMMSSZ`, the value of `X-Amz-Date`.
///
/// ```
/// use polywire_aws::signature::SigningTime;
/// use polywire_text::Timestamp;
///
/// let time = SigningTime::new(Timestamp::new(1_440_938_160, 0)).unwrap();
/// assert_eq!(time.as_str(), "20150830T123600Z");
/// assert_eq!(SigningTime::parse("20150830T123600Z"), Some(time));
/// assert_eq!(SigningTime::parse("2015-08-30T12:36:00Z"), None);
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct SigningTime {
    text: [u8; 16],
    seconds: i64,
}

impl SigningTime {
    /// Converts an instant. Fractions of a second are dropped. Returns `None` before the year 0 and
    /// after the year 9999, which the format cannot express.
    #[must_use]
    pub fn new(time: Timestamp) -> Option<Self> {
        let civil = time.civil();
        let year = u16::try_from(civil.year)
            .ok()
            .filter(|year| *year <= 9999)?;
        let mut text = *b"YYYYMMDDTHHMMSSZ";
        let pairs = [
            (0, (year / 100) as u8),
            (2, (year % 100) as u8),
            (4, civil.month),
            (6, civil.day),
            (9, civil.hour),
            (11, civil.minute),
            (13, civil.second),
        ];
        for (at, value) in pairs {
            text[at] = b'0' + value / 10;
            text[at + 1] = b'0' + value % 10;
        }
        Some(Self {
            text,
            seconds: time.seconds(),
        })
    }

    /// Reads `YYYYMMDDTHHMMSSZ`. Returns `None` for anything else, and for instants that do not
    /// exist.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: &[u8; 16] = text.as_bytes().try_into().ok()?;
        let (date, rest) = bytes.split_first_chunk::<8>()?;
        let time = rest.strip_prefix(b"T")?.strip_suffix(b"Z")?;
        Some(Self {
            seconds: parse_seconds(date, time.try_into().ok()?)?,
            text: *bytes,
        })
    }

    /// The 16 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        as_ascii(&self.text)
    }

    /// The day, in UTC.
    #[must_use]
    pub fn date(&self) -> Date {
        let mut date = [0; 8];
        date.copy_from_slice(&self.text[..8]);
        Date(date)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.seconds
    }
}

/// Seconds since 1970 of `YYYYMMDD` and `HHMMSS`.
fn parse_seconds(date: &[u8; 8], time: &[u8; 6]) -> Option<i64> {
    let pair = |high: u8, low: u8| {
        let both = high.is_ascii_digit() && low.is_ascii_digit();
        both.then(|| (high - b'0') * 10 + (low - b'0'))
    };
    let [a, b, c, d, e, f, g, h] = *date;
    let [i, j, k, l, m, n] = *time;
    let century = i64::from(pair(a, b)?);
    let civil = Civil {
        year: century * 100 + i64::from(pair(c, d)?),
        month: pair(e, f)?,
        day: pair(g, h)?,
        hour: pair(i, j)?,
        minute: pair(k, l)?,
        second: pair(m, n)?,
        nanosecond: 0,
    };
    Some(Timestamp::from_civil(civil).ok()?.seconds())
}

/// The text of bytes that are ASCII by construction.
fn as_ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SigningTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for SigningTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants() {
        for text in ["19700101T000000Z", "20240229T235959Z", "00010101T000000Z"] {
            let time = SigningTime::parse(text).unwrap();
            assert_eq!(time.as_str(), text);
            assert_eq!(
                SigningTime::new(Timestamp::new(time.seconds(), 5)),
                Some(time)
            );
        }
        for text in [
            "",
            "20230229T000000Z",
            "20240101T240000Z",
            "20240101T000000",
            "20240101 000000Z",
            "2024010+T000000Z",
            "20240101T0000000Z",
        ] {
            assert_eq!(SigningTime::parse(text), None, "{text}");
        }
        assert_eq!(SigningTime::new(Timestamp::new(253_402_300_800, 0)), None);
    }

    #[test]
    fn days() {
        assert_eq!(Date::parse("20240229").unwrap().as_str(), "20240229");
        assert_eq!(Date::parse("20240230"), None);
        assert_eq!(Date::parse("2024-02-9"), None);
    }
}
