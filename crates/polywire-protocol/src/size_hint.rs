//! Initial sizes of encode buffers, estimated from earlier messages.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The minimum and initial size in bytes. Allocators serve a block of this size as fast as a
/// smaller one.
const MIN: usize = 512;

/// The maximum initial size in bytes. The buffer of a larger message grows while it is written.
const MAX: usize = 64 * 1024;

/// The largest size in bytes that the most common allocators serve from a thread cache. A larger
/// allocation can take as long as the rest of a small message.
const CACHED: usize = 1024;

/// The size of recent messages of one kind.
///
/// The estimate affects only speed, so threads update it without synchronization.
#[derive(Debug)]
pub struct SizeHint(AtomicUsize);

impl Default for SizeHint {
    fn default() -> Self {
        Self(AtomicUsize::new(MIN))
    }
}

impl SizeHint {
    /// Returns an empty buffer for the next message.
    pub(crate) fn new_buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.0.load(Ordering::Relaxed))
    }

    /// Updates the estimate with the length of a message in bytes. Usually the estimate fits and
    /// nothing is stored, so that threads do not contend for the cache line.
    pub(crate) fn record(&self, len: usize) {
        let current = self.0.load(Ordering::Relaxed);
        // Encoders reserve slightly more than they write.
        let mut wanted = len + len / 8 + 64;
        if wanted > CACHED && len + 64 <= CACHED {
            wanted = CACHED;
        }
        if wanted > current && current < MAX {
            self.0.store(wanted.min(MAX), Ordering::Relaxed);
        } else if wanted < current / 4 && current > MIN {
            self.0.store((current / 2).max(MIN), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_messages() {
        let hint = SizeHint::default();
        let capacity = || hint.new_buffer().capacity();
        assert_eq!(capacity(), MIN);
        hint.record(400);
        assert_eq!(capacity(), 514);
        hint.record(950);
        assert_eq!(capacity(), CACHED);
        hint.record(970);
        assert_eq!(capacity(), 1155);
        hint.record(8000);
        assert_eq!(capacity(), 9064);
        hint.record(5000);
        assert_eq!(capacity(), 9064);
        hint.record(1 << 20);
        assert_eq!(capacity(), MAX);
        for _ in 0..20 {
            hint.record(10);
        }
        assert_eq!(capacity(), MIN);
    }
}
