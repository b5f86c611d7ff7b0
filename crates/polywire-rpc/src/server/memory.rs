//! How much of bodies a server holds at once.
//!
//! Limits bound one message; many callers at once have many messages. So bytes
//! are taken from what the server may hold as they arrive, and given back when
//! the call ends. Requests of a usual size take nothing, and cost nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What each request may bring without taking any.
pub(super) const FREE: usize = 64 * 1024;

/// What is left for bodies.
#[derive(Debug)]
pub(super) struct Memory {
    left: AtomicUsize,
    all: usize,
}

impl Memory {
    pub(super) const fn new(bytes: usize) -> Self {
        Self {
            left: AtomicUsize::new(bytes),
            all: bytes,
        }
    }

    /// Whether there is less left than so many quarters of it.
    pub(super) fn has_less_than(&self, quarters: usize) -> bool {
        self.left.load(Ordering::Relaxed) < self.all / 4 * quarters
    }

    fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        // A count and nothing else: no other memory depends on its order.
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.is_ok()
    }
}

/// What one call has taken. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Held {
    pub(super) const fn nothing(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// Takes what a body of this length needs more. False if there is not as
    /// much left.
    pub(super) fn grow(&mut self, len: usize) -> bool {
        let more = len.saturating_sub(FREE).saturating_sub(self.bytes);
        if !self.memory.take(more) {
            return false;
        }
        self.bytes += more;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_given_back() {
        let memory = Arc::new(Memory::new(100));
        let left = || memory.left.load(Ordering::Relaxed);
        let mut first = Held::nothing(Arc::clone(&memory));
        assert!(first.grow(FREE));
        assert_eq!(left(), 100);
        assert!(first.grow(FREE + 60));
        assert!(first.grow(FREE + 60));
        assert_eq!(left(), 40);
        let mut second = Held::nothing(Arc::clone(&memory));
        assert!(!second.grow(FREE + 41));
        assert!(second.grow(FREE + 40));
        assert_eq!(left(), 0);
        // Who is refused more keeps what it has.
        assert!(!first.grow(FREE + 61));
        assert_eq!(left(), 0);
        drop(second);
        assert!(first.grow(FREE + 100));
        drop(first);
        assert_eq!(left(), 100);
    }
}
