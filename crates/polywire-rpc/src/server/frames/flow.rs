//! What all connections of a server share for flow control: a few counts.

use std::error::Error as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use polywire_frame::Time;
use polywire_protocol::Fault;

use super::limits::FrameLimits;
use super::stats::{FrameStats, Sums};
use super::turns::{AllTurns, Turns};
use crate::frames::Clock;
use crate::server::answer::caught;

/// The least time between two measurements of the system's load. None is made while no calls come.
const INTERVAL: Duration = Duration::from_millis(5);

/// A measurement of the load counts for so long.
const VALID: Duration = Duration::from_secs(1);

/// The counts of a server. No other memory depends on the order in which they change.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(super) limits: FrameLimits,
    pub(super) sums: Sums,
    /// Where calls wait that keep a processor busy.
    turns: AllTurns,
    /// Handlers that wait for something.
    at_work: AtomicU32,
    clock: Clock,
    /// The system's load as it was last measured, as bits of a number.
    load: AtomicU64,
    /// When that was, by the clock.
    measured: AtomicU64,
    /// Done when a measurement has failed.
    failure: Once,
}

impl Flow {
    pub(crate) fn new(limits: FrameLimits) -> Self {
        Self {
            turns: AllTurns::default(),
            limits,
            sums: Sums::default(),
            at_work: AtomicU32::new(0),
            clock: Clock::new(),
            load: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            failure: Once::new(),
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

    /// Where calls wait on this runtime that keep a processor busy.
    pub(super) fn turns(&self) -> Arc<Turns> {
        self.turns.here(&self.limits)
    }

    /// The system's load, as far as is known; what was measured long ago is nothing.
    pub(super) fn load(&self) -> f64 {
        let load = f64::from_bits(self.load.load(Ordering::Relaxed));
        let most = self
            .limits
            .load
            .as_ref()
            .map_or(f64::INFINITY, |load| load.most);
        match load > most && self.since_measured(self.clock.now()) > VALID {
            true => 0.0,
            false => load,
        }
    }

    /// Measures the system's load, if it is limited and the last measurement is old enough.
    #[inline]
    pub(super) fn measure_load(&self) {
        if let Some(load) = &self.limits.load {
            let now = self.clock.now();
            if self.since_measured(now) >= INTERVAL {
                // Two threads may do so at once, which does no harm.
                self.measured.store(now.as_nanos(), Ordering::Relaxed);
                // A panic would end the task of a connection, or of a UDP socket.
                match caught(|| Ok((load.measure)())) {
                    Ok(measured) => self.load.store(measured.to_bits(), Ordering::Relaxed),
                    Err(fault) => self.not_measured(&fault),
                }
            }
        }
    }

    /// Logs the first measurement that failed. The last value stays.
    #[cold]
    fn not_measured(&self, fault: &Fault) {
        self.failure.call_once(|| {
            let reason = fault.source().map(ToString::to_string);
            tracing::error!(
                reason,
                "the load could not be measured, its last value stays"
            );
        });
    }

    fn since_measured(&self, now: Time) -> Duration {
        now.since(Time::from_nanos(self.measured.load(Ordering::Relaxed)))
    }

    /// A handler waits for something, until what this returns is dropped.
    pub(super) fn works(self: &Arc<Self>) -> AtWork {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(Arc::clone(self))
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
