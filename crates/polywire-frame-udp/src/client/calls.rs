//! A client's open calls, with the datagrams that are resent.

use std::collections::VecDeque;
use std::time::Duration;

use polywire_frame::{CallId, Flags, HEADER, Time};

use super::round_trip;
use crate::{DATAGRAM_LIFE, TOKEN};

/// How often a slot is used in the life of a datagram. Two such rounds are half of the range of counts.
const ROUND: u16 = 1 << 14;

/// Capacity for a datagram that a slot keeps for the next one.
const MOST_KEPT: usize = 4 << 10;

/// The longest wait before a call that the server has confirmed is resent.
const MOST_ACCEPTED: Duration = Duration::from_secs(4);

/// Open calls by their slots.
#[derive(Debug)]
pub(super) struct Calls<T> {
    slots: Vec<Slot<T>>,
    /// Free slots, least recently used first.
    free: Vec<u16>,
    /// Slots that were used too often, and until when they rest, in order.
    resting: VecDeque<(Time, u16)>,
    open: u32,
    /// The number of open calls that the server has confirmed.
    accepted: u32,
    /// No call is due before this.
    earliest: Time,
}

#[derive(Debug)]
struct Slot<T> {
    /// The count of the open call, or of the next one.
    count: u16,
    /// When the current round of counts began.
    round: Time,
    call: Option<OpenCall<T>>,
    /// The datagram of the call. The capacity is reused.
    datagram: Vec<u8>,
}

/// A call that has no answer yet.
#[derive(Debug)]
pub(super) struct OpenCall<T> {
    /// `None` if the call is cancelled.
    pub(super) context: Option<T>,
    pub(super) deadline: Time,
    /// Whether the header contains the remaining time.
    pub(super) timed: bool,
    /// When it was first sent.
    pub(super) sent: Time,
    /// When it was last sent.
    pub(super) last: Time,
    /// When it is to be resent.
    pub(super) again: Time,
    /// The wait after that.
    pub(super) wait: Duration,
    /// How often it was sent.
    pub(super) times: u32,
    /// Whether the server has confirmed it.
    pub(super) accepted: bool,
    /// The number whose name the server knows once this is answered; or 0.
    pub(super) number: u16,
    /// Length of its body.
    pub(super) bytes: u32,
}

/// What is due for a call.
pub(super) enum Due<'a, T> {
    /// Its deadline has passed: it has ended.
    Expired(OpenCall<T>),
    /// It is to be resent: the call in its previous state, and the datagram.
    Resend(&'a OpenCall<T>, &'a [u8]),
}

impl<T> Calls<T> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            resting: VecDeque::new(),
            open: 0,
            accepted: 0,
            earliest: Time::NEVER,
        }
    }

    pub(super) const fn open(&self) -> u32 {
        self.open
    }

    /// The number of open calls that are not confirmed: they or their answers are in flight.
    #[inline]
    pub(super) const fn in_flight(&self) -> u32 {
        self.open - self.accepted
    }

    /// Sets whether the server has confirmed a call.
    pub(super) fn accept(&mut self, id: CallId, accepted: bool) {
        if let Some((call, _)) = self.get_mut(id) {
            let was = std::mem::replace(&mut call.accepted, accepted);
            self.accepted = self.accepted + u32::from(accepted) - u32::from(was);
        }
    }

    /// The first time at which a call may be due.
    #[inline]
    pub(super) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// The number of free slots below `most`.
    #[inline]
    pub(super) fn free(&self, most: u32) -> u32 {
        let most = most as usize;
        let used = match self.slots.len() > most {
            // The server of an earlier connection had a higher limit.
            true => self
                .free
                .iter()
                .filter(|slot| usize::from(**slot) < most)
                .count(),
            false => self.free.len() + most - self.slots.len(),
        };
        used as u32
    }

    /// The id of the next call, in a free slot below `most`.
    #[inline]
    pub(super) fn next(&mut self, now: Time, most: u32) -> Option<CallId> {
        let slot = match self.free.last() {
            Some(slot) if u32::from(*slot) < most => *slot,
            _ if self.slots.len() < most as usize => {
                let slot = self.slots.len() as u16;
                self.slots.push(Slot {
                    count: 0,
                    round: now,
                    call: None,
                    datagram: Vec::new(),
                });
                self.free.push(slot);
                slot
            }
            _ => return None,
        };
        Some(CallId::new(slot, self.slots[usize::from(slot)].count))
    }

    /// Opens the call with the id that [`Self::next`] returned.
    #[inline]
    pub(super) fn insert(&mut self, now: Time, id: CallId, call: OpenCall<T>, datagram: &[u8]) {
        self.free.pop();
        let slot = &mut self.slots[usize::from(id.slot())];
        if slot.count.is_multiple_of(ROUND) {
            slot.round = now;
        }
        self.earliest = self.earliest.min(call.deadline).min(call.again);
        slot.call = Some(call);
        slot.datagram.clear();
        slot.datagram.extend_from_slice(datagram);
        self.open += 1;
    }

    /// The call with this id, if it is open, and its datagram.
    pub(super) fn get_mut(&mut self, id: CallId) -> Option<(&mut OpenCall<T>, &mut Vec<u8>)> {
        let slot = self.slots.get_mut(usize::from(id.slot()))?;
        let call = slot.call.as_mut()?;
        (slot.count == id.count()).then_some((call, &mut slot.datagram))
    }

    /// A call is due at this time.
    pub(super) fn wake_at(&mut self, time: Time) {
        self.earliest = self.earliest.min(time);
    }

    /// Ends a call and frees its slot.
    #[inline]
    pub(super) fn remove(&mut self, now: Time, id: CallId) -> Option<OpenCall<T>> {
        let slot = self.slots.get_mut(usize::from(id.slot()))?;
        if slot.count != id.count() {
            return None;
        }
        let call = slot.call.take()?;
        slot.count = id.count().wrapping_add(1);
        if slot.datagram.capacity() > MOST_KEPT {
            slot.datagram = Vec::new();
        }
        self.open -= 1;
        self.accepted -= u32::from(call.accepted);
        let rests = slot.round.after(DATAGRAM_LIFE);
        if slot.count.is_multiple_of(ROUND) && now < rests {
            let at = self.resting.partition_point(|(until, _)| *until <= rests);
            self.resting.insert(at, (rests, id.slot()));
            self.earliest = self.earliest.min(rests);
        } else {
            self.free.push(id.slot());
        }
        Some(call)
    }

    /// Passes what is due to `due`: calls whose deadline has passed, which end, and calls to be resent. For those, `due`
    /// returns whether it has resent them; otherwise they wait once more.
    pub(super) fn due(&mut self, now: Time, mut due: impl FnMut(CallId, Due<'_, T>) -> bool) {
        if now < self.earliest {
            return;
        }
        while let Some((until, slot)) = self.resting.front()
            && *until <= now
        {
            self.free.push(*slot);
            self.resting.pop_front();
        }
        let mut earliest = Time::NEVER;
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            let Some(call) = &mut slot.call else { continue };
            let id = CallId::new(index as u16, slot.count);
            if call.deadline <= now {
                if let Some(call) = self.remove(now, id) {
                    due(id, Due::Expired(call));
                }
                continue;
            }
            if call.again <= now {
                let again = Flags::again(call.times);
                let flags = Flags(slot.datagram[FLAGS]).difference(Flags::AGAIN);
                slot.datagram[FLAGS] = flags.union(again).0;
                if call.timed {
                    let left = now.millis_until(call.deadline).to_le_bytes();
                    slot.datagram[VALUE..TOKEN + HEADER].copy_from_slice(&left);
                }
                if due(id, Due::Resend(call, &slot.datagram)) {
                    call.wait = call.next_wait();
                    call.times += 1;
                    call.last = now;
                }
                call.again = now.after(call.wait);
            }
            earliest = earliest.min(call.deadline).min(call.again);
        }
        if let Some((until, _)) = self.resting.front() {
            earliest = earliest.min(*until);
        }
        self.earliest = earliest;
    }

    /// Removes all calls. The counts continue, so that no server takes calls of the next connection for calls of this one.
    pub(super) fn drain(&mut self) -> Vec<OpenCall<T>> {
        let mut calls = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if let Some(call) = slot.call.take() {
                slot.count = slot.count.wrapping_add(1);
                slot.datagram = Vec::new();
                self.free.push(index as u16);
                calls.push(call);
            }
        }
        // The next server may have a lower limit.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        self.open = 0;
        self.accepted = 0;
        calls
    }
}

impl<T> OpenCall<T> {
    /// When the datagram was sent that an answer with these flags belongs to, if known.
    pub(super) fn answered(&self, flags: Flags) -> Option<Time> {
        let again = flags.intersection(Flags::AGAIN);
        if again == Flags::again(self.times - 1) {
            Some(self.last)
        } else if again == Flags::NONE && self.times <= 4 {
            Some(self.sent)
        } else {
            None
        }
    }

    /// The wait after it is resent.
    pub(super) fn next_wait(&self) -> Duration {
        let most = match self.accepted {
            true => MOST_ACCEPTED,
            false => round_trip::MOST,
        };
        (self.wait * 2).min(most)
    }
}

/// The position of the header's flags in a datagram.
const FLAGS: usize = TOKEN + 5;

/// The position of the header's value in a datagram.
const VALUE: usize = TOKEN + HEADER - 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(calls: &mut Calls<()>, now: Time) -> Option<CallId> {
        let id = calls.next(now, 2)?;
        let call = OpenCall {
            context: Some(()),
            deadline: Time::NEVER,
            timed: false,
            sent: now,
            again: Time::NEVER,
            wait: Duration::ZERO,
            last: now,
            times: 1,
            accepted: false,
            number: 0,
            bytes: 0,
        };
        calls.insert(now, id, call, &[]);
        Some(id)
    }

    #[test]
    fn counts_do_not_wrap_around_in_the_life_of_a_datagram() {
        let mut calls = Calls::new();
        let at = |millis| Time::ZERO.after(Duration::from_millis(millis));
        for count in 0..ROUND {
            let id = call(&mut calls, at(1)).unwrap();
            assert_eq!(id, CallId::new(0, count));
            calls.remove(at(2), id);
        }
        // The first slot rests, and the second slot is used.
        for count in 0..ROUND {
            let id = call(&mut calls, at(3)).unwrap();
            assert_eq!(id, CallId::new(1, count));
            calls.remove(at(4), id);
        }
        calls.due(at(10_000), |_, _| false);
        assert_eq!((calls.free(2), call(&mut calls, at(10_000))), (0, None));
        assert_eq!(calls.earliest(), at(10_001));
        calls.due(at(10_001), |_, _| false);
        let again = call(&mut calls, at(10_001));
        assert_eq!(again, Some(CallId::new(0, ROUND)));
        calls.due(at(10_003), |_, _| false);
        let other = call(&mut calls, at(10_003));
        assert_eq!(other, Some(CallId::new(1, ROUND)));
        assert_eq!(call(&mut calls, at(99_000)), None);
        assert_eq!(calls.open(), 2);
    }

    #[test]
    fn counts_continue_in_the_next_connection() {
        let mut calls = Calls::new();
        let ids: Vec<_> = (0..2).map(|_| call(&mut calls, Time::ZERO)).collect();
        assert_eq!(calls.drain().len(), 2);
        assert_eq!((calls.open(), calls.free(2), calls.free(1)), (0, 2, 1));
        for id in ids {
            let again = call(&mut calls, Time::ZERO).unwrap();
            assert_eq!(again, CallId::new(id.unwrap().slot(), 1));
        }
    }
}
