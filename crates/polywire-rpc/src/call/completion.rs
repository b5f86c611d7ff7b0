//! The queue of completed calls, from handlers to the task of their connection.

use std::task::{Context, Waker};

use polywire_frame::CallId;
use polywire_protocol::Fault;

use super::admission::{MemoryUse, Rejection};
use super::memory::{Memory, MemoryReservation};
use super::pipe::Pipe;
use super::topic_call::TopicCall;
use crate::methods::MethodReply;
use crate::sync::{Arc, Mutex, PoisonError};

/// The end of a handler.
#[derive(Debug)]
pub(crate) struct Completion<C = CallId> {
    pub(crate) call: C,
    pub(crate) operation: u32,
    pub(crate) outcome: CallResult,
    /// Whether it is known that no handler has started.
    pub(crate) unstarted: bool,
}

/// The result of a call, and the memory that it takes until it is written.
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) result: Result<MethodReply, Fault>,
    pub(crate) memory: Option<MemoryReservation>,
}

/// Replies up to this size, in bytes, take no memory that is counted.
pub(crate) const SMALL: usize = 4 << 10;

impl CallResult {
    /// A large reply for which there is no memory becomes a fault: clients that do not read their replies must not fill
    /// the memory of the server.
    pub(crate) fn new(result: Result<MethodReply, Fault>, memory: &Arc<Memory>) -> Self {
        let bytes = result.as_ref().map_or(0, MethodReply::len);
        if bytes <= SMALL {
            return Self {
                result,
                memory: None,
            };
        }
        let mut held = MemoryReservation::nothing(Arc::clone(memory));
        match held.resize(bytes) {
            true => Self {
                result,
                memory: Some(held),
            },
            false => Self {
                result: Err(Rejection::NoMemory(MemoryUse::Replies).fault()),
                memory: None,
            },
        }
    }
}

/// Completions, and streams with items to fetch, that the task of a connection has not taken.
///
/// `C` identifies a call.
#[derive(Debug)]
pub(crate) struct CompletionQueue<C = CallId>(Mutex<State<C>>);

#[derive(Debug)]
struct State<C> {
    pending: PendingWork<C>,
    waker: Option<Waker>,
}

/// The content of a [`CompletionQueue`].
#[derive(Debug)]
pub(crate) struct PendingWork<C = CallId> {
    pub(crate) completions: Vec<Completion<C>>,
    pub(crate) pipes: Vec<Arc<Pipe>>,
    pub(crate) topic_calls: Vec<(C, TopicCall)>,
}

impl<C> PendingWork<C> {
    pub(crate) const fn is_empty(&self) -> bool {
        self.completions.is_empty() && self.pipes.is_empty() && self.topic_calls.is_empty()
    }
}

impl<C> Default for PendingWork<C> {
    fn default() -> Self {
        Self {
            completions: Vec::new(),
            pipes: Vec::new(),
            topic_calls: Vec::new(),
        }
    }
}

impl<C> Default for CompletionQueue<C> {
    fn default() -> Self {
        Self(Mutex::new(State {
            pending: PendingWork::default(),
            waker: None,
        }))
    }
}

impl<C> CompletionQueue<C> {
    pub(crate) fn push(&self, completion: Completion<C>) {
        self.add(|pending| pending.completions.push(completion));
    }

    /// Adds a call to a topic.
    pub(crate) fn push_topic_call(&self, id: C, call: TopicCall) {
        self.add(|pending| pending.topic_calls.push((id, call)));
    }

    /// Adds a stream with items to fetch.
    pub(crate) fn push_pipe(&self, pipe: Arc<Pipe>) {
        self.add(|pending| pending.pipes.push(pipe));
    }

    fn add(&self, add: impl FnOnce(&mut PendingWork<C>)) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        add(&mut state.pending);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes everything. The task is woken when more is added.
    pub(crate) fn take(&self, context: &Context<'_>) -> PendingWork<C> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Also if the queue is not empty: more may be added before the task calls this again.
        let own = context.waker();
        let known = state.waker.as_ref();
        if !known.is_some_and(|waker| waker.will_wake(own)) {
            state.waker = Some(own.clone());
        }
        std::mem::take(&mut state.pending)
    }
}
