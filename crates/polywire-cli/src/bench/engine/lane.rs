//! What a thread's calls need: the clock, and where to count.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::super::recording::{Outcome, Recorder};

/// The times of a run, counted from its beginning, for all threads.
#[derive(Debug)]
pub(in crate::bench) struct Run {
    origin: Instant,
    warm_up: Duration,
    /// In nanoseconds; nothing is sent from then on. It comes sooner if somebody ends the run.
    end: AtomicU64,
    /// How long to wait for what is open then, in nanoseconds.
    patience: AtomicU64,
}

impl Run {
    pub(in crate::bench) fn new(
        origin: Instant,
        warm_up: Duration,
        duration: Duration,
        patience: Duration,
    ) -> Self {
        Self {
            origin,
            warm_up,
            end: AtomicU64::new(nanos(warm_up + duration)),
            patience: AtomicU64::new(nanos(patience)),
        }
    }

    /// Now; zero before the beginning.
    pub(in crate::bench) fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.origin)
    }

    pub(super) fn at(&self, time: Duration) -> Instant {
        self.origin + time
    }

    pub(in crate::bench) fn end(&self) -> Duration {
        Duration::from_nanos(self.end.load(Ordering::Relaxed))
    }

    /// The measured time; an empty one if the run was ended before it.
    pub(in crate::bench) fn window(&self) -> Range<Duration> {
        self.warm_up..self.end().max(self.warm_up)
    }

    /// Until when answers are waited for.
    pub(super) fn last(&self) -> Duration {
        self.end() + Duration::from_nanos(self.patience.load(Ordering::Relaxed))
    }

    /// Ends the run, if it has not ended: open calls have so long.
    pub(in crate::bench) fn cut(&self, patience: Duration) {
        let now = nanos(self.now());
        self.end.fetch_min(now, Ordering::Relaxed);
        self.patience.store(nanos(patience), Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What the calls of one thread have in common.
#[derive(Debug)]
pub(in crate::bench) struct Lane {
    pub(in crate::bench) run: Arc<Run>,
    /// Locked by others only where what was counted is taken away.
    recorder: Mutex<Recorder>,
}

impl Lane {
    pub(in crate::bench) fn new(run: Arc<Run>) -> Self {
        Self {
            run,
            recorder: Mutex::new(Recorder::new()),
        }
    }

    pub(in crate::bench) fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // Counts are never half made.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sent(&self, due: Duration, now: Duration) {
        self.recorder().sent(&self.run.window(), due, now);
    }

    pub(super) fn ended(&self, due: Duration, outcome: &Outcome) {
        let now = self.run.now();
        self.recorder().ended(&self.run.window(), due, now, outcome);
    }

    pub(super) fn skipped(&self, due: Duration, count: u64) {
        self.recorder().skipped(&self.run.window(), due, count);
    }

    /// Returns when no call is open any more, or nobody waits for them any longer.
    pub(super) async fn drained(&self) {
        while self.run.now() < self.run.last() && self.recorder().open().0 > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
