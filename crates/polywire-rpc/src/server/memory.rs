//! How much of bodies a server holds at once.
//!
//! Limits bound one message; many callers at once have many messages. So bytes
//! are taken from what the server may hold as they arrive, and given back when
//! the call ends. Requests of a usual size take nothing, and cost nothing.
//! Over frames the same holds for answers until they have been written, and for the
//! items of streams that wait.

use polywire_protocol::{Fault, FaultKind};

use crate::sync::Arc;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// What each request may bring without taking any.
pub(super) const FREE: usize = 64 * 1024;

/// How much is taken, and how much may be.
#[derive(Debug)]
pub(crate) struct Memory {
    taken: AtomicUsize,
    all: usize,
    /// What this is a part of: what is taken here is taken there too.
    whole: Option<Arc<Self>>,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            all: bytes,
            whole: None,
        }
    }

    /// Half of it, as much as one connection may have. Who has taken nothing may take more, once: what may be
    /// had at all is to be had by everybody.
    pub(super) fn half(self: &Arc<Self>) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            all: self.all / 2,
            whole: Some(Arc::clone(self)),
        }
    }

    /// How much is taken.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether there is less left than so many quarters of it.
    pub(super) fn has_less_than(&self, quarters: usize) -> bool {
        self.all.saturating_sub(self.taken()) < self.all / 4 * quarters
    }

    fn take(&self, bytes: usize) -> bool {
        let first = self.whole.is_some();
        let more = |taken: usize| {
            let more = taken.saturating_add(bytes);
            (more <= self.all || first && taken == 0).then_some(more)
        };
        // A count and nothing else: no other memory depends on its order.
        let taken = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if taken.is_err() {
            return false;
        }
        if self.whole.as_ref().is_none_or(|whole| whole.take(bytes)) {
            return true;
        }
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        false
    }

    fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            self.taken.fetch_sub(bytes, Ordering::Relaxed);
            if let Some(whole) = &self.whole {
                whole.give_back(bytes);
            }
        }
    }
}

/// What one call has taken. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Held {
    pub(crate) const fn nothing(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// Whether it has taken nothing.
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
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

    /// Why there is no memory for a decoded input of this size.
    #[cold]
    pub(super) fn refuse(&self, bytes: usize) -> Fault {
        let Memory { all, .. } = &*self.memory;
        let message = format!("the decoded input takes about {bytes} bytes, ");
        match bytes.saturating_sub(FREE) > *all {
            true => Fault::new(
                FaultKind::TooLarge,
                message + &format!("more than the {all} of all calls (ServerBuilder::body_memory)"),
            ),
            false => Fault::new(
                FaultKind::Overloaded,
                message + "more than is left of the memory for inputs, try again later",
            ),
        }
    }

    /// Takes or gives back until it is so much. False if there is not as much left; it is as before then.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(0) => return true,
            Some(more) if !self.memory.take(more) => return false,
            Some(_) => {}
            None => self.memory.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        true
    }

    /// Holds what another has taken of the same memory, too.
    pub(super) fn absorb(&mut self, mut other: Self) {
        debug_assert!(Arc::ptr_eq(&self.memory, &other.memory));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_is_given_back() {
        let memory = Arc::new(Memory::new(100));
        let left = || 100 - memory.taken();
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

    #[test]
    fn one_connection_has_half_of_it_and_one_thing_at_least() {
        let memory = Arc::new(Memory::new(100));
        let half = Arc::new(memory.half());
        let take = |bytes| {
            let mut held = Held::nothing(Arc::clone(&half));
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
        // Alone it may be more, but not more than there is.
        assert!(take(101).is_none());
        let large = take(90).unwrap();
        assert!(take(1).is_none());
        drop(large);
        assert_eq!((memory.taken(), half.taken()), (0, 0));
    }
}
