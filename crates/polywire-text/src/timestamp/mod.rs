//! Instants in the formats of Smithy and XML-RPC.
//!
//! | format | written | also read |
//! |---|---|---|
//! | RFC 3339 (`date-time`) | `2026-11-21T20:30:00.25Z` | any offset, lower-case `t` and `z` |
//! | HTTP-date | `Sat, 21 Nov 2026 20:30:00 GMT` | the formats of RFC 850 and asctime, a fraction |
//! | epoch seconds | `1795293000.25` | a fraction of any length, an exponent |
//! | XML-RPC | `20261121T20:30:00`, or with `Z` | dashes, a fraction, an offset |
//!
//! - **Years**: 0001 to 9999 in UTC, whatever the offset, so that all formats can write what one
//!   has read. Epoch seconds have the range of `i64`.
//! - **Fractions** are read to the nanosecond, and further digits are cut off. A `f64` is converted
//!   to the instant that it was most likely written for ([`Timestamp::from_f64`]).
//! - **Leap seconds** (`:60`) are accepted at the end of a day in UTC or, if the offset is unknown,
//!   of an hour. They become the first second of the following minute, as in POSIX.
//! - **Offsets** are applied and not stored. `24:00` is rejected.
//!
//! # Implementation
//!
//! Each format has one common layout, which is read eight bytes at a time, without a branch per
//! digit (`words.rs`). Any other input, valid or not, goes to a cursor that reads field by field
//! and produces the errors (`fields.rs`). Days are converted to dates without loops
//! (`calendar.rs`).
//!
//! Only `Display` allocates. Writers append and reserve at most 48 bytes.

mod calendar;
mod civil;
mod convert;
mod date_time;
mod epoch;
mod fields;
mod http_date;
mod names;
mod policy;
mod words;
mod xmlrpc;

use std::fmt;
use std::time::Duration;

use calendar::{DAY, FIRST_SECOND, LAST_SECOND};
pub use civil::Civil;
pub use date_time::DateCache;
pub use policy::{Fraction, ReadPolicy, WritePolicy};
use words::fraction_text;

/// Nanoseconds in a second.
const NANOSECONDS: u32 = 1_000_000_000;

/// An instant to the nanosecond.
///
/// XML-RPC dates have no time zone. An instant that was read from such a date is
/// [unzoned](Timestamp::is_unzoned): its seconds are computed as if the date were in UTC, and a
/// caller that knows the zone can correct them. An unzoned instant is not equal to the same instant
/// with a zone, and is ordered directly after it.
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

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self {
        seconds: 0,
        nanoseconds: 0,
        unzoned: false,
    };

    /// The instant `seconds` after the epoch (before it, if negative) plus `nanoseconds`.
    /// Nanoseconds of a second or more carry over into the seconds, which saturate.
    #[must_use]
    pub const fn new(seconds: i64, nanoseconds: u32) -> Self {
        Self {
            seconds: seconds.saturating_add((nanoseconds / NANOSECONDS) as i64),
            nanoseconds: nanoseconds % NANOSECONDS,
            unzoned: false,
        }
    }

    /// Whole seconds since the epoch, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after [`Timestamp::seconds`]: less than 1,000,000,000.
    #[must_use]
    pub const fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Whether the instant was read from a date without a time zone.
    #[must_use]
    pub const fn is_unzoned(self) -> bool {
        self.unzoned
    }

    /// The same instant, marked as unzoned or not.
    #[must_use]
    pub const fn with_unzoned(self, unzoned: bool) -> Self {
        Self { unzoned, ..self }
    }

    /// The instant `duration` later, or `None` if the seconds overflow. Keeps
    /// [`is_unzoned`](Self::is_unzoned).
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_text::Timestamp;
    ///
    /// let later = Timestamp::new(0, 600_000_000).checked_add(Duration::from_millis(500));
    /// assert_eq!(later, Some(Timestamp::new(1, 100_000_000)));
    /// ```
    #[must_use]
    pub const fn checked_add(self, duration: Duration) -> Option<Self> {
        // Less than two seconds, so it fits and carries at most one.
        let nanoseconds = self.nanoseconds + duration.subsec_nanos();
        let carry = (nanoseconds / NANOSECONDS) as u64;
        // If this sum overflows, so does the result.
        let Some(whole) = duration.as_secs().checked_add(carry) else {
            return None;
        };
        match self.seconds.checked_add_unsigned(whole) {
            Some(seconds) => Some(Self {
                seconds,
                nanoseconds: nanoseconds % NANOSECONDS,
                unzoned: self.unzoned,
            }),
            None => None,
        }
    }

    /// The instant `duration` earlier, or `None` if the seconds overflow. Keeps
    /// [`is_unzoned`](Self::is_unzoned).
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_text::Timestamp;
    ///
    /// let earlier = Timestamp::EPOCH.checked_sub(Duration::from_millis(500));
    /// assert_eq!(earlier, Some(Timestamp::new(-1, 500_000_000)));
    /// ```
    #[must_use]
    pub const fn checked_sub(self, duration: Duration) -> Option<Self> {
        let nanoseconds = self.nanoseconds + NANOSECONDS - duration.subsec_nanos();
        let borrow = (nanoseconds < NANOSECONDS) as u64;
        let Some(whole) = duration.as_secs().checked_add(borrow) else {
            return None;
        };
        match self.seconds.checked_sub_unsigned(whole) {
            Some(seconds) => Some(Self {
                seconds,
                nanoseconds: nanoseconds % NANOSECONDS,
                unzoned: self.unzoned,
            }),
            None => None,
        }
    }

    /// The time from `earlier` to this instant, or `None` if `earlier` is later.
    ///
    /// ```
    /// use std::time::Duration;
    /// use polywire_text::Timestamp;
    ///
    /// let (half, one) = (Timestamp::new(0, 500_000_000), Timestamp::new(1, 0));
    /// assert_eq!(one.duration_since(half), Some(Duration::from_millis(500)));
    /// assert_eq!(half.duration_since(one), None);
    /// ```
    #[must_use]
    pub const fn duration_since(self, earlier: Self) -> Option<Duration> {
        let borrow = self.nanoseconds < earlier.nanoseconds;
        let seconds = self.seconds as i128 - earlier.seconds as i128 - borrow as i128;
        if seconds < 0 {
            return None;
        }
        let nanoseconds = self.nanoseconds + borrow as u32 * NANOSECONDS - earlier.nanoseconds;
        // At most 2^64 - 1, the distance from i64::MIN to i64::MAX.
        Some(Duration::new(seconds as u64, nanoseconds))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::EPOCH
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339, without the `Z` if the instant is unzoned. Years outside of 0001 to 9999: `@` and
    /// epoch seconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(48);
        if self.push_date_time(&mut out).is_err() {
            out.push(b'@');
            self.push_epoch_seconds(&mut out);
        }
        if self.unzoned && out.last() == Some(&b'Z') {
            out.pop();
        }
        f.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Appends the first `len` bytes of `words`. Appends all of them and truncates, which needs no
/// loop.
#[inline]
fn push_words<const N: usize>(out: &mut Vec<u8>, words: [u64; N], len: usize) {
    let end = out.len() + len;
    out.extend_from_slice(words.map(u64::to_le_bytes).as_flattened());
    out.truncate(end);
}

/// The digits of a fraction, in ASCII.
struct FractionText {
    /// The first eight digits and the ninth.
    digits: (u64, u8),
    /// How many of them are written.
    count: usize,
}

impl FractionText {
    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a point and the digits, or nothing if there are none.
    #[inline]
    fn push(&self, out: &mut Vec<u8>) {
        if !self.is_empty() {
            let (eight, ninth) = self.digits;
            let words = [
                u64::from(b'.') | eight << 8,
                eight >> 56 | u64::from(ninth) << 8,
            ];
            push_words(out, words, 1 + self.count);
        }
    }
}

impl Fraction {
    /// The digits to write for `nanoseconds`.
    #[inline]
    fn of(self, nanoseconds: u32) -> FractionText {
        if nanoseconds == 0 && self == Self::Needed {
            return FractionText {
                digits: (0, 0),
                count: 0,
            };
        }
        let (eight, ninth, needed) = fraction_text(nanoseconds);
        let count = match self {
            Self::Needed => needed,
            Self::Exactly(count) => usize::from(count.min(9)),
            Self::AllOrNone(_) if self.cut(nanoseconds) == 0 => 0,
            Self::AllOrNone(count) => usize::from(count.min(9)),
        };
        FractionText {
            digits: (eight, ninth),
            count,
        }
    }

    /// `nanoseconds` without the digits that are not written.
    fn cut(self, nanoseconds: u32) -> u32 {
        match self {
            Self::Needed => nanoseconds,
            Self::Exactly(count) | Self::AllOrNone(count) => {
                let unit = 10_u32.pow(9 - u32::from(count.min(9)));
                nanoseconds - nanoseconds % unit
            }
        }
    }
}
