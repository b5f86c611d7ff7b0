//! Which calls are accepted, and what rejected callers are told.

mod rejection;

use std::sync::Arc;
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::CoDel;

pub(crate) use rejection::{MemoryUse, RateScope, Rejection};

use super::FrameDeadline;
use super::InFlight;
use super::capacity::{Capacity, Occupancy};
use super::memory::MemoryReservation;
use super::queue::{OperationCost, RunQueue};

/// What a call holds while it is in progress.
pub(crate) struct Admitted {
    _in_flight: Option<InFlight>,
    /// For the input, if it is large.
    memory: Option<MemoryReservation>,
    /// While its handler waits for something.
    occupancy: Option<Occupancy>,
}

impl Admitted {
    pub(crate) const fn new(
        in_flight: Option<InFlight>,
        memory: Option<MemoryReservation>,
    ) -> Self {
        Self {
            _in_flight: in_flight,
            memory,
            occupancy: None,
        }
    }

    pub(crate) const fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    pub(crate) fn set_memory(&mut self, memory: Option<MemoryReservation>) {
        self.memory = memory;
    }

    /// The handler waits for something.
    pub(crate) fn occupy(&mut self, capacity: &Arc<Capacity>) {
        self.occupancy = Some(capacity.occupy());
    }
}

/// Accepts or rejects the calls of a connection, before they are decoded: by deadline, capacity and measured queueing
/// delay.
pub(crate) struct Admission {
    capacity: Arc<Capacity>,
    queue: Arc<RunQueue>,
    codel: CoDel,
    /// The scheduling delay of the runtime at the last [`Self::refresh`].
    scheduling_delay: Duration,
    /// Calls were rejected because too many are in progress.
    has_pressure: bool,
}

impl Admission {
    /// `target` and `interval` are those of [`FrameLimits::queue`](crate::server::FrameLimits::queue).
    pub(crate) fn new(
        capacity: Arc<Capacity>,
        queue: Arc<RunQueue>,
        target: Duration,
        interval: Duration,
    ) -> Self {
        Self {
            capacity,
            queue,
            codel: CoDel::new(target, interval),
            scheduling_delay: Duration::ZERO,
            has_pressure: false,
        }
    }

    /// Looks up the scheduling delay, for the calls that are admitted next.
    pub(crate) fn refresh(&mut self) {
        self.scheduling_delay = self.queue.delay.get();
    }

    /// Measures the scheduling delay and the load, if it is time for that.
    pub(crate) fn measure(&self) {
        self.queue.delay.measure();
        self.capacity.measure();
    }

    /// Whether a call starts now.
    ///
    /// Its queueing delay is `delay`, the time since it was read, plus the scheduling delay of the runtime, an estimate
    /// of the time in the socket buffer. A long call will wait in the run queue in addition.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        now: Time,
        delay: Duration,
        deadline: FrameDeadline,
        cost: Option<&OperationCost>,
    ) -> Result<(), Rejection> {
        if deadline.is_over(now) {
            return Err(Rejection::DeadlineExceeded);
        }
        self.capacity.check().inspect_err(|rejection| {
            self.has_pressure |= *rejection == Rejection::HandlerLimit;
        })?;
        if !self.codel.accepts(now, delay + self.scheduling_delay) {
            return Err(Rejection::QueueTooLong);
        }
        match cost {
            Some(cost) if cost.is_long() => self.queue.admit(cost, deadline.left(now)),
            _ => Ok(()),
        }
    }

    /// A client has more calls in progress than it may.
    pub(crate) const fn too_many_calls(&mut self) -> Rejection {
        self.has_pressure = true;
        Rejection::ClientCallLimit
    }

    /// Whether calls were rejected since the last use of this function because too many are in progress.
    ///
    /// Only then the client is told to have fewer calls open. A queue is shortened by rejections; with fewer open calls
    /// it would move to the client, where calls exceed their deadlines.
    pub(crate) const fn take_pressure(&mut self) -> bool {
        std::mem::replace(&mut self.has_pressure, false)
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::yield_now;
    use tokio::time::advance;

    use super::super::queue::RunQueues;
    use super::*;

    /// Two single-threaded runtimes whose clocks advance only when a test advances them.
    fn runtimes() -> [Runtime; 2] {
        [(); 2].map(|()| {
            let mut builder = Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().unwrap()
        })
    }

    /// One admission on each runtime.
    fn admissions(runtimes: &[Runtime; 2]) -> [Admission; 2] {
        let queues = RunQueues::default();
        let capacity = Arc::new(Capacity::new(9, None));
        let (target, interval) = (millis(50), millis(200));
        [0, 1].map(|index| {
            runtimes[index].block_on(async {
                let queue = queues.current(target, interval);
                Admission::new(Arc::clone(&capacity), queue, target, interval)
            })
        })
    }

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_busy_runtime_does_not_have_an_idle_one_shed_calls() {
        let runtimes = runtimes();
        let [mut busy, mut idle] = admissions(&runtimes);
        runtimes[0].block_on(async {
            advance(millis(10)).await;
            busy.measure();
            yield_now().await;
            // A handler blocks its thread for 400 ms.
            advance(millis(400)).await;
            yield_now().await;
            busy.refresh();
        });
        assert_eq!(busy.scheduling_delay, millis(400));
        runtimes[1].block_on(async { idle.refresh() });
        assert_eq!(idle.scheduling_delay, Duration::ZERO);
    }

    #[test]
    fn a_blocked_runtime_does_not_stop_the_measurement_on_another() {
        let runtimes = runtimes();
        let [blocked, mut other] = admissions(&runtimes);
        runtimes[0].block_on(async {
            advance(millis(10)).await;
            blocked.measure();
            yield_now().await;
        });
        runtimes[1].block_on(async {
            advance(millis(10)).await;
            other.measure();
            yield_now().await;
            advance(millis(7)).await;
            yield_now().await;
            other.refresh();
        });
        assert_eq!(other.scheduling_delay, millis(7));
    }
}
