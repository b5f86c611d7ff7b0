//! The counts of the clients' thread.

use std::cell::RefCell;
use std::future::Future;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use polywire_gate::{Figure, Figures, Span};

/// A task stops after so many failures: its connection is gone.
const MAX_FAILURES: u64 = 1_000;

/// How long to wait for the calls in flight at the end.
const DRAIN: Duration = Duration::from_secs(10);

/// The measured span of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    begin: Instant,
    end: Instant,
}

impl Times {
    /// The span, with its warm-up beginning now.
    pub(super) fn from_now(span: Span) -> Self {
        let begin = Instant::now() + span.warm_up;
        let end = begin + span.measured;
        Self { begin, end }
    }

    pub(super) fn over(&self, now: Instant) -> bool {
        now >= self.end
    }

    /// When calls that are still in flight count as failed.
    pub(super) fn drained_by(&self) -> Instant {
        self.end + DRAIN
    }
}

/// The calls that ended.
pub(super) struct Tally {
    times: Times,
    nanoseconds: Histogram<u64>,
    /// Includes the warm-up, as `failed` does.
    made: u64,
    failed: u64,
    /// The first wrong answer, which fails the run.
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

    /// Counts calls that were made and answered at these times.
    pub(super) fn answered(&mut self, calls: u64, from: Instant, to: Instant) {
        self.made += calls;
        if to < self.times.begin || to >= self.times.end {
            return;
        }
        let nanoseconds = (to - from).as_nanos() as u64;
        self.nanoseconds.saturating_record_n(nanoseconds, calls);
    }

    /// Counts calls that were not answered.
    pub(super) fn failed(&mut self, calls: u64, why: impl Into<String>) {
        self.made += calls;
        self.failed += calls;
        self.why.get_or_insert(why.into());
    }

    /// Records a wrong answer.
    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert(what.into());
    }

    /// The figures, or the first wrong answer.
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
    /// Of the clients' thread. A lock or a channel would be measured too.
    static TALLY: RefCell<Option<Tally>> = const { RefCell::new(None) };
}

/// Starts counting on this thread.
pub(super) fn begin(times: Times) -> Result<Times, String> {
    let tally = Tally::new(times)?;
    TALLY.set(Some(tally));
    Ok(times)
}

/// Changes this thread's tally.
pub(super) fn with<R: Default>(change: impl FnOnce(&mut Tally) -> R) -> R {
    TALLY.with_borrow_mut(|tally| tally.as_mut().map(change).unwrap_or_default())
}

/// Stops counting on this thread.
pub(super) fn end() -> Option<Tally> {
    TALLY.take()
}

/// The outcome of a call.
pub(super) enum Outcome {
    /// The answer was right.
    Right,
    /// The answer was wrong.
    Wrong(String),
    /// There was no answer.
    Failed(String),
}

impl Outcome {
    /// The outcome of a call for a sum.
    pub(super) fn of(sum: Result<i32, String>, left: i32, right: i32) -> Self {
        match sum {
            Ok(sum) if sum == left + right => Self::Right,
            Ok(sum) => Self::Wrong(format!("{left} + {right} = {sum}")),
            Err(why) => Self::Failed(why),
        }
    }
}

/// Calls again and again until the time is over.
pub(super) async fn repeat<F>(times: Times, mut call: impl FnMut() -> F)
where
    F: Future<Output = Outcome>,
{
    let mut failures = 0;
    let mut from = Instant::now();
    while !times.over(from) {
        let outcome = call().await;
        let to = Instant::now();
        let failed = matches!(outcome, Outcome::Failed(_));
        count(outcome, from, to);
        if failed {
            failures += 1;
            if failures == MAX_FAILURES {
                return;
            }
            tokio::task::yield_now().await;
        }
        from = to;
    }
}

/// Counts a call.
fn count(outcome: Outcome, from: Instant, to: Instant) {
    with(|tally| match outcome {
        Outcome::Right => tally.answered(1, from, to),
        Outcome::Wrong(what) => tally.wrong(what),
        Outcome::Failed(why) => tally.failed(1, why),
    });
}

/// Calls `Add` again and again. Each task adds other numbers; `caller` is its own.
pub(super) async fn sums<F>(times: Times, caller: u32, call: impl Fn(i32, i32) -> F)
where
    F: Future<Output = Result<i32, String>>,
{
    // Numbers of four bytes in every format.
    let mut left = 0x4000_0000 + caller as i32;
    let right = 0x0100_0000 + caller as i32;
    let call = || {
        left = (left + 1) | 0x4000_0000;
        let (left, sum) = (left, call(left, right));
        async move { Outcome::of(sum.await, left, right) }
    };
    repeat(times, call).await;
}
