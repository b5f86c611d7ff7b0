//! What the thread of the clients counts.

use std::cell::RefCell;
use std::future::Future;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use crate::{Figure, Figures, Span};

/// Failures after which a task calls no more: its connection is gone.
const HOPELESS: u64 = 1_000;

/// How long calls may take that are in flight at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// When calls count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    begin: Instant,
    end: Instant,
}

impl Times {
    /// Those of a span that begins now.
    pub(super) fn from_now(span: Span) -> Self {
        let begin = Instant::now() + span.warm_up;
        let end = begin + span.measured;
        Self { begin, end }
    }

    pub(super) fn over(&self, now: Instant) -> bool {
        now >= self.end
    }

    /// When calls are given up that are still in flight.
    pub(super) fn patience_ends(&self) -> Instant {
        self.end + PATIENCE
    }
}

/// Calls that ended, in order or not.
pub(super) struct Tally {
    times: Times,
    nanoseconds: Histogram<u64>,
    /// Of the warm-up too, as all that failed.
    made: u64,
    failed: u64,
    /// Calls that were answered with something else than the sum: nothing else counts then.
    wrong: Option<String>,
    why: Option<String>,
}

impl Tally {
    pub(super) fn new(times: Times) -> Result<Self, String> {
        // Up to a minute, three digits.
        let nanoseconds = Histogram::new_with_bounds(1, 60_000_000_000, 3);
        Ok(Self {
            times,
            nanoseconds: nanoseconds.map_err(|error| error.to_string())?,
            made: 0,
            failed: 0,
            wrong: None,
            why: None,
        })
    }

    /// Calls that were made at one moment and answered at another.
    pub(super) fn answered(&mut self, calls: u64, from: Instant, to: Instant) {
        self.made += calls;
        if to < self.times.begin || to >= self.times.end {
            return;
        }
        let nanoseconds = (to - from).as_nanos() as u64;
        self.nanoseconds.saturating_record_n(nanoseconds, calls);
    }

    /// Calls that were not answered.
    pub(super) fn failed(&mut self, calls: u64, why: impl Into<String>) {
        self.made += calls;
        self.failed += calls;
        self.why.get_or_insert(why.into());
    }

    /// An answer that is none.
    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert(what.into());
    }

    /// With what another thread has counted.
    pub(super) fn and(mut self, other: Self) -> Result<Self, String> {
        let added = self.nanoseconds.add(&other.nanoseconds);
        added.map_err(|error| error.to_string())?;
        self.made += other.made;
        self.failed += other.failed;
        self.wrong = self.wrong.or(other.wrong);
        self.why = self.why.or(other.why);
        Ok(self)
    }

    /// All of it, or what was wrong.
    pub(super) fn figures(self) -> Result<Figures, String> {
        if let Some(wrong) = self.wrong {
            return Err(format!("a wrong answer: {wrong}"));
        }
        let answered = self.nanoseconds.len();
        if answered == 0 {
            let why = self.why.unwrap_or_else(|| "no call ended".to_owned());
            return Err(format!("nothing was answered: {why}"));
        }
        let seconds = (self.times.end - self.times.begin).as_secs_f64();
        let quantile = |quantile| self.nanoseconds.value_at_quantile(quantile) as f64;
        let share = (self.made - self.failed) as f64 / self.made as f64;
        Ok(Figures::default()
            .with(Figure::Rate, answered as f64 / seconds)
            .with(Figure::P50, quantile(0.5))
            .with(Figure::P99, quantile(0.99))
            .with(Figure::Slowest, self.nanoseconds.max() as f64)
            .with(Figure::Answered, share)
            .with(Figure::Failed, self.failed as f64))
    }
}

thread_local! {
    /// That of the thread of the clients: without a lock or a message, which would be measured too.
    static TALLY: RefCell<Option<Tally>> = const { RefCell::new(None) };
}

/// Begins to count on this thread.
pub(super) fn begin(times: Times) -> Result<Times, String> {
    let tally = Tally::new(times)?;
    TALLY.set(Some(tally));
    Ok(times)
}

/// Does something to this thread's tally.
pub(super) fn with<R: Default>(change: impl FnOnce(&mut Tally) -> R) -> R {
    TALLY.with_borrow_mut(|tally| tally.as_mut().map(change).unwrap_or_default())
}

/// Ends the counting on this thread.
pub(super) fn end() -> Option<Tally> {
    TALLY.take()
}

/// What a call came to.
pub(super) enum Ended {
    /// The answer was right.
    Right,
    /// The answer was something else, which this tells.
    Wrong(String),
    /// There was none.
    Failed(String),
}

impl Ended {
    /// Of a call for a sum.
    pub(super) fn of(sum: Result<i32, String>, left: i32, right: i32) -> Self {
        match sum {
            Ok(sum) if sum == left + right => Self::Right,
            Ok(sum) => Self::Wrong(format!("{left} + {right} = {sum}")),
            Err(why) => Self::Failed(why),
        }
    }
}

/// Calls, and calls again, until the time is over.
pub(super) async fn repeat<F>(times: Times, mut call: impl FnMut() -> F)
where
    F: Future<Output = Ended>,
{
    let mut failures = 0;
    let mut from = Instant::now();
    while !times.over(from) {
        let ended = call().await;
        let to = Instant::now();
        let failed = matches!(ended, Ended::Failed(_));
        count(ended, from, to);
        if failed {
            failures += 1;
            if failures == HOPELESS {
                return;
            }
            tokio::task::yield_now().await;
        }
        from = to;
    }
}

/// Counts a call.
pub(super) fn count(ended: Ended, from: Instant, to: Instant) {
    with(|tally| match ended {
        Ended::Right => tally.answered(1, from, to),
        Ended::Wrong(what) => tally.wrong(what),
        Ended::Failed(why) => tally.failed(1, why),
    });
}

/// The same with sums. `caller` is the number of the task, which makes its numbers its own.
pub(super) async fn sums<F>(times: Times, caller: u32, call: impl Fn(i32, i32) -> F)
where
    F: Future<Output = Result<i32, String>>,
{
    // Of four bytes, as most numbers are that a format of variable length does not favour.
    let mut left = 0x4000_0000 + caller as i32;
    let right = 0x0100_0000 + caller as i32;
    let call = || {
        left = (left + 1) | 0x4000_0000;
        let (left, sum) = (left, call(left, right));
        async move { Ended::of(sum.await, left, right) }
    };
    repeat(times, call).await;
}
