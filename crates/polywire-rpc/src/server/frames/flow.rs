//! What all connections of a server share for flow control: a few counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::limits::FrameLimits;
use super::stats::{FrameStats, Sums};
use super::turns::{AllTurns, Turns};

/// How often at most the runtime is asked whether it is late, while calls come.
const PROBE: Duration = Duration::from_millis(5);

/// A delay of the runtime that counts however old it is.
const SHORT: Duration = Duration::from_micros(100);

/// How old what is known of the system's load may be.
const LOAD: Duration = Duration::from_secs(1);

/// Of a server. Counts and nothing else: no other memory depends on the order of their changes.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(super) limits: FrameLimits,
    pub(super) sums: Sums,
    /// Where calls wait that keep a processor busy.
    turns: AllTurns,
    /// Handlers that wait for something.
    at_work: AtomicU32,
    /// How late the runtime was when it was last asked, in nanoseconds.
    lag: AtomicU64,
    /// When it answered, in nanoseconds from the beginning.
    answered: AtomicU64,
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
            turns: AllTurns::default(),
            limits,
            sums: Sums::default(),
            at_work: AtomicU32::new(0),
            lag: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            load: AtomicU64::new(0),
            asking: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            began: Instant::now(),
        }
    }

    /// What is counted here, beside so many bytes of memory.
    pub(crate) fn stats(&self, memory: usize) -> FrameStats {
        self.sums
            .stats(self.at_work(), self.turns.waiting(), memory)
    }

    pub(super) fn at_work(&self) -> u32 {
        self.at_work.load(Ordering::Relaxed)
    }

    /// How long tasks wait for their turn at present, as far as is known: what was measured long ago says nothing of
    /// now, as nobody asks a server that has nothing to do.
    pub(super) fn lag(&self) -> Duration {
        let lag = self.lag.load(Ordering::Relaxed);
        let lag = Duration::from_nanos(lag);
        // A short one harms nobody, and to read the clock for each call would cost more than it.
        match lag > SHORT && self.is_older_than((lag + PROBE) * 2) {
            true => Duration::ZERO,
            false => lag,
        }
    }

    /// Whether it is so long since the runtime was asked.
    fn is_older_than(&self, age: Duration) -> bool {
        let age = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        self.now() > self.answered.load(Ordering::Relaxed).saturating_add(age)
    }

    /// Where calls wait on this runtime that keep a processor busy.
    pub(super) fn turns(&self) -> Arc<Turns> {
        self.turns.here(&self.limits)
    }

    /// In nanoseconds from the beginning.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The system's load, as far as is known; what was measured long ago is nothing.
    pub(super) fn load(&self) -> f64 {
        let load = f64::from_bits(self.load.load(Ordering::Relaxed));
        let most = self
            .limits
            .load
            .as_ref()
            .map_or(f64::INFINITY, |load| load.most);
        match load > most && self.is_older_than(LOAD) {
            true => 0.0,
            false => load,
        }
    }

    /// A handler waits for something, until what this returns is dropped.
    pub(super) fn works(self: &Arc<Self>) -> AtWork {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(Arc::clone(self))
    }

    /// Has the runtime's delay measured, and the load, now and then while calls come: by a task that goes
    /// to the end of the queue once, as timers ring late enough by themselves where there is much to do.
    pub(super) fn ask(self: &Arc<Self>) {
        let now = self.now();
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
            // Behind all tasks that are ready, and behind a look at the sockets.
            tokio::task::yield_now().await;
            let late = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            flow.answered.store(flow.now(), Ordering::Relaxed);
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
