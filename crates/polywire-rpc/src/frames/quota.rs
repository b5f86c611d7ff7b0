//! The limit of queued calls.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// The maximum of queued calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimits {
    pub(super) calls: usize,
    /// The total length of their inputs in bytes.
    pub(super) bytes: usize,
}

impl QueueLimits {
    /// About one second of calls on the fastest connection.
    pub(super) const DEFAULT: Self = Self {
        calls: 1 << 16,
        bytes: 64 << 20,
    };
}

/// Too many calls or bytes are queued.
#[derive(Debug)]
pub(super) struct QueueFull;

/// Counts the queued calls of all connections of a client. The queues themselves are in the connections.
#[derive(Debug)]
pub(super) struct QueueQuota {
    limits: QueueLimits,
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl QueueQuota {
    pub(super) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            calls: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Counts a call with an input of this length. A single call may have any length.
    pub(super) fn acquire(&self, bytes: usize) -> Result<(), QueueFull> {
        // Relaxed: the counts do not synchronize other memory.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.limits.calls {
            self.calls.fetch_sub(1, Ordering::Relaxed);
            return Err(QueueFull);
        }
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before > 0 && before.saturating_add(bytes) > self.limits.bytes {
            self.release(bytes);
            return Err(QueueFull);
        }
        Ok(())
    }

    /// Counts a call as not queued any more.
    pub(super) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Like [`Self::acquire`], and releases when the guard is dropped.
    pub(super) fn acquire_guard(&self, bytes: usize) -> Result<QueueGuard<'_>, QueueFull> {
        self.acquire(bytes)?;
        Ok(QueueGuard { quota: self, bytes })
    }

    /// The number of queued calls and their bytes.
    pub(super) fn usage(&self) -> (usize, usize) {
        let calls = self.calls.load(Ordering::Relaxed);
        (calls, self.bytes.load(Ordering::Relaxed))
    }
}

/// Releases a queued call when dropped.
pub(super) struct QueueGuard<'a> {
    quota: &'a QueueQuota,
    bytes: usize,
}

impl Drop for QueueGuard<'_> {
    fn drop(&mut self) {
        self.quota.release(self.bytes);
    }
}
