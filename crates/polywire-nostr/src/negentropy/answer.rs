//! How a message is answered. The two roles differ only in what they do with a list of ids.

use std::ops::Range;

use super::error::Error;
use super::frame::FrameSizeLimit;
use super::record::Bound;
use super::storage::Storage;
use super::wire::{Payload, Reader, Writer};
use crate::EventId;

/// How many ranges one is split into.
const BUCKETS: usize = 16;

/// Below this many records, ids are listed rather than split: their fingerprints would save little.
const LIST_BELOW: usize = 2 * BUCKETS;

/// A message that is being written.
pub(super) struct Answer<'a, S> {
    pub(super) storage: &'a S,
    pub(super) limit: FrameSizeLimit,
    pub(super) writer: Writer,
    /// Where the last range that was written ends, as a position.
    written_to: usize,
    /// The end of the ranges since then that need no answer. They are written as one skip, and only
    /// if a range follows: the end of a message implies a skip.
    skipped_to: Option<Bound>,
}

/// What a role does with a list of ids.
pub(super) trait IdListAnswer<S: Storage> {
    /// Answers the list that the peer sent for these positions. Returns where the answer ends, or
    /// `None` to skip the range.
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

    /// Answers the ranges that `reader` has left, and returns the message.
    pub(super) fn finish(
        mut self,
        reader: &mut Reader<'_>,
        role: &mut impl IdListAnswer<S>,
    ) -> Result<Vec<u8>, Error<S::Error>> {
        let count = self.storage.count().map_err(Error::Storage)?;
        let mut start = 0;
        while let Some(range) = reader.range()? {
            let end = self.storage.find(start, &range.upper);
            // Defends `start <= end <= count` against a storage that does not keep its promises.
            let end = end.map_err(Error::Storage)?.min(count).max(start);
            // What stays if the answer to this range does not fit.
            let mut kept = self.writer.len();
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
                    // A list is made to fit, and is kept as it is.
                    kept = self.writer.len();
                    self.written_to = answered_to.unwrap_or(self.written_to);
                    answered_to
                }
            };
            if !self.limit.has_room_after(self.writer.len()) {
                let rest = self.storage.accumulate(self.written_to..count);
                let rest = rest.map_err(Error::Storage)?.fingerprint();
                return Ok(self.writer.end_with(kept, &rest));
            }
            match answered_to {
                Some(position) => self.written_to = position,
                None => self.skipped_to = Some(range.upper),
            }
            start = end;
        }
        Ok(self.writer.into_message())
    }

    /// Writes the ranges that need no answer, before one that does.
    pub(super) fn write_skip(&mut self) {
        if let Some(upper) = self.skipped_to.take() {
            self.writer.skip(&upper);
        }
    }

    /// Writes what is in a range: its ids if they are few, else the fingerprints of its parts.
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
