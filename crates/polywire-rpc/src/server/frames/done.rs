//! What handlers leave for the task of their connection.

use std::task::{Context, Waker};
use std::time::Duration;

use polywire_frame::CallId;
use polywire_protocol::{Fault, FaultKind};

use super::pipe::Pipe;
use crate::methods::MethodReply;
use crate::server::memory::{Held, Memory};
use crate::sync::{Arc, Mutex, PoisonError};

/// An answer, and to what.
#[derive(Debug)]
pub(super) struct Ended<C = CallId> {
    pub(super) call: C,
    pub(super) operation: u32,
    pub(super) answer: Answered,
    /// Whether it is known that no handler has begun.
    pub(super) unstarted: bool,
}

/// What a call has ended in, and the memory that it takes until it has been written.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) result: Result<MethodReply, Fault>,
    pub(super) held: Option<Held>,
}

/// Answers up to this size take no memory that counts.
pub(super) const SMALL: usize = 4 << 10;

impl Answered {
    /// A large answer for which there is no memory is a fault instead: whoever does not read what was
    /// asked for shall not fill the server with it.
    pub(super) fn new(result: Result<MethodReply, Fault>, memory: &Arc<Memory>) -> Self {
        let bytes = result.as_ref().map_or(0, MethodReply::len);
        if bytes <= SMALL {
            return Self { result, held: None };
        }
        let mut held = Held::nothing(Arc::clone(memory));
        if held.resize(bytes) {
            return Self {
                result,
                held: Some(held),
            };
        }
        let message = "answers that wait to be read take as much memory as they may";
        let fault = Fault::new(FaultKind::Overloaded, message);
        Self {
            result: Err(fault.with_retry_after(Duration::from_secs(1))),
            held: None,
        }
    }
}

/// Answers of handlers that took their time, and streams that have something to fetch.
///
/// `C` is what a call is known by.
#[derive(Debug)]
pub(super) struct Done<C = CallId>(Mutex<Waiting<C>>);

#[derive(Debug)]
struct Waiting<C> {
    left: Left<C>,
    waker: Option<Waker>,
}

/// What was left.
#[derive(Debug)]
pub(super) struct Left<C = CallId> {
    pub(super) answers: Vec<Ended<C>>,
    pub(super) pipes: Vec<Arc<Pipe>>,
}

impl<C> Default for Left<C> {
    fn default() -> Self {
        Self {
            answers: Vec::new(),
            pipes: Vec::new(),
        }
    }
}

impl<C> Default for Done<C> {
    fn default() -> Self {
        Self(Mutex::new(Waiting {
            left: Left::default(),
            waker: None,
        }))
    }
}

impl<C> Done<C> {
    pub(super) fn push(&self, ended: Ended<C>) {
        self.leave(|left| left.answers.push(ended));
    }

    /// A stream has something to fetch.
    pub(super) fn fetch(&self, pipe: Arc<Pipe>) {
        self.leave(|left| left.pipes.push(pipe));
    }

    fn leave(&self, leave: impl FnOnce(&mut Left<C>)) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leave(&mut waiting.left);
        let waker = waiting.waker.take();
        drop(waiting);
        waker.into_iter().for_each(Waker::wake);
    }

    /// What is there. The task is woken when there is more.
    pub(super) fn take(&self, context: &Context<'_>) -> Left<C> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether or not there is some: the next may come before the task looks again.
        let own = context.waker();
        let known = waiting.waker.as_ref();
        if !known.is_some_and(|waker| waker.will_wake(own)) {
            waiting.waker = Some(own.clone());
        }
        std::mem::take(&mut waiting.left)
    }
}
