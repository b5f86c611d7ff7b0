//! Streams of items and subscriptions of a client.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_frame::CallId;
use polywire_frame::client::RequestError;

use super::locked::StateGuard;
use super::machine::Input;
use super::request::{CallRequest, CallStage};
use super::state::{Shared, State};
use super::tickets::{End, SlotState, Ticket, wake_with};
use crate::error::CallError;

/// The state of a call with streams, besides that of every call.
pub(super) struct Items {
    id: CallId,
    arrived: VecDeque<Item>,
    pub(super) accepted: bool,
    /// Whether items may be sent.
    sends: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// An item of a stream, or a message of a topic.
pub(super) struct Item {
    /// The number of messages that the server dropped before this one.
    pub(super) missed: u32,
    /// The credit that is returned to the server when the item is read.
    cost: u32,
    pub(super) payload: Vec<u8>,
}

impl Items {
    pub(super) const fn new(id: CallId, sends: bool) -> Self {
        Self {
            id,
            arrived: VecDeque::new(),
            accepted: false,
            sends,
            reader: None,
            writer: None,
        }
    }

    pub(super) const fn id(&self) -> CallId {
        self.id
    }

    /// Collects the wakers of the reader and the writer.
    pub(super) fn wake(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.reader.take());
        woken.extend(self.writer.take());
    }

    /// The credit of the unread items.
    fn unread(&self) -> u32 {
        self.arrived.iter().map(|item| item.cost).sum()
    }
}

impl State {
    /// Stores a received item and wakes its reader.
    pub(super) fn push_item(&mut self, id: CallId, missed: u32, cost: u32, payload: &[u8]) {
        let Some(ticket) = self.machine.context(id).copied() else {
            return;
        };
        let Some(items) = &mut self.tickets.slots[ticket as usize].items else {
            // A call without streams: its caller wants only the reply.
            self.machine.consumed(id, cost);
            return;
        };
        items.arrived.push_back(Item {
            missed,
            cost,
            payload: payload.to_vec(),
        });
        self.to_wake.extend(items.reader.take());
    }

    /// Records that the server has accepted a subscription.
    pub(super) fn accept_subscription(&mut self, id: CallId) {
        if let Some(ticket) = self.machine.context(id).copied()
            && let Some(items) = &mut self.tickets.slots[ticket as usize].items
        {
            items.accepted = true;
            self.to_wake.extend(items.reader.take());
        }
    }

    /// Wakes the writer of one stream, or of all blocked streams, because there is credit.
    pub(super) fn wake_writers(&mut self, id: Option<CallId>) {
        if let Some(id) = id {
            if let Some(ticket) = self.machine.context(id).copied()
                && let Some(items) = &mut self.tickets.slots[ticket as usize].items
            {
                self.to_wake.extend(items.writer.take());
            }
            return;
        }
        for ticket in std::mem::take(&mut self.blocked_senders) {
            if let Some(items) = &mut self.tickets.slots[ticket as usize].items {
                self.to_wake.extend(items.writer.take());
            }
        }
    }

    /// Frees a ticket, and returns the credit of unread items.
    pub(super) fn remove_ticket(&mut self, ticket: Ticket) {
        if let Some(items) = self.tickets.slots[ticket as usize].items.take() {
            match items.unread() {
                0 => {}
                unread => self.machine.consumed(items.id, unread),
            }
        }
        self.tickets.remove(ticket);
    }
}

/// Wakes the task of the connection if there is output.
fn wake_if_output(mut state: StateGuard<'_>) {
    if !state.machine.output().is_empty() {
        state.wake_task();
    }
}

impl Shared {
    /// Opens a call with streams. Ready when it is open or has already ended.
    pub(super) fn poll_open(
        &self,
        stage: &mut CallStage,
        request: &CallRequest<'_>,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<Ticket, CallError>> {
        let mut state = self.lock();
        let now = self.clock.now();
        let ticket = match *stage {
            CallStage::New => None,
            CallStage::Waiting(ticket) => Some(ticket),
            CallStage::Done => return Poll::Pending,
        };
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match slot.state {
                SlotState::Queued if slot.deadline.is_over(now) => {
                    state.leave_queue(now, ticket);
                    *stage = CallStage::Done;
                    // A queued call may have started in its place.
                    wake_if_output(state);
                    return Poll::Ready(Err(CallError::deadline(None)));
                }
                SlotState::Queued => {
                    wake_with(&mut slot.waker, context);
                    if !state.can_begin(ticket) {
                        return Poll::Pending;
                    }
                }
                _ => {
                    *stage = CallStage::Done;
                    return Poll::Ready(Ok(ticket));
                }
            }
        }
        let mut input = Input::Borrowed(payload);
        let begun = match state.begin(now, request, &mut input, context, ticket) {
            Ok(ticket) => ticket,
            Err(error) => {
                *stage = CallStage::Done;
                wake_if_output(state);
                return Poll::Ready(Err(error));
            }
        };
        if matches!(
            state.tickets.slots[begun as usize].state,
            SlotState::Open(_)
        ) {
            *stage = CallStage::Done;
            wake_if_output(state);
            return Poll::Ready(Ok(begun));
        }
        *stage = CallStage::Waiting(begun);
        // The task of the connection sets the timer of this call.
        state.wake_task();
        Poll::Pending
    }

    /// The next item. None when the call has ended.
    pub(super) fn poll_item(&self, ticket: Ticket, context: &Context<'_>) -> Poll<Option<Item>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        let ended = matches!(slot.state, SlotState::Ended(_));
        let Some(items) = &mut slot.items else {
            return Poll::Ready(None);
        };
        let Some(item) = items.arrived.pop_front() else {
            if ended {
                return Poll::Ready(None);
            }
            wake_with(&mut items.reader, context);
            return Poll::Pending;
        };
        let id = items.id;
        state.machine.consumed(id, item.cost);
        wake_if_output(state);
        Poll::Ready(Some(item))
    }

    /// Sends an item as soon as there is credit.
    pub(super) fn poll_send(
        &self,
        ticket: Ticket,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let state_now = &mut *state;
        let slot = &mut state_now.tickets.slots[ticket as usize];
        let id = match &slot.state {
            SlotState::Open(id) => *id,
            SlotState::Ended(end) => {
                return Poll::Ready(Err(CallError::from_end(end.clone(), &slot.payload)));
            }
            SlotState::Free(_) | SlotState::Abandoned | SlotState::Queued => return Poll::Pending,
        };
        if !slot.items.as_ref().is_some_and(|items| items.sends) {
            let message = "an item of a call that does not send items, or is finished";
            return Poll::Ready(Err(CallError::encode_text(message)));
        }
        let Some(mut item) = state_now.machine.item(id) else {
            if let Some(items) = &mut slot.items {
                wake_with(&mut items.writer, context);
            }
            if !state_now.blocked_senders.contains(&ticket) {
                state_now.blocked_senders.push(ticket);
            }
            return Poll::Pending;
        };
        item.payload().extend_from_slice(payload);
        let sent = match item.send() {
            // The limit of the server is unknown before its HELLO.
            Err(_) if !state_now.greeted => {
                if let Some(items) = &mut slot.items {
                    wake_with(&mut items.writer, context);
                }
                state_now.blocked_senders.push(ticket);
                return Poll::Pending;
            }
            sent => sent.map_err(|error| RequestError::from(error).into()),
        };
        wake_if_output(state);
        Poll::Ready(sent)
    }

    /// Ends the stream from the client to the server.
    pub(super) fn finish(&self, ticket: Ticket) {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        if let Some(items) = &mut slot.items {
            items.sends = false;
        }
        if let SlotState::Open(id) = slot.state {
            state.machine.end(id);
        }
        wake_if_output(state);
    }

    /// Ends a subscription. The server sends the messages that are on their way, and then the end.
    pub(super) fn unsubscribe(&self, ticket: Ticket) {
        let mut state = self.lock();
        if let SlotState::Open(id) = state.tickets.slots[ticket as usize].state {
            state.machine.unsubscribe(id);
        }
        wake_if_output(state);
    }

    /// Waits until a subscription is accepted.
    pub(super) fn poll_accepted(
        &self,
        ticket: Ticket,
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        if let SlotState::Ended(end) = &slot.state {
            return Poll::Ready(Err(CallError::from_end(end.clone(), &slot.payload)));
        }
        match &mut slot.items {
            Some(items) if !items.accepted => {
                wake_with(&mut items.reader, context);
                Poll::Pending
            }
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Waits for the end of a call. The ticket stays valid.
    pub(super) fn poll_end(
        &self,
        ticket: Ticket,
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        match &slot.state {
            SlotState::Ended(End::Reply | End::Large(_)) => Poll::Ready(Ok(())),
            SlotState::Ended(end) => {
                Poll::Ready(Err(CallError::from_end(end.clone(), &slot.payload)))
            }
            _ => {
                wake_with(&mut slot.waker, context);
                Poll::Pending
            }
        }
    }

    /// Takes the reply of a call that has ended with one. It can be taken once, which saves a copy under the lock.
    pub(super) fn take_answer(&self, ticket: Ticket) -> Bytes {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        match &mut slot.state {
            SlotState::Ended(End::Large(payload)) => std::mem::take(payload),
            _ => std::mem::take(&mut slot.payload).into(),
        }
    }

    /// Cancels a call, if it is open, and frees its ticket.
    pub(super) fn drop_call(&self, ticket: Ticket) {
        let mut state = self.lock();
        if let SlotState::Open(id) = state.tickets.slots[ticket as usize].state {
            state.machine.cancel(id);
            state.cancelled_streams.insert(id);
        }
        state.remove_ticket(ticket);
        wake_if_output(state);
    }
}
