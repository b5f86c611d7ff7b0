//! The initiator.

use std::collections::HashSet;
use std::ops::Range;

use super::answer::{Answer, IdListAnswer};
use super::error::Error;
use super::frame::FrameSizeLimit;
use super::record::Bound;
use super::storage::Storage;
use super::wire::{Reader, VERSION};
use crate::EventId;

/// The side that starts the session and learns the differences.
///
/// The initiator remembers reported ids, so that it reports each id once: after a message was cut
/// at the frame size limit, the peer can list some ranges again. This takes about 40 bytes for each
/// difference. With an untrusted peer, the caller should limit the number of differences.
///
/// The example of the [module](super) shows a whole session.
#[derive(Clone, Debug)]
pub struct Initiator<S> {
    storage: S,
    limit: FrameSizeLimit,
    reported: HashSet<EventId>,
}

/// The result of one message of the responder.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
pub struct Step {
    /// Newly found ids that only the initiator has.
    pub have: Vec<EventId>,
    /// Newly found ids that only the responder has.
    pub need: Vec<EventId>,
    /// The next message to send. `None` when all differences are known.
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

    /// Sets the maximum length of sent messages.
    #[must_use]
    pub fn with_frame_size_limit(mut self, limit: FrameSizeLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the first message of a session. It is shorter than [`FrameSizeLimit::MIN`].
    ///
    /// # Errors
    ///
    /// The storage fails.
    pub fn initial_message(&self) -> Result<Vec<u8>, S::Error> {
        let count = self.storage.count()?;
        let mut message = Answer::new(&self.storage, self.limit);
        message.write_split(0..count, &Bound::INFINITY)?;
        Ok(message.writer.into_message())
    }

    /// Processes a message of the responder.
    ///
    /// # Errors
    ///
    /// The message is malformed or has another version, or the storage fails. The session cannot
    /// continue after [`Error::Message`] or [`Error::Version`].
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

/// Compares a list with the ids of this side. Lists need no answer.
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
