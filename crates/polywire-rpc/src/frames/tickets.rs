//! The calls of a client by the places that their callers know.

use std::task::{Context, Waker};

use bytes::Bytes;
use polywire_frame::{CallId, FaultCode, Time};

use super::items::Items;
use crate::call::FrameDeadline;
use crate::error::Cause;

/// A call as its caller knows it: a place in a table.
pub(super) type Ticket = u32;

/// What has become of a call.
pub(super) enum Outcome {
    /// The place is free; the next that is.
    Free(Option<Ticket>),
    /// It waits for room, and its input is in the ticket.
    Queued,
    /// It waited, and nobody waits for it any more.
    Left,
    /// It is open.
    Open(CallId),
    /// It has ended. The payload is in the ticket, unless it is large.
    Ended(End),
}

/// How a call has ended.
#[derive(Clone)]
pub(super) enum End {
    /// With the payload in the ticket.
    Reply,
    /// A reply that is large, and its payload as it came.
    Large(Box<Bytes>),
    Fault {
        code: FaultCode,
        retry_after: u32,
        unstarted: bool,
    },
    Deadline,
    Lost {
        sent: bool,
        why: Cause,
    },
}

pub(super) struct Slot {
    pub(super) outcome: Outcome,
    pub(super) waker: Option<Waker>,
    /// What the answer held, or what is to be sent. The room is used again.
    pub(super) payload: Vec<u8>,
    pub(super) began: Time,
    /// Of one that waits for room.
    pub(super) deadline: FrameDeadline,
    /// Of its input.
    pub(super) bytes: usize,
    /// Of its operation, while it waits for room; 0 if it is more than an operation and its input.
    pub(super) number: u16,
    /// If the call has streams.
    pub(super) items: Option<Box<Items>>,
}

#[derive(Default)]
pub(super) struct Tickets {
    pub(super) slots: Vec<Slot>,
    pub(super) free: Option<Ticket>,
}

/// Payloads of this size are given back when they have been read.
const MOST_KEPT: usize = 4 << 10;

impl Tickets {
    /// Whether nobody waits any more for a call that waited for room.
    pub(super) fn has_left(&self, ticket: Ticket) -> bool {
        matches!(self.slots[ticket as usize].outcome, Outcome::Left)
    }

    /// The ticket that the next [`Self::insert`] gives out.
    pub(super) fn next(&self) -> Ticket {
        self.free.unwrap_or(self.slots.len() as Ticket)
    }

    pub(super) fn insert(&mut self, outcome: Outcome, waker: &Waker, began: Time) -> Ticket {
        if let Some(ticket) = self.free {
            let slot = &mut self.slots[ticket as usize];
            if let Outcome::Free(next) = slot.outcome {
                self.free = next;
            }
            slot.outcome = outcome;
            slot.waker = Some(waker.clone());
            slot.began = began;
            return ticket;
        }
        self.slots.push(Slot {
            outcome,
            waker: Some(waker.clone()),
            payload: Vec::new(),
            began,
            deadline: FrameDeadline::NONE,
            bytes: 0,
            number: 0,
            items: None,
        });
        (self.slots.len() - 1) as Ticket
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket as usize];
        slot.outcome = Outcome::Free(self.free);
        slot.waker = None;
        slot.items = None;
        if slot.payload.capacity() > MOST_KEPT {
            slot.payload = Vec::new();
        }
        self.free = Some(ticket);
    }

    /// Gives back what is kept for the next calls, if nobody has a ticket.
    pub(super) fn shrink(&mut self) -> bool {
        let free = |slot: &Slot| matches!(slot.outcome, Outcome::Free(_));
        let unused = self.slots.iter().all(free);
        if unused {
            *self = Self::default();
        }
        unused
    }

    pub(super) fn end(&mut self, ticket: Ticket, end: End, payload: &[u8]) -> Option<Waker> {
        let slot = &mut self.slots[ticket as usize];
        slot.payload.clear();
        slot.payload.extend_from_slice(payload);
        slot.outcome = Outcome::Ended(end);
        slot.waker.take()
    }
}

pub(super) fn wake_with(waker: &mut Option<Waker>, context: &Context<'_>) {
    let own = context.waker();
    if !waker.as_ref().is_some_and(|waker| waker.will_wake(own)) {
        *waker = Some(own.clone());
    }
}
