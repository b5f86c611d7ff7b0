//! Several ranges of keys, merged by time.

use std::collections::BinaryHeap;

use super::database::StoreError;
use super::key::{Key, Position, position_of};
use super::snapshot::Snapshot;

/// The events under some keys, newest first. An event that stands under several keys comes once.
pub(crate) struct Merged<'s> {
    sources: Vec<Source<'s>>,
    /// The next key of each source.
    heads: BinaryHeap<Head>,
    last: Option<u64>,
}

/// Positions and numbers of events, backwards. Those without a number have been removed.
type Source<'s> = Box<dyn Iterator<Item = Result<(Position, Option<u64>), StoreError>> + 's>;

/// Ordered by position, then by scan, then the newest source first.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct Head(Position, usize, usize, Option<u64>);

impl<'s> Merged<'s> {
    /// `low` is the first position that is read, and `high` the first that is not.
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        scans: &[Key],
        low: &Position,
        high: &Position,
    ) -> Result<Self, StoreError> {
        let mut merged = Self {
            sources: Vec::new(),
            heads: BinaryHeap::with_capacity(scans.len()),
            last: None,
        };
        if low >= high {
            return Ok(merged);
        }
        for (scan, prefix) in scans.iter().enumerate() {
            let (low, high) = (prefix.at(low), prefix.at(high));
            let (low, high) = (low.as_bytes(), high.as_bytes());
            let stored = snapshot.view.range(low, high)?;
            let stored = stored.map(|item| item.map(|(position, number)| (position, Some(number))));
            merged.sources.push(Box::new(stored));
            for segment in &snapshot.segments {
                let keys = segment.range(low, high).iter().rev();
                let keys = keys.map(|(key, number)| Ok((position_of(key.as_bytes()), *number)));
                merged.sources.push(Box::new(keys));
            }
            for source in merged.sources.len() - 1 - snapshot.segments.len()..merged.sources.len() {
                merged.advance(scan, source)?;
            }
        }
        Ok(merged)
    }

    /// Reads the next key of a source.
    fn advance(&mut self, scan: usize, source: usize) -> Result<(), StoreError> {
        if let Some(next) = self.sources[source].next() {
            let (position, number) = next?;
            self.heads.push(Head(position, scan, source, number));
        }
        Ok(())
    }

    /// The position and number of the next event.
    pub(crate) fn next(&mut self) -> Result<Option<(Position, u64)>, StoreError> {
        while let Some(Head(position, scan, source, number)) = self.heads.pop() {
            self.advance(scan, source)?;
            // The same key in older sources does not count.
            while self
                .heads
                .peek()
                .is_some_and(|head| (head.0, head.1) == (position, scan))
                && let Some(Head(_, _, older, _)) = self.heads.pop()
            {
                self.advance(scan, older)?;
            }
            if let Some(number) = number
                && self.last != Some(number)
            {
                self.last = Some(number);
                return Ok(Some((position, number)));
            }
        }
        Ok(None)
    }
}
