//! The cost of an operation: how long its calls use a thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Calls that take longer than this run in the run queue, all others on the task of their connection.
const LONG: Duration = Duration::from_micros(100);

/// Number of measurements until the cost of an operation counts as known.
const MIN_MEASUREMENTS: u32 = 8;

/// A moving average of the time from the start of decoding until the handler ends or first waits for something. It is
/// measured by the clock, so that it includes time in which the thread did not run.
///
/// Concurrent measurements may overwrite each other: the value is an estimate.
#[derive(Debug, Default)]
pub(crate) struct OperationCost {
    nanos: AtomicU32,
    /// At most [`MIN_MEASUREMENTS`].
    measurements: AtomicU32,
}

impl OperationCost {
    /// Whether calls run in the run queue.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.get() > LONG
    }

    /// Whether every call is measured, not only a sample.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.get() > LONG / 4 || self.measurements.load(Ordering::Relaxed) < MIN_MEASUREMENTS
    }

    #[inline]
    pub(super) fn get(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed).into())
    }

    /// Stores the time of a call.
    pub(crate) fn record(&self, time: Duration) {
        let before = self.get();
        // Bounded, because the system may have suspended the thread.
        let time = time.min((before * 8).max(LONG * 4));
        let after = before * 7 / 8 + time / 8;
        let after = u32::try_from(after.as_nanos()).unwrap_or(u32::MAX);
        self.nanos.store(after, Ordering::Relaxed);
        let measurements = self.measurements.load(Ordering::Relaxed);
        if measurements < MIN_MEASUREMENTS {
            self.measurements.store(measurements + 1, Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    pub(super) fn of_millis(millis: u32) -> Self {
        let nanos = AtomicU32::new(millis * 1_000_000);
        let measurements = AtomicU32::new(MIN_MEASUREMENTS);
        Self {
            nanos,
            measurements,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_long_while_its_calls_are() {
        let cost = OperationCost::default();
        // One measurement is long because the thread was suspended.
        cost.record(Duration::from_secs(5));
        assert!(!cost.is_long());
        assert!(cost.is_watched());
        for _ in 0..3 {
            cost.record(Duration::from_millis(2));
        }
        assert!(cost.is_long());
        for _ in 0..200 {
            cost.record(Duration::from_millis(2));
        }
        let known = cost.get();
        assert!(known > Duration::from_micros(1_990) && known <= Duration::from_millis(2));
        for _ in 0..40 {
            cost.record(Duration::from_micros(2));
        }
        assert!(!cost.is_long());
        assert!(!cost.is_watched());
    }

    #[test]
    fn a_new_operation_is_watched_until_its_cost_is_known() {
        let cost = OperationCost::default();
        for _ in 0..MIN_MEASUREMENTS {
            assert!(cost.is_watched());
            cost.record(Duration::from_micros(1));
        }
        assert!(!cost.is_watched());
    }
}
