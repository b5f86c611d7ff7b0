//! Checking of lines.

use polywire_nostr::{Error, EventId, EventRef, Limits, Profile, Reason};

use crate::nostr::lines::{Chunk, Line};

/// How lines are checked, and which results are collected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) profile: Profile,
    pub(super) limits: Limits,
    pub(super) signatures: bool,
    /// The maximum number of collected errors per chunk.
    pub(super) messages: u64,
    /// Whether to collect a verdict for each line.
    pub(super) verdicts: bool,
}

/// The results of a chunk. Line numbers start at 1.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) lines: u64,
    pub(super) blank: u64,
    pub(super) valid: u64,
    /// For each reason, in the order of [`Reason::ALL`]: the number of invalid lines, and the first
    /// line number.
    pub(super) reasons: Vec<(u64, u64)>,
    /// The line numbers and errors of the first invalid lines.
    pub(super) messages: Vec<(u64, Error)>,
    pub(super) verdicts: Vec<Verdict>,
}

/// The byte range of a line in its chunk, and its id if it is valid.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: Option<EventId>,
}

impl Rules {
    pub(super) fn apply(&self, chunk: &Chunk) -> Outcome {
        let mut outcome = Outcome {
            lines: 0,
            blank: 0,
            valid: 0,
            reasons: Vec::new(),
            messages: Vec::new(),
            verdicts: Vec::new(),
        };
        for line in chunk.lines() {
            outcome.lines += 1;
            if line.is_blank() && line.bytes.len() <= self.limits.bytes {
                outcome.blank += 1;
                continue;
            }
            let checked = self.check(&line);
            match checked {
                Ok(_) => outcome.valid += 1,
                Err(error) => outcome.reject(error, self.messages),
            }
            if self.verdicts {
                outcome.verdicts.push(Verdict {
                    start: line.start,
                    end: line.start + line.bytes.len(),
                    id: checked.ok(),
                });
            }
        }
        outcome
    }

    fn check(&self, line: &Line<'_>) -> Result<EventId, Error> {
        let event = EventRef::parse_with(line.bytes, self.profile, &self.limits)?;
        match self.signatures {
            true => event.verify()?,
            false => event.check_id()?,
        }
        Ok(*event.id())
    }
}

impl Outcome {
    #[cold]
    fn reject(&mut self, error: Error, messages: u64) {
        let line = self.lines;
        self.reasons.resize(Reason::ALL.len(), (0, 0));
        let found = Reason::ALL.iter().zip(&mut self.reasons);
        for (_, (count, first)) in found.filter(|(reason, _)| **reason == error.reason) {
            *first = if *count == 0 { line } else { *first };
            *count += 1;
        }
        if (self.messages.len() as u64) < messages {
            self.messages.push((line, error));
        }
    }
}
