//! XML-RPC's `dateTime.iso8601`, as written and as peers send it.

use super::Timestamp;
use super::calendar::{date_of_day, day_of_date};
use super::date_time::{tail, usual};
use super::fields::{Fields, instant};
use super::policy::{ReadPolicy, WritePolicy, Years};
use super::push_words;
use super::words::{Pattern, pair_text, time, time_text};
use crate::Malformed;
use crate::number::push_padded;

impl Timestamp {
    /// Reads XML-RPC's `dateTime.iso8601`, for which its specification has one
    /// example, `19980717T14:08:55`, and no grammar. Peers send more:
    ///
    /// ```text
    /// dateTime = 4DIGIT 2DIGIT 2DIGIT separator time / 4DIGIT "-" 2DIGIT "-" 2DIGIT separator time
    /// time     = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT] [zone]
    /// zone     = "Z" / "z" / ("+" / "-") 2DIGIT [":"] 2DIGIT
    /// separator = "T" / "t" / " "
    /// ```
    ///
    /// Without a zone the result is [unzoned](Timestamp::is_unzoned). Fields
    /// are checked as [`Timestamp::parse_date_time`] does.
    ///
    /// # Errors
    ///
    /// Where the form was left; or offset 0 and the first field that is out of
    /// range.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let read = Timestamp::parse_xmlrpc("20260231T00:00:00");
    /// assert_eq!(read.unwrap_err().expected, "a day of that month");
    /// assert!(Timestamp::parse_xmlrpc("20261121T20:30:00")?.is_unzoned());
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn parse_xmlrpc(text: &str) -> Result<Self, Malformed> {
        read(text.as_bytes(), &ReadPolicy::new())
    }

    /// The same from bytes or a string, by `policy`.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::parse_xmlrpc`].
    ///
    /// ```
    /// use polywire_text::timestamp::{LeapSecond, ReadPolicy, Timestamp};
    ///
    /// let policy = ReadPolicy::new().leap_second(LeapSecond::Refuse);
    /// assert!(Timestamp::parse_xmlrpc_with("20161231T23:59:60Z", policy).is_err());
    /// ```
    #[inline]
    pub fn parse_xmlrpc_with(
        text: impl AsRef<[u8]>,
        policy: ReadPolicy,
    ) -> Result<Self, Malformed> {
        read(text.as_ref(), &policy)
    }

    /// Appends XML-RPC's form, `YYYYMMDDTHH:MM:SS`, in UTC and without a zone;
    /// with a fraction only if it is not zero.
    ///
    /// Some peers refuse a fraction, or take such a date for a string. For all
    /// to read it, write [`Fraction::Exactly(0)`](super::Fraction::Exactly).
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999; nothing is appended.
    ///
    /// ```
    /// use polywire_text::Timestamp;
    ///
    /// let mut out = Vec::new();
    /// Timestamp::new(1_795_293_000, 0).push_xmlrpc(&mut out)?;
    /// assert_eq!(out, b"20261121T20:30:00");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_xmlrpc(self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.push_xmlrpc_with(out, WritePolicy::new())
    }

    /// The same by `policy`, which may ask for a `Z` behind it. The form has no
    /// dashes, so no expanded years.
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
    /// Timestamp::new(1_795_293_000, 250_000_000).push_xmlrpc_with(&mut out, whole)?;
    /// assert_eq!(out, b"20261121T20:30:00");
    ///
    /// out.clear();
    /// let zoned = whole.zone(true);
    /// Timestamp::new(1_795_293_000, 0).push_xmlrpc_with(&mut out, zoned)?;
    /// assert_eq!(out, b"20261121T20:30:00Z");
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    #[inline]
    pub fn push_xmlrpc_with(self, out: &mut Vec<u8>, policy: WritePolicy) -> Result<(), Malformed> {
        let Some((day, second)) = self.common_day() else {
            return self.push_distant_xmlrpc(out, policy);
        };
        let (century, short, month, day) = date_of_day(day);
        let time = time_text(second);
        push_words(
            out,
            [
                compact_date(century, short, month, day),
                u64::from(b'T') | time << 8,
                time >> 56,
            ],
            "YYYYMMDDTHH:MM:SS".len(),
        );
        self.push_xmlrpc_tail(out, policy);
        Ok(())
    }

    /// What stands behind the second.
    #[inline]
    fn push_xmlrpc_tail(self, out: &mut Vec<u8>, policy: WritePolicy) {
        policy.fraction.of(self.nanoseconds).push(out);
        if policy.zone && !self.unzoned {
            out.push(b'Z');
        }
    }

    #[cold]
    fn push_distant_xmlrpc(self, out: &mut Vec<u8>, policy: WritePolicy) -> Result<(), Malformed> {
        let years = match policy.years {
            Years::Common => Years::Common,
            Years::FourDigits | Years::Expanded => Years::FourDigits,
        };
        let (year, month, day) = self.distant_date(years)?;
        push_padded(out, year as u32, 4);
        push_padded(out, month, 2);
        push_padded(out, day, 2);
        out.push(b'T');
        self.push_time(out);
        self.push_xmlrpc_tail(out, policy);
        Ok(())
    }
}

fn read(bytes: &[u8], policy: &ReadPolicy) -> Result<Timestamp, Malformed> {
    let read = match bytes.get(4) {
        Some(b'-') => usual(bytes),
        _ => compact(bytes),
    };
    match read {
        Some(instant) => Ok(instant),
        None => unusual(bytes, policy),
    }
}

/// `YYYYMMDD`.
#[inline]
fn compact_date(century: u32, short: u32, month: u32, day: u32) -> u64 {
    let year = u64::from(century) | u64::from(short) << 16;
    let values = year | u64::from(month) << 32 | u64::from(day) << 48;
    pair_text(values, 0x000f_000f_000f_000f) | u64::from_le_bytes(*b"00000000")
}

/// The layout without dashes.
#[inline(always)]
fn compact(bytes: &[u8]) -> Option<Timestamp> {
    const DATE: Pattern = Pattern::new(*b"00000000");
    let head: &[u8; 17] = bytes.first_chunk()?;
    let (date, wrong) = DATE.pairs(u64::from_le_bytes(*head.first_chunk()?));
    let second = time(*head.last_chunk()?)?;
    if wrong != 0 || head[8] != b'T' {
        return None;
    }
    let [century, _, short, _, month, _, day, _] = date.to_le_bytes();
    let day = day_of_date(century.into(), short.into(), month.into(), day.into())?;
    tail(bytes, 17, day, second)
}

/// Every layout and every error.
#[cold]
fn unusual(bytes: &[u8], policy: &ReadPolicy) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    let sign = matches!(fields.peek(), Some(b'+' | b'-'));
    let date = if sign || bytes.get(4) == Some(&b'-') {
        fields.dashed_date(policy.years)?
    } else {
        (fields.year()?, fields.month()?, fields.day()?)
    };
    fields.one_of(b"Tt ", "T between date and time")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    let zone = fields.zone(true)?;
    fields.end()?;
    instant(date, time, zone, nanoseconds, policy)
}
