//! Calls with streams, and subscriptions, as the calls of a client.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_frame::CallId;
use polywire_frame::client::RequestError;

use super::locked::Locked;
use super::machine::Input;
use super::request::{CallRequest, Stage};
use super::state::{Shared, State};
use super::tickets::{End, Outcome, Ticket, wake_with};
use crate::error::CallError;

/// What a ticket has more if its call has streams.
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
    /// Messages that were left out before it.
    pub(super) missed: u32,
    /// What the connection is told that it was, once it is read.
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

    /// What it costs that nobody has read.
    fn unread(&self) -> u32 {
        self.arrived.iter().map(|item| item.cost).sum()
    }
}

impl State {
    /// An item has come.
    pub(super) fn arrived(&mut self, id: CallId, missed: u32, cost: u32, payload: &[u8]) {
        let Some(ticket) = self.machine.context(id).copied() else {
            return;
        };
        let Some(items) = &mut self.tickets.slots[ticket as usize].items else {
            // A call that is told nothing of items: whoever called it wants the answer alone.
            self.machine.consumed(id, cost);
            return;
        };
        items.arrived.push_back(Item {
            missed,
            cost,
            payload: payload.to_vec(),
        });
        self.woken.extend(items.reader.take());
    }

    /// A subscription holds.
    pub(super) fn accepted(&mut self, id: CallId) {
        if let Some(ticket) = self.machine.context(id).copied()
            && let Some(items) = &mut self.tickets.slots[ticket as usize].items
        {
            items.accepted = true;
            self.woken.extend(items.reader.take());
        }
    }

    /// More items may be sent, on one stream or on all.
    pub(super) fn writable(&mut self, id: Option<CallId>) {
        if let Some(id) = id {
            if let Some(ticket) = self.machine.context(id).copied()
                && let Some(items) = &mut self.tickets.slots[ticket as usize].items
            {
                self.woken.extend(items.writer.take());
            }
            return;
        }
        for ticket in std::mem::take(&mut self.blocked) {
            if let Some(items) = &mut self.tickets.slots[ticket as usize].items {
                self.woken.extend(items.writer.take());
            }
        }
    }

    /// Frees a ticket, and gives back what nobody has read.
    pub(super) fn let_go(&mut self, ticket: Ticket) {
        if let Some(items) = self.tickets.slots[ticket as usize].items.take() {
            match items.unread() {
                0 => {}
                unread => self.machine.consumed(items.id, unread),
            }
        }
        self.tickets.remove(ticket);
    }
}

/// Lets the task of the connection write what has come to be written.
fn leave(mut state: Locked<'_>) {
    if !state.machine.output().is_empty() {
        state.wake_task();
    }
}

impl Shared {
    /// Opens a call with streams: ready when it is open, or has ended already.
    pub(super) fn poll_open(
        &self,
        stage: &mut Stage,
        asked: &CallRequest<'_>,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<Ticket, CallError>> {
        let mut state = self.lock();
        let now = self.clock.now();
        let ticket = match *stage {
            Stage::New => None,
            Stage::Waits(ticket) => Some(ticket),
            Stage::Done => return Poll::Pending,
        };
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match slot.outcome {
                Outcome::Queued if slot.deadline.is_over(now) => {
                    state.leave_queue(now, ticket);
                    *stage = Stage::Done;
                    // Another may have begun in its place.
                    leave(state);
                    return Poll::Ready(Err(CallError::deadline(None)));
                }
                Outcome::Queued => {
                    wake_with(&mut slot.waker, context);
                    if !state.has_room(ticket) {
                        return Poll::Pending;
                    }
                }
                _ => {
                    *stage = Stage::Done;
                    return Poll::Ready(Ok(ticket));
                }
            }
        }
        let mut input = Input::Lent(payload);
        let begun = match state.begin(now, asked, &mut input, context, ticket) {
            Ok(ticket) => ticket,
            Err(error) => {
                *stage = Stage::Done;
                leave(state);
                return Poll::Ready(Err(error));
            }
        };
        if matches!(
            state.tickets.slots[begun as usize].outcome,
            Outcome::Open(_)
        ) {
            *stage = Stage::Done;
            leave(state);
            return Poll::Ready(Ok(begun));
        }
        *stage = Stage::Waits(begun);
        // The connection's task sets the timer of this call.
        state.wake_task();
        Poll::Pending
    }

    /// The next item; nothing, when the call has ended.
    pub(super) fn poll_item(&self, ticket: Ticket, context: &Context<'_>) -> Poll<Option<Item>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        let ended = matches!(slot.outcome, Outcome::Ended(_));
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
        leave(state);
        Poll::Ready(Some(item))
    }

    /// Sends an item, once there is credit.
    pub(super) fn poll_send(
        &self,
        ticket: Ticket,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let state_now = &mut *state;
        let slot = &mut state_now.tickets.slots[ticket as usize];
        let id = match &slot.outcome {
            Outcome::Open(id) => *id,
            Outcome::Ended(end) => {
                return Poll::Ready(Err(CallError::from_end(end.clone(), &slot.payload)));
            }
            Outcome::Free(_) | Outcome::Left | Outcome::Queued => return Poll::Pending,
        };
        if !slot.items.as_ref().is_some_and(|items| items.sends) {
            let words = "an item, of a call that sends none, or none any more";
            return Poll::Ready(Err(CallError::encode_text(words)));
        }
        let Some(mut item) = state_now.machine.item(id) else {
            if let Some(items) = &mut slot.items {
                wake_with(&mut items.writer, context);
            }
            if !state_now.blocked.contains(&ticket) {
                state_now.blocked.push(ticket);
            }
            return Poll::Pending;
        };
        item.payload().extend_from_slice(payload);
        let sent = match item.send() {
            // It is not known yet what the server takes.
            Err(_) if !state_now.greeted => {
                if let Some(items) = &mut slot.items {
                    wake_with(&mut items.writer, context);
                }
                state_now.blocked.push(ticket);
                return Poll::Pending;
            }
            sent => sent.map_err(|error| RequestError::from(error).into()),
        };
        leave(state);
        Poll::Ready(sent)
    }

    /// Ends this side's stream of a call.
    pub(super) fn finish(&self, ticket: Ticket) {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        if let Some(items) = &mut slot.items {
            items.sends = false;
        }
        if let Outcome::Open(id) = slot.outcome {
            state.machine.end(id);
        }
        leave(state);
    }

    /// Ends a subscription in order.
    pub(super) fn unsubscribe(&self, ticket: Ticket) {
        let mut state = self.lock();
        if let Outcome::Open(id) = state.tickets.slots[ticket as usize].outcome {
            state.machine.unsubscribe(id);
        }
        leave(state);
    }

    /// Waits until a subscription is accepted.
    pub(super) fn poll_accepted(
        &self,
        ticket: Ticket,
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        if let Outcome::Ended(end) = &slot.outcome {
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

    /// The end of a call, when it has come. The ticket stays.
    pub(super) fn poll_end(
        &self,
        ticket: Ticket,
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        match &slot.outcome {
            Outcome::Ended(End::Reply | End::Large(_)) => Poll::Ready(Ok(())),
            Outcome::Ended(end) => {
                Poll::Ready(Err(CallError::from_end(end.clone(), &slot.payload)))
            }
            _ => {
                wake_with(&mut slot.waker, context);
                Poll::Pending
            }
        }
    }

    /// The answer of a call that has ended in one. It is there once, so that it is not copied, least of all while
    /// others wait.
    pub(super) fn take_answer(&self, ticket: Ticket) -> Bytes {
        let mut state = self.lock();
        let slot = &mut state.tickets.slots[ticket as usize];
        match &mut slot.outcome {
            Outcome::Ended(End::Large(payload)) => std::mem::take(payload),
            _ => std::mem::take(&mut slot.payload).into(),
        }
    }

    /// Nobody has the call any more.
    pub(super) fn let_go(&self, ticket: Ticket) {
        let mut state = self.lock();
        if let Outcome::Open(id) = state.tickets.slots[ticket as usize].outcome {
            state.machine.cancel(id);
            state.ending.insert(id);
        }
        state.let_go(ticket);
        leave(state);
    }
}
