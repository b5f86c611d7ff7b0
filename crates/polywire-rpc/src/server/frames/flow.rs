//! What all connections of a server share for flow control: a few counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::limits::FrameLimits;
use super::stats::{FrameStats, Sums};

/// How often the runtime is asked whether it is late, while calls come.
const PROBE: Duration = Duration::from_millis(5);

/// Of a server. Counts and nothing else: no other memory depends on the order of their changes.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(super) limits: FrameLimits,
    pub(super) sums: Sums,
    /// Handlers that wait for something.
    at_work: AtomicU32,
    /// How late the runtime was when it was last asked, in nanoseconds.
    lag: AtomicU64,
    /// What the load was then, as bits of a number.
    load: AtomicU64,
    /// Whether somebody is asking.
    asking: AtomicBool,
}

impl Flow {
    pub(crate) fn new(limits: FrameLimits) -> Self {
        Self {
            limits,
            sums: Sums::default(),
            at_work: AtomicU32::new(0),
            lag: AtomicU64::new(0),
            load: AtomicU64::new(0),
            asking: AtomicBool::new(false),
        }
    }

    pub(crate) fn stats(&self) -> FrameStats {
        self.sums.stats(self.at_work())
    }

    pub(super) fn at_work(&self) -> u32 {
        self.at_work.load(Ordering::Relaxed)
    }

    /// How long tasks wait for their turn at present.
    pub(super) fn lag(&self) -> Duration {
        Duration::from_nanos(self.lag.load(Ordering::Relaxed))
    }

    pub(super) fn load(&self) -> f64 {
        f64::from_bits(self.load.load(Ordering::Relaxed))
    }

    /// A handler waits for something, until what this returns is dropped.
    pub(super) fn works(self: &Arc<Self>) -> AtWork {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(Arc::clone(self))
    }

    /// Has the runtime's delay measured, and the load: by a timer that rings once, so that a server at rest
    /// has none.
    pub(super) fn ask(self: &Arc<Self>) {
        if self.asking.load(Ordering::Relaxed) || self.asking.swap(true, Ordering::Relaxed) {
            return;
        }
        let asked = Asking(Arc::clone(self));
        tokio::spawn(async move {
            let flow = &asked.0;
            let due = Instant::now() + PROBE;
            tokio::time::sleep_until(due).await;
            // Timers ring up to a millisecond late by themselves.
            let late = due.elapsed().saturating_sub(Duration::from_millis(1));
            let late = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
            flow.lag.store(late, Ordering::Relaxed);
            if let Some(load) = &flow.limits.load {
                let measured = (load.measure)().to_bits();
                flow.load.store(measured, Ordering::Relaxed);
            }
        });
    }
}

/// However it ends, with its runtime or in a panic, somebody else may ask.
struct Asking(Arc<Flow>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asking.store(false, Ordering::Relaxed);
    }
}

/// A handler that waits for something.
#[derive(Debug)]
pub(super) struct AtWork(Arc<Flow>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}
