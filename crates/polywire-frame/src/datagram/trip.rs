//! The round trip, and how long to wait for an answer before a call is sent again.

use std::time::Duration;

/// What is waited before anything has been measured.
const UNKNOWN: Duration = Duration::from_millis(50);

/// What is waited at least.
const LEAST: Duration = Duration::from_millis(1);

/// What is waited at most, the first time and each other.
pub(super) const MOST: Duration = Duration::from_secs(1);

/// The round trip as it is measured on calls that were sent once, without what the server took.
///
/// Smoothed as TCP does it (RFC 6298).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trip {
    smoothed: Option<Duration>,
    varies: Duration,
}

impl Trip {
    pub(super) fn measured(&mut self, trip: Duration) {
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(trip);
            self.varies = trip / 2;
            return;
        };
        self.varies = (self.varies * 3 + smoothed.abs_diff(trip)) / 4;
        self.smoothed = Some((smoothed * 7 + trip) / 8);
    }

    /// How long to wait before a call is sent again for the first time: twice the round trip, or longer
    /// if it is not always the same.
    pub(super) fn wait(&self) -> Duration {
        let wait = self
            .smoothed
            .map_or(UNKNOWN, |smoothed| smoothed + smoothed.max(self.varies * 4));
        wait.clamp(LEAST, MOST)
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
}
