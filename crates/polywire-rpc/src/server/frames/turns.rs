//! Calls that keep a processor busy wait for their turn apart from their connections.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{Admission, Shed};
use tokio::runtime::{self, Handle};
use tokio::task::coop;
use tokio::time::Instant;

use super::delay::SchedulingDelay;
use super::limits::FrameLimits;
use crate::frames::Clock;
use crate::server::answer::caught;

/// What a call may take of a processor to be carried out where it was read.
const LONG: Duration = Duration::from_micros(100);

/// How long calls have their turns on a thread one behind the other, until it looks at its sockets and connections.
const SLICE: Duration = Duration::from_millis(3);

/// Calls of an operation that are measured before it is taken for known.
const UNKNOWN: u32 = 8;

/// What the calls of an operation take of a processor before they end, or first wait for something.
///
/// A number that nothing depends on but who waits where.
#[derive(Debug, Default)]
pub(super) struct Cost {
    nanos: AtomicU32,
    /// How many were measured, up to [`UNKNOWN`].
    measured: AtomicU32,
}

impl Cost {
    /// Whether its calls wait for their turns apart from their connections.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.get() > LONG
    }

    /// Whether each call is to be measured, and not only one now and then.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.get() > LONG / 4 || self.measured.load(Ordering::Relaxed) < UNKNOWN
    }

    #[inline]
    fn get(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed).into())
    }

    /// A call was measured.
    pub(super) fn took(&self, took: Duration) {
        let before = self.get();
        // A thread may stand still for as long as the system likes, which says nothing of the call.
        let took = took.min((before * 8).max(LONG * 4));
        let after = before * 7 / 8 + took / 8;
        // What another thread has measured meanwhile is lost, which is no matter.
        let after = u32::try_from(after.as_nanos()).unwrap_or(u32::MAX);
        self.nanos.store(after, Ordering::Relaxed);
        let measured = self.measured.load(Ordering::Relaxed);
        if measured < UNKNOWN {
            self.measured.store(measured + 1, Ordering::Relaxed);
        }
    }
}

/// The calls of a server that wait for their turn or have it, as many at once as a runtime has threads.
///
/// A task for each thread gives turns, in the order in which calls came, and lets connections read what has come
/// between. It is there as long as a call waits.
#[derive(Debug)]
pub(super) struct Turns {
    /// How many tasks there may be.
    threads: u32,
    interval: Duration,
    clock: Clock,
    /// Of the runtime.
    pub(super) delay: Arc<SchedulingDelay>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Arc<Place>>,
    /// Tasks that give turns.
    givers: u32,
    waiting: Load,
    running: Load,
    /// By how much turns came later of late than they were foreseen: what else the threads have to do.
    late: Duration,
    admission: Admission,
}

/// So many calls, and what they take of a processor, as far as is known.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    calls: u32,
    cost: Duration,
}

impl Load {
    fn add(&mut self, cost: Duration) {
        self.calls += 1;
        self.cost += cost;
    }

    fn take(&mut self, cost: Duration) {
        self.calls -= 1;
        self.cost = self.cost.saturating_sub(cost);
    }
}

/// Has its turn, which may be too late for it.
type Run = Box<dyn FnOnce(bool) + Send>;

/// That of a call in the queue.
struct Place {
    /// Until the call has its turn, or was given up: with what it holds.
    run: Mutex<Option<Run>>,
    cost: Duration,
    since: Time,
    foreseen: Duration,
    /// Nobody waits there any more: the call has its turn, or was given up. Who says so first has it.
    left: AtomicBool,
}

impl Place {
    fn take(&self) -> Option<Run> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.take()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("cost", &self.cost)
            .field("foreseen", &self.foreseen)
            .finish_non_exhaustive()
    }
}

/// Places of calls that were given up which nobody looks for.
const LEAST: usize = 64;

impl Turns {
    /// Those of a runtime with so many threads.
    fn new(limits: &FrameLimits, threads: usize) -> Self {
        // How long a call will wait is known when it comes, so that it need not be seen first.
        let admission =
            Admission::new(u32::MAX).with_target(limits.target / 2, limits.interval / 2);
        let clock = Clock::new();
        Self {
            threads: u32::try_from(threads).unwrap_or(u32::MAX).max(1),
            interval: limits.interval,
            clock,
            delay: Arc::new(SchedulingDelay::new(clock)),
            state: Mutex::new(State {
                queue: VecDeque::new(),
                givers: 0,
                waiting: Load::default(),
                running: Load::default(),
                late: Duration::ZERO,
                admission,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls wait.
    fn waiting(&self) -> u32 {
        self.lock().waiting.calls
    }

    /// Whether a call is to wait for its turn, for whom somebody waits for so long.
    ///
    /// # Errors
    ///
    /// It would wait for too long.
    pub(super) fn admit(&self, cost: &Cost, left: Duration) -> Result<(), Shed> {
        self.admit_at(self.clock.now(), cost, left)
    }

    fn admit_at(&self, now: Time, cost: &Cost, left: Duration) -> Result<(), Shed> {
        let mut state = self.lock();
        let ahead = state.wait(self.threads);
        let wait = match ahead {
            Duration::ZERO => ahead,
            _ => ahead + state.late,
        };
        if wait > Duration::ZERO && wait >= left {
            return Err(Shed::Queue);
        }
        // One that is about as long before it is no queue, nor does it say anything of one.
        if ahead <= cost.get() {
            return Ok(());
        }
        state.admission.admit(now, wait, 0)
    }

    /// A call waits for its turn from now on, and until what this returns is dropped.
    pub(super) fn enter(self: &Arc<Self>, cost: &Cost, run: Run) -> Waiting {
        let mut state = self.lock();
        let place = Arc::new(Place {
            cost: cost.get(),
            since: self.clock.now(),
            foreseen: state.wait(self.threads),
            left: AtomicBool::new(false),
            run: Mutex::new(Some(run)),
        });
        state.waiting.add(place.cost);
        state.queue.push_back(Arc::clone(&place));
        let gives = state.givers < self.threads;
        state.givers += u32::from(gives);
        drop(state);
        if gives {
            tokio::spawn(give(Arc::clone(self)));
        }
        Waiting {
            place,
            turns: Arc::clone(self),
        }
    }

    /// The next call that has its turn; none if none waits, and then nobody gives turns any more for whom this is
    /// asked.
    fn next(&self) -> Option<Arc<Place>> {
        let mut state = self.lock();
        loop {
            let Some(place) = state.queue.pop_front() else {
                state.givers -= 1;
                return None;
            };
            if !place.left.swap(true, Ordering::Relaxed) {
                state.waiting.take(place.cost);
                state.running.add(place.cost);
                return Some(place);
            }
        }
    }

    /// Gives a call its turn.
    fn run(&self, place: &Place) {
        let waited = self.clock.now().since(place.since);
        {
            let mut state = self.lock();
            state.late = state.late * 7 / 8 + waited.saturating_sub(place.foreseen) / 8;
        }
        // Whatever becomes of it.
        let _running = Running(self, place.cost);
        if let Some(run) = place.take() {
            // As much later than one that is as long as calls may wait.
            let late = waited.saturating_sub(place.cost) > self.interval;
            // Its handler panics within; what is left of a call that nobody waits for may do so when it is dropped.
            let _ = caught(|| {
                run(late);
                Ok(())
            });
        }
    }
}

impl State {
    /// How long a call that comes now will wait, as far as others that wait are concerned.
    fn wait(&self, threads: u32) -> Duration {
        if self.waiting.calls + self.running.calls < threads {
            return Duration::ZERO;
        }
        // Of those that have their turn some are at its beginning and some at its end.
        (self.waiting.cost + self.running.cost / 2) / threads
    }
}

/// A call that has its turn.
struct Running<'a>(&'a Turns, Duration);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().running.take(self.1);
    }
}

/// Gives turns until nobody waits for one.
async fn give(turns: Arc<Turns>) {
    loop {
        // Connections read what has come, and turn away what is too much.
        tokio::task::yield_now().await;
        let until = Instant::now() + SLICE;
        loop {
            let Some(place) = turns.next() else {
                return;
            };
            turns.run(&place);
            // What handlers use up of what a task may do at once is given back when others had their turn.
            if Instant::now() >= until || !coop::has_budget_remaining() {
                break;
            }
        }
    }
}

/// A call that waits for its turn, or has had it. When this is dropped it does not wait any more.
#[derive(Debug)]
pub(super) struct Waiting {
    place: Arc<Place>,
    turns: Arc<Turns>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Waiting {
    /// Does not wait any more: whether the call has never had its turn.
    pub(super) fn give_up(&self) -> bool {
        if self.place.left.swap(true, Ordering::Relaxed) {
            return false;
        }
        let mut state = self.turns.lock();
        state.waiting.take(self.place.cost);
        if state.queue.len() > 2 * state.waiting.calls as usize + LEAST {
            let waits = |place: &Arc<Place>| !place.left.load(Ordering::Relaxed);
            state.queue.retain(waits);
        }
        drop(state);
        drop(self.place.take());
        true
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
        let mut all = self.lock();
        let known = all.iter().find(|(id, _)| *id == runtime.id());
        if let Some(turns) = known.and_then(|(_, turns)| turns.upgrade()) {
            return turns;
        }
        let turns = Arc::new(Turns::new(limits, runtime.metrics().num_workers()));
        all.retain(|(_, turns)| turns.strong_count() > 0);
        all.push((runtime.id(), Arc::downgrade(&turns)));
        turns
    }

    /// How many calls wait for a turn.
    pub(super) fn waiting(&self) -> u32 {
        let all = self.lock();
        let all = all.iter().filter_map(|(_, turns)| turns.upgrade());
        all.map(|turns| turns.waiting()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(runtime::Id, Weak<Turns>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn cost(millis: u64) -> Cost {
        let cost = Cost::default();
        cost.nanos
            .store(millis as u32 * 1_000_000, Ordering::Relaxed);
        cost
    }

    fn turns(threads: usize) -> Arc<Turns> {
        let (target, interval) = (Duration::from_millis(50), Duration::from_millis(200));
        Arc::new(Turns::new(
            &FrameLimits::new().queue(target, interval),
            threads,
        ))
    }

    const LONG_TIME: Duration = Duration::from_secs(9);

    fn at(millis: u64) -> Time {
        Time::ZERO.after(Duration::from_millis(millis))
    }

    fn nothing() -> Run {
        Box::new(|_| {})
    }

    #[test]
    fn an_operation_that_is_new_is_measured_until_it_is_known() {
        let cost = Cost::default();
        for _ in 0..UNKNOWN {
            assert!(cost.is_watched());
            cost.took(Duration::from_micros(1));
        }
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
        assert_eq!(first.threads, 3);
        assert_eq!(all.here(&limits).threads, 1);
        drop(first);
        drop((here(&one), here(&other)));
        let kept = here(&one);
        assert_eq!(all.lock().len(), 1);
        drop(kept);
    }

    #[tokio::test]
    async fn who_would_wait_too_long_is_told_at_once() {
        let turns = turns(1);
        let ten = cost(10);
        let waiting: Vec<_> = (0..10).map(|_| turns.enter(&ten, nothing())).collect();
        // A burst that is worked off is left in peace.
        assert_eq!(turns.admit_at(at(0), &ten, LONG_TIME), Ok(()));
        // Nobody waits for it when its turn comes.
        let left = Duration::from_millis(100);
        assert_eq!(turns.admit_at(at(0), &ten, left), Err(Shed::Queue));
        let more = turns.enter(&ten, nothing());
        assert_eq!(turns.admit_at(at(1), &ten, LONG_TIME), Err(Shed::Queue));
        assert_eq!(turns.waiting(), 11);
        drop(more);
        // It is no burst any more.
        assert_eq!(turns.admit_at(at(101), &ten, LONG_TIME), Err(Shed::Queue));
        drop(waiting);
        assert_eq!(turns.waiting(), 0);
        assert_eq!(turns.admit_at(at(102), &ten, LONG_TIME), Ok(()));
    }

    /// However long calls are, as many as there are threads never wait, and one for each of those hardly does.
    #[tokio::test]
    async fn nobody_is_told_to_wait_where_threads_have_nothing_to_do() {
        let turns = turns(4);
        let second = cost(1_000);
        let mut waiting = Vec::new();
        for call in 0..4 {
            assert_eq!(turns.admit_at(at(call), &second, LONG_TIME), Ok(()));
            waiting.push(turns.enter(&second, nothing()));
        }
        for time in 4..1_000 {
            assert_eq!(turns.admit_at(at(time), &second, LONG_TIME), Ok(()));
        }
        let soon = Duration::from_millis(900);
        assert_eq!(turns.admit_at(at(1_000), &second, soon), Err(Shed::Queue));
        waiting.extend((0..4).map(|_| turns.enter(&second, nothing())));
        let shed = turns.admit_at(at(1_001), &second, LONG_TIME);
        assert_eq!(shed, Err(Shed::Queue));
    }

    #[tokio::test(start_paused = true)]
    async fn turns_that_come_later_than_foreseen_are_foreseen_later() {
        let turns = turns(1);
        let one = cost(1);
        // A thread that has other things to do.
        for _ in 0..100 {
            let waiting = turns.enter(&one, nothing());
            tokio::time::advance(Duration::from_millis(150)).await;
            while turns.waiting() > 0 {
                tokio::task::yield_now().await;
            }
            drop(waiting);
        }
        let now = turns.clock.now();
        // Who finds nobody else finds out.
        assert_eq!(turns.admit_at(now, &one, LONG_TIME), Ok(()));
        let waiting = [(); 2].map(|()| turns.enter(&one, nothing()));
        assert_eq!(
            turns.admit_at(now, &one, LONG_TIME),
            Err(Shed::Queue),
            "{:?}",
            turns.lock().late
        );
        drop(waiting);
    }

    #[tokio::test]
    async fn turns_are_had_in_order_and_not_by_who_was_given_up() {
        let turns = turns(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting: Vec<_> = (0..3)
            .map(|number| {
                let order = Arc::clone(&order);
                let run = move |late| order.lock().unwrap().push((number, late));
                turns.enter(&cost(1), Box::new(run))
            })
            .collect();
        drop(waiting.remove(1));
        assert_eq!(turns.waiting(), 2);
        assert!(order.lock().unwrap().is_empty());
        while turns.lock().givers > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*order.lock().unwrap(), [(0, false), (2, false)]);
        drop(waiting);
        let state = turns.lock();
        let loads = [state.waiting, state.running];
        assert!(
            loads
                .iter()
                .all(|load| load.calls == 0 && load.cost.is_zero())
        );
    }

    /// Who is let in is not turned away later for having waited as long as was foreseen.
    #[tokio::test(start_paused = true)]
    async fn what_was_foreseen_is_not_late() {
        let turns = turns(1);
        let long = cost(300);
        assert_eq!(turns.admit_at(at(0), &long, LONG_TIME), Ok(()));
        let (tell, told) = std::sync::mpsc::channel();
        let mut waiting = Vec::new();
        for _ in 0..2 {
            let tell = tell.clone();
            assert_eq!(turns.admit_at(at(0), &long, LONG_TIME), Ok(()));
            waiting.push(turns.enter(&long, Box::new(move |late| tell.send(late).unwrap())));
        }
        tokio::time::advance(Duration::from_millis(300)).await;
        while turns.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [false, false]);
    }

    #[tokio::test]
    async fn what_panics_in_its_turn_keeps_nobody_from_theirs() {
        let turns = turns(1);
        let had = Arc::new(AtomicBool::new(false));
        let _one = turns.enter(&cost(1), Box::new(|_| panic!("a drop")));
        let own = Arc::clone(&had);
        let run = Box::new(move |_| own.store(true, Ordering::Relaxed));
        let _other = turns.enter(&cost(1), run);
        while turns.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(had.load(Ordering::Relaxed));
        assert_eq!(turns.lock().running.calls, 0);
    }

    /// What a call holds goes with it, however long those before it take.
    #[tokio::test]
    async fn who_was_given_up_keeps_nothing() {
        let turns = turns(1);
        let input = Arc::new(());
        let first = turns.enter(&cost(1), nothing());
        for _ in 0..1_000 {
            let held = Arc::clone(&input);
            drop(turns.enter(&cost(1), Box::new(move |_| drop(held))));
        }
        assert_eq!(Arc::strong_count(&input), 1);
        assert!(turns.lock().queue.len() <= 2 + LEAST);
        drop(first);
    }

    #[tokio::test(start_paused = true)]
    async fn whose_turn_comes_very_late_is_told_so() {
        let turns = turns(1);
        let (tell, told) = std::sync::mpsc::channel();
        let run = Box::new(move |late| tell.send(late).unwrap());
        let _waiting = turns.enter(&cost(1), run);
        tokio::time::advance(Duration::from_millis(202)).await;
        while turns.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(told.try_recv(), Ok(true));
    }
}
