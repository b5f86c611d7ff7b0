//! A case and how it is written down.

use crate::check::Verdict;
use crate::quote::Quote;
use crate::subject::{Closure, Subject, Work};
use crate::target::Target;

/// One question with the subjects that answer it and what we want to reach.
/// Made by [`Group::case`](crate::Group::case); the methods chain.
///
/// Closures hold their inputs (`move`, from
/// [`Group::data`](crate::Group::data) or built before): the harness hides what is
/// captured from the optimizer, but cannot hide a constant that stands in the
/// closure's body.
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

    /// The size of the input, or of the output where the case writes: what
    /// instructions a byte and MB/s are about. Without it they are left out.
    pub fn bytes(&mut self, bytes: usize) -> &mut Self {
        self.bytes = bytes;
        self
    }

    /// How many calls the counted region makes; the harness picks some by the
    /// size otherwise. Worth setting where one call is tiny or very slow.
    pub fn calls(&mut self, calls: u64) -> &mut Self {
        self.calls = Some(calls.max(1));
        self
    }

    /// Our own subject. `run` returns the answer, which is dropped inside the
    /// measurement; `check` gets one answer before anything is measured and
    /// returns a `bool` or a `Result<(), _>`.
    pub fn polywire<Answer: 'static, V: Verdict + 'static>(
        &mut self,
        run: impl FnMut() -> Answer + 'static,
        check: impl FnMut(&Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer(crate::POLYWIRE, run, check)
    }

    /// Another subject, measured like ours.
    pub fn peer<Answer: 'static, V: Verdict + 'static>(
        &mut self,
        name: impl Into<String>,
        mut run: impl FnMut() -> Answer + 'static,
        mut check: impl FnMut(&Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer_with(name, (), move |()| run(), move |(), answer| check(answer))
    }

    /// Our own subject, writing: the buffer is the harness's, empty at each call,
    /// with the capacity of the call before. The check gets the bytes.
    pub fn polywire_writes<V: Verdict + 'static>(
        &mut self,
        run: impl FnMut(&mut Vec<u8>) + 'static,
        check: impl FnMut(&[u8]) -> V + 'static,
    ) -> &mut Self {
        self.peer_writes(crate::POLYWIRE, run, check)
    }

    /// Another subject, writing.
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

    /// Our own subject with state of its own, such as a reader or several buffers
    /// that are used again. The check sees the state and the answer.
    pub fn polywire_with<State: 'static, Answer: 'static, V: Verdict + 'static>(
        &mut self,
        state: State,
        run: impl FnMut(&mut State) -> Answer + 'static,
        check: impl FnMut(&State, &Answer) -> V + 'static,
    ) -> &mut Self {
        self.peer_with(crate::POLYWIRE, state, run, check)
    }

    /// Another subject with state of its own.
    pub fn peer_with<State: 'static, Answer: 'static, V: Verdict + 'static>(
        &mut self,
        name: impl Into<String>,
        state: State,
        run: impl FnMut(&mut State) -> Answer + 'static,
        check: impl FnMut(&State, &Answer) -> V + 'static,
    ) -> &mut Self {
        let closure = Closure { state, run, check };
        self.add(name.into(), Work::Inside(Box::new(closure)))
    }

    /// A peer in another process or language: the closure is called once a round
    /// and returns the nanoseconds of one call, or an error if the peer's answer
    /// was wrong. Only time is known of it.
    pub fn peer_outside(
        &mut self,
        name: impl Into<String>,
        nanoseconds_of_a_call: impl FnMut() -> Result<f64, String> + 'static,
    ) -> &mut Self {
        self.add(name.into(), Work::Outside(Box::new(nanoseconds_of_a_call)))
    }

    /// A figure that somebody else measured.
    pub fn quote(&mut self, quote: Quote) -> &mut Self {
        self.quotes.push(quote);
        self
    }

    /// At most so many instructions a call.
    pub fn target_instructions(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::Instructions {
            at_most: at_most as f64,
        })
    }

    /// At most so many instructions a byte.
    pub fn target_instructions_per_byte(&mut self, at_most: f64) -> &mut Self {
        self.target(Target::InstructionsPerByte { at_most })
    }

    /// At most so many allocations a call.
    pub fn target_allocations(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::Allocations { at_most })
    }

    /// At most so many bytes allocated a call.
    pub fn target_bytes_allocated(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::BytesAllocated { at_most })
    }

    /// At most so many bytes held at one time.
    pub fn target_peak_bytes(&mut self, at_most: u64) -> &mut Self {
        self.target(Target::PeakBytes { at_most })
    }

    /// At least so many times as fast as a peer, or as a quoted figure: best time
    /// against best time.
    pub fn target_ratio_time(&mut self, peer: impl Into<String>, at_least: f64) -> &mut Self {
        self.target(Target::RatioTime {
            peer: peer.into(),
            at_least,
        })
    }

    /// At most so many times the instructions of a peer, or of a quoted figure.
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

    /// At most so many times the best peer of this case, in instructions or in
    /// time: the friendlier of both counts.
    pub fn target_near_best(&mut self, at_most: f64) -> &mut Self {
        self.target(Target::NearBest { at_most })
    }

    /// At most so many times our instructions in another case of this group: for
    /// permuted documents and for growth.
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

    /// At most so much time, the best of all rounds. It depends on the machine:
    /// for a promise to people, beside counts that repeat.
    pub fn target_time(&mut self, at_most: std::time::Duration) -> &mut Self {
        self.target(Target::Time {
            at_most: at_most.as_nanos() as f64,
        })
    }

    /// At most so many times our best time in another case of this group.
    pub fn target_time_of_case(&mut self, case: impl Into<String>, at_most: f64) -> &mut Self {
        self.target(Target::TimeOfCase {
            case: case.into(),
            at_most,
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
