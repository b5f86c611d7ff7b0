//! Calls that wait for room.

use std::collections::VecDeque;

use crate::Time;

/// A queue of calls, bounded in how many wait and in how many bytes they hold. First in, first out;
/// those whose time is over are not handed out.
///
/// ```
/// use polywire_frame::Time;
/// use polywire_frame::flow::{Bounds, Queue, QueueFull};
///
/// let mut queue = Queue::new(Bounds { calls: 2, bytes: 100 });
/// queue.push("a", 60, Time::NEVER).map_err(|(_, full)| full)?;
/// assert_eq!(queue.push("b", 60, Time::NEVER), Err(("b", QueueFull::Bytes)));
/// queue.push("c", 40, Time::from_nanos(5)).map_err(|(_, full)| full)?;
/// assert_eq!(queue.push("d", 0, Time::NEVER), Err(("d", QueueFull::Calls)));
///
/// let mut late = Vec::new();
/// assert_eq!(queue.pop(Time::from_nanos(9), |call| late.push(call)), Some("a"));
/// assert_eq!(queue.pop(Time::from_nanos(9), |call| late.push(call)), None);
/// assert_eq!(late, ["c"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Queue<C> {
    waiting: VecDeque<Waiting<C>>,
    bounds: Bounds,
    bytes: usize,
    /// None has a deadline before this.
    earliest: Time,
}

#[derive(Debug)]
struct Waiting<C> {
    call: C,
    bytes: usize,
    deadline: Time,
}

/// How much may wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// Calls.
    pub calls: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
}

impl Bounds {
    /// 65,536 calls and 64 MiB: what a second of the fastest wire holds.
    pub const DEFAULT: Self = Self {
        calls: 1 << 16,
        bytes: 64 << 20,
    };
}

/// What there is too much of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueFull {
    /// Bytes.
    Bytes,
    /// Calls.
    Calls,
}

impl<C> Queue<C> {
    /// An empty queue. It allocates nothing before the first call waits.
    #[must_use]
    pub const fn new(bounds: Bounds) -> Self {
        Self {
            waiting: VecDeque::new(),
            bounds,
            bytes: 0,
            earliest: Time::NEVER,
        }
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many bytes they hold.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lets a call wait, behind all others.
    ///
    /// # Errors
    ///
    /// Too many wait, or too much; the call comes back. One alone may have any size.
    pub fn push(&mut self, call: C, bytes: usize, deadline: Time) -> Result<(), (C, QueueFull)> {
        if self.waiting.len() >= self.bounds.calls {
            return Err((call, QueueFull::Calls));
        }
        if !self.waiting.is_empty() && self.bytes.saturating_add(bytes) > self.bounds.bytes {
            return Err((call, QueueFull::Bytes));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.earliest = self.earliest.min(deadline);
        self.waiting.push_back(Waiting {
            call,
            bytes,
            deadline,
        });
        Ok(())
    }

    /// The call that has waited longest and has time left. Those before it are `late`.
    pub fn pop(&mut self, now: Time, mut late: impl FnMut(C)) -> Option<C> {
        while let Some(first) = self.waiting.pop_front() {
            self.bytes -= first.bytes;
            if first.deadline > now {
                return Some(first.call);
            }
            late(first.call);
        }
        self.earliest = Time::NEVER;
        None
    }

    /// When [`expire`](Self::expire) wants to be called: at or before the first deadline.
    #[must_use]
    pub const fn next_timeout(&self) -> Time {
        self.earliest
    }

    /// Takes out the calls whose time is over. It looks at all of them.
    pub fn expire(&mut self, now: Time, mut late: impl FnMut(C)) {
        if now < self.earliest {
            return;
        }
        self.earliest = Time::NEVER;
        for _ in 0..self.waiting.len() {
            let Some(waiting) = self.waiting.pop_front() else {
                break;
            };
            if waiting.deadline <= now {
                self.bytes -= waiting.bytes;
                late(waiting.call);
            } else {
                self.earliest = self.earliest.min(waiting.deadline);
                self.waiting.push_back(waiting);
            }
        }
    }

    /// Takes out those that nobody waits for any more, as `gone` says.
    pub fn remove(&mut self, mut gone: impl FnMut(&C) -> bool) {
        let bytes = &mut self.bytes;
        self.waiting.retain(|waiting| {
            let gone = gone(&waiting.call);
            *bytes -= if gone { waiting.bytes } else { 0 };
            !gone
        });
    }
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self::new(Bounds::DEFAULT)
    }
}

impl std::fmt::Display for QueueFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bytes => "as many bytes wait as may",
            Self::Calls => "as many calls wait as may",
        })
    }
}

impl std::error::Error for QueueFull {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_late_goes_and_the_others_keep_their_order() {
        let mut queue = Queue::new(Bounds::DEFAULT);
        for (call, deadline) in [(1, 10), (2, 30), (3, 10), (4, 20)] {
            queue.push(call, 5, Time::from_nanos(deadline)).unwrap();
        }
        assert_eq!(queue.next_timeout(), Time::from_nanos(10));
        let mut late = Vec::new();
        queue.expire(Time::from_nanos(9), |call| late.push(call));
        assert_eq!((queue.len(), &late[..]), (4, &[][..]));
        queue.expire(Time::from_nanos(10), |call| late.push(call));
        assert_eq!((queue.bytes(), &late[..]), (10, &[1, 3][..]));
        assert_eq!(queue.next_timeout(), Time::from_nanos(20));
        queue.remove(|call| *call == 2);
        assert_eq!(queue.pop(Time::ZERO, |_| ()), Some(4));
        assert_eq!((queue.bytes(), queue.is_empty()), (0, true));
    }

    #[test]
    fn one_alone_may_be_larger_than_all() {
        let mut queue = Queue::new(Bounds { calls: 9, bytes: 1 });
        queue.push((), 1_000, Time::NEVER).unwrap();
        assert!(queue.push((), 1, Time::NEVER).is_err());
    }
}
