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
        // What is kept, since a clone may point to something else, and what was lent here may be gone when another
        // stands at its address.
        let waker = waker.clone();
        // Those that are alike in both do the same.
        let table = std::ptr::from_ref(waker.vtable()).addr();
        if self.known.insert((waker.data().addr(), table)) {
            self.wakers.push(waker);
        }
    }

    /// All of them wait no more, and are to be woken.
    pub(super) fn leave(&mut self, woken: &mut Vec<Waker>) {
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
                // One that is gone at once, as those of some executors.
                waiters.add(&Arc::clone(&tasks[task]).into());
            }
            waiters.leave(&mut woken);
            woken.drain(..).for_each(Waker::wake);
            for task in &tasks {
                assert_eq!(task.0.load(Ordering::Relaxed), times);
            }
        }
    }
}
