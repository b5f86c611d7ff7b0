//! The buffers of a call with streams, between its handler and the task of its connection.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_frame::{CallId, HEADER};
use polywire_protocol::{Fault, FaultKind};

use super::completion::{CallResult, CompletionQueue};
use super::memory::MemoryReservation;
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::topics::{QueuePolicy, SlowSubscriber};

/// A handler that sends waits while this many bytes are buffered.
const MAX_OUTGOING_BYTES: usize = 64 << 10;

/// The number of buffered outgoing bytes that are not counted as memory.
const UNCOUNTED_OUTGOING_BYTES: usize = 4 << 10;

/// The connection is notified after this many bytes have been read, so that it grants credit.
const READ_NOTIFY_BYTES: u32 = 8 << 10;

/// The incoming and outgoing items of a call, or the messages of a subscription.
///
/// The handler adds the pipe to the [`CompletionQueue`] of its connection. The connection then takes the number of bytes
/// read, the outgoing items as far as it has credit, and at the end the outcome of the call.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) id: CallId,
    /// The maximum size of an item that the client accepts, in bytes.
    max_item_bytes: u32,
    completions: Arc<CompletionQueue>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Received items, each with its cost in credit.
    incoming: VecDeque<(u32, Bytes)>,
    /// The client has ended its stream.
    is_incoming_ended: bool,
    reader: Option<Waker>,
    outgoing: VecDeque<OutgoingItem>,
    outgoing_bytes: usize,
    /// The memory of outgoing items. `None` if it is counted elsewhere.
    memory: Option<MemoryReservation>,
    /// Senders that wait for space.
    writers: Vec<Waker>,
    /// Read bytes that the connection has not taken.
    read_bytes: u32,
    /// The outcome of the call, to be sent after all items.
    outcome: Option<CallResult>,
    /// The pipe is in the completion queue.
    is_queued: bool,
    /// Messages dropped after the last one in `outgoing`.
    missed: u32,
    /// The connection has the pipe in its list of those that wait for credit.
    is_blocked: bool,
    /// The connection is about to be closed.
    is_closing: bool,
    closing_waiters: Vec<Waker>,
    /// The call has ended.
    is_ended: bool,
}

/// An item to be sent.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingItem {
    /// Messages dropped before it.
    pub(crate) missed: u32,
    pub(crate) payload: Bytes,
}

/// The result of sending an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SendStatus {
    Success,
    NoCredit,
}

/// The reason why an item could not be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SendError {
    /// The call has ended.
    CallEnded,
    /// The memory for items is exhausted.
    NoMemory,
    /// The item is larger than the client accepts. The maximum in bytes.
    TooLarge(u32),
}

impl Pipe {
    /// `is_open` is whether the client sends items. `memory` counts the outgoing items, unless they are counted elsewhere.
    pub(crate) fn new(
        id: CallId,
        max_item_bytes: u32,
        completions: Arc<CompletionQueue>,
        is_open: bool,
        memory: Option<MemoryReservation>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            max_item_bytes,
            completions,
            state: Mutex::new(State {
                incoming: VecDeque::new(),
                is_incoming_ended: !is_open,
                reader: None,
                outgoing: VecDeque::new(),
                outgoing_bytes: 0,
                memory,
                writers: Vec::new(),
                read_bytes: 0,
                outcome: None,
                is_queued: false,
                missed: 0,
                is_blocked: false,
                is_closing: false,
                closing_waiters: Vec::new(),
                is_ended: false,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the pipe to the completion queue, unless it is there.
    fn notify(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let is_known = std::mem::replace(&mut state.is_queued, true) || state.is_ended;
        drop(state);
        if !is_known {
            self.completions.push_pipe(Arc::clone(self));
        }
    }

    // Called by the handler.

    /// Takes the next item. `None` at the end of the stream.
    pub(crate) fn poll_next(self: &Arc<Self>, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        let Some((cost, item)) = state.incoming.pop_front() else {
            if state.is_incoming_ended || state.is_ended {
                return Poll::Ready(None);
            }
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.read_bytes += cost;
        // Without the second condition, the client could wait for credit while nothing is left to read.
        if state.read_bytes >= READ_NOTIFY_BYTES || state.incoming.is_empty() {
            self.notify(state);
        }
        Poll::Ready(Some(item))
    }

    /// Buffers an item to be sent, once there is space. Takes `item` if it is ready.
    pub(crate) fn poll_send(
        self: &Arc<Self>,
        item: &mut Bytes,
        context: &Context<'_>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.is_ended {
            return Poll::Ready(Err(SendError::CallEnded));
        }
        if item.len() as u64 > u64::from(self.max_item_bytes) {
            return Poll::Ready(Err(SendError::TooLarge(self.max_item_bytes)));
        }
        let has_space = state.outgoing_bytes < MAX_OUTGOING_BYTES;
        let fits = has_space && state.reserve(item.len() + HEADER);
        if !fits && state.outgoing.is_empty() && item.len() > MAX_OUTGOING_BYTES {
            return Poll::Ready(Err(SendError::NoMemory));
        }
        // If nothing is buffered, a small item is accepted without memory, because nothing would wake a waiting sender.
        if !fits && !state.outgoing.is_empty() {
            let own = context.waker();
            if !state.writers.iter().any(|waker| waker.will_wake(own)) {
                state.writers.push(own.clone());
            }
            return Poll::Pending;
        }
        state.push(0, std::mem::take(item));
        self.notify(state);
        Poll::Ready(Ok(()))
    }

    /// Ready when the connection is about to be closed, or the call has ended.
    pub(crate) fn poll_closing(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_closing || state.is_ended {
            return Poll::Ready(());
        }
        let own = context.waker();
        if !state
            .closing_waiters
            .iter()
            .any(|waker| waker.will_wake(own))
        {
            state.closing_waiters.push(own.clone());
        }
        Poll::Pending
    }

    /// Sets the outcome of the call, unless it has one.
    pub(crate) fn set_outcome(self: &Arc<Self>, outcome: CallResult) {
        let mut state = self.lock();
        state.outcome.get_or_insert(outcome);
        self.notify(state);
    }

    // Called by the connection.

    /// Adds a received item.
    pub(crate) fn push_incoming(&self, cost: u32, payload: &[u8]) {
        let mut state = self.lock();
        let item = Bytes::copy_from_slice(payload);
        state.incoming.push_back((cost, item));
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Announces to the handler that the connection is about to be closed.
    pub(crate) fn announce_close(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        let waiters = std::mem::take(&mut state.closing_waiters);
        drop(state);
        waiters.into_iter().for_each(Waker::wake);
    }

    /// Ends the incoming stream.
    pub(crate) fn end_incoming(&self) {
        let mut state = self.lock();
        state.is_incoming_ended = true;
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Takes the number of bytes read since the last call. The pipe is not in the completion queue any more.
    pub(crate) fn take_read_bytes(&self) -> u32 {
        let mut state = self.lock();
        state.is_queued = false;
        std::mem::take(&mut state.read_bytes)
    }

    /// Sends the next item by `send`, and removes it on success. `None` if there is no item.
    pub(crate) fn send_next(
        &self,
        send: impl FnOnce(&OutgoingItem) -> SendStatus,
    ) -> Option<SendStatus> {
        let mut state = self.lock();
        let status = send(state.outgoing.front()?);
        let mut writers = Vec::new();
        if status == SendStatus::Success {
            state.pop();
            if state.outgoing_bytes < MAX_OUTGOING_BYTES {
                writers = std::mem::take(&mut state.writers);
            }
        }
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        Some(status)
    }

    /// Drops the oldest message of a subscriber. Returns false if there is none.
    pub(crate) fn drop_oldest(&self) -> bool {
        let mut state = self.lock();
        let is_some = !state.outgoing.is_empty();
        if is_some {
            state.drop_oldest();
        }
        is_some
    }

    /// Buffers a message for a subscriber. Returns whether it was accepted.
    pub(crate) fn push_message(self: &Arc<Self>, payload: &Bytes, policy: QueuePolicy) -> bool {
        let mut state = self.lock();
        if state.is_ended || state.outcome.is_some() {
            return false;
        }
        if payload.len() as u64 > u64::from(self.max_item_bytes) {
            state.missed = state.missed.saturating_add(1);
            return false;
        }
        let cost = payload.len() + HEADER;
        let is_full = |state: &State| {
            policy.is_memory_exhausted
                || state.outgoing.len() >= policy.max_messages
                || state.outgoing_bytes + cost > policy.max_bytes
        };
        while is_full(&state) && !state.outgoing.is_empty() {
            match policy.slow {
                SlowSubscriber::DropOldest => state.drop_oldest(),
                SlowSubscriber::DropNewest => {
                    state.missed = state.missed.saturating_add(1);
                    return false;
                }
                SlowSubscriber::End => {
                    let message = "this subscriber was too slow";
                    state.outgoing.clear();
                    state.outgoing_bytes = 0;
                    state.outcome = Some(CallResult {
                        result: Err(Fault::new(FaultKind::Overloaded, message)),
                        memory: None,
                    });
                    self.notify(state);
                    return false;
                }
            }
        }
        let missed = std::mem::take(&mut state.missed);
        state.push(missed, payload.clone());
        self.notify(state);
        true
    }

    /// Takes the outcome, if there is one and no items are left to send.
    pub(crate) fn take_outcome(&self) -> Option<CallResult> {
        let mut state = self.lock();
        match state.outgoing.is_empty() {
            true => state.outcome.take(),
            false => None,
        }
    }

    /// Sets whether the pipe waits for credit. Returns the value before.
    pub(crate) fn set_blocked(&self, is_blocked: bool) -> bool {
        std::mem::replace(&mut self.lock().is_blocked, is_blocked)
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    /// Ends the call. Returns the number of received bytes that [`Self::take_read_bytes`] has not returned, read or not.
    pub(crate) fn close(&self) -> u32 {
        let mut state = self.lock();
        state.is_ended = true;
        state.outgoing = VecDeque::new();
        state.outgoing_bytes = 0;
        state.memory = None;
        state.outcome = None;
        let unread: u32 = state.incoming.iter().map(|(cost, _)| cost).sum();
        state.incoming = VecDeque::new();
        let read = std::mem::take(&mut state.read_bytes);
        let writers = std::mem::take(&mut state.writers);
        let closing_waiters = std::mem::take(&mut state.closing_waiters);
        let reader = state.reader.take();
        drop(state);
        let all = writers.into_iter().chain(closing_waiters).chain(reader);
        all.for_each(Waker::wake);
        unread + read
    }
}

impl State {
    /// Reserves memory for an item. Returns false if the memory is exhausted.
    fn reserve(&mut self, bytes: usize) -> bool {
        let total = (self.outgoing_bytes + bytes).saturating_sub(UNCOUNTED_OUTGOING_BYTES);
        self.memory
            .as_mut()
            .is_none_or(|memory| memory.resize(total))
    }

    /// Drops the oldest message and counts it in the next one.
    fn drop_oldest(&mut self) {
        let missed = self.pop().map_or(0, |item| item.missed).saturating_add(1);
        match self.outgoing.front_mut() {
            Some(next) => next.missed = next.missed.saturating_add(missed),
            None => self.missed = self.missed.saturating_add(missed),
        }
    }

    fn push(&mut self, missed: u32, payload: Bytes) {
        self.outgoing_bytes += payload.len() + HEADER;
        self.outgoing.push_back(OutgoingItem { missed, payload });
    }

    fn pop(&mut self) -> Option<OutgoingItem> {
        let item = self.outgoing.pop_front()?;
        self.outgoing_bytes -= item.payload.len() + HEADER;
        let total = self.outgoing_bytes.saturating_sub(UNCOUNTED_OUTGOING_BYTES);
        if let Some(memory) = &mut self.memory {
            // Can grow, if a small item was accepted without memory. Failure does not matter.
            memory.resize(total);
        }
        Some(item)
    }
}
