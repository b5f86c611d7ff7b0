//! What a handler and the task of its connection share of a call with streams.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_frame::{CallId, HEADER};
use polywire_protocol::{Fault, FaultKind};

use super::completion::{CompletionQueue, Outcome};
use crate::server::memory::Held;
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::topics::{Policy, SlowSubscriber};

/// Bytes of items that a handler may leave before it has to wait.
const MOST_LEAVING: usize = 64 << 10;

/// Bytes of them that take no memory that counts.
const FEW_LEAVING: usize = 4 << 10;

/// Bytes that were read before the connection is told of them.
const TELL: u32 = 8 << 10;

/// Items that come and go within a call, or the messages of a subscription.
///
/// The connection is told of what there is to do by [`CompletionQueue`], and comes to fetch it: as many bytes
/// as were read, items as far as there is credit, and in the end the answer.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(super) id: CallId,
    /// The most bytes of an item that the client takes.
    most: u32,
    completions: Arc<CompletionQueue>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// With what the connection is told that it was, once it is read.
    arrived: VecDeque<(u32, Bytes)>,
    /// No more will arrive.
    finished: bool,
    reader: Option<Waker>,
    leaving: VecDeque<Leaving>,
    leaving_bytes: usize,
    /// What they take. Nothing, if it is counted elsewhere.
    held: Option<Held>,
    /// Those who wait for room: the sender may be several.
    writers: Vec<Waker>,
    /// Bytes that were read, of which the connection was not told.
    read: u32,
    /// What the call is answered when all has left.
    answer: Option<Outcome>,
    /// The connection has been told that there is something to do.
    told: bool,
    /// Messages that were left out behind those that are there.
    missed: u32,
    /// It waits for credit, and the connection knows.
    blocked: bool,
    /// The connection is to end, and those who want to know.
    ending: bool,
    enders: Vec<Waker>,
    /// The call has ended.
    over: bool,
}

/// An item on its way.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    /// Messages that were left out before it.
    pub(super) missed: u32,
    pub(super) payload: Bytes,
}

/// What became of an item that was to leave.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sent {
    Gone,
    NoCredit,
}

/// Why an item could not be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SendError {
    /// The call has ended.
    Over,
    /// There is no memory for an item of that size.
    NoMemory,
    /// The client takes only so many bytes.
    TooLarge(u32),
}

impl Pipe {
    /// `held` is for what leaves, unless that is counted elsewhere.
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
                arrived: VecDeque::new(),
                finished: !open,
                reader: None,
                leaving: VecDeque::new(),
                leaving_bytes: 0,
                held,
                writers: Vec::new(),
                read: 0,
                answer: None,
                told: false,
                missed: 0,
                blocked: false,
                ending: false,
                enders: Vec::new(),
                over: false,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the connection fetch what there is.
    fn tell(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let told = std::mem::replace(&mut state.told, true) || state.over;
        drop(state);
        if !told {
            self.completions.push_pipe(Arc::clone(self));
        }
    }

    // For the handler.

    /// The next item; nothing, if no more will come.
    pub(crate) fn poll_next(self: &Arc<Self>, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        let Some((cost, item)) = state.arrived.pop_front() else {
            if state.finished || state.over {
                return Poll::Ready(None);
            }
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.read += cost;
        // What is read at last is always told of.
        if state.read >= TELL || state.arrived.is_empty() {
            self.tell(state);
        }
        Poll::Ready(Some(item))
    }

    /// Leaves an item to be sent, once there is room.
    pub(crate) fn poll_send(
        self: &Arc<Self>,
        item: &mut Bytes,
        context: &Context<'_>,
    ) -> Poll<Result<(), SendError>> {
        let mut state = self.lock();
        if state.over {
            return Poll::Ready(Err(SendError::Over));
        }
        if item.len() as u64 > u64::from(self.most) {
            return Poll::Ready(Err(SendError::TooLarge(self.most)));
        }
        let room = state.leaving_bytes < MOST_LEAVING;
        let taken = room && state.take(item.len() + HEADER);
        if !taken && state.leaving.is_empty() && item.len() > MOST_LEAVING {
            return Poll::Ready(Err(SendError::NoMemory));
        }
        // One that is not large may always leave, or nobody would wake those who wait.
        if !taken && !state.leaving.is_empty() {
            let own = context.waker();
            if !state.writers.iter().any(|waker| waker.will_wake(own)) {
                state.writers.push(own.clone());
            }
            return Poll::Pending;
        }
        state.push(0, std::mem::take(item));
        self.tell(state);
        Poll::Ready(Ok(()))
    }

    /// Ready when the connection is to end, or the call has ended.
    pub(crate) fn poll_ending(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.ending || state.over {
            return Poll::Ready(());
        }
        let own = context.waker();
        if !state.enders.iter().any(|waker| waker.will_wake(own)) {
            state.enders.push(own.clone());
        }
        Poll::Pending
    }

    /// The handler has ended.
    pub(super) fn answer(self: &Arc<Self>, answer: Outcome) {
        let mut state = self.lock();
        state.answer.get_or_insert(answer);
        self.tell(state);
    }

    // For the connection.

    /// An item has come.
    pub(super) fn arrived(&self, cost: u32, payload: &[u8]) {
        let mut state = self.lock();
        let item = Bytes::copy_from_slice(payload);
        state.arrived.push_back((cost, item));
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// The connection is to end.
    pub(super) fn ends(&self) {
        let mut state = self.lock();
        state.ending = true;
        let enders = std::mem::take(&mut state.enders);
        drop(state);
        enders.into_iter().for_each(Waker::wake);
    }

    /// No more will come.
    pub(super) fn finished(&self) {
        let mut state = self.lock();
        state.finished = true;
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// How many bytes were read since this was asked last. From now on the connection is told anew.
    pub(super) fn fetched(&self) -> u32 {
        let mut state = self.lock();
        state.told = false;
        std::mem::take(&mut state.read)
    }

    /// Lets the item that is next leave, by `send`. False if there is none.
    pub(super) fn leave_next(&self, send: impl FnOnce(&Leaving) -> Sent) -> Option<Sent> {
        let mut state = self.lock();
        let sent = send(state.leaving.front()?);
        let mut writers = Vec::new();
        if sent == Sent::Gone {
            state.pop();
            if state.leaving_bytes < MOST_LEAVING {
                writers = std::mem::take(&mut state.writers);
            }
        }
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        Some(sent)
    }

    /// Leaves out the oldest message of a subscriber; false if there is none.
    pub(crate) fn leave_out(&self) -> bool {
        let mut state = self.lock();
        let is_some = !state.leaving.is_empty();
        if is_some {
            state.leave_out();
        }
        is_some
    }

    /// A message for a subscriber: whether it was handed over.
    pub(crate) fn offer(self: &Arc<Self>, payload: &Bytes, policy: Policy) -> bool {
        let mut state = self.lock();
        if state.over || state.answer.is_some() {
            return false;
        }
        if payload.len() as u64 > u64::from(self.most) {
            state.missed = state.missed.saturating_add(1);
            return false;
        }
        let cost = payload.len() + HEADER;
        let full = |state: &State| {
            policy.crowded
                || state.leaving.len() >= policy.messages
                || state.leaving_bytes + cost > policy.bytes
        };
        while full(&state) && !state.leaving.is_empty() {
            match policy.slow {
                SlowSubscriber::LeaveOutOldest => state.leave_out(),
                SlowSubscriber::LeaveOutNewest => {
                    state.missed = state.missed.saturating_add(1);
                    return false;
                }
                SlowSubscriber::End => {
                    let message = "this subscriber was too slow";
                    state.leaving.clear();
                    state.leaving_bytes = 0;
                    state.answer = Some(Outcome {
                        result: Err(Fault::new(FaultKind::Overloaded, message)),
                        memory: None,
                    });
                    self.tell(state);
                    return false;
                }
            }
        }
        let missed = std::mem::take(&mut state.missed);
        state.push(missed, payload.clone());
        self.tell(state);
        true
    }

    /// The answer, if there is one and all has left.
    pub(super) fn take_answer(&self) -> Option<Outcome> {
        let mut state = self.lock();
        match state.leaving.is_empty() {
            true => state.answer.take(),
            false => None,
        }
    }

    /// It waits for credit, or does no more. Whether the connection knew that it did.
    pub(super) fn set_blocked(&self, blocked: bool) -> bool {
        std::mem::replace(&mut self.lock().blocked, blocked)
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// The call has ended. How many bytes were read, or will not be, of which the connection was
    /// not told.
    pub(super) fn close(&self) -> u32 {
        let mut state = self.lock();
        state.over = true;
        state.leaving = VecDeque::new();
        state.leaving_bytes = 0;
        state.held = None;
        state.answer = None;
        let unread: u32 = state.arrived.iter().map(|(cost, _)| cost).sum();
        state.arrived = VecDeque::new();
        let read = std::mem::take(&mut state.read);
        let writers = std::mem::take(&mut state.writers);
        let enders = std::mem::take(&mut state.enders);
        let reader = state.reader.take();
        drop(state);
        let all = writers.into_iter().chain(enders).chain(reader);
        all.for_each(Waker::wake);
        unread + read
    }
}

impl State {
    /// Takes memory for one more item of so many bytes.
    fn take(&mut self, bytes: usize) -> bool {
        let all = (self.leaving_bytes + bytes).saturating_sub(FEW_LEAVING);
        self.held.as_mut().is_none_or(|held| held.resize(all))
    }

    /// Leaves out the oldest message; the next says so.
    fn leave_out(&mut self) {
        let missed = self.pop().map_or(0, |left| left.missed).saturating_add(1);
        match self.leaving.front_mut() {
            Some(next) => next.missed = next.missed.saturating_add(missed),
            None => self.missed = self.missed.saturating_add(missed),
        }
    }

    fn push(&mut self, missed: u32, payload: Bytes) {
        self.leaving_bytes += payload.len() + HEADER;
        self.leaving.push_back(Leaving { missed, payload });
    }

    fn pop(&mut self) -> Option<Leaving> {
        let left = self.leaving.pop_front()?;
        self.leaving_bytes -= left.payload.len() + HEADER;
        let all = self.leaving_bytes.saturating_sub(FEW_LEAVING);
        if let Some(held) = &mut self.held {
            // It becomes less, or what could not be had before is had now; either may be.
            held.resize(all);
        }
        Some(left)
    }
}
