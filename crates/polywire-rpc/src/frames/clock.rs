//! The time as `polywire-frame` wants it.

use std::time::Duration;

use polywire_frame::Time;
use tokio::time::Instant;

/// A clock that began when it was made.
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

    /// The moment as tokio's timers have it; none that is too far to be calculated with.
    pub(crate) fn instant(self, time: Time) -> Option<Instant> {
        if time == Time::NEVER {
            return None;
        }
        self.0.checked_add(Duration::from_nanos(time.as_nanos()))
    }
}
