//! The scheduling delay of a runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use polywire_frame::Time;

use crate::frames::Clock;

/// Minimum interval between the starts of two measurements. None starts while no calls come.
const INTERVAL: Duration = Duration::from_millis(5);

/// Interval while a measurement is unfinished, because its thread may be blocked.
const PATIENCE: Duration = Duration::from_millis(100);

/// Delays up to this are used whatever their age.
const SHORT: Duration = Duration::from_micros(100);

/// The scheduling delay of one runtime: the time that a task waits in the task queue of tokio.
///
/// It is measured per runtime, not per server. A server with a runtime for each thread would otherwise shed calls on
/// an idle thread because another one is busy, and measure nothing while one of them is blocked.
///
/// The values are estimates. No other memory depends on the order of their changes, so it is relaxed.
#[derive(Debug)]
pub(crate) struct SchedulingDelay {
    clock: Clock,
    /// Newest result, in nanoseconds.
    delay: AtomicU64,
    /// Time of that result.
    measured: AtomicU64,
    /// Start time of the newest measurement.
    began: AtomicU64,
    /// Start time of the newest finished measurement.
    ended: AtomicU64,
}

impl SchedulingDelay {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            delay: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            began: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    /// The current delay, as far as it is known. Zero if the newest result is too old to tell.
    pub(crate) fn get(&self) -> Duration {
        let delay = Duration::from_nanos(self.delay.load(Ordering::Relaxed));
        // This runs for each read of a connection: reading the clock each time would cost more than a short delay does.
        if delay <= SHORT {
            return delay;
        }
        let measured = Time::from_nanos(self.measured.load(Ordering::Relaxed));
        match self.clock.now().since(measured) > (delay + INTERVAL) * 2 {
            true => Duration::ZERO,
            false => delay,
        }
    }

    /// Measures the delay of the current runtime, unless it is too early for that. A task goes to the end of the
    /// task queue once. A timer would itself be late on a busy runtime.
    pub(crate) fn measure(self: &Arc<Self>) {
        let Some(began) = self.begin(self.clock.now()) else {
            return;
        };
        let own = Arc::clone(self);
        tokio::spawn(async move {
            let since = own.clock.now();
            // Runs after all ready tasks and one I/O poll.
            tokio::task::yield_now().await;
            own.end(began, since, own.clock.now());
        });
    }

    /// Begins a measurement, if it is time for one. Returns its start time for [`Self::end`].
    fn begin(&self, now: Time) -> Option<u64> {
        let began = self.began.load(Ordering::Relaxed);
        let pause = match self.ended.load(Ordering::Relaxed) >= began {
            true => INTERVAL,
            false => PATIENCE,
        };
        if now.since(Time::from_nanos(began)) < pause {
            return None;
        }
        let now = now.as_nanos();
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let begins = self.began.compare_exchange(began, now, success, failure);
        begins.is_ok().then_some(now)
    }

    /// Stores the result of a measurement, unless a newer one has already finished.
    fn end(&self, began: u64, since: Time, now: Time) {
        if self.ended.fetch_max(began, Ordering::Relaxed) > began {
            return;
        }
        let delay = u64::try_from(now.since(since).as_nanos()).unwrap_or(u64::MAX);
        self.measured.store(now.as_nanos(), Ordering::Relaxed);
        self.delay.store(delay, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO.after(Duration::from_millis(millis))
    }

    #[tokio::test(start_paused = true)]
    async fn a_measurement_that_does_not_end_is_followed_by_another() {
        let delay = SchedulingDelay::new(Clock::new());
        let first = delay.begin(at(5)).unwrap();
        assert_eq!(delay.begin(at(104)), None);
        let second = delay.begin(at(105)).unwrap();
        delay.end(second, at(105), at(106));
        tokio::time::advance(Duration::from_millis(106)).await;
        assert_eq!(delay.get(), Duration::from_millis(1));
        // The thread of the first measurement is no longer blocked.
        delay.end(first, at(5), at(5_000));
        assert_eq!(delay.get(), Duration::from_millis(1));
        assert_eq!(delay.begin(at(109)), None);
        assert!(delay.begin(at(110)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_delay_of_long_ago_is_forgotten() {
        let delay = SchedulingDelay::new(Clock::new());
        let first = delay.begin(at(5)).unwrap();
        tokio::time::advance(Duration::from_millis(25)).await;
        delay.end(first, at(5), at(25));
        assert_eq!(delay.get(), Duration::from_millis(20));
        tokio::time::advance(Duration::from_millis(50)).await;
        assert_eq!(delay.get(), Duration::from_millis(20));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(delay.get(), Duration::ZERO);
    }
}
