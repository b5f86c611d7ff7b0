//! A case and the methods that define it.

use crate::check::Verdict;
use crate::quote::Quote;
use crate::subject::{Closure, Subject, Work};
use crate::target::Target;

/// A task, the subjects that do it, and targets for our own subject.
/// Made by [`Group::case`](crate::Group::case); the methods chain.
///
/// Closures capture their inputs: the harness hides what is captured from the optimizer, but
/// not a constant in the closure's body.
pub struct Case {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) calls: Option<u64>,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) quotes: Vec<Quote>,
    pub(crate) targets: Vec<Target>,
}

impl Case {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            bytes: 0,
            calls: None,
            subjects: Vec::new(),
            quotes: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// The size of the input, or of the output where the case writes, for instructions per
    /// byte and MB/s. Without it those columns are empty.
    pub fn bytes(&mut self, bytes: usize) -> &mut Self {
        self.bytes = bytes;
        self
    }

    /// How many calls are counted together. Without it the harness chooses by the size. Set it
    /// where one call is tiny or very slow.
    pub fn calls(&mut self, calls: u64) -> &mut Self {
        self.calls = Some(calls.max(1));
        self
    }

    /// Our own subject. `run` returns the answer, and dropping the answer is measured too.
    /// `check` gets one answer before anything is measured and returns a `bool` or a
    /// `Result<(), _>`.
    pub fn polywire<Answer: 'static, V: Verdict + 'static>(
        &mut self,
        run: impl FnMut() -> Answer + 'static,
        check: impl FnMut(&Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer(crate::POLYWIRE, run, check)
    }

    /// A competitor, measured like our own subject.
    pub fn peer<Answer: 'static, V: Verdict + 'static>(
        &mut self,
        name: impl Into<String>,
        mut run: impl FnMut() -> Answer + 'static,
        mut check: impl FnMut(&Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer_with(name, (), move |()| run(), move |(), answer| check(answer))
    }

    /// Our own subject, which writes into a buffer. The buffer is empty before each call and
    /// keeps its capacity. The check gets the bytes.
    pub fn polywire_writes<V: Verdict + 'static>(
        &mut self,
        run: impl FnMut(&mut Vec<u8>) + 'static,
        check: impl FnMut(&[u8]) -> V + 'static,
    ) -> &mut Self {
        self.peer_writes(crate::POLYWIRE, run, check)
    }

    /// A competitor that writes into a buffer.
    pub fn peer_writes<V: Verdict + 'static>(
        &mut self,
        name: impl Into<String>,
        mut run: impl FnMut(&mut Vec<u8>) + 'static,
        mut check: impl FnMut(&[u8]) -> V + 'static,
    ) -> &mut Self {
        self.peer_with(
            name,
            Vec::new(),
            move |buffer| {
                buffer.clear();
                run(buffer);
            },
            move |buffer, ()| check(buffer),
        )
    }

    /// Our own subject with state that lives across calls, such as a reader or several
    /// buffers. The check gets the state and the answer.
    pub fn polywire_with<State: 'static, Answer: 'static, V: Verdict + 'static>(
        &mut self,
        state: State,
        run: impl FnMut(&mut State) -> Answer + 'static,
        check: impl FnMut(&State, &Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer_with(crate::POLYWIRE, state, run, check)
    }

    /// A competitor with state that lives across calls.
    pub fn peer_with<State: 'static, Answer: 'static, V: Verdict + 'static>(
        &mut self,
        name: impl Into<String>,
        state: State,
        run: impl FnMut(&mut State) -> Answer + 'static,
        check: impl FnMut(&State, &Answer) -> V + 'static,
    ) -> &mut Self {
        let closure = Closure { state, run, check };
        self.add(name.into(), Work::Counted(Box::new(closure)))
    }

    /// A competitor that measures its own time, because it runs in another process or
    /// language. The closure is called once per round and returns the nanoseconds of one call,
    /// or an error if the answer was wrong. Nothing but time is known of it.
    pub fn peer_self_timed(
        &mut self,
        name: impl Into<String>,
        nanoseconds_of_a_call: impl FnMut() -> Result<f64, String> + 'static,
    ) -> &mut Self {
        self.add(
            name.into(),
            Work::SelfTimed(Box::new(nanoseconds_of_a_call)),
        )
    }

    /// A published figure.
    pub fn quote(&mut self, quote: Quote) -> &mut Self {
        self.quotes.push(quote);
        self
    }

    /// The limit of instructions per byte.
    pub fn target_instructions_per_byte(&mut self, at_most: f64) -> &mut Self {
        self.target(Target::InstructionsPerByte { at_most })
    }

    /// The limit of allocations per call.
    pub fn target_allocations(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::Allocations { at_most })
    }

    /// The limit of bytes held at one time.
    pub fn target_peak_bytes(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::PeakBytes { at_most })
    }

    /// At least `at_least` times as fast as a peer or a quoted figure: best time against best
    /// time.
    pub fn target_ratio_time(&mut self, peer: impl Into<String>, at_least: f64) -> &mut Self {
        self.target(Target::RatioTime {
            peer: peer.into(),
            at_least,
        })
    }

    /// At most `at_most` times the instructions of a peer or a quoted figure.
    pub fn target_ratio_instructions(
        &mut self,
        peer: impl Into<String>,
        at_most: f64,
    ) -> &mut Self {
        self.target(Target::RatioInstructions {
            peer: peer.into(),
            at_most,
        })
    }

    /// At most `at_most` times the best peer of this case, in instructions or in time: the
    /// better of the two ratios counts.
    pub fn target_near_best(&mut self, at_most: f64) -> &mut Self {
        self.target(Target::NearBest { at_most })
    }

    /// At most `at_most` times our instructions in another case of this group: for permuted
    /// documents, and for inputs of twice the size.
    pub fn target_instructions_of_case(
        &mut self,
        case: impl Into<String>,
        at_most: f64,
    ) -> &mut Self {
        self.target(Target::InstructionsOfCase {
            case: case.into(),
            at_most,
        })
    }

    /// The limit of the best time of all rounds. It depends on the machine.
    pub fn target_time(&mut self, at_most: std::time::Duration) -> &mut Self {
        self.target(Target::Time {
            at_most: at_most.as_nanos() as f64,
        })
    }

    /// The instructions are the same in two processes, to the last one.
    pub fn target_repeats(&mut self) -> &mut Self {
        self.target(Target::Repeats)
    }

    fn add(&mut self, name: String, work: Work) -> &mut Self {
        assert!(
            self.subjects.iter().all(|subject| subject.name != name),
            "case {} has two subjects called {name}",
            self.name
        );
        self.subjects.push(Subject { name, work });
        self
    }

    fn target(&mut self, target: Target) -> &mut Self {
        self.targets.push(target);
        self
    }
}
