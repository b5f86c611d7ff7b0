//! The subjects of a case: closures behind one object-safe trait, so that the harness can
//! repeat them without knowing their types.

use crate::check::Verdict;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One subject of a case.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) work: Work,
}

/// How a subject is measured.
pub(crate) enum Work {
    /// By the harness: instructions, allocations and time.
    Counted(Box<dyn Repeat>),
    /// By itself: the closure returns the nanoseconds of one call.
    SelfTimed(Box<dyn FnMut() -> Result<f64, String>>),
}

impl Work {
    /// Runs the subject once and checks its answer.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let outcome = catch_unwind(AssertUnwindSafe(|| match self {
            Self::Counted(work) => work.check(),
            Self::SelfTimed(time) => time().map(drop),
        }));
        outcome.unwrap_or_else(|_| Err("it panicked".to_owned()))
    }
}

/// A measured closure, its state and its check.
pub(crate) trait Repeat {
    /// Calls the closure so many times, dropping each answer inside.
    fn repeat(&mut self, calls: u64);

    /// Calls the closure once and checks the answer.
    fn check(&mut self) -> Result<(), String>;
}

/// The loop is compiled for each closure, so one virtual call covers a whole round.
pub(crate) struct Closure<State, Run, Check> {
    pub(crate) state: State,
    pub(crate) run: Run,
    pub(crate) check: Check,
}

impl<State, Answer, Run, Check, V> Repeat for Closure<State, Run, Check>
where
    Run: FnMut(&mut State) -> Answer,
    Check: FnMut(&State, &Answer) -> V,
    V: Verdict,
{
    fn repeat(&mut self, calls: u64) {
        for _ in 0..calls {
            // The optimizer has to assume that the black box changed what the closure
            // captured, so it cannot move work out of the loop.
            let this = black_box(&mut *self);
            let answer = (this.run)(&mut this.state);
            // By reference, because a large answer would be copied otherwise.
            black_box(&answer);
        }
    }

    fn check(&mut self) -> Result<(), String> {
        let answer = (self.run)(&mut self.state);
        (self.check)(&self.state, &answer).into_result()
    }
}
