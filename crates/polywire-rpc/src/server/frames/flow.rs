//! What all connections of a server share for flow control: a few counts.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use super::limits::FrameLimits;
use super::stats::{FrameStats, Sums};

/// How often at most the runtime is asked whether it is late, while calls come.
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
    /// When somebody last began to, in nanoseconds from the beginning.
    asked: AtomicU64,
    began: Instant,
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
            asked: AtomicU64::new(0),
            began: Instant::now(),
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

    /// Has the runtime's delay measured, and the load, now and then while calls come: by a task that goes
    /// to the end of the queue once, as timers ring late enough by themselves where there is much to do.
    pub(super) fn ask(self: &Arc<Self>) {
        let now = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let due = self.asked.load(Ordering::Relaxed) + PROBE.as_nanos() as u64;
        if now < due
            || self.asking.load(Ordering::Relaxed)
            || self.asking.swap(true, Ordering::Relaxed)
        {
            return;
        }
        self.asked.store(now, Ordering::Relaxed);
        let asked = Asking(Arc::clone(self));
        tokio::spawn(async move {
            let flow = &asked.0;
            let begun = Instant::now();
            let mut waited = false;
            poll_fn(|context| {
                if std::mem::replace(&mut waited, true) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            let late = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
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
