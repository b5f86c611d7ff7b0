//! The memory of a server for messages, of all callers together
//! ([`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory)).
//!
//! | what | counted from | until |
//! |---|---|---|
//! | body of an HTTP request, input over frames | 64 KiB each | the call ends |
//! | line of JSON-RPC | 64 KiB each | the response is known |
//! | input over frames that waits in the run queue or for authentication | 4 KiB each | the call ends |
//! | decoded input of an operation (an estimate) | bodies above 8 KiB, 64 KiB each | the call ends |
//! | reply over frames | 4 KiB each | it is written |
//! | items that a handler has not read | 64 KiB a connection | they are read |
//! | items to be sent | 4 KiB a stream | they are sent |
//!
//! When less than a quarter is available, the server lowers the limit of bytes in open calls that it sends to clients over
//! frames, until half is available (`server/frames/state.rs`).
//!
//! The replies and items of a connection of frames may hold half of the memory. Not counted: decoded parameters of
//! methods; responses over HTTP, which the limits of connections and calls and the timeout for slow readers bound; a frame that has not arrived as a
//! whole, which `Limits::bytes` bounds for each connection; and messages of topics, UDP clients and WebSocket queues, which
//! have limits of their own.

use polywire_protocol::{Fault, FaultKind};

use crate::sync::Arc;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of an input that are not counted.
pub(crate) const FREE: usize = 64 * 1024;

/// The memory of a server, or the share of a connection.
#[derive(Debug)]
pub(crate) struct Memory {
    taken: AtomicUsize,
    limit: usize,
    /// The memory of the server, for a share. Each reservation counts in both.
    parent: Option<Arc<Self>>,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            limit: bytes,
            parent: None,
        }
    }

    /// The share of one connection: a half. A connection that holds nothing may exceed it by one allocation, so that the
    /// largest allowed message is always possible.
    pub(crate) fn half(self: &Arc<Self>) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            limit: self.limit / 2,
            parent: Some(Arc::clone(self)),
        }
    }

    /// The number of reserved bytes.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether less than this number of quarters is available.
    pub(crate) fn has_less_than(&self, quarters: usize) -> bool {
        self.limit.saturating_sub(self.taken()) < self.limit / 4 * quarters
    }

    fn take(&self, bytes: usize) -> bool {
        let is_part = self.parent.is_some();
        let more = |taken: usize| {
            let more = taken.saturating_add(bytes);
            (more <= self.limit || is_part && taken == 0).then_some(more)
        };
        // Relaxed: no other memory depends on the count.
        let taken = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if taken.is_err() {
            return false;
        }
        if self.parent.as_ref().is_none_or(|parent| parent.take(bytes)) {
            return true;
        }
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        false
    }

    fn release(&self, bytes: usize) {
        if bytes > 0 {
            self.taken.fetch_sub(bytes, Ordering::Relaxed);
            if let Some(parent) = &self.parent {
                parent.release(bytes);
            }
        }
    }
}

/// A reservation of memory. It is released when this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryReservation {
    memory: Arc<Memory>,
    bytes: usize,
}

impl MemoryReservation {
    pub(crate) const fn nothing(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// Whether nothing is reserved.
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Grows the reservation to that of a body of this length, of which [`FREE`] bytes are not counted. False, without a
    /// change, if there is not enough memory.
    pub(crate) fn grow(&mut self, len: usize) -> bool {
        let more = len.saturating_sub(FREE).saturating_sub(self.bytes);
        if !self.memory.take(more) {
            return false;
        }
        self.bytes += more;
        true
    }

    /// The fault of a decoded input of this size, for which there is no memory.
    #[cold]
    pub(crate) fn refuse(&self, bytes: usize) -> Fault {
        let Memory { limit, .. } = &*self.memory;
        let message = format!("the decoded input takes about {bytes} bytes, ");
        match bytes.saturating_sub(FREE) > *limit {
            true => Fault::new(
                FaultKind::TooLarge,
                message
                    + &format!("more than the {limit} of all calls (ServerBuilder::body_memory)"),
            ),
            false => Fault::new(
                FaultKind::Overloaded,
                message + "more than is left of the memory for inputs, try again later",
            ),
        }
    }

    /// Changes the reservation to this size. False, without a change, if there is not enough memory.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(0) => return true,
            Some(more) if !self.memory.take(more) => return false,
            Some(_) => {}
            None => self.memory.release(self.bytes - bytes),
        }
        self.bytes = bytes;
        true
    }

    /// Adds another reservation of the same memory.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        debug_assert!(Arc::ptr_eq(&self.memory, &other.memory));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_is_released() {
        let memory = Arc::new(Memory::new(100));
        let left = || 100 - memory.taken();
        let mut first = MemoryReservation::nothing(Arc::clone(&memory));
        assert!(first.grow(FREE));
        assert_eq!(left(), 100);
        assert!(first.grow(FREE + 60));
        assert!(first.grow(FREE + 60));
        assert_eq!(left(), 40);
        let mut second = MemoryReservation::nothing(Arc::clone(&memory));
        assert!(!second.grow(FREE + 41));
        assert!(second.grow(FREE + 40));
        assert_eq!(left(), 0);
        // A failed reservation changes nothing.
        assert!(!first.grow(FREE + 61));
        assert_eq!(left(), 0);
        drop(second);
        assert!(first.grow(FREE + 100));
        drop(first);
        assert_eq!(left(), 100);
    }

    #[test]
    fn a_connection_gets_half_of_the_memory_or_one_larger_reservation() {
        let memory = Arc::new(Memory::new(100));
        let half = Arc::new(memory.half());
        let take = |bytes| {
            let mut held = MemoryReservation::nothing(Arc::clone(&half));
            held.resize(bytes).then_some(held)
        };
        let mut first = take(30).unwrap();
        assert!(take(21).is_none());
        let second = take(20).unwrap();
        assert_eq!(memory.taken(), 50);
        assert!(first.resize(10) && !first.resize(31));
        assert_eq!(memory.taken(), 30);
        first.absorb(second);
        drop(first);
        assert_eq!((memory.taken(), half.taken()), (0, 0));
        // The first reservation may be larger than the half, but not than the whole.
        assert!(take(101).is_none());
        let large = take(90).unwrap();
        assert!(take(1).is_none());
        drop(large);
        assert_eq!((memory.taken(), half.taken()), (0, 0));
    }
}
