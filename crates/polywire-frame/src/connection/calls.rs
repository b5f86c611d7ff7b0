//! The table of a connection's open calls.

use std::num::NonZeroU32;

use crate::{CallId, Time};

/// Open calls by their calls.
///
/// Invariant: `counts.len() >= entries.len()`. The counts remain when the entries are released after a burst.
#[derive(Debug)]
pub(crate) struct Calls<C> {
    entries: Vec<Entry<C>>,
    /// The count of the open call of each slot, or of its next one.
    counts: Vec<u16>,
    /// The free slot that was used last, plus one.
    free: Option<NonZeroU32>,
    open: u32,
    /// No call has a deadline before this.
    earliest: Time,
}

#[derive(Debug)]
enum Entry<C> {
    /// The next free slot, plus one.
    Free(Option<NonZeroU32>),
    Open(C),
}

/// What the table needs to know of a call.
pub(crate) trait HasDeadline {
    fn deadline(&self) -> Time;
}

impl<C: HasDeadline> Calls<C> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            counts: Vec::new(),
            free: None,
            open: 0,
            earliest: Time::NEVER,
        }
    }

    /// The number of open calls.
    #[inline]
    pub(crate) const fn open(&self) -> u32 {
        self.open
    }

    /// Opens a call in a free slot below `most`. Returns the call if there is none.
    #[inline]
    pub(crate) fn insert(&mut self, most: u32, call: C) -> Result<CallId, C> {
        let slot = match self.free {
            Some(slot) => slot.get() - 1,
            None if self.entries.len() < most as usize => self.entries.len() as u32,
            None => return Err(call),
        };
        self.earliest = self.earliest.min(call.deadline());
        match self.entries.get_mut(slot as usize) {
            Some(entry) => {
                if let Entry::Free(next) = *entry {
                    self.free = next;
                }
                *entry = Entry::Open(call);
            }
            None => {
                self.entries.push(Entry::Open(call));
                if self.counts.len() < self.entries.len() {
                    self.counts.push(0);
                }
            }
        }
        self.open += 1;
        Ok(CallId::new(slot as u16, self.counts[slot as usize]))
    }

    /// Opens a call in the slot that the client has chosen. The count must be the slot's next, and the slot at most the
    /// first that was never used.
    #[inline]
    pub(crate) fn insert_at(&mut self, id: CallId, call: C) -> Result<(), SlotError> {
        let slot = usize::from(id.slot());
        let count = self.counts.get(slot).copied().unwrap_or_default();
        // Restores the entries that were released, all of them free.
        while self.entries.len() <= slot && self.entries.len() < self.counts.len() {
            self.entries.push(Entry::Free(None));
        }
        let (deadline, next) = (call.deadline(), self.entries.len());
        match self.entries.get_mut(slot) {
            Some(Entry::Open(_)) => return Err(SlotError::Taken),
            None if slot > next => return Err(SlotError::Beyond(next)),
            _ if count != id.count() => return Err(SlotError::Count(count)),
            Some(entry) => *entry = Entry::Open(call),
            None => {
                self.entries.push(Entry::Open(call));
                self.counts.push(0);
            }
        }
        self.earliest = self.earliest.min(deadline);
        self.open += 1;
        Ok(())
    }

    /// The call with this id, if it is open.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: CallId) -> Option<&mut C> {
        let slot = usize::from(id.slot());
        match self.entries.get_mut(slot)? {
            Entry::Open(call) if self.counts[slot] == id.count() => Some(call),
            _ => None,
        }
    }

    /// All open calls.
    pub(crate) fn each(&mut self, mut each: impl FnMut(CallId, &mut C)) {
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::Open(call) = entry {
                each(CallId::new(slot as u16, self.counts[slot]), call);
            }
        }
    }

    /// Ends a call and frees its slot.
    #[inline]
    pub(crate) fn remove(&mut self, id: CallId) -> Option<C> {
        let slot = usize::from(id.slot());
        let entry = self.entries.get_mut(slot)?;
        if matches!(entry, Entry::Free(_)) || self.counts[slot] != id.count() {
            return None;
        }
        let entry = std::mem::replace(entry, Entry::Free(self.free));
        self.free = NonZeroU32::new(slot as u32 + 1);
        self.counts[slot] = id.count().wrapping_add(1);
        self.open -= 1;
        match entry {
            Entry::Open(call) => Some(call),
            Entry::Free(_) => None,
        }
    }

    /// Whether there was a call of that id, which has ended.
    pub(crate) fn has_ended(&self, id: CallId) -> bool {
        let Some(next) = self.counts.get(usize::from(id.slot())) else {
            return false;
        };
        // Counts wrap around: those up to half of the range back have been used.
        let back = next.wrapping_sub(id.count());
        (1..=i16::MAX as u16).contains(&back)
    }

    /// The first deadline, or an earlier time.
    #[inline]
    pub(crate) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// Adds the calls whose deadline has passed to `expired`. Visits all calls if [`Self::earliest`] has passed.
    pub(crate) fn expired(&mut self, now: Time, expired: &mut Vec<CallId>) {
        if now < self.earliest {
            return;
        }
        let mut earliest = Time::NEVER;
        for (slot, entry) in self.entries.iter().enumerate() {
            let Entry::Open(call) = entry else { continue };
            let deadline = call.deadline();
            if deadline <= now {
                expired.push(CallId::new(slot as u16, self.counts[slot]));
            } else {
                earliest = earliest.min(deadline);
            }
        }
        self.earliest = earliest;
    }

    /// Removes all calls.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = C> {
        self.open = 0;
        self.free = None;
        self.earliest = Time::NEVER;
        std::mem::take(&mut self.entries)
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Open(call) => Some(call),
                Entry::Free(_) => None,
            })
    }

    /// Releases the memory of the entries if no call is open.
    pub(crate) fn shrink(&mut self) {
        if self.open == 0 {
            self.entries = Vec::new();
            self.free = None;
        }
    }
}

/// Why a call could not be opened in its slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SlotError {
    /// Slots below it were never used: the first of them.
    Beyond(usize),
    /// Its next call has this count.
    Count(u16),
    /// It has an open call.
    Taken,
}

#[cfg(test)]
mod tests {
    use super::*;

    impl HasDeadline for u64 {
        fn deadline(&self) -> Time {
            Time::from_nanos(*self)
        }
    }

    #[test]
    fn slots_are_reused_with_the_next_count() {
        let mut calls = Calls::new();
        let a = calls.insert(2, 10).unwrap();
        let b = calls.insert(2, 20).unwrap();
        assert_eq!((a, b), (CallId::new(0, 0), CallId::new(1, 0)));
        assert_eq!(calls.insert(2, 30), Err(30));
        assert_eq!(calls.remove(a), Some(10));
        assert_eq!(calls.remove(a), None);
        assert!(calls.has_ended(a) && !calls.has_ended(b));
        let c = calls.insert(2, 30).unwrap();
        assert_eq!(c, CallId::new(0, 1));
        assert_eq!(calls.get_mut(a), None);
        assert_eq!(calls.get_mut(c), Some(&mut 30));
        assert_eq!(calls.open(), 2);
    }

    #[test]
    fn counts_remain_without_entries_and_wrap_around() {
        let mut calls = Calls::new();
        for count in 0..=u16::MAX {
            let id = calls.insert(1, 1).unwrap();
            assert_eq!(id, CallId::new(0, count));
            calls.remove(id);
            calls.shrink();
        }
        assert_eq!(calls.insert(1, 1), Ok(CallId::new(0, 0)));
    }

    #[test]
    fn a_clients_choice_is_checked() {
        let mut calls = Calls::new();
        let at = |slot, count| CallId::new(slot, count);
        assert_eq!(calls.insert_at(at(1, 0), 1), Err(SlotError::Beyond(0)));
        assert_eq!(calls.insert_at(at(0, 1), 1), Err(SlotError::Count(0)));
        assert_eq!(calls.insert_at(at(0, 0), 1), Ok(()));
        assert_eq!(calls.insert_at(at(0, 1), 1), Err(SlotError::Taken));
        assert_eq!(calls.insert_at(at(1, 0), 1), Ok(()));
        calls.remove(at(0, 0));
        calls.remove(at(1, 0));
        calls.shrink();
        assert_eq!(calls.insert_at(at(1, 0), 1), Err(SlotError::Count(1)));
        assert_eq!(calls.insert_at(at(1, 1), 1), Ok(()));
        assert_eq!(calls.insert_at(at(0, 1), 1), Ok(()));
    }

    #[test]
    fn deadlines() {
        let mut calls = Calls::new();
        let ids: Vec<_> = [30, 10, 20].map(|at| calls.insert(9, at).unwrap()).into();
        assert_eq!(calls.earliest(), Time::from_nanos(10));
        let mut expired = Vec::new();
        calls.expired(Time::from_nanos(9), &mut expired);
        assert_eq!(expired, []);
        calls.expired(Time::from_nanos(20), &mut expired);
        assert_eq!(expired, [ids[1], ids[2]]);
        assert_eq!(calls.earliest(), Time::from_nanos(30));
    }
}
