//! The table of the calls on a connection of a client.

use std::task::{Context, Waker};

use bytes::Bytes;
use polywire_frame::{CallId, FaultCode, Time};

use super::items::Items;
use crate::call::FrameDeadline;
use crate::error::Cause;

/// The index of a call in [`Tickets`].
pub(super) type Ticket = u32;

/// The state of a slot in the table.
pub(super) enum SlotState {
    /// Free, with the next free slot.
    Free(Option<Ticket>),
    /// The call waits for capacity. Its input is in the slot.
    Queued,
    /// The caller dropped the call while it waited. The queue still has its ticket.
    Abandoned,
    /// The call is open.
    Open(CallId),
    /// The call has ended. Its payload is in the slot, unless it is [`End::Large`].
    Ended(End),
}

/// How a call ended.
#[derive(Clone)]
pub(super) enum End {
    /// A reply, with its payload in the slot.
    Reply,
    /// A large reply, with the received buffer.
    Large(Box<Bytes>),
    Fault {
        code: FaultCode,
        retry_after: u32,
        unstarted: bool,
    },
    Deadline,
    Lost {
        sent: bool,
        cause: Cause,
    },
}

pub(super) struct Slot {
    pub(super) state: SlotState,
    pub(super) waker: Option<Waker>,
    /// The payload of the reply, or the input of a queued call. The buffer is reused.
    pub(super) payload: Vec<u8>,
    pub(super) began: Time,
    /// The deadline of a queued call.
    pub(super) deadline: FrameDeadline,
    /// The length of the input of a queued call.
    pub(super) bytes: usize,
    /// The operation of a queued call. 0 if the call has more than an operation and an input.
    pub(super) number: u16,
    /// The streams of the call, if it has any.
    pub(super) items: Option<Box<Items>>,
}

#[derive(Default)]
pub(super) struct Tickets {
    pub(super) slots: Vec<Slot>,
    pub(super) free: Option<Ticket>,
}

/// A larger payload buffer is freed when its call has ended, in bytes.
const MAX_KEPT: usize = 4 << 10;

impl Tickets {
    /// Whether a queued call was abandoned.
    pub(super) fn is_abandoned(&self, ticket: Ticket) -> bool {
        matches!(self.slots[ticket as usize].state, SlotState::Abandoned)
    }

    /// The ticket that the next [`Self::insert`] returns.
    pub(super) fn next(&self) -> Ticket {
        self.free.unwrap_or(self.slots.len() as Ticket)
    }

    pub(super) fn insert(&mut self, state: SlotState, waker: &Waker, began: Time) -> Ticket {
        if let Some(ticket) = self.free {
            let slot = &mut self.slots[ticket as usize];
            if let SlotState::Free(next) = slot.state {
                self.free = next;
            }
            slot.state = state;
            slot.waker = Some(waker.clone());
            slot.began = began;
            return ticket;
        }
        self.slots.push(Slot {
            state,
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
        slot.state = SlotState::Free(self.free);
        slot.waker = None;
        slot.items = None;
        if slot.payload.capacity() > MAX_KEPT {
            slot.payload = Vec::new();
        }
        self.free = Some(ticket);
    }

    /// Frees the table if no ticket is in use. Returns whether it did.
    pub(super) fn shrink(&mut self) -> bool {
        let free = |slot: &Slot| matches!(slot.state, SlotState::Free(_));
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
        slot.state = SlotState::Ended(end);
        slot.waker.take()
    }
}

pub(super) fn wake_with(waker: &mut Option<Waker>, context: &Context<'_>) {
    let own = context.waker();
    if !waker.as_ref().is_some_and(|waker| waker.will_wake(own)) {
        *waker = Some(own.clone());
    }
}
