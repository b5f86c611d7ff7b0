//! Calls that keep a processor busy wait for their turn apart from their connections.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{Admission, Shed};
use tokio::runtime::{self, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::limits::FrameLimits;
use crate::frames::Clock;

/// What a call may take of a processor to be carried out where it was read.
const LONG: Duration = Duration::from_micros(100);

/// How long calls have their turns on a thread one behind the other, until it looks at its sockets and connections.
const SLICE: Duration = Duration::from_millis(4);

/// What the calls of an operation take of a processor before they end, or wait for something.
///
/// A number that nothing depends on but who waits where.
#[derive(Debug, Default)]
pub(super) struct Cost(AtomicU32);

impl Cost {
    /// Whether its calls wait for their turns apart from their connections.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.get() > LONG
    }

    /// Whether each call is to be measured, and not only one now and then.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.get() > LONG / 4
    }

    #[inline]
    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed).into())
    }

    /// A call was measured.
    pub(super) fn took(&self, took: Duration) {
        let before = self.get();
        // A thread may stand still for as long as the system likes, which says nothing of the call.
        let took = took.min((before * 8).max(LONG * 4));
        let after = before * 7 / 8 + took / 8;
        // What another thread has measured meanwhile is lost, which is no matter.
        let after = u32::try_from(after.as_nanos()).unwrap_or(u32::MAX);
        self.0.store(after, Ordering::Relaxed);
    }
}

/// The calls of a server that wait for their turn or have it, as many at once as a runtime has threads.
#[derive(Debug)]
pub(super) struct Turns {
    places: Arc<Semaphore>,
    /// How many those are.
    threads: u32,
    /// What all of them take of a processor, in nanoseconds, as far as is known.
    ahead: AtomicU64,
    admission: Mutex<Admission>,
    interval: Duration,
    clock: Clock,
}

impl Turns {
    /// Those of a runtime with so many threads.
    fn new(limits: &FrameLimits, threads: usize) -> Self {
        // How long a call will wait is known when it comes, so that it need not be seen first.
        let admission =
            Admission::new(u32::MAX).with_target(limits.target / 2, limits.interval / 2);
        Self {
            places: Arc::new(Semaphore::new(threads)),
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            ahead: AtomicU64::new(0),
            admission: Mutex::new(admission),
            interval: limits.interval,
            clock: Clock::new(),
        }
    }

    /// How long a call that comes now will wait for its turn.
    fn wait(&self) -> Duration {
        Duration::from_nanos(self.ahead.load(Ordering::Relaxed)) / self.threads
    }

    /// Whether a call is to wait for its turn, for whom somebody waits for so long.
    ///
    /// # Errors
    ///
    /// It would wait for too long.
    pub(super) fn admit(&self, left: Duration) -> Result<(), Shed> {
        self.admit_at(self.clock.now(), left)
    }

    fn admit_at(&self, now: Time, left: Duration) -> Result<(), Shed> {
        let wait = self.wait();
        if wait >= left {
            return Err(Shed::Queue);
        }
        let mut admission = self
            .admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        admission.admit(now, wait, 0)
    }

    /// A call begins to wait.
    pub(super) fn enter(self: &Arc<Self>, cost: &Cost) -> Waiting {
        let cost = cost.0.load(Ordering::Relaxed).into();
        self.ahead.fetch_add(cost, Ordering::Relaxed);
        Waiting {
            cost,
            since: Instant::now(),
            turns: Arc::clone(self),
        }
    }
}

/// The turns of a server on each runtime that it has connections on: such as one for each thread.
#[derive(Debug, Default)]
pub(super) struct AllTurns(Mutex<Vec<(runtime::Id, Weak<Turns>)>>);

impl AllTurns {
    /// Those of this runtime; outside of one there are none to be had.
    pub(super) fn here(&self, limits: &FrameLimits) -> Arc<Turns> {
        let Ok(runtime) = Handle::try_current() else {
            return Arc::new(Turns::new(limits, 1));
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().find(|(id, _)| *id == runtime.id());
        if let Some(turns) = known.and_then(|(_, turns)| turns.upgrade()) {
            return turns;
        }
        let turns = Arc::new(Turns::new(limits, runtime.metrics().num_workers()));
        all.retain(|(_, turns)| turns.strong_count() > 0);
        all.push((runtime.id(), Arc::downgrade(&turns)));
        turns
    }
}

/// A call that waits for its turn. When this is dropped it does not any more.
#[derive(Debug)]
pub(super) struct Waiting {
    cost: u64,
    since: Instant,
    turns: Arc<Turns>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.turns.ahead.fetch_sub(self.cost, Ordering::Relaxed);
    }
}

thread_local! {
    /// When this thread last looked at its sockets between two turns.
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

impl Waiting {
    /// Waits, in the order in which calls came.
    pub(super) async fn turn(self) -> Turn {
        // It is never closed; without a place the call would have its turn all the same.
        let place = Arc::clone(&self.turns.places).acquire_owned().await.ok();
        let looked = LOOKED.get();
        if looked.is_none_or(|looked| looked.elapsed() >= SLICE) {
            // Nobody else has this turn meanwhile: connections read what has come, and turn away what is too much.
            tokio::task::yield_now().await;
            // Not before: another that has its turn on this thread has to come here as well, since nobody takes
            // over who has yielded on a thread that is busy.
            LOOKED.set(Some(Instant::now()));
        }
        Turn {
            waited: self,
            _place: place,
        }
    }
}

/// A call that has its turn, until this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    waited: Waiting,
    _place: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Whether it came so late that nobody shall wait any longer: those before took longer than they used to.
    pub(super) fn is_late(&self) -> bool {
        self.waited.since.elapsed() > self.waited.turns.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_long_when_its_calls_are_and_no_more_when_they_are_not() {
        let cost = Cost::default();
        // Whatever held up that thread.
        cost.took(Duration::from_secs(5));
        assert!(!cost.is_long());
        assert!(cost.is_watched());
        for _ in 0..3 {
            cost.took(Duration::from_millis(2));
        }
        assert!(cost.is_long());
        for _ in 0..200 {
            cost.took(Duration::from_millis(2));
        }
        let known = cost.get();
        assert!(known > Duration::from_micros(1_990) && known <= Duration::from_millis(2));
        for _ in 0..40 {
            cost.took(Duration::from_micros(2));
        }
        assert!(!cost.is_long());
        assert!(!cost.is_watched());
    }

    #[test]
    fn each_runtime_has_turns_of_its_own() {
        let all = AllTurns::default();
        let limits = FrameLimits::new();
        let runtime = || {
            let mut builder = runtime::Builder::new_multi_thread();
            builder.worker_threads(3).build().unwrap()
        };
        let (one, other) = (runtime(), runtime());
        let here = |runtime: &runtime::Runtime| runtime.block_on(async { all.here(&limits) });
        let first = here(&one);
        assert!(Arc::ptr_eq(&first, &here(&one)));
        assert!(!Arc::ptr_eq(&first, &here(&other)));
        assert_eq!(first.places.available_permits(), 3);
        assert_eq!(all.here(&limits).places.available_permits(), 1);
        drop(first);
        drop((here(&one), here(&other)));
        let kept = here(&one);
        assert_eq!(all.0.lock().unwrap().len(), 1);
        drop(kept);
    }

    #[tokio::test]
    async fn who_would_wait_too_long_is_told_at_once() {
        let limits =
            FrameLimits::new().queue(Duration::from_millis(50), Duration::from_millis(200));
        let turns = Arc::new(Turns::new(&limits, 1));
        let cost = Cost(AtomicU32::new(10_000_000));
        let at = |millis| Time::ZERO.after(Duration::from_millis(millis));
        let long = Duration::from_secs(9);
        let waiting: Vec<_> = (0..10).map(|_| turns.enter(&cost)).collect();
        // A burst that is worked off is left in peace.
        assert_eq!(turns.admit_at(at(0), long), Ok(()));
        // Nobody waits for it when its turn comes.
        let left = Duration::from_millis(100);
        assert_eq!(turns.admit_at(at(0), left), Err(Shed::Queue));
        let more = turns.enter(&cost);
        assert_eq!(turns.admit_at(at(1), long), Err(Shed::Queue));
        drop(more);
        // It is no burst any more.
        assert_eq!(turns.admit_at(at(101), long), Err(Shed::Queue));
        drop(waiting);
        assert_eq!(turns.wait(), Duration::ZERO);
        assert_eq!(turns.admit_at(at(102), long), Ok(()));
    }

    #[tokio::test]
    async fn turns_are_had_in_order_and_one_at_a_time() {
        let turns = Arc::new(Turns::new(&FrameLimits::new(), 1));
        let cost = Cost::default();
        let first = turns.enter(&cost).turn().await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let waiting = turns.enter(&cost);
                let order = Arc::clone(&order);
                tokio::spawn(async move {
                    let _turn = waiting.turn().await;
                    order.lock().unwrap().push(number);
                })
            })
            .collect();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(order.lock().unwrap().is_empty());
        tasks[1].abort();
        drop(first);
        for task in tasks {
            let _ = task.await;
        }
        assert_eq!(*order.lock().unwrap(), [0, 2]);
    }
}
