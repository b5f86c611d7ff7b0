//! The limit on calls in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit on the number of calls in progress.
pub(crate) struct CallLimit {
    pub(crate) limit: usize,
    available: Arc<AtomicUsize>,
}

impl CallLimit {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            available: Arc::new(AtomicUsize::new(limit)),
        }
    }

    pub(crate) fn try_acquire(&self) -> Option<InFlight> {
        let decrement = |available: usize| available.checked_sub(1);
        // Relaxed: no other memory is ordered by the counter.
        let acquired = self
            .available
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, decrement);
        acquired.ok().map(|_| InFlight(Arc::clone(&self.available)))
    }
}

/// A permit of [`CallLimit`], returned when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
