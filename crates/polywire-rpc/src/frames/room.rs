//! Where calls wait.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// How many calls may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) calls: usize,
    /// The bytes of their inputs.
    pub(super) bytes: usize,
}

impl Bounds {
    /// What a second of the fastest wire holds.
    pub(super) const DEFAULT: Self = Self {
        calls: 1 << 16,
        bytes: 64 << 20,
    };
}

/// There are too many calls or bytes.
#[derive(Debug)]
pub(super) struct Full;

/// How much waits, of all connections of a client together.
///
/// The queues themselves are with those whom the calls wait for; only the counts are here.
#[derive(Debug)]
pub(super) struct Room {
    bounds: Bounds,
    calls: AtomicUsize,
    bytes: AtomicUsize,
}

impl Room {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            calls: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Lets a call of so many bytes wait; one alone may have any size.
    pub(super) fn enter(&self, bytes: usize) -> Result<(), Full> {
        // Counts alone: nothing else is read by what they say.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.bounds.calls {
            self.calls.fetch_sub(1, Ordering::Relaxed);
            return Err(Full);
        }
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before > 0 && before.saturating_add(bytes) > self.bounds.bytes {
            self.leave(bytes);
            return Err(Full);
        }
        Ok(())
    }

    /// A call that waited waits no more.
    pub(super) fn leave(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// As [`Self::enter`], until what comes back is dropped.
    pub(super) fn enter_for_a_while(&self, bytes: usize) -> Result<Waiting<'_>, Full> {
        self.enter(bytes)?;
        Ok(Waiting { room: self, bytes })
    }

    /// Calls and bytes that wait.
    pub(super) fn figures(&self) -> (usize, usize) {
        let calls = self.calls.load(Ordering::Relaxed);
        (calls, self.bytes.load(Ordering::Relaxed))
    }
}

/// A call that waits.
pub(super) struct Waiting<'a> {
    room: &'a Room,
    bytes: usize,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.room.leave(self.bytes);
    }
}
