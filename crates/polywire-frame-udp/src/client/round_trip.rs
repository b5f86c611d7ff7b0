//! The round trip, and how long to wait for an answer before a call is resent.

use std::time::Duration;

/// The wait before anything was measured.
const UNKNOWN: Duration = Duration::from_millis(50);

/// The shortest wait.
const LEAST: Duration = Duration::from_millis(1);

/// The longest wait.
pub(super) const MOST: Duration = Duration::from_secs(1);

/// The round trip, measured on calls without the time that the server needed.
///
/// Smoothed as in TCP (RFC 6298). Answers say which datagram of a call they belong to, so resent calls are measured
/// too; otherwise a wait shorter than the round trip would never be corrected. A wait that has run out is doubled for
/// later calls, until something is measured (RFC 6298, 5.5 to 5.7).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<Duration>,
    varies: Duration,
    /// The shortest wait until something is measured, since shorter waits have run out.
    backed_off: Duration,
}

impl RoundTrip {
    /// A wait has run out, and this is the next one.
    pub(super) fn ran_out(&mut self, next: Duration) {
        self.backed_off = self.backed_off.max(next);
    }

    /// A round trip was measured.
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

    /// The wait before a call is resent for the first time: twice the round trip, longer if the round trip varies or if
    /// such waits have run out.
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
        let mut trip = RoundTrip::default();
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
    fn a_backed_off_timeout_remains_until_a_measurement() {
        let ms = Duration::from_millis;
        let mut trip = RoundTrip::default();
        trip.measured(ms(20));
        trip.ran_out(ms(120));
        // The timeout of a call that began earlier does not change the wait.
        trip.ran_out(ms(60));
        assert_eq!(trip.wait(), ms(120));
        trip.ran_out(ms(9_000));
        assert_eq!(trip.wait(), ms(1_000));
        trip.measured(ms(20));
        assert!(trip.wait() < ms(60));
    }
}
