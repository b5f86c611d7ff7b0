//! Options for reading and writing timestamps.

/// How many digits of the fraction of a second are written.
///
/// Further digits are cut off, not rounded, so a written instant is never later than the original.
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
    /// As many digits as the value needs; neither digits nor point if it is zero.
    #[default]
    Needed,
    /// This many digits, at most nine. With 0, there is no point either.
    Exactly(u8),
    /// This many digits, at most nine, or none if all of them are zero. With 3, readers that accept
    /// only milliseconds accept the result.
    AllOrNone(u8),
}

/// Options for [`Timestamp::parse_date_time_with`](super::Timestamp::parse_date_time_with).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ReadPolicy {
    pub(crate) utc: bool,
}

impl ReadPolicy {
    /// The default: any offset from UTC.
    #[must_use]
    pub const fn new() -> Self {
        Self { utc: false }
    }

    /// Whether the date must end in `Z`, as Smithy requires of servers.
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
        Self { utc }
    }
}

/// Options for writing RFC 3339 and XML-RPC dates.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct WritePolicy {
    pub(super) fraction: Fraction,
    pub(super) zone: bool,
}

impl WritePolicy {
    /// The default, which [`Timestamp::push_date_time`](super::Timestamp::push_date_time) uses.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            fraction: Fraction::Needed,
            zone: false,
        }
    }

    /// How many digits of the fraction are written.
    #[must_use]
    pub const fn fraction(self, fraction: Fraction) -> Self {
        Self { fraction, ..self }
    }

    /// Whether XML-RPC dates end in `Z`, unless the instant is
    /// [unzoned](super::Timestamp::is_unzoned). RFC 3339 dates always do.
    #[must_use]
    pub const fn zone(self, zone: bool) -> Self {
        Self { zone, ..self }
    }
}
