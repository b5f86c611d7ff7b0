//! Records in memory.

use std::convert::Infallible;
use std::ops::Range;

use super::accumulator::Accumulator;
use super::record::{Bound, Record};
use super::storage::Storage;
use crate::EventId;

/// The number of records per stored sum. A fingerprint then takes at most `2 * (STRIDE - 1)`
/// additions, which cost less than its digest, and the sums add 2.5 bytes to a record of 40 bytes.
const STRIDE: usize = 16;

/// Sorted, distinct records in memory.
///
/// Collect them from an iterator in any order. The fingerprint of a range takes constant time. The
/// methods of [`Storage`] panic if a position is out of range.
///
/// ```
/// use polywire_nostr::EventId;
/// use polywire_nostr::negentropy::{Record, Records};
///
/// let late = Record::new(1_700_000_001, EventId::from_bytes([1; 32]))?;
/// let early = Record::new(1_700_000_000, EventId::from_bytes([2; 32]))?;
/// let records: Records = [late, early, late].into_iter().collect();
/// assert_eq!(records.as_slice(), [early, late]);
/// # Ok::<(), polywire_nostr::negentropy::ReservedTimestamp>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Sorted and distinct.
    records: Vec<Record>,
    /// `sums[n]` is the sum of the first `n * STRIDE` records.
    /// `sums.len() == records.len() / STRIDE + 1`, or 0 in an empty default value.
    sums: Vec<Accumulator>,
}

impl Records {
    /// Returns the sorted records.
    #[must_use]
    pub fn as_slice(&self) -> &[Record] {
        &self.records
    }

    /// Returns the sum of the first `end` records.
    fn sum_before(&self, end: usize) -> Accumulator {
        let block = end / STRIDE;
        let mut sum = self.sums.get(block).copied().unwrap_or_default();
        for record in &self.records[block * STRIDE..end] {
            sum.add(record.id());
        }
        sum
    }
}

impl FromIterator<Record> for Records {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        let mut records: Vec<_> = records.into_iter().collect();
        records.sort_unstable();
        records.dedup();
        let mut sums = Vec::with_capacity(records.len() / STRIDE + 1);
        let mut sum = Accumulator::default();
        sums.push(sum);
        for block in records.as_chunks::<STRIDE>().0 {
            for record in block {
                sum.add(record.id());
            }
            sums.push(sum);
        }
        Self { records, sums }
    }
}

impl Storage for Records {
    type Error = Infallible;

    fn count(&self) -> Result<usize, Infallible> {
        Ok(self.records.len())
    }

    fn record(&self, position: usize) -> Result<Record, Infallible> {
        Ok(self.records[position])
    }

    fn find(&self, start: usize, bound: &Bound) -> Result<usize, Infallible> {
        let records = &self.records[start..];
        Ok(start + records.partition_point(|record| bound.is_above(record)))
    }

    fn for_each_id(
        &self,
        positions: Range<usize>,
        visit: &mut dyn FnMut(&EventId),
    ) -> Result<(), Infallible> {
        for record in &self.records[positions] {
            visit(record.id());
        }
        Ok(())
    }

    fn accumulate(&self, positions: Range<usize>) -> Result<Accumulator, Infallible> {
        let mut sum = self.sum_before(positions.end);
        sum -= self.sum_before(positions.start);
        Ok(sum)
    }
}
