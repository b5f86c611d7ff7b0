//! Answering a message. Initiator and responder differ only in how they answer a list of ids.

use std::ops::Range;

use super::error::Error;
use super::frame::FrameSizeLimit;
use super::record::Bound;
use super::storage::Storage;
use super::wire::{Payload, Reader, Writer};
use crate::EventId;

/// The number of ranges that a range is split into.
const BUCKETS: usize = 16;

/// A range with fewer records is sent as a list of ids: fingerprints would save little.
const LIST_BELOW: usize = 2 * BUCKETS;

/// The answer to a message, while it is written.
pub(super) struct Answer<'a, S> {
    pub(super) storage: &'a S,
    pub(super) limit: FrameSizeLimit,
    pub(super) writer: Writer,
    /// The position at which the last written range ends.
    written_to: usize,
    /// The upper bound of the ranges after that which need no answer. They are written as one skip,
    /// and only if another range follows: the end of a message implies a skip.
    skipped_to: Option<Bound>,
}

/// How a role answers a list of ids.
pub(super) trait IdListAnswer<S: Storage> {
    /// Answers the list of ids that the peer sent for these positions. Returns the position at
    /// which the answer ends, or `None` to skip the range.
    fn answer_id_list(
        &mut self,
        answer: &mut Answer<'_, S>,
        positions: Range<usize>,
        upper: &Bound,
        ids: &[[u8; EventId::LEN]],
    ) -> Result<Option<usize>, S::Error>;
}

impl<'a, S: Storage> Answer<'a, S> {
    pub(super) fn new(storage: &'a S, limit: FrameSizeLimit) -> Self {
        Self {
            storage,
            limit,
            writer: Writer::new(),
            written_to: 0,
            skipped_to: None,
        }
    }

    /// Answers the remaining ranges of `reader`, and returns the message.
    pub(super) fn finish(
        mut self,
        reader: &mut Reader<'_>,
        role: &mut impl IdListAnswer<S>,
    ) -> Result<Vec<u8>, Error<S::Error>> {
        let count = self.storage.count().map_err(Error::Storage)?;
        let mut start = 0;
        while let Some(range) = reader.range()? {
            let end = self.storage.find(start, &range.upper);
            // Ensures `start <= end <= count` even if the storage violates its contract.
            let end = end.map_err(Error::Storage)?.min(count).max(start);
            // The length to truncate to if the answer to this range exceeds the limit.
            let mut truncate_to = self.writer.len();
            let answered_to = match range.payload {
                Payload::Skip => None,
                Payload::Fingerprint(theirs) => {
                    let ours = self
                        .storage
                        .accumulate(start..end)
                        .map_err(Error::Storage)?;
                    if ours.fingerprint() == theirs {
                        None
                    } else {
                        self.write_skip();
                        self.write_split(start..end, &range.upper)
                            .map_err(Error::Storage)?;
                        Some(end)
                    }
                }
                Payload::IdList(ids) => {
                    let answered_to = role
                        .answer_id_list(&mut self, start..end, &range.upper, ids)
                        .map_err(Error::Storage)?;
                    // A role writes only as many ids as fit, so the list is not truncated.
                    truncate_to = self.writer.len();
                    self.written_to = answered_to.unwrap_or(self.written_to);
                    answered_to
                }
            };
            if !self.limit.has_room_after(self.writer.len()) {
                let rest = self.storage.accumulate(self.written_to..count);
                let rest = rest.map_err(Error::Storage)?.fingerprint();
                return Ok(self.writer.end_with(truncate_to, &rest));
            }
            match answered_to {
                Some(position) => self.written_to = position,
                None => self.skipped_to = Some(range.upper),
            }
            start = end;
        }
        Ok(self.writer.into_message())
    }

    /// Writes the pending skip, before a range that needs an answer.
    pub(super) fn write_skip(&mut self) {
        if let Some(upper) = self.skipped_to.take() {
            self.writer.skip(&upper);
        }
    }

    /// Writes the ids of a small range, or the fingerprints of the parts of a larger one.
    pub(super) fn write_split(
        &mut self,
        positions: Range<usize>,
        upper: &Bound,
    ) -> Result<(), S::Error> {
        if positions.len() < LIST_BELOW {
            return self.write_id_list(positions, upper);
        }
        let (size, larger) = (positions.len() / BUCKETS, positions.len() % BUCKETS);
        let mut start = positions.start;
        for bucket in 0..BUCKETS {
            let end = start + size + usize::from(bucket < larger);
            let upper = if end == positions.end {
                *upper
            } else {
                let last = self.storage.record(end - 1)?;
                Bound::between(&last, &self.storage.record(end)?)
            };
            let fingerprint = self.storage.accumulate(start..end)?.fingerprint();
            self.writer.fingerprint(&upper, &fingerprint);
            start = end;
        }
        Ok(())
    }

    /// Writes the ids at these positions.
    pub(super) fn write_id_list(
        &mut self,
        positions: Range<usize>,
        upper: &Bound,
    ) -> Result<(), S::Error> {
        self.writer.id_list(upper, positions.len());
        let writer = &mut self.writer;
        self.storage.for_each_id(positions, &mut |id| writer.id(id))
    }
}
