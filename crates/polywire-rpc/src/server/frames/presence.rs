//! Which calls are at work, for whoever waits for their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use polywire_frame::Time;
use tokio::sync::Notify;

use crate::frames::Clock;

/// Calls that have begun and not ended, and whether more may begin.
///
/// A call is counted before it is looked whether calls may still begin, and whoever stops them looks at the count
/// afterwards: either the call sees that, or it is waited for. So both are in one order for all threads.
#[derive(Debug)]
pub(super) struct Presence {
    clock: Clock,
    count: AtomicUsize,
    /// When the last one began, or one that was a task ended, in nanoseconds.
    moved: AtomicU64,
    stopped: AtomicBool,
    cut: AtomicBool,
    changed: Notify,
}

/// A call on the thread of its caller.
pub(super) struct Inside<'a>(&'a Presence);

/// A call that goes on as a task.
pub(super) struct Staying(Arc<Presence>);

impl Presence {
    /// Of calls that are timed by this clock.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            count: AtomicUsize::new(0),
            moved: AtomicU64::new(clock.now().as_nanos()),
            stopped: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// A call begins, unless they are stopped.
    #[inline]
    pub(super) fn enter(&self, now: Time) -> Option<Inside<'_>> {
        self.count.fetch_add(1, Ordering::SeqCst);
        // Of two that begin together either is the last.
        self.moved.store(now.as_nanos(), Ordering::Relaxed);
        let inside = Inside(self);
        (!self.stopped.load(Ordering::SeqCst)).then_some(inside)
    }

    /// One that has begun goes on as a task.
    pub(super) fn stay(self: &Arc<Self>) -> Staying {
        self.count.fetch_add(1, Ordering::SeqCst);
        Staying(Arc::clone(self))
    }

    #[inline]
    fn leave(&self) {
        if self.count.fetch_sub(1, Ordering::SeqCst) == 1 && self.stopped.load(Ordering::SeqCst) {
            self.changed.notify_waiters();
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        // Whoever sees that one has ended sees when, too.
        self.count.load(Ordering::Acquire)
    }

    /// When something last happened.
    pub(super) fn moved(&self) -> Time {
        Time::from_nanos(self.moved.load(Ordering::Relaxed))
    }

    /// No more begin.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// No more begin, and those that are tasks end now.
    pub(super) fn cut(&self) {
        self.stop();
        self.cut.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits until there are none, of whom no more may begin.
    pub(super) async fn ended(&self) {
        self.until(|| self.count.load(Ordering::SeqCst) == 0).await;
    }

    /// Waits until a task has to end.
    pub(super) async fn is_cut(&self) {
        self.until(|| self.cut.load(Ordering::SeqCst)).await;
    }

    async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Before it is looked, so that no change is missed.
            changed.as_mut().enable();
            if is_so() {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Staying {
    /// Waits until the task has to end.
    pub(super) async fn is_cut(&self) {
        self.0.is_cut().await;
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        let now = self.0.clock.now();
        self.0.moved.store(now.as_nanos(), Ordering::Relaxed);
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_stops_waits_for_who_is_inside() {
        let presence = Arc::new(Presence::new(Clock::new()));
        let inside = presence.enter(Time::ZERO).unwrap();
        let staying = presence.stay();
        drop(inside);
        presence.stop();
        assert!(presence.enter(Time::ZERO).is_none());
        let own = Arc::clone(&presence);
        let ended = tokio::spawn(async move { own.ended().await });
        tokio::task::yield_now().await;
        assert!(!ended.is_finished());
        presence.cut();
        staying.is_cut().await;
        drop(staying);
        ended.await.unwrap();
        assert_eq!(presence.count(), 0);
    }
}
