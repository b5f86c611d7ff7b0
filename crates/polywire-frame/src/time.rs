//! Time, as an argument of state machines.

use std::time::Duration;

/// A point in time: nanoseconds since a moment that the owner chooses, such as the start of the program.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
///
/// let start = Time::ZERO;
/// let later = start.after(Duration::from_millis(5));
/// assert_eq!(later.since(start), Duration::from_millis(5));
/// assert_eq!(start.since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(u64);

impl Time {
    /// Later than any other time.
    pub const NEVER: Self = Self(u64::MAX);
    /// The moment that the owner chose.
    pub const ZERO: Self = Self(0);

    /// The time `nanos` nanoseconds after [`Self::ZERO`].
    #[inline]
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since [`Self::ZERO`].
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time `time` later, at most [`Self::NEVER`].
    #[inline]
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }

    /// The time since `earlier`; zero if `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Milliseconds until `later` as in the header of a call: rounded up, at least 1; 0 for [`Self::NEVER`].
    #[must_use]
    #[inline]
    pub fn millis_until(self, later: Self) -> u32 {
        if later == Self::NEVER {
            return 0;
        }
        let millis = later.0.saturating_sub(self.0).div_ceil(1_000_000);
        u32::try_from(millis).unwrap_or(u32::MAX).max(1)
    }

    /// The inverse of [`Self::millis_until`].
    #[must_use]
    #[inline]
    pub const fn after_millis(self, millis: u32) -> Self {
        match millis {
            0 => Self::NEVER,
            millis => Self(self.0.saturating_add(millis as u64 * 1_000_000)),
        }
    }
}
