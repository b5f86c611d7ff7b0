//! The queue of calls that wait for capacity on a connection.

use polywire_frame::Time;

use super::machine::{CallStart, Input, Machine};
use super::request::RequestKind;
use super::state::State;
use super::tickets::{SlotState, Ticket};
use crate::call::FrameDeadline;

impl<M: Machine> State<M> {
    /// Whether a queued call may begin: it is the first, and the connection has capacity or has ended.
    pub(super) fn can_begin(&self, ticket: Ticket) -> bool {
        self.ended.is_some()
            || self.waiting.front() == Some(&ticket)
                && self.limit.admits(self.in_flight())
                && self.machine.capacity() > 0
    }

    pub(super) fn leave_queue(&mut self, now: Time, ticket: Ticket) {
        let slot = &mut self.tickets.slots[ticket as usize];
        self.quota.release(slot.bytes);
        slot.state = SlotState::Abandoned;
        slot.payload = Vec::new();
        slot.waker = None;
        self.abandoned += 1;
        self.skip_abandoned();
        // Removing each entry by itself would take quadratic time.
        if self.abandoned > self.waiting.len() / 2 {
            let tickets = &mut self.tickets;
            self.waiting.retain(|ticket| {
                let left = tickets.is_abandoned(*ticket);
                if left {
                    tickets.remove(*ticket);
                }
                !left
            });
            self.abandoned = 0;
        }
        self.begin_queued(now);
    }

    /// Removes abandoned calls at the head of the queue.
    pub(super) fn skip_abandoned(&mut self) {
        while let Some(first) = self.waiting.front().copied()
            && self.tickets.is_abandoned(first)
        {
            self.waiting.pop_front();
            self.tickets.remove(first);
            self.abandoned -= 1;
        }
    }

    /// Wakes the queued calls whose deadline has passed. Their callers remove them.
    pub(super) fn wake_expired(&mut self, now: Time) {
        if !self.earliest.is_over(now) {
            return;
        }
        self.earliest = FrameDeadline::NONE;
        for ticket in &self.waiting {
            let slot = &mut self.tickets.slots[*ticket as usize];
            if slot.deadline.is_over(now) {
                self.to_wake.extend(slot.waker.take());
            } else {
                self.earliest = self.earliest.earlier(slot.deadline);
            }
        }
    }

    /// Begins queued calls in order, as far as the capacity allows, without waking their callers. A call that is late,
    /// or has more than an operation and an input, is woken instead, and begins when it is polled.
    pub(super) fn begin_queued(&mut self, now: Time) {
        while let Some(first) = self.waiting.front().copied()
            && self.can_begin(first)
        {
            if self.ended.is_some() || !self.begin_first(now, first) {
                let slot = &mut self.tickets.slots[first as usize];
                self.to_wake.extend(slot.waker.take());
                return;
            }
        }
    }

    /// Begins the first queued call. False if its caller must do that.
    fn begin_first(&mut self, now: Time, first: Ticket) -> bool {
        let in_flight = self.in_flight();
        let slot = &mut self.tickets.slots[first as usize];
        let number = slot.number;
        if number == 0 || slot.deadline.is_over(now) {
            return false;
        }
        let begin = CallStart {
            kind: RequestKind::Call,
            name: &self.names[usize::from(number) - 1],
            number,
            deadline: slot.deadline,
            metadata: &[],
            trace: None,
        };
        let mut input = Input::Owned(&mut slot.payload);
        let Ok(id) = self.machine.begin(now, &begin, &mut input, first) else {
            return false;
        };
        slot.state = SlotState::Open(id);
        slot.began = now;
        self.quota.release(slot.bytes);
        self.limit.started(in_flight);
        self.waiting.pop_front();
        self.skip_abandoned();
        true
    }
}
