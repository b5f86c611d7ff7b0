//! Tasks that wait for the same event.

use std::collections::HashSet;
use std::task::Waker;

/// Wakers in the order of their registration. A task that registers repeatedly is in it once.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    wakers: Vec<Waker>,
    /// The identities of the wakers: comparing each with all others would take quadratic time.
    known: HashSet<(usize, usize)>,
}

impl Waiters {
    pub(super) fn add(&mut self, waker: &Waker) {
        // Identify the clone, which is kept: the address of the borrowed waker may be reused.
        let waker = waker.clone();
        // Wakers with the same data and vtable wake the same task.
        let table = std::ptr::from_ref(waker.vtable()).addr();
        if self.known.insert((waker.data().addr(), table)) {
            self.wakers.push(waker);
        }
    }

    /// Moves all wakers to `woken`.
    pub(super) fn drain_to(&mut self, woken: &mut Vec<Waker>) {
        if !self.wakers.is_empty() {
            woken.append(&mut std::mem::take(self).wakers);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_is_woken_once() {
        let tasks: Vec<_> = (0..3).map(|_| Arc::new(Woken::default())).collect();
        let mut waiters = Waiters::default();
        let mut woken = Vec::new();
        for times in 1..3 {
            for task in [0, 1, 0, 2, 1] {
                // The waker is dropped at once, as some executors do.
                waiters.add(&Arc::clone(&tasks[task]).into());
            }
            waiters.drain_to(&mut woken);
            woken.drain(..).for_each(Waker::wake);
            for task in &tasks {
                assert_eq!(task.0.load(Ordering::Relaxed), times);
            }
        }
    }
}
