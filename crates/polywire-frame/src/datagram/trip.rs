//! The round trip, and how long to wait for an answer before a call is sent again.

use std::time::Duration;

/// What is waited before anything has been measured.
const UNKNOWN: Duration = Duration::from_millis(50);

/// What is waited at least.
const LEAST: Duration = Duration::from_millis(1);

/// What is waited at most, the first time and each other.
pub(super) const MOST: Duration = Duration::from_secs(1);

/// The round trip as it is measured on calls, without what the server took.
///
/// Smoothed as TCP does it (RFC 6298). Answers say which of the datagrams of a call they answer, so that those
/// to calls that were sent again measure, too: otherwise a wait that is shorter than the round trip would never be seen
/// to be. A wait that has run out is doubled for all that is sent later, until something was measured (RFC 6298, 5.5
/// to 5.7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trip {
    smoothed: Option<Duration>,
    varies: Duration,
    /// What is waited at least until something is measured, since shorter waits have run out.
    backed_off: Duration,
}

impl Trip {
    /// A wait has run out, and this is the next.
    pub(super) fn ran_out(&mut self, next: Duration) {
        self.backed_off = self.backed_off.max(next);
    }

    pub(super) fn measured(&mut self, trip: Duration) {
        self.backed_off = Duration::ZERO;
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(trip);
            self.varies = trip / 2;
            return;
        };
        self.varies = (self.varies * 3 + smoothed.abs_diff(trip)) / 4;
        self.smoothed = Some((smoothed * 7 + trip) / 8);
    }

    /// How long to wait before a call is sent again for the first time: twice the round trip, or longer
    /// if it is not always the same, or if such waits have run out.
    pub(super) fn wait(&self) -> Duration {
        let wait = self
            .smoothed
            .map_or(UNKNOWN, |smoothed| smoothed + smoothed.max(self.varies * 4));
        wait.max(self.backed_off).clamp(LEAST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_follow_the_round_trip() {
        let ms = Duration::from_millis;
        let mut trip = Trip::default();
        assert_eq!(trip.wait(), ms(50));
        trip.measured(ms(20));
        assert_eq!(trip.wait(), ms(60));
        for _ in 0..50 {
            trip.measured(ms(20));
        }
        assert_eq!(trip.wait(), ms(40));
        trip.measured(ms(100));
        assert!(trip.wait() > ms(80), "{:?}", trip.wait());
        for _ in 0..100 {
            trip.measured(Duration::from_micros(10));
        }
        assert_eq!(trip.wait(), ms(1));
        for _ in 0..100 {
            trip.measured(Duration::from_secs(9));
        }
        assert_eq!(trip.wait(), ms(1_000));
    }

    #[test]
    fn a_wait_that_ran_out_stays_long_until_something_is_measured() {
        let ms = Duration::from_millis;
        let mut trip = Trip::default();
        trip.measured(ms(20));
        trip.ran_out(ms(120));
        // Of another call, whose wait began earlier.
        trip.ran_out(ms(60));
        assert_eq!(trip.wait(), ms(120));
        trip.ran_out(ms(9_000));
        assert_eq!(trip.wait(), ms(1_000));
        trip.measured(ms(20));
        assert!(trip.wait() < ms(60));
    }
}
