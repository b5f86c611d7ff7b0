//! The state that a handler and the task of its connection share of a call with streams.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_frame::{CallId, HEADER};
use polywire_protocol::{Fault, FaultKind};

use super::completion::{CompletionQueue, Outcome};
use crate::server::memory::Held;
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::topics::{Policy, SlowSubscriber};

/// A handler waits before it adds a further item to this many bytes of outgoing items.
const MAX_OUTGOING: usize = 64 << 10;

/// Outgoing items up to this many bytes are not counted against the memory of the server.
const FREE_OUTGOING: usize = 4 << 10;

/// The connection is notified after this many bytes were read, to give credit back.
const NOTIFY_AFTER: u32 = 8 << 10;

/// The incoming and outgoing items of a call, or the messages of a subscription.
///
/// The pipe notifies the connection by [`CompletionQueue`]. The connection then takes the number of bytes that the handler
/// has read, sends outgoing items as far as there is credit, and finally sends the result of the call.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(super) id: CallId,
    /// Maximum size of an item, in bytes, by the settings of the client.
    most: u32,
    completions: Arc<CompletionQueue>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Items and their credit, in bytes.
    incoming: VecDeque<(u32, Bytes)>,
    /// The client has ended its stream.
    input_ended: bool,
    reader: Option<Waker>,
    outgoing: VecDeque<OutgoingItem>,
    outgoing_bytes: usize,
    /// The memory of outgoing items. None if it is counted elsewhere.
    held: Option<Held>,
    /// Senders that wait for space: tasks may share the sender of a call.
    writers: Vec<Waker>,
    /// Credit of items that were read since the connection took this number.
    read: u32,
    /// The result of the call, sent after all outgoing items.
    answer: Option<Outcome>,
    /// The connection was notified and has not come yet.
    notified: bool,
    /// Messages that were dropped after the last outgoing one.
    missed: u32,
    /// The next item needs credit, and the pipe is in the connection's list of those that do.
    lacks_credit: bool,
    /// The connection closes soon.
    closing: bool,
    closing_wakers: Vec<Waker>,
    /// The call has ended.
    ended: bool,
}

/// An item to be sent.
#[derive(Clone, Debug)]
pub(super) struct OutgoingItem {
    /// Messages that were dropped before it.
    pub(super) missed: u32,
    pub(super) payload: Bytes,
}

/// The outcome of sending an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SendOutcome {
    Sent,
    NoCredit,
}

/// Why an item could not be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SendError {
    /// The call has ended.
    CallEnded,
    /// No memory is left for an item of this size.
    NoMemory,
    /// The client accepts at most this many bytes.
    TooLarge(u32),
}

impl Pipe {
    /// `held` counts the memory of outgoing items, unless it is counted elsewhere.
    pub(super) fn new(
        id: CallId,
        most: u32,
        completions: Arc<CompletionQueue>,
        open: bool,
        held: Option<Held>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            most,
            completions,
            state: Mutex::new(State {
                incoming: VecDeque::new(),
                input_ended: !open,
                reader: None,
                outgoing: VecDeque::new(),
                outgoing_bytes: 0,
                held,
                writers: Vec::new(),
                read: 0,
                answer: None,
                notified: false,
                missed: 0,
                lacks_credit: false,
                closing: false,
                closing_wakers: Vec::new(),
                ended: false,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the connection look at this pipe.
    fn notify(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let was_notified = std::mem::replace(&mut state.notified, true) || state.ended;
        drop(state);
        if !was_notified {
            self.completions.push_pipe(Arc::clone(self));
        }
    }

    // For the handler.

    /// The next incoming item, or None at the end of the stream.
    pub(crate) fn poll_next(self: &Arc<Self>, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        let Some((cost, item)) = state.incoming.pop_front() else {
            if state.input_ended || state.ended {
                return Poll::Ready(None);
            }
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.read += cost;
        // The last bytes give credit back too.
        if state.read >= NOTIFY_AFTER || state.incoming.is_empty() {
            self.notify(state);
        }
        Poll::Ready(Some(item))
    }

    /// Adds an outgoing item, once there is space.
    pub(crate) fn poll_send(
        self: &Arc<Self>,
        item: &mut Bytes,
        context: &Context<'_>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.ended {
            return Poll::Ready(Err(SendError::CallEnded));
        }
        if item.len() as u64 > u64::from(self.most) {
            return Poll::Ready(Err(SendError::TooLarge(self.most)));
        }
        let room = state.outgoing_bytes < MAX_OUTGOING;
        let has_memory = room && state.take(item.len() + HEADER);
        if !has_memory && state.outgoing.is_empty() && item.len() > MAX_OUTGOING {
            return Poll::Ready(Err(SendError::NoMemory));
        }
        // The first item is accepted without memory, unless it is large: waiting senders are woken when an item is sent.
        if !has_memory && !state.outgoing.is_empty() {
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

    /// Ready when the connection closes soon, or the call has ended.
    pub(crate) fn poll_closing(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.closing || state.ended {
            return Poll::Ready(());
        }
        let own = context.waker();
        if !state
            .closing_wakers
            .iter()
            .any(|waker| waker.will_wake(own))
        {
            state.closing_wakers.push(own.clone());
        }
        Poll::Pending
    }

    /// The handler has ended.
    pub(super) fn answer(self: &Arc<Self>, answer: Outcome) {
        let mut state = self.lock();
        state.answer.get_or_insert(answer);
        self.notify(state);
    }

    // For the connection.

    /// Adds an item of the client.
    pub(super) fn push_incoming(&self, cost: u32, payload: &[u8]) {
        let mut state = self.lock();
        let item = Bytes::copy_from_slice(payload);
        state.incoming.push_back((cost, item));
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Tells the handler that the connection closes soon.
    pub(super) fn set_closing(&self) {
        let mut state = self.lock();
        state.closing = true;
        let wakers = std::mem::take(&mut state.closing_wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The client has ended its stream.
    pub(super) fn end_input(&self) {
        let mut state = self.lock();
        state.input_ended = true;
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Takes the credit of items that were read since the last use of this function. The next change notifies the connection
    /// again.
    pub(super) fn take_read(&self) -> u32 {
        let mut state = self.lock();
        state.notified = false;
        std::mem::take(&mut state.read)
    }

    /// Sends the next outgoing item by `send`. None if there is no item.
    pub(super) fn send_next(
        &self,
        send: impl FnOnce(&OutgoingItem) -> SendOutcome,
    ) -> Option<SendOutcome> {
        let mut state = self.lock();
        let sent = send(state.outgoing.front()?);
        let mut writers = Vec::new();
        if sent == SendOutcome::Sent {
            state.pop();
            if state.outgoing_bytes < MAX_OUTGOING {
                writers = std::mem::take(&mut state.writers);
            }
        }
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        Some(sent)
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

    /// Adds a message for a subscriber, by its policy. Returns whether it was added.
    pub(crate) fn offer(self: &Arc<Self>, payload: &Bytes, policy: Policy) -> bool {
        let mut state = self.lock();
        if state.ended || state.answer.is_some() {
            return false;
        }
        if payload.len() as u64 > u64::from(self.most) {
            state.missed = state.missed.saturating_add(1);
            return false;
        }
        let cost = payload.len() + HEADER;
        let full = |state: &State| {
            policy.crowded
                || state.outgoing.len() >= policy.messages
                || state.outgoing_bytes + cost > policy.bytes
        };
        while full(&state) && !state.outgoing.is_empty() {
            match policy.slow {
                SlowSubscriber::LeaveOutOldest => state.drop_oldest(),
                SlowSubscriber::LeaveOutNewest => {
                    state.missed = state.missed.saturating_add(1);
                    return false;
                }
                SlowSubscriber::End => {
                    let message = "this subscriber was too slow";
                    state.outgoing.clear();
                    state.outgoing_bytes = 0;
                    state.answer = Some(Outcome {
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

    /// Takes the result of the call, if there is one and all items were sent.
    pub(super) fn take_answer(&self) -> Option<Outcome> {
        let mut state = self.lock();
        match state.outgoing.is_empty() {
            true => state.answer.take(),
            false => None,
        }
    }

    /// Sets whether the pipe waits for credit. Returns the value before.
    pub(super) fn set_lacks_credit(&self, lacks_credit: bool) -> bool {
        std::mem::replace(&mut self.lock().lacks_credit, lacks_credit)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Ends the call and drops its items. Returns the credit, in bytes, that has not been given back.
    pub(super) fn close(&self) -> u32 {
        let mut state = self.lock();
        state.ended = true;
        state.outgoing = VecDeque::new();
        state.outgoing_bytes = 0;
        state.held = None;
        state.answer = None;
        let unread: u32 = state.incoming.iter().map(|(cost, _)| cost).sum();
        state.incoming = VecDeque::new();
        let read = std::mem::take(&mut state.read);
        let writers = std::mem::take(&mut state.writers);
        let wakers = std::mem::take(&mut state.closing_wakers);
        let reader = state.reader.take();
        drop(state);
        let all = writers.into_iter().chain(wakers).chain(reader);
        all.for_each(Waker::wake);
        unread + read
    }
}

impl State {
    /// Takes memory for a further outgoing item of `bytes`. Returns false if there is none.
    fn take(&mut self, bytes: usize) -> bool {
        let all = (self.outgoing_bytes + bytes).saturating_sub(FREE_OUTGOING);
        self.held.as_mut().is_none_or(|held| held.resize(all))
    }

    /// Drops the oldest message. The next one has the number of dropped ones.
    fn drop_oldest(&mut self) {
        let missed = self.pop().map_or(0, |left| left.missed).saturating_add(1);
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
        let left = self.outgoing.pop_front()?;
        self.outgoing_bytes -= left.payload.len() + HEADER;
        let all = self.outgoing_bytes.saturating_sub(FREE_OUTGOING);
        if let Some(held) = &mut self.held {
            // Usually less than before. More if there was no memory when the items were added; it may be missing still.
            held.resize(all);
        }
        Some(left)
    }
}
