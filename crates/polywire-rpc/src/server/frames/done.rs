//! What handlers leave for the task of their connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use polywire_frame::CallId;
use polywire_protocol::Fault;

use super::pipe::Pipe;
use crate::methods::MethodReply;

/// An answer, and to what.
pub(super) type Ended = (CallId, u32, Result<MethodReply, Fault>);

/// Answers of handlers that took their time, and streams that have something to fetch.
#[derive(Debug, Default)]
pub(super) struct Done(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    left: Left,
    waker: Option<Waker>,
}

/// What was left.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) answers: Vec<Ended>,
    pub(super) pipes: Vec<Arc<Pipe>>,
}

impl Done {
    pub(super) fn push(&self, ended: Ended) {
        self.leave(|left| left.answers.push(ended));
    }

    /// A stream has something to fetch.
    pub(super) fn fetch(&self, pipe: Arc<Pipe>) {
        self.leave(|left| left.pipes.push(pipe));
    }

    fn leave(&self, leave: impl FnOnce(&mut Left)) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leave(&mut waiting.left);
        let waker = waiting.waker.take();
        drop(waiting);
        waker.into_iter().for_each(Waker::wake);
    }

    /// What is there. The task is woken when there is more.
    pub(super) fn take(&self, context: &Context<'_>) -> Left {
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
