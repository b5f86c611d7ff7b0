//! What a form leaves open: small switches, the strict or the usual way first.

use super::Timestamp;

/// What becomes of second 60.
///
/// Clocks that count seconds since the epoch have no place for a leap second,
/// so an instant cannot hold it. Where one cannot stand it is refused whatever
/// the policy: it stands at the end of a day of UTC or, where the zone is not
/// known, of an hour.
///
/// ```
/// use polywire_text::timestamp::{LeapSecond, ReadPolicy, Timestamp};
///
/// let read = |leap_second| {
///     let policy = ReadPolicy::new().leap_second(leap_second);
///     let read = Timestamp::parse_date_time_with("2016-12-31T23:59:60.5Z", policy);
///     read.map(|instant| instant.to_string())
/// };
/// assert_eq!(read(LeapSecond::Next)?, "2017-01-01T00:00:00.5Z");
/// assert_eq!(read(LeapSecond::Hold)?, "2016-12-31T23:59:59.999999999Z");
/// assert!(read(LeapSecond::Refuse).is_err());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum LeapSecond {
    /// The second after it, its fraction kept: the clock of POSIX, which is
    /// set back by a second.
    #[default]
    Next,
    /// The last nanosecond before it, so that the instant stays in its day.
    Hold,
    /// An error.
    Refuse,
}

/// How many years a form with a calendar may tell.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Years {
    /// 0001 to 9999, in UTC: the years that every form, crate and peer knows.
    #[default]
    Common,
    /// What four digits can say: 0000, the year before 0001, too; and when
    /// reading, the day of UTC before or after into which an offset leads.
    FourDigits,
    /// Besides, where the form has dashes, ISO 8601's expanded years: a sign
    /// and six digits, `-000044-03-15` or `+012026-01-01`, as ECMAScript has
    /// them. Written only when four digits do not do. Not `-000000`.
    Expanded,
}

/// Which century a year of two digits belongs to (RFC 850's dates).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ShortYear {
    /// 1970 to 2069, always: nothing here reads a clock.
    #[default]
    From1970,
    /// RFC 9110, section 5.6.7: the latest such year that is not more than 50
    /// years after this instant, which is the caller's now.
    Near(Timestamp),
}

/// How many digits of a fraction are written. Digits beyond are cut off, never
/// rounded, so that no instant moves into the next second: an instant is
/// written as the last one before it that has so many digits.
///
/// ```
/// use polywire_text::timestamp::{Fraction, Timestamp, WritePolicy};
///
/// let written = |instant: Timestamp, fraction| {
///     let mut out = Vec::new();
///     let policy = WritePolicy::new().fraction(fraction);
///     instant.push_date_time_with(&mut out, policy)?;
///     Ok::<_, polywire_text::Malformed>(String::from_utf8_lossy(&out).into_owned())
/// };
/// let instant = Timestamp::new(0, 250_000_999);
/// assert_eq!(written(instant, Fraction::Needed)?, "1970-01-01T00:00:00.250000999Z");
/// assert_eq!(written(instant, Fraction::Exactly(2))?, "1970-01-01T00:00:00.25Z");
/// assert_eq!(written(instant, Fraction::AllOrNone(3))?, "1970-01-01T00:00:00.250Z");
/// assert_eq!(written(Timestamp::EPOCH, Fraction::AllOrNone(3))?, "1970-01-01T00:00:00Z");
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Fraction {
    /// As many as it needs, and none (nor a point) if it is zero.
    #[default]
    Needed,
    /// Always so many, up to nine; with 0, no point either.
    Exactly(u8),
    /// So many, up to nine, or none if all of them are zero: with 3, what the
    /// strictest readers of milliseconds take.
    AllOrNone(u8),
}

/// How the forms with a calendar are read. The default is what
/// [`Timestamp::parse_date_time`] and its like do.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ReadPolicy {
    pub(crate) leap_second: LeapSecond,
    pub(crate) short_year: ShortYear,
    pub(crate) space: bool,
    pub(crate) utc: bool,
    pub(crate) years: Years,
}

impl ReadPolicy {
    /// The default.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            leap_second: LeapSecond::Next,
            short_year: ShortYear::From1970,
            space: false,
            utc: false,
            years: Years::Common,
        }
    }

    /// What becomes of second 60.
    #[must_use]
    pub const fn leap_second(self, leap_second: LeapSecond) -> Self {
        Self {
            leap_second,
            ..self
        }
    }

    /// Which century a year of two digits belongs to.
    #[must_use]
    pub const fn short_year(self, short_year: ShortYear) -> Self {
        Self { short_year, ..self }
    }

    /// Whether a space may stand for the `T` of RFC 3339, as a note of its
    /// section 5.6 lets applications choose. XML-RPC's dates may have one
    /// anyway.
    #[must_use]
    pub const fn space(self, space: bool) -> Self {
        Self { space, ..self }
    }

    /// Whether a date of RFC 3339 must be in UTC and say so by `Z`, as servers
    /// of Smithy want it.
    ///
    /// ```
    /// use polywire_text::timestamp::{ReadPolicy, Timestamp};
    ///
    /// let read = |text| Timestamp::parse_date_time_with(text, ReadPolicy::new().utc(true));
    /// assert!(read("1996-12-20T00:39:57Z").is_ok());
    /// let error = read("1996-12-19T16:39:57-08:00").unwrap_err();
    /// assert_eq!((error.offset, error.expected), (19, "Z, for UTC"));
    /// ```
    #[must_use]
    pub const fn utc(self, utc: bool) -> Self {
        Self { utc, ..self }
    }

    /// Which years may come.
    #[must_use]
    pub const fn years(self, years: Years) -> Self {
        Self { years, ..self }
    }
}

/// How the forms with a calendar are written. The default is what
/// [`Timestamp::push_date_time`] and its like do.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct WritePolicy {
    pub(super) fraction: Fraction,
    pub(super) years: Years,
    pub(super) zone: bool,
}

impl WritePolicy {
    /// The default.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            fraction: Fraction::Needed,
            years: Years::Common,
            zone: false,
        }
    }

    /// How many digits of a fraction.
    #[must_use]
    pub const fn fraction(self, fraction: Fraction) -> Self {
        Self { fraction, ..self }
    }

    /// Which years may be written.
    #[must_use]
    pub const fn years(self, years: Years) -> Self {
        Self { years, ..self }
    }

    /// Whether XML-RPC's form, which has no zone of its own, gets a `Z` for
    /// UTC, unless the instant is [unzoned](Timestamp::is_unzoned). The other
    /// forms always say that they are in UTC.
    #[must_use]
    pub const fn zone(self, zone: bool) -> Self {
        Self { zone, ..self }
    }
}
