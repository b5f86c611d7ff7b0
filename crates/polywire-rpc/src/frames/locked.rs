//! The state of a connection while somebody has it.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
use std::task::Waker;

use polywire_frame::client::Connection;

use super::state::State;
use super::tickets::Ticket;

/// The locked state of a connection. Wakers are called after the lock is released, because they run
/// foreign code, which may be slow or may lock the same connection.
pub(super) struct Locked<'a, M = Connection<Ticket>> {
    // In this order they are dropped.
    state: MutexGuard<'a, State<M>>,
    woken: Woken,
}

/// Those who are woken when this is dropped.
#[derive(Debug, Default)]
struct Woken(Vec<Waker>);

/// Room for so many wakers is kept.
const MOST_KEPT: usize = 4_096;

thread_local! {
    /// Room for those who will be woken next, so that nothing is allocated for them.
    static SPARE: Cell<Vec<Waker>> = const { Cell::new(Vec::new()) };
}

impl<'a, M> Locked<'a, M> {
    #[inline]
    pub(super) fn new(state: MutexGuard<'a, State<M>>) -> Self {
        let woken = Woken::default();
        Self { state, woken }
    }
}

impl<M> Deref for Locked<'_, M> {
    type Target = State<M>;

    #[inline]
    fn deref(&self) -> &State<M> {
        &self.state
    }
}

impl<M> DerefMut for Locked<'_, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State<M> {
        &mut self.state
    }
}

impl<M> Drop for Locked<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.woken.is_empty() {
            // The thread may be ending, and have no room any more.
            let spare = SPARE.try_with(Cell::take).unwrap_or_default();
            self.woken.0 = std::mem::replace(&mut self.state.woken, spare);
        }
    }
}

impl Drop for Woken {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        self.0.drain(..).for_each(Waker::wake);
        if self.0.capacity() <= MOST_KEPT {
            let spare = std::mem::take(&mut self.0);
            let _ = SPARE.try_with(|kept| kept.set(spare));
        }
    }
}
