//! The interface to the records of one side.

use std::ops::Range;
use std::sync::Arc;

use super::accumulator::Accumulator;
use super::record::{Bound, Record};
use crate::EventId;

/// Access to the records of one side by position, in the order of [`Record`].
///
/// [`Records`](super::Records) serves most callers. A database can implement this trait to answer
/// from its own index. The two methods without a default implementation suffice; override the
/// others for speed.
///
/// Positions start at 0. Records must be sorted and distinct, and must not change while a message
/// is answered. If a storage violates this, sessions report wrong differences or errors, but no
/// method panics.
pub trait Storage {
    /// The error of the storage.
    type Error;

    /// Returns the number of records.
    ///
    /// # Errors
    ///
    /// The storage fails.
    fn count(&self) -> Result<usize, Self::Error>;

    /// Returns the record at a position below [`count`](Self::count).
    ///
    /// # Errors
    ///
    /// The storage fails.
    fn record(&self, position: usize) -> Result<Record, Self::Error>;

    /// Returns the position of the first record at or above `bound`, searching from `start`, or the
    /// number of records if there is none.
    ///
    /// The default implementation is a binary search with [`record`](Self::record).
    ///
    /// # Errors
    ///
    /// The storage fails.
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
    /// The storage fails.
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
    /// The default implementation visits each id. Override it for large sets, because each message
    /// needs the sums of several ranges: see [`Accumulator`].
    ///
    /// # Errors
    ///
    /// The storage fails.
    fn accumulate(&self, positions: Range<usize>) -> Result<Accumulator, Self::Error> {
        let mut sum = Accumulator::default();
        self.for_each_id(positions, &mut |id| sum.add(id))?;
        Ok(sum)
    }
}

/// Implements [`Storage`] for a pointer to a storage.
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
