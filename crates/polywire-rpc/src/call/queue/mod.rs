//! The run queue for calls that keep a processor busy.
//!
//! Such calls do not run on the task of their connection, which meanwhile answers quick calls and rejects calls that
//! would wait too long. Each runs on its own task. They start in the order of arrival. At any
//! time as many of them decode, or run until their first wait, as the runtime has threads. Between time slices the
//! runtime polls its sockets and connections.

mod cost;
mod delay;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::CoDel;
use tokio::runtime::{self, Handle};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

pub(crate) use cost::OperationCost;
pub(crate) use delay::SchedulingDelay;

use super::admission::Rejection;
use crate::frames::Clock;

/// How long calls follow each other on a thread before connections are polled: several short calls, or one long call.
const QUEUE_SLICE: Duration = Duration::from_millis(3);

thread_local! {
    /// The end of the time slice of this thread.
    static SLICE_END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The run queue of one runtime.
#[derive(Debug)]
pub(crate) struct RunQueue {
    threads: u32,
    interval: Duration,
    clock: Clock,
    /// Of the runtime.
    pub(crate) delay: Arc<SchedulingDelay>,
    /// One for each thread. The semaphore is fair, and forgets waiters that are dropped.
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    waiting: u32,
    running: u32,
    /// The expected cost of all these calls. Of a call that runs, half.
    cost: Duration,
    /// Moving average of the time that calls waited longer than predicted: other work of the threads.
    excess: Duration,
    codel: CoDel,
}

impl RunQueue {
    /// `target` and `interval` are those of [`FrameLimits::queue`](crate::server::FrameLimits::queue).
    fn new(target: Duration, interval: Duration, threads: usize) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).max(1);
        let clock = Clock::new();
        Self {
            threads,
            interval,
            clock,
            delay: Arc::new(SchedulingDelay::new(clock)),
            permits: Semaphore::new(threads as usize),
            state: Mutex::new(State {
                waiting: 0,
                running: 0,
                cost: Duration::ZERO,
                excess: Duration::ZERO,
                // Half, because the delay is known on arrival instead of at the end of the wait.
                codel: CoDel::new(target / 2, interval / 2),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of calls that wait.
    fn waiting(&self) -> u32 {
        self.lock().waiting
    }

    /// Whether a call that arrives now may wait, if its deadline is in `left`.
    ///
    /// # Errors
    ///
    /// Its predicted queueing delay is too long.
    pub(crate) fn admit(&self, cost: &OperationCost, left: Duration) -> Result<(), Rejection> {
        self.admit_at(self.clock.now(), cost, left)
    }

    fn admit_at(&self, now: Time, cost: &OperationCost, left: Duration) -> Result<(), Rejection> {
        let mut state = self.lock();
        let ahead = state.cost_ahead(self.threads);
        if ahead.is_zero() {
            return Ok(());
        }
        let delay = ahead + state.excess;
        if delay >= left {
            return Err(Rejection::QueueTooLong);
        }
        // One call of the same length is not a queue.
        match ahead <= cost.get() || state.codel.accepts(now, delay) {
            true => Ok(()),
            false => Err(Rejection::QueueTooLong),
        }
    }

    /// Adds a call at the end. It leaves when the result and its clones are dropped.
    pub(crate) fn enter(self: &Arc<Self>, cost: &OperationCost) -> Arc<QueuedCall> {
        let cost = cost.get();
        let mut state = self.lock();
        let predicted = state.cost_ahead(self.threads);
        state.waiting += 1;
        state.cost += cost;
        drop(state);
        Arc::new(QueuedCall {
            queue: Arc::clone(self),
            cost,
            arrival: self.clock.now(),
            predicted,
            progress: AtomicU8::new(WAITING),
        })
    }
}

impl State {
    /// The queueing delay that the calls in the queue cause.
    fn cost_ahead(&self, threads: u32) -> Duration {
        match self.waiting + self.running < threads {
            true => Duration::ZERO,
            false => self.cost / threads,
        }
    }
}

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const CANCELLED: u8 = 2;

/// A call in a run queue. Shared by its task and its connection.
#[derive(Debug)]
pub(crate) struct QueuedCall {
    queue: Arc<RunQueue>,
    /// Expected.
    cost: Duration,
    arrival: Time,
    /// The predicted queueing delay.
    predicted: Duration,
    progress: AtomicU8,
}

impl QueuedCall {
    /// Waits until the call may start. It counts as running until the result is dropped.
    ///
    /// # Errors
    ///
    /// It has waited for longer than its expected cost and the interval together, or it was cancelled.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, Rejection> {
        let queue = &*self.queue;
        let Ok(permit) = queue.permits.acquire().await else {
            // The semaphore is never closed.
            return Err(Rejection::Unavailable);
        };
        if SLICE_END.get().is_none_or(|end| Instant::now() >= end) {
            // Connections read what has come, and reject calls in time.
            tokio::task::yield_now().await;
            SLICE_END.set(Some(Instant::now() + QUEUE_SLICE));
        }
        if !self.advance_to(STARTED) {
            return Err(Rejection::Unavailable);
        }
        let delay = queue.clock.now().since(self.arrival);
        let mut state = queue.lock();
        state.excess = state.excess * 7 / 8 + delay.saturating_sub(self.predicted) / 8;
        state.waiting -= 1;
        state.running += 1;
        // Running calls are, on average, half done.
        state.cost = state.cost.saturating_sub(self.cost / 2);
        drop(state);
        let turn = Turn {
            call: self,
            _permit: permit,
        };
        match delay.saturating_sub(self.cost) > queue.interval {
            true => Err(Rejection::QueueTooLong),
            false => Ok(turn),
        }
    }

    /// Prevents the start. Returns whether the call has not started.
    pub(crate) fn cancel(&self) -> bool {
        self.advance_to(CANCELLED)
    }

    fn advance_to(&self, progress: u8) -> bool {
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let changed = self
            .progress
            .compare_exchange(WAITING, progress, success, failure);
        changed.is_ok()
    }
}

impl Drop for QueuedCall {
    fn drop(&mut self) {
        if *self.progress.get_mut() != STARTED {
            let mut state = self.queue.lock();
            state.waiting -= 1;
            state.cost = state.cost.saturating_sub(self.cost);
        }
    }
}

/// The permission of a call to run.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    call: &'a QueuedCall,
    _permit: SemaphorePermit<'a>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.call.queue.lock();
        state.running -= 1;
        let rest = self.call.cost - self.call.cost / 2;
        state.cost = state.cost.saturating_sub(rest);
    }
}

/// The run queues of a server: one for each runtime that it has connections on.
#[derive(Debug, Default)]
pub(crate) struct RunQueues(Mutex<Vec<(runtime::Id, Weak<RunQueue>)>>);

impl RunQueues {
    /// The queue of the current runtime. Outside of a runtime a queue of its own.
    pub(crate) fn current(&self, target: Duration, interval: Duration) -> Arc<RunQueue> {
        let Ok(runtime) = Handle::try_current() else {
            return Arc::new(RunQueue::new(target, interval, 1));
        };
        let mut queues = self.lock();
        let known = queues.iter().find(|(id, _)| *id == runtime.id());
        if let Some(queue) = known.and_then(|(_, queue)| queue.upgrade()) {
            return queue;
        }
        let threads = runtime.metrics().num_workers();
        let queue = Arc::new(RunQueue::new(target, interval, threads));
        queues.retain(|(_, queue)| queue.strong_count() > 0);
        queues.push((runtime.id(), Arc::downgrade(&queue)));
        queue
    }

    /// Number of calls that wait, in all queues.
    pub(crate) fn waiting(&self) -> u32 {
        let queues = self.lock();
        let queues = queues.iter().filter_map(|(_, queue)| queue.upgrade());
        queues.map(|queue| queue.waiting()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(runtime::Id, Weak<RunQueue>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
