//! Those who wait for the same thing.

use std::collections::HashSet;
use std::task::Waker;

/// Wakers in the order in which they came, each once: a task that asks again and again stands in it as one.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    wakers: Vec<Waker>,
    /// What tells them apart, since to compare each with all others would take long where many wait.
    known: HashSet<(usize, usize)>,
}

impl Waiters {
    pub(super) fn add(&mut self, waker: &Waker) {
        // Those that are alike in both do the same.
        let table = std::ptr::from_ref(waker.vtable()).addr();
        if self.known.insert((waker.data().addr(), table)) {
            self.wakers.push(waker.clone());
        }
    }

    /// All of them wait no more, and are to be woken.
    pub(super) fn leave(&mut self, woken: &mut Vec<Waker>) {
        if !self.wakers.is_empty() {
            woken.append(&mut std::mem::take(self).wakers);
        }
    }
}
