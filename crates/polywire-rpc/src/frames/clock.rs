//! The clock of framed connections.

use std::time::Duration;

use polywire_frame::Time;
use tokio::time::Instant;

/// A clock that starts at zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    #[inline]
    pub(crate) fn now(self) -> Time {
        Time::ZERO.after(self.0.elapsed())
    }

    /// The time on the clock of tokio. None for [`Time::NEVER`], and if tokio cannot represent it.
    pub(crate) fn instant(self, time: Time) -> Option<Instant> {
        if time == Time::NEVER {
            return None;
        }
        self.0.checked_add(Duration::from_nanos(time.as_nanos()))
    }
}
