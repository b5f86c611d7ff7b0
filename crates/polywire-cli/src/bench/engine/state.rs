//! The state of a thread: the clock of the run and the counters.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::super::recording::{Outcome, Recorder};

/// The times of a run, relative to its start. Shared by all threads.
#[derive(Debug)]
pub(in crate::bench) struct Run {
    origin: Instant,
    warm_up: Duration,
    /// In nanoseconds. No calls are sent after this. It moves forward if the run is ended early.
    end: AtomicU64,
    /// How long to wait for open calls after the end, in nanoseconds.
    grace: AtomicU64,
}

impl Run {
    pub(in crate::bench) fn new(
        origin: Instant,
        warm_up: Duration,
        duration: Duration,
        grace: Duration,
    ) -> Self {
        Self {
            origin,
            warm_up,
            end: AtomicU64::new(nanos(warm_up + duration)),
            grace: AtomicU64::new(nanos(grace)),
        }
    }

    /// Returns the current time. Zero before the start.
    pub(in crate::bench) fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.origin)
    }

    pub(super) fn at(&self, time: Duration) -> Instant {
        self.origin + time
    }

    pub(in crate::bench) fn end(&self) -> Duration {
        Duration::from_nanos(self.end.load(Ordering::Relaxed))
    }

    /// Returns the measured time. Empty if the run ended before it.
    pub(in crate::bench) fn window(&self) -> Range<Duration> {
        self.warm_up..self.end().max(self.warm_up)
    }

    /// Returns the time until which to wait for replies.
    pub(super) fn last(&self) -> Duration {
        self.end() + Duration::from_nanos(self.grace.load(Ordering::Relaxed))
    }

    /// Ends the run early, and limits the time to wait for open calls.
    pub(in crate::bench) fn end_early(&self, grace: Duration) {
        let now = nanos(self.now());
        self.end.fetch_min(now, Ordering::Relaxed);
        self.grace.store(nanos(grace), Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The state shared by the calls of a thread.
#[derive(Debug)]
pub(in crate::bench) struct ThreadState {
    pub(in crate::bench) run: Arc<Run>,
    /// Other threads lock it only to collect the counters.
    recorder: Mutex<Recorder>,
}

impl ThreadState {
    pub(in crate::bench) fn new(run: Arc<Run>) -> Self {
        Self {
            run,
            recorder: Mutex::new(Recorder::new()),
        }
    }

    pub(in crate::bench) fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // Counters are consistent even after a panic.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record_sent(&self, due: Duration, now: Duration) {
        self.recorder().record_sent(&self.run.window(), due, now);
    }

    pub(super) fn record_end(&self, due: Duration, outcome: &Outcome) {
        let now = self.run.now();
        self.recorder()
            .record_end(&self.run.window(), due, now, outcome);
    }

    pub(super) fn record_skipped(&self, due: Duration, count: u64) {
        self.recorder()
            .record_skipped(&self.run.window(), due, count);
    }

    /// Waits until no calls are open, or the time to wait is over.
    pub(super) async fn wait_for_open_calls(&self) {
        while self.run.now() < self.run.last() && self.recorder().open().0 > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
