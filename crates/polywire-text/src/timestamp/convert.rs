//! Conversion from and to the types of the standard library, chrono, jiff and time.
//!
//! Every value of those types fits a `Timestamp`, but not the other way round. An unzoned timestamp
//! is converted as if it were in UTC, as none of the other types has this property.

use std::time::{Duration, SystemTime};

use super::{NANOSECONDS, Timestamp};
use crate::Malformed;

impl From<SystemTime> for Timestamp {
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use polywire_text::Timestamp;
    ///
    /// let before = SystemTime::UNIX_EPOCH - Duration::from_millis(500);
    /// assert_eq!(Timestamp::from(before), Timestamp::new(-1, 500_000_000));
    /// assert_eq!(SystemTime::try_from(Timestamp::new(-1, 500_000_000)), Ok(before));
    /// ```
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::new(saturated(after), after.subsec_nanos()),
            Err(before) => {
                let before = before.duration();
                // The smallest value of some clocks, -2^63 seconds, cannot be negated.
                let seconds = 0_i64.saturating_sub_unsigned(before.as_secs());
                match before.subsec_nanos() {
                    0 => Self::new(seconds, 0),
                    nanoseconds => Self::new(seconds.saturating_sub(1), NANOSECONDS - nanoseconds),
                }
            }
        }
    }
}

fn saturated(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = Malformed;

    /// # Errors
    ///
    /// The instant is outside of the range of `SystemTime`.
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

#[cfg(feature = "time")]
mod time {
    use time::{OffsetDateTime, UtcDateTime};

    use super::{Malformed, Timestamp};

    impl From<UtcDateTime> for Timestamp {
        fn from(time: UtcDateTime) -> Self {
            Self::new(time.unix_timestamp(), time.nanosecond())
        }
    }

    impl From<OffsetDateTime> for Timestamp {
        /// The offset is lost.
        ///
        /// ```
        /// use polywire_text::Timestamp;
        /// use time::OffsetDateTime;
        ///
        /// assert_eq!(Timestamp::from(OffsetDateTime::UNIX_EPOCH), Timestamp::EPOCH);
        /// let there = OffsetDateTime::try_from(Timestamp::new(0, 1))?;
        /// assert_eq!(there.nanosecond(), 1);
        /// # Ok::<(), polywire_text::Malformed>(())
        /// ```
        fn from(time: OffsetDateTime) -> Self {
            Self::new(time.unix_timestamp(), time.nanosecond())
        }
    }

    impl TryFrom<Timestamp> for UtcDateTime {
        type Error = Malformed;

        /// # Errors
        ///
        /// The year is not within -9999 to 9999 (or, with time's feature
        /// `large-dates`, -999999 to 999999).
        fn try_from(timestamp: Timestamp) -> Result<Self, Malformed> {
            Self::from_unix_timestamp(timestamp.seconds())
                .and_then(|whole| whole.replace_nanosecond(timestamp.nanoseconds()))
                .map_err(|_| Malformed::new(0, "a timestamp within the years of time"))
        }
    }

    impl TryFrom<Timestamp> for OffsetDateTime {
        type Error = Malformed;

        /// In UTC.
        ///
        /// # Errors
        ///
        /// As for [`UtcDateTime`].
        fn try_from(timestamp: Timestamp) -> Result<Self, Malformed> {
            UtcDateTime::try_from(timestamp).map(Self::from)
        }
    }
}

#[cfg(feature = "jiff")]
mod jiff {
    use super::{Malformed, Timestamp};

    impl From<jiff::Timestamp> for Timestamp {
        /// ```
        /// use polywire_text::Timestamp;
        ///
        /// assert_eq!(Timestamp::from(jiff::Timestamp::UNIX_EPOCH), Timestamp::EPOCH);
        /// let there = jiff::Timestamp::try_from(Timestamp::new(-1, 999_999_999))?;
        /// assert_eq!(there.as_nanosecond(), -1);
        /// # Ok::<(), polywire_text::Malformed>(())
        /// ```
        fn from(time: jiff::Timestamp) -> Self {
            // The nanoseconds have the sign of the whole value.
            let (seconds, nanoseconds) = (time.as_second(), time.subsec_nanosecond());
            match u32::try_from(nanoseconds) {
                Ok(nanoseconds) => Self::new(seconds, nanoseconds),
                Err(_) => Self::new(seconds - 1, super::NANOSECONDS - nanoseconds.unsigned_abs()),
            }
        }
    }

    impl TryFrom<Timestamp> for jiff::Timestamp {
        type Error = Malformed;

        /// # Errors
        ///
        /// The instant is not within jiff's range, `-009999-01-02T01:59:59Z` to
        /// `9999-12-30T22:00:00.999999999Z`.
        fn try_from(timestamp: Timestamp) -> Result<Self, Malformed> {
            // Less than 1,000,000,000, so it fits.
            Self::new(timestamp.seconds(), timestamp.nanoseconds() as i32).map_err(|_| {
                Malformed::new(
                    0,
                    "a timestamp within -009999-01-02T01:59:59Z to 9999-12-30T22:00:00Z",
                )
            })
        }
    }
}

#[cfg(feature = "chrono")]
mod chrono {
    use chrono::{DateTime, TimeZone, Utc};

    use super::{Malformed, Timestamp};

    impl<Zone: TimeZone> From<DateTime<Zone>> for Timestamp {
        /// The zone is lost. A leap second becomes the second after it.
        ///
        /// ```
        /// use chrono::{DateTime, Utc};
        /// use polywire_text::Timestamp;
        ///
        /// assert_eq!(Timestamp::from(DateTime::<Utc>::UNIX_EPOCH), Timestamp::EPOCH);
        /// let there = DateTime::<Utc>::try_from(Timestamp::new(0, 1))?;
        /// assert_eq!(there.timestamp_subsec_nanos(), 1);
        /// # Ok::<(), polywire_text::Malformed>(())
        /// ```
        fn from(time: DateTime<Zone>) -> Self {
            Self::new(time.timestamp(), time.timestamp_subsec_nanos())
        }
    }

    impl TryFrom<Timestamp> for DateTime<Utc> {
        type Error = Malformed;

        /// # Errors
        ///
        /// The year is not within -262143 to 262142.
        fn try_from(timestamp: Timestamp) -> Result<Self, Malformed> {
            Self::from_timestamp(timestamp.seconds(), timestamp.nanoseconds()).ok_or(
                Malformed::new(0, "a timestamp within the years -262143 to 262142"),
            )
        }
    }
}
