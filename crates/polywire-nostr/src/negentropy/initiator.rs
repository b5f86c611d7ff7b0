//! The side that asks.

use std::collections::HashSet;
use std::ops::Range;

use super::answer::{Answer, IdListAnswer};
use super::error::Error;
use super::frame::FrameSizeLimit;
use super::record::Bound;
use super::storage::Storage;
use super::wire::{Reader, VERSION};
use crate::EventId;

/// The side that asks, and learns the differences.
///
/// It remembers the ids that it reported, so that each is reported once: a message that was cut at
/// the limit makes the peer list some ranges again. This takes about 40 bytes for each difference.
/// Callers that talk to peers they do not trust end a session that reports too many.
///
/// The example of the [module](super) shows a whole session.
#[derive(Clone, Debug)]
pub struct Initiator<S> {
    storage: S,
    limit: FrameSizeLimit,
    reported: HashSet<EventId>,
}

/// What one message of the responder told.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct Step {
    /// The ids that only the initiator has, among those not reported before.
    pub have: Vec<EventId>,
    /// The ids that only the responder has, among those not reported before.
    pub need: Vec<EventId>,
    /// The message to send next. `None` when all differences are known.
    pub next_message: Option<Vec<u8>>,
}

impl<S: Storage> Initiator<S> {
    /// Returns an initiator with the default [`FrameSizeLimit`].
    pub fn new(storage: S) -> Self {
        Self {
            storage,
            limit: FrameSizeLimit::default(),
            reported: HashSet::new(),
        }
    }

    /// Replaces the limit on the length of messages.
    #[must_use]
    pub fn with_frame_size_limit(mut self, limit: FrameSizeLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the message that starts a session. It is shorter than [`FrameSizeLimit::MIN`].
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn initial_message(&self) -> Result<Vec<u8>, S::Error> {
        let count = self.storage.count()?;
        let mut message = Answer::new(&self.storage, self.limit);
        message.write_split(0..count, &Bound::INFINITY)?;
        Ok(message.writer.into_message())
    }

    /// Reads an answer of the responder.
    ///
    /// # Errors
    ///
    /// A malformed message, another version, or an error of the storage. The session cannot be
    /// continued after an error of the message.
    pub fn reconcile(&mut self, message: &[u8]) -> Result<Step, Error<S::Error>> {
        let mut reader = Reader::new(message);
        let version = reader.version_byte()?;
        if version != VERSION {
            return Err(Error::Version {
                highest: version & 0x0f,
            });
        }
        let mut comparison = Comparison {
            step: Step::default(),
            reported: &mut self.reported,
        };
        let answer = Answer::new(&self.storage, self.limit).finish(&mut reader, &mut comparison)?;
        let mut step = comparison.step;
        step.next_message = Some(answer).filter(|answer| answer.len() > 1);
        Ok(step)
    }
}

/// Compares a list with the ids of this side, and answers nothing.
struct Comparison<'a> {
    step: Step,
    reported: &'a mut HashSet<EventId>,
}

impl<S: Storage> IdListAnswer<S> for Comparison<'_> {
    fn answer_id_list(
        &mut self,
        answer: &mut Answer<'_, S>,
        positions: Range<usize>,
        _: &Bound,
        ids: &[[u8; EventId::LEN]],
    ) -> Result<Option<usize>, S::Error> {
        let mut theirs: HashSet<&[u8; EventId::LEN]> = ids.iter().collect();
        let Self { step, reported } = self;
        answer.storage.for_each_id(positions, &mut |id| {
            if !theirs.remove(id.as_bytes()) && reported.insert(*id) {
                step.have.push(*id);
            }
        })?;
        for id in ids {
            let id = EventId::from_bytes(*id);
            if theirs.contains(id.as_bytes()) && reported.insert(id) {
                step.need.push(id);
            }
        }
        Ok(None)
    }
}
