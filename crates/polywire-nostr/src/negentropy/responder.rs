//! The responder.

use std::ops::Range;

use super::answer::{Answer, IdListAnswer};
use super::error::Error;
use super::frame::FrameSizeLimit;
use super::record::Bound;
use super::storage::Storage;
use super::wire::{Reader, VERSION};
use crate::EventId;

/// The side that answers, usually a relay. It keeps no state between messages.
///
/// The example of the [module](super) shows a whole session.
#[derive(Clone, Debug)]
pub struct Responder<S> {
    storage: S,
    limit: FrameSizeLimit,
}

impl<S: Storage> Responder<S> {
    /// Returns a responder with the default [`FrameSizeLimit`].
    pub fn new(storage: S) -> Self {
        Self {
            storage,
            limit: FrameSizeLimit::default(),
        }
    }

    /// Sets the maximum length of answers.
    #[must_use]
    pub fn with_frame_size_limit(mut self, limit: FrameSizeLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Answers a message of the initiator.
    ///
    /// The answer to a message of another version is only the version byte `0x61`; the initiator
    /// can then restart with version 1. The answer to a message without differences is also this
    /// byte.
    ///
    /// # Errors
    ///
    /// The message is malformed, or the storage fails.
    pub fn respond(&self, message: &[u8]) -> Result<Vec<u8>, Error<S::Error>> {
        let mut reader = Reader::new(message);
        if reader.version_byte()? != VERSION {
            return Ok(vec![VERSION]);
        }
        Answer::new(&self.storage, self.limit).finish(&mut reader, &mut SendOurs)
    }
}

/// Answers a list with the list of this side, so that the initiator can compare the two.
struct SendOurs;

impl<S: Storage> IdListAnswer<S> for SendOurs {
    fn answer_id_list(
        &mut self,
        answer: &mut Answer<'_, S>,
        positions: Range<usize>,
        upper: &Bound,
        _: &[[u8; EventId::LEN]],
    ) -> Result<Option<usize>, S::Error> {
        // The reference implementation also computes the count before it writes the skip.
        let count = answer.limit.ids_after(answer.writer.len(), positions.len());
        answer.write_skip();
        let end = positions.start + count;
        let upper = if end == positions.end {
            *upper
        } else {
            Bound::at(&answer.storage.record(end)?)
        };
        answer.write_id_list(positions.start..end, &upper)?;
        Ok(Some(end))
    }
}
