//! Where the records of one side come from.

use std::ops::Range;
use std::sync::Arc;

use super::accumulator::Accumulator;
use super::record::{Bound, Record};
use crate::EventId;

/// The records of one side, by their position in the order of [`Record`].
///
/// [`Records`](super::Records) serves most callers. A database implements this trait instead, to
/// answer from its own index: the two methods without a default suffice, and the others are there to
/// be replaced by faster ones.
///
/// Positions count from 0. Records have to be sorted and distinct, and have to stay as they are while
/// one message is answered. A storage that breaks this gets messages that make no sense to the peer;
/// nothing worse happens.
pub trait Storage {
    /// What can fail.
    type Error;

    /// Returns the number of records.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn count(&self) -> Result<usize, Self::Error>;

    /// Returns the record at a position below [`count`](Self::count).
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn record(&self, position: usize) -> Result<Record, Self::Error>;

    /// Returns the position of the first record from `start` on that is not below `bound`, or the
    /// number of records.
    ///
    /// By default, a binary search with [`record`](Self::record).
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn find(&self, start: usize, bound: &Bound) -> Result<usize, Self::Error> {
        let (mut start, mut end) = (start, self.count()?);
        while start < end {
            let middle = start + (end - start) / 2;
            if bound.is_above(&self.record(middle)?) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(start)
    }

    /// Passes the ids at these positions to `visit`, in order.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn for_each_id(
        &self,
        positions: Range<usize>,
        visit: &mut dyn FnMut(&EventId),
    ) -> Result<(), Self::Error> {
        for position in positions {
            visit(self.record(position)?.id());
        }
        Ok(())
    }

    /// Returns the sum of the ids at these positions.
    ///
    /// By default, this visits each id. Large sets need better, since each message asks for the sums
    /// of several ranges: see [`Accumulator`].
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn accumulate(&self, positions: Range<usize>) -> Result<Accumulator, Self::Error> {
        let mut sum = Accumulator::default();
        self.for_each_id(positions, &mut |id| sum.add(id))?;
        Ok(sum)
    }
}

/// Passes all calls on.
macro_rules! forward {
    ($target:ty) => {
        impl<S: Storage + ?Sized> Storage for $target {
            type Error = S::Error;

            fn count(&self) -> Result<usize, Self::Error> {
                (**self).count()
            }

            fn record(&self, position: usize) -> Result<Record, Self::Error> {
                (**self).record(position)
            }

            fn find(&self, start: usize, bound: &Bound) -> Result<usize, Self::Error> {
                (**self).find(start, bound)
            }

            fn for_each_id(
                &self,
                positions: Range<usize>,
                visit: &mut dyn FnMut(&EventId),
            ) -> Result<(), Self::Error> {
                (**self).for_each_id(positions, visit)
            }

            fn accumulate(&self, positions: Range<usize>) -> Result<Accumulator, Self::Error> {
                (**self).accumulate(positions)
            }
        }
    };
}

forward!(&S);
forward!(Arc<S>);
