//! Several ranges of keys, merged by time.

use std::collections::BinaryHeap;

use super::database::{Keys, StoreError};
use super::key::{Key, Position};
use super::snapshot::Snapshot;

/// The events under some keys, newest first. An event that stands under several keys comes once.
pub(crate) struct Merged<'s> {
    sources: Vec<Source<'s>>,
    /// The next key of each source.
    heads: BinaryHeap<Head>,
    last: Option<u64>,
}

/// Where keys come from.
enum Source<'s> {
    Segment(&'s [(Key, Option<u64>)]),
    Table(Keys),
}

/// Ordered by position, then by scan, then the newest source first.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct Head {
    position: Position,
    scan: usize,
    source: usize,
    value: Option<u64>,
}

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
            merged.add(scan, Source::Table(snapshot.view.range(low, high)?))?;
            for segment in &snapshot.segments {
                merged.add(scan, Source::Segment(segment.range(low, high)))?;
            }
        }
        Ok(merged)
    }

    fn add(&mut self, scan: usize, source: Source<'s>) -> Result<(), StoreError> {
        self.sources.push(source);
        self.advance(scan, self.sources.len() - 1)
    }

    /// Reads the next key of a source.
    fn advance(&mut self, scan: usize, source: usize) -> Result<(), StoreError> {
        let next = match &mut self.sources[source] {
            Source::Segment(keys) => keys
                .split_off_last()
                .map(|(key, value)| (key.as_bytes().last_chunk().copied(), *value)),
            Source::Table(keys) => keys.next(|key, value| (Key::position(key), Some(value)))?,
        };
        if let Some((Some(position), value)) = next {
            self.heads.push(Head {
                position,
                scan,
                source,
                value,
            });
        }
        Ok(())
    }

    /// The position and number of the next event.
    pub(crate) fn next(&mut self) -> Result<Option<(Position, u64)>, StoreError> {
        while let Some(head) = self.heads.pop() {
            self.advance(head.scan, head.source)?;
            // The same key in older sources does not count.
            while let Some(other) = self.heads.peek()
                && (other.position, other.scan) == (head.position, head.scan)
            {
                let (scan, source) = (other.scan, other.source);
                self.heads.pop();
                self.advance(scan, source)?;
            }
            if let Some(number) = head.value
                && self.last != Some(number)
            {
                self.last = Some(number);
                return Ok(Some((head.position, number)));
            }
        }
        Ok(None)
    }
}
