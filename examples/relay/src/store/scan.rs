//! Merges index scans by time.

use std::collections::BinaryHeap;

use super::database::Result;
use super::key::{Key, Position, position_of};
use super::snapshot::Snapshot;

/// The events under several key prefixes, newest first. An event under several prefixes is returned once.
pub(crate) struct MergedScan<'s> {
    /// For each prefix: the index on disk, then the segments, oldest first.
    sources: Vec<Source<'s>>,
    sources_per_prefix: usize,
    /// The next entry of each source.
    heads: BinaryHeap<Entry>,
    last: Option<u64>,
}

/// Positions in descending order, with numbers of events. `None` is a tombstone.
type Source<'s> = Box<dyn Iterator<Item = Result<(Position, Option<u64>)>> + 's>;

/// A position, the source, and the number of the event. For equal positions, the newest source of a prefix is the
/// greatest.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct Entry(Position, usize, Option<u64>);

impl<'s> MergedScan<'s> {
    /// Scans the positions from `low` to `high` (exclusive).
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        prefixes: &[Key],
        low: &Position,
        high: &Position,
    ) -> Result<Self> {
        let mut scan = Self {
            sources: Vec::new(),
            sources_per_prefix: 1 + snapshot.segments.len(),
            heads: BinaryHeap::with_capacity(prefixes.len()),
            last: None,
        };
        if low >= high {
            return Ok(scan);
        }
        for prefix in prefixes {
            let (low, high) = (prefix.with(low), prefix.with(high));
            let stored = snapshot.view.range(&low, &high)?;
            let stored = stored.map(|item| item.map(|(position, number)| (position, Some(number))));
            scan.sources.push(Box::new(stored));
            for segment in &snapshot.segments {
                let keys = segment.range(&low, &high).iter().rev();
                let keys = keys.map(|(key, number)| Ok((position_of(key.as_bytes()), *number)));
                scan.sources.push(Box::new(keys));
            }
        }
        for source in 0..scan.sources.len() {
            scan.advance(source)?;
        }
        Ok(scan)
    }

    /// Reads the next entry of a source.
    fn advance(&mut self, source: usize) -> Result<()> {
        if let Some(next) = self.sources[source].next() {
            let (position, number) = next?;
            self.heads.push(Entry(position, source, number));
        }
        Ok(())
    }

    /// Returns the position and number of the next event.
    pub(crate) fn next(&mut self) -> Result<Option<(Position, u64)>> {
        while let Some(Entry(position, source, number)) = self.heads.pop() {
            self.advance(source)?;
            // The newest source decides. Skip the same key in the older sources of the prefix.
            let prefix = source / self.sources_per_prefix;
            while let Some(&Entry(other, older, _)) = self.heads.peek()
                && (other, older / self.sources_per_prefix) == (position, prefix)
            {
                self.heads.pop();
                self.advance(older)?;
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
