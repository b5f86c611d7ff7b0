//! What a connection keeps of a call while it is open.

use std::sync::Arc;

use tokio::task::AbortHandle;

use super::pipe::Pipe;
use super::turns::Waiting;
use crate::server::gate::InFlight;
use crate::topics::Subscribed;

/// What is kept of a call while its handler is at work, or of a subscription.
pub(super) struct Kept {
    task: Option<AbortHandle>,
    /// Of one that keeps a processor busy.
    waiting: Option<Arc<Waiting>>,
    /// Of a call with streams, or a subscription.
    items: Option<Box<Streamed>>,
}

struct Streamed {
    operation: u32,
    pipe: Arc<Pipe>,
    is_subscription: bool,
    /// Until it is not wanted any more.
    subscribed: Option<Subscribed>,
    /// Of a subscription; a handler has its own.
    _in_flight: Option<InFlight>,
}

impl Kept {
    pub(super) const fn call(task: AbortHandle, waiting: Option<Arc<Waiting>>) -> Self {
        Self {
            task: Some(task),
            waiting,
            items: None,
        }
    }

    pub(super) fn stream(task: AbortHandle, operation: u32, pipe: Arc<Pipe>) -> Self {
        Self {
            task: Some(task),
            waiting: None,
            items: Some(Box::new(Streamed {
                operation,
                pipe,
                is_subscription: false,
                subscribed: None,
                _in_flight: None,
            })),
        }
    }

    pub(super) fn subscription(
        subscribed: Subscribed,
        pipe: Arc<Pipe>,
        in_flight: Option<InFlight>,
    ) -> Self {
        Self {
            task: None,
            waiting: None,
            items: Some(Box::new(Streamed {
                operation: 0,
                pipe,
                is_subscription: true,
                subscribed: Some(subscribed),
                _in_flight: in_flight,
            })),
        }
    }

    pub(super) fn pipe(&self) -> Option<&Arc<Pipe>> {
        self.items.as_ref().map(|items| &items.pipe)
    }

    /// The call is to end: whether it waits for its turn, and will never have it.
    pub(super) fn give_up(&self) -> bool {
        let waiting = self.waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.give_up())
    }

    pub(super) fn operation(&self) -> u32 {
        self.items.as_ref().map_or(0, |items| items.operation)
    }

    pub(super) fn is_subscription(&self) -> bool {
        let items = self.items.as_ref();
        items.is_some_and(|items| items.is_subscription)
    }

    /// Nothing more is handed over to a subscription. What was leaves by this.
    pub(super) fn unsubscribe(&mut self) -> Option<&Arc<Pipe>> {
        let items = self.items.as_mut()?;
        items.subscribed.take()?;
        Some(&items.pipe)
    }
}

impl Drop for Kept {
    /// The call was answered, which is no matter to the task any more; or it was cancelled, its
    /// time is over or its connection has ended, and nobody wants its answer.
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        if let Some(pipe) = self.pipe() {
            pipe.close();
        }
    }
}
