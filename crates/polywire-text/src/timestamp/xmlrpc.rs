//! The `dateTime.iso8601` of XML-RPC.

use super::Timestamp;
use super::calendar::{date_of_day, day_of_date};
use super::date_time::{common, out_of_years, tail};
use super::fields::{Fields, instant};
use super::policy::WritePolicy;
use super::push_words;
use super::words::{Pattern, pair_text, time, time_text};
use crate::Malformed;

impl Timestamp {
    /// Reads the `dateTime.iso8601` of XML-RPC, from bytes or a string. The specification has no
    /// grammar and only one example, `19980717T14:08:55`; this also accepts what peers send:
    ///
    /// ```text
    /// dateTime = 4DIGIT 2DIGIT 2DIGIT separator time / 4DIGIT "-" 2DIGIT "-" 2DIGIT separator time
    /// time     = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT] [zone]
    /// zone     = "Z" / "z" / ("+" / "-") 2DIGIT [":"] 2DIGIT
    /// separator = "T" / "t" / " "
    /// ```
    ///
    /// Without a zone the result is [unzoned](Timestamp::is_unzoned). Fields are checked as in
    /// [`Timestamp::parse_date_time`].
    ///
    /// # Errors
    ///
    /// The first byte that does not match the grammar; offset 0 if a field is out of range.
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
    pub fn parse_xmlrpc(text: impl AsRef<[u8]>) -> Result<Self, Malformed> {
        read(text.as_ref())
    }

    /// Appends `YYYYMMDDTHH:MM:SS`, in UTC, without a zone, and with a fraction only if it is not
    /// zero.
    ///
    /// Some peers reject a fraction, or read the date as a string. For those use
    /// [`Fraction::Exactly(0)`](super::Fraction::Exactly).
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999. `out` is unchanged.
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

    /// Like [`Timestamp::push_xmlrpc`], with options.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::push_xmlrpc`].
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
            return Err(out_of_years());
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
        policy.fraction.of(self.nanoseconds).push(out);
        if policy.zone && !self.unzoned {
            out.push(b'Z');
        }
        Ok(())
    }
}

fn read(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let read = match bytes.get(4) {
        Some(b'-') => common(bytes),
        _ => compact(bytes),
    };
    match read {
        Some(instant) => Ok(instant),
        None => slow(bytes),
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

/// The slow path: every layout, and the errors.
#[cold]
fn slow(bytes: &[u8]) -> Result<Timestamp, Malformed> {
    let mut fields = Fields::new(bytes);
    let date = if bytes.get(4) == Some(&b'-') {
        fields.dashed_date()?
    } else {
        (fields.year()?, fields.month()?, fields.day()?)
    };
    fields.one_of(b"Tt ", "T between date and time")?;
    let time = fields.time()?;
    let nanoseconds = fields.fraction()?;
    let zone = fields.zone(true)?;
    fields.end()?;
    instant(date, time, zone, nanoseconds)
}
