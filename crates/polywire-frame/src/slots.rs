//! The table of the calls that are open on a connection.

use std::num::NonZeroU32;

use crate::{CallId, Time};

/// The calls of a connection by their slots.
///
/// `counts.len() >= entries.len()`; the counts outlive the entries, which are given back when a
/// burst is over.
#[derive(Debug)]
pub(crate) struct Slots<C> {
    entries: Vec<Entry<C>>,
    /// The count that the next call of each slot has.
    counts: Vec<u16>,
    /// The slot that is free and was used last, plus one.
    free: Option<NonZeroU32>,
    open: u32,
    /// No call has a deadline before this.
    earliest: Time,
}

#[derive(Debug)]
enum Entry<C> {
    /// And the next free one, plus one.
    Free(Option<NonZeroU32>),
    Open(C),
}

/// What a call in a slot tells of itself.
pub(crate) trait HasDeadline {
    fn deadline(&self) -> Time;
}

impl<C: HasDeadline> Slots<C> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            counts: Vec::new(),
            free: None,
            open: 0,
            earliest: Time::NEVER,
        }
    }

    /// How many calls are open.
    #[inline]
    pub(crate) const fn open(&self) -> u32 {
        self.open
    }

    /// Takes a free slot below `most`.
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

    /// Takes the slot that the other side chose: that of a call with the count that is next,
    /// and no slot beyond the first that was never used.
    #[inline]
    pub(crate) fn insert_at(&mut self, id: CallId, call: C) -> Result<(), Refusal> {
        let slot = usize::from(id.slot());
        let count = self.counts.get(slot).copied().unwrap_or_default();
        // Slots that were given back are there again, all of them free.
        while self.entries.len() <= slot && self.entries.len() < self.counts.len() {
            self.entries.push(Entry::Free(None));
        }
        let (deadline, next) = (call.deadline(), self.entries.len());
        match self.entries.get_mut(slot) {
            Some(Entry::Open(_)) => return Err(Refusal::Taken),
            None if slot > next => return Err(Refusal::Beyond(next)),
            _ if count != id.count() => return Err(Refusal::Count(count)),
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

    /// The call of that id, if it is open.
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

    /// Ends a call; the slot is free again.
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
        // The counts go round: what is up to half of them back has been.
        let back = next.wrapping_sub(id.count());
        (1..=i16::MAX as u16).contains(&back)
    }

    /// The first deadline, or a moment before it.
    #[inline]
    pub(crate) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// The calls whose time is over by `now`. To be asked when [`Self::earliest`] has come: it
    /// looks at all of them.
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

    /// All calls, which end with the connection.
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

    /// Gives back the room of a burst, if nothing is open.
    pub(crate) fn shrink(&mut self) {
        if self.open == 0 {
            self.entries = Vec::new();
            self.free = None;
        }
    }
}

/// Why a slot could not be taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// It was never used, and neither were some before it: the first of those.
    Beyond(usize),
    /// Its next call has another count: this.
    Count(u16),
    /// A call is open there.
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
    fn slots_are_used_again_with_the_next_count() {
        let mut slots = Slots::new();
        let a = slots.insert(2, 10).unwrap();
        let b = slots.insert(2, 20).unwrap();
        assert_eq!((a, b), (CallId::new(0, 0), CallId::new(1, 0)));
        assert_eq!(slots.insert(2, 30), Err(30));
        assert_eq!(slots.remove(a), Some(10));
        assert_eq!(slots.remove(a), None);
        assert!(slots.has_ended(a) && !slots.has_ended(b));
        let c = slots.insert(2, 30).unwrap();
        assert_eq!(c, CallId::new(0, 1));
        assert_eq!(slots.get_mut(a), None);
        assert_eq!(slots.get_mut(c), Some(&mut 30));
        assert_eq!(slots.open(), 2);
    }

    #[test]
    fn counts_outlive_the_entries_and_go_round() {
        let mut slots = Slots::new();
        for count in 0..=u16::MAX {
            let id = slots.insert(1, 1).unwrap();
            assert_eq!(id, CallId::new(0, count));
            slots.remove(id);
            slots.shrink();
        }
        assert_eq!(slots.insert(1, 1), Ok(CallId::new(0, 0)));
    }

    #[test]
    fn the_other_sides_choice_is_checked() {
        let mut slots = Slots::new();
        let at = |slot, count| CallId::new(slot, count);
        assert_eq!(slots.insert_at(at(1, 0), 1), Err(Refusal::Beyond(0)));
        assert_eq!(slots.insert_at(at(0, 1), 1), Err(Refusal::Count(0)));
        assert_eq!(slots.insert_at(at(0, 0), 1), Ok(()));
        assert_eq!(slots.insert_at(at(0, 1), 1), Err(Refusal::Taken));
        assert_eq!(slots.insert_at(at(1, 0), 1), Ok(()));
        slots.remove(at(0, 0));
        slots.remove(at(1, 0));
        slots.shrink();
        assert_eq!(slots.insert_at(at(1, 0), 1), Err(Refusal::Count(1)));
        assert_eq!(slots.insert_at(at(1, 1), 1), Ok(()));
        assert_eq!(slots.insert_at(at(0, 1), 1), Ok(()));
    }

    #[test]
    fn deadlines() {
        let mut slots = Slots::new();
        let ids: Vec<_> = [30, 10, 20].map(|at| slots.insert(9, at).unwrap()).into();
        assert_eq!(slots.earliest(), Time::from_nanos(10));
        let mut expired = Vec::new();
        slots.expired(Time::from_nanos(9), &mut expired);
        assert_eq!(expired, []);
        slots.expired(Time::from_nanos(20), &mut expired);
        assert_eq!(expired, [ids[1], ids[2]]);
        assert_eq!(slots.earliest(), Time::from_nanos(30));
    }
}
