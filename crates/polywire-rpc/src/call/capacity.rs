//! The capacity of a server: handlers in progress and the load of the system.

use std::error::Error as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use polywire_frame::Time;
use polywire_protocol::Fault;

use super::admission::Rejection;
use crate::call::catch_panic;
use crate::frames::Clock;

/// Minimum time between two measurements of the load. None is made while no calls arrive.
const INTERVAL: Duration = Duration::from_millis(5);

/// A measurement above the limit is ignored after this time.
const MAX_AGE: Duration = Duration::from_secs(1);

/// A limit on the load of the system.
#[derive(Clone)]
pub(crate) struct LoadLimit {
    pub(crate) measure: Arc<dyn Fn() -> f64 + Send + Sync>,
    pub(crate) max: f64,
}

/// The capacity of a server, shared by its connections. The numbers are independent of each other and of other memory.
pub(crate) struct Capacity {
    max_handlers: u32,
    handlers: AtomicU32,
    load: Option<SystemLoad>,
}

impl Capacity {
    pub(crate) fn new(max_handlers: u32, load: Option<LoadLimit>) -> Self {
        Self {
            max_handlers,
            handlers: AtomicU32::new(0),
            load: load.map(SystemLoad::new),
        }
    }

    /// Number of handlers that wait for something.
    pub(crate) fn handlers(&self) -> u32 {
        self.handlers.load(Ordering::Relaxed)
    }

    /// Whether a further handler may start.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if self.handlers() >= self.max_handlers {
            return Err(Rejection::HandlerLimit);
        }
        match &self.load {
            Some(load) if load.is_too_high() => Err(Rejection::SystemLoad),
            _ => Ok(()),
        }
    }

    /// Measures the load, if it is limited and the last measurement is old enough.
    #[inline]
    pub(crate) fn measure(&self) {
        if let Some(load) = &self.load {
            load.measure();
        }
    }

    /// Counts a handler until the result is dropped.
    pub(crate) fn occupy(self: &Arc<Self>) -> Occupancy {
        self.handlers.fetch_add(1, Ordering::Relaxed);
        Occupancy(Arc::clone(self))
    }
}

/// A handler that waits for something.
pub(crate) struct Occupancy(Arc<Capacity>);

impl Drop for Occupancy {
    fn drop(&mut self) {
        self.0.handlers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The load of the system, as last measured.
struct SystemLoad {
    limit: LoadLimit,
    clock: Clock,
    /// The bits of an `f64`.
    value: AtomicU64,
    /// Time of the measurement.
    measured: AtomicU64,
    /// Done after the first measurement that failed.
    failure: Once,
}

impl SystemLoad {
    fn new(limit: LoadLimit) -> Self {
        Self {
            limit,
            clock: Clock::new(),
            value: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            failure: Once::new(),
        }
    }

    fn is_too_high(&self) -> bool {
        let load = f64::from_bits(self.value.load(Ordering::Relaxed));
        load > self.limit.max && self.age(self.clock.now()) <= MAX_AGE
    }

    fn age(&self, now: Time) -> Duration {
        now.since(Time::from_nanos(self.measured.load(Ordering::Relaxed)))
    }

    fn measure(&self) {
        let now = self.clock.now();
        if self.age(now) < INTERVAL {
            return;
        }
        // Two threads may measure at the same time, which does no harm.
        self.measured.store(now.as_nanos(), Ordering::Relaxed);
        // A panic would end the task of the connection.
        match catch_panic(|| Ok((self.limit.measure)())) {
            Ok(load) => self.value.store(load.to_bits(), Ordering::Relaxed),
            Err(fault) => self.report(&fault),
        }
    }

    /// Logs the first measurement that failed. The last value stays.
    #[cold]
    fn report(&self, fault: &Fault) {
        self.failure.call_once(|| {
            let reason = fault.source().map(ToString::to_string);
            tracing::error!(
                reason,
                "the load could not be measured, its last value stays"
            );
        });
    }
}
