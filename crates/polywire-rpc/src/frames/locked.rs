//! The locked state of a connection.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::task::Waker;

use polywire_frame::client::Connection;

use super::state::State;
use super::tickets::Ticket;

/// The locked state of a connection. Wakers are called after the lock is released, because they run
/// foreign code, which may be slow or may lock the same connection.
pub(super) struct StateGuard<'a, M = Connection<Ticket>> {
    // The order of the fields matters: the lock is released before the wakers are called.
    state: MutexGuard<'a, State<M>>,
    woken: WakeOnDrop,
}

/// Wakers that are called when this is dropped.
#[derive(Debug, Default)]
struct WakeOnDrop(Vec<Waker>);

/// A larger vector is freed after use.
const MAX_KEPT: usize = 4_096;

thread_local! {
    /// A spare vector, so that waking does not allocate.
    static SPARE: Cell<Vec<Waker>> = const { Cell::new(Vec::new()) };
}

impl<'a, M> StateGuard<'a, M> {
    #[inline]
    pub(super) fn new(state: MutexGuard<'a, State<M>>) -> Self {
        let woken = WakeOnDrop::default();
        Self { state, woken }
    }
}

impl<M> Deref for StateGuard<'_, M> {
    type Target = State<M>;

    #[inline]
    fn deref(&self) -> &State<M> {
        &self.state
    }
}

impl<M> DerefMut for StateGuard<'_, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State<M> {
        &mut self.state
    }
}

impl<M> Drop for StateGuard<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.to_wake.is_empty() {
            // The thread-local may be gone, if the thread is ending.
            let spare = SPARE.try_with(Cell::take).unwrap_or_default();
            self.woken.0 = std::mem::replace(&mut self.state.to_wake, spare);
        }
    }
}

impl Drop for WakeOnDrop {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        self.0.drain(..).for_each(Waker::wake);
        if self.0.capacity() <= MAX_KEPT {
            let spare = std::mem::take(&mut self.0);
            let _ = SPARE.try_with(|cell| cell.set(spare));
        }
    }
}
