//! Calls that wait for room on a connection.

use polywire_frame::Time;

use super::machine::{Begin, Input, Machine};
use super::request::RequestKind;
use super::state::State;
use super::tickets::{Outcome, Ticket};
use crate::call::FrameDeadline;

impl<M: Machine> State<M> {
    /// Whether a call that waits may begin: it is the first, and there is room.
    pub(super) fn has_room(&self, ticket: Ticket) -> bool {
        self.ended.is_some()
            || self.waiting.front() == Some(&ticket)
                && self.limit.admits(self.in_flight())
                && self.machine.room() > 0
    }

    pub(super) fn leave_queue(&mut self, now: Time, ticket: Ticket) {
        let slot = &mut self.tickets.slots[ticket as usize];
        self.room.leave(slot.bytes);
        slot.outcome = Outcome::Left;
        slot.payload = Vec::new();
        slot.waker = None;
        self.left_waiting += 1;
        self.pass_over_left();
        // To look for each that leaves would take long where all do.
        if self.left_waiting > self.waiting.len() / 2 {
            let tickets = &mut self.tickets;
            self.waiting.retain(|ticket| {
                let left = tickets.has_left(*ticket);
                if left {
                    tickets.remove(*ticket);
                }
                !left
            });
            self.left_waiting = 0;
        }
        self.admit_waiting(now);
    }

    /// Has the first that waits be one that has not left.
    pub(super) fn pass_over_left(&mut self) {
        while let Some(first) = self.waiting.front().copied()
            && self.tickets.has_left(first)
        {
            self.waiting.pop_front();
            self.tickets.remove(first);
            self.left_waiting -= 1;
        }
    }

    /// Wakes those that have waited for room until their time was over: they leave by themselves.
    pub(super) fn wake_late(&mut self, now: Time) {
        if !self.earliest.is_over(now) {
            return;
        }
        self.earliest = FrameDeadline::NONE;
        for ticket in &self.waiting {
            let slot = &mut self.tickets.slots[*ticket as usize];
            if slot.deadline.is_over(now) {
                self.woken.extend(slot.waker.take());
            } else {
                self.earliest = self.earliest.earlier(slot.deadline);
            }
        }
    }

    /// Begins calls that wait, in their order, as many as there is room for; their callers sleep on.
    /// One that is late, or is more than an operation and its input, is woken, and begins by itself.
    pub(super) fn admit_waiting(&mut self, now: Time) {
        while let Some(first) = self.waiting.front().copied()
            && self.has_room(first)
        {
            if self.ended.is_some() || !self.begin_first(now, first) {
                let slot = &mut self.tickets.slots[first as usize];
                self.woken.extend(slot.waker.take());
                return;
            }
        }
    }

    /// Begins the first call that waits. False, if that is its caller's to do.
    fn begin_first(&mut self, now: Time, first: Ticket) -> bool {
        let in_flight = self.in_flight();
        let slot = &mut self.tickets.slots[first as usize];
        let number = slot.number;
        if number == 0 || slot.deadline.is_over(now) {
            return false;
        }
        let begin = Begin {
            what: RequestKind::Call,
            name: &self.names[usize::from(number) - 1],
            number,
            deadline: slot.deadline,
            metadata: &[],
            trace: None,
        };
        let mut input = Input::Own(&mut slot.payload);
        let Ok(id) = self.machine.begin(now, &begin, &mut input, first) else {
            return false;
        };
        slot.outcome = Outcome::Open(id);
        slot.began = now;
        self.room.leave(slot.bytes);
        self.limit.started(in_flight);
        self.waiting.pop_front();
        self.pass_over_left();
        true
    }
}
