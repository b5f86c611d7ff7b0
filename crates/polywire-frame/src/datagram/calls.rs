//! A client's open calls, with the datagrams that are sent again.

use std::collections::VecDeque;
use std::time::Duration;

use super::{DATAGRAM_LIFE, TOKEN, trip};
use crate::{CallId, Flags, HEADER, Time};

/// How often a slot is used in the life of a datagram: two such rounds are half of what a count can
/// tell.
const ROUND: u16 = 1 << 14;

/// Room of a datagram that a slot keeps for the next.
const MOST_KEPT: usize = 4 << 10;

/// How long to wait at most before a call is sent again that the server has said to have.
const MOST_ACCEPTED: Duration = Duration::from_secs(4);

/// The open calls of a connection by their slots.
#[derive(Debug)]
pub(super) struct Calls<T> {
    slots: Vec<Slot<T>>,
    /// Free slots; that which was used last is the last.
    free: Vec<u16>,
    /// Slots that were used so often that they rest, and until when. In order.
    resting: VecDeque<(Time, u16)>,
    open: u32,
    /// How many of those the server has said to have.
    accepted: u32,
    /// Nothing is due before this.
    earliest: Time,
}

#[derive(Debug)]
struct Slot<T> {
    /// Of the open call, or of the next.
    count: u16,
    /// When the round of its counts began.
    round: Time,
    call: Option<Open<T>>,
    /// The datagram of the call, or of the last; the room is used again.
    datagram: Vec<u8>,
}

/// A call that has no answer yet.
#[derive(Debug)]
pub(super) struct Open<T> {
    /// What the caller gave; nothing if it has given the call up.
    pub(super) context: Option<T>,
    /// When nobody waits any more.
    pub(super) deadline: Time,
    /// Whether the time that is left stands in its header.
    pub(super) timed: bool,
    /// When it was sent first.
    pub(super) sent: Time,
    /// And last.
    pub(super) last: Time,
    /// When it is to be sent again.
    pub(super) again: Time,
    /// And how long after that the next time.
    pub(super) wait: Duration,
    /// How often it was sent.
    pub(super) times: u32,
    /// The server has said that it is at work.
    pub(super) accepted: bool,
    /// The number that the server knows the name of, once this is answered; or 0.
    pub(super) names: u16,
    /// Bytes of its body.
    pub(super) bytes: u32,
}

/// What is due of a call.
pub(super) enum Due<'a, T> {
    /// Its time is over.
    Late(Open<T>),
    /// It is to be sent again: the call as it was until now, and the datagram.
    Again(&'a Open<T>, &'a [u8]),
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

    /// How many calls may be on their way still, or their answers.
    #[inline]
    pub(super) const fn in_flight(&self) -> u32 {
        self.open - self.accepted
    }

    /// The server has said that a call is at work, or it is no call any more but a cancellation. Whether that
    /// is news.
    pub(super) fn accept(&mut self, id: CallId, accepted: bool) -> bool {
        let before = self.accepted;
        if let Some((call, _)) = self.get_mut(id) {
            let was = std::mem::replace(&mut call.accepted, accepted);
            self.accepted = self.accepted + u32::from(accepted) - u32::from(was);
        }
        self.accepted != before
    }

    /// The first moment at which something may be due.
    #[inline]
    pub(super) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// How many slots below `most` are free.
    #[inline]
    pub(super) fn free(&self, most: u32) -> u32 {
        let most = most as usize;
        let used = match self.slots.len() > most {
            // Another server took more.
            true => self
                .free
                .iter()
                .filter(|slot| usize::from(**slot) < most)
                .count(),
            false => self.free.len() + most - self.slots.len(),
        };
        used as u32
    }

    /// The id that the next call has: of a free slot below `most`.
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

    /// Opens the call of the id that was [`Self::next`].
    #[inline]
    pub(super) fn insert(&mut self, now: Time, id: CallId, call: Open<T>, datagram: &[u8]) {
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

    /// The call of that id, if it is open, and its datagram.
    pub(super) fn get_mut(&mut self, id: CallId) -> Option<(&mut Open<T>, &mut Vec<u8>)> {
        let slot = self.slots.get_mut(usize::from(id.slot()))?;
        let call = slot.call.as_mut()?;
        (slot.count == id.count()).then_some((call, &mut slot.datagram))
    }

    /// Something is due at that time.
    pub(super) fn wants(&mut self, time: Time) {
        self.earliest = self.earliest.min(time);
    }

    /// Ends a call.
    #[inline]
    pub(super) fn remove(&mut self, now: Time, id: CallId) -> Option<Open<T>> {
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

    /// Hands over what is due: calls whose time is over, which end; and those that are to be sent
    /// again. `due` says of those whether it has done so; else they have to wait once more.
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
                    due(id, Due::Late(call));
                }
                continue;
            }
            if call.again <= now {
                let again = Flags::again(call.times);
                let flags = Flags(slot.datagram[FLAGS]).beyond(Flags::AGAIN);
                slot.datagram[FLAGS] = flags.with(again).0;
                if call.timed {
                    let left = now.millis_until(call.deadline).to_le_bytes();
                    slot.datagram[VALUE..TOKEN + HEADER].copy_from_slice(&left);
                }
                if due(id, Due::Again(call, &slot.datagram)) {
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

    /// All calls, which end with the connection. The counts go on: whatever a server makes of the next
    /// connection, it does not take its calls for those of this one.
    pub(super) fn drain(&mut self) -> Vec<Open<T>> {
        let mut calls = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if let Some(call) = slot.call.take() {
                slot.count = slot.count.wrapping_add(1);
                slot.datagram = Vec::new();
                self.free.push(index as u16);
                calls.push(call);
            }
        }
        // The next server may take fewer.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        self.open = 0;
        self.accepted = 0;
        calls
    }
}

impl<T> Open<T> {
    /// When the datagram was sent that an answer with these flags answers, as far as that is known.
    pub(super) fn answered(&self, flags: Flags) -> Option<Time> {
        let again = flags.and(Flags::AGAIN);
        if again == Flags::again(self.times - 1) {
            Some(self.last)
        } else if again == Flags::NONE && self.times <= 4 {
            Some(self.sent)
        } else {
            None
        }
    }

    /// How long to wait behind the next time that it is sent.
    pub(super) fn next_wait(&self) -> Duration {
        let most = match self.accepted {
            true => MOST_ACCEPTED,
            false => trip::MOST,
        };
        (self.wait * 2).min(most)
    }
}

/// Where in a datagram the flags of the header stand.
const FLAGS: usize = TOKEN + 5;

/// Where in a datagram the value of the header stands.
const VALUE: usize = TOKEN + HEADER - 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(calls: &mut Calls<()>, now: Time) -> Option<CallId> {
        let id = calls.next(now, 2)?;
        let call = Open {
            context: Some(()),
            deadline: Time::NEVER,
            timed: false,
            sent: now,
            again: Time::NEVER,
            wait: Duration::ZERO,
            last: now,
            times: 1,
            accepted: false,
            names: 0,
            bytes: 0,
        };
        calls.insert(now, id, call, &[]);
        Some(id)
    }

    #[test]
    fn counts_do_not_go_round_in_the_life_of_a_datagram() {
        let mut calls = Calls::new();
        let at = |millis| Time::ZERO.after(Duration::from_millis(millis));
        for count in 0..ROUND {
            let id = call(&mut calls, at(1)).unwrap();
            assert_eq!(id, CallId::new(0, count));
            calls.remove(at(2), id);
        }
        // It rests, and the other slot is used.
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
    fn counts_go_on_behind_the_end_of_a_connection() {
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
