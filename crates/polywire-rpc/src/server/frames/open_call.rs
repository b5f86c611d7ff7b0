//! The state of an open call.

use std::sync::Arc;

use tokio::task::AbortHandle;

use crate::call::InFlight;
use crate::call::pipe::Pipe;
use crate::call::queue::QueuedCall;
use crate::topics::SubscriptionGuard;

/// An open call whose handler is in progress, or a subscription. Dropping it aborts the handler and closes its streams.
pub(super) struct OpenCall {
    task: Option<AbortHandle>,
    /// Its entry in the run queue, if it has one.
    queued: Option<Arc<QueuedCall>>,
    /// The streams of the call or subscription, if it has any.
    stream: Option<Box<StreamState>>,
    /// A subscription whose caller is not authenticated yet.
    is_pending_subscription: bool,
}

struct StreamState {
    operation: u32,
    pipe: Arc<Pipe>,
    is_subscription: bool,
    /// `None` after the client has unsubscribed.
    subscription: Option<SubscriptionGuard>,
    /// For a subscription. A handler holds its own.
    _in_flight: Option<InFlight>,
}

impl OpenCall {
    pub(super) const fn call(task: AbortHandle, queued: Option<Arc<QueuedCall>>) -> Self {
        Self {
            task: Some(task),
            queued,
            stream: None,
            is_pending_subscription: false,
        }
    }

    /// A call to a topic whose caller is not authenticated yet.
    pub(super) const fn pending(task: AbortHandle, is_subscription: bool) -> Self {
        Self {
            task: Some(task),
            queued: None,
            stream: None,
            is_pending_subscription: is_subscription,
        }
    }

    pub(super) const fn is_pending_subscription(&self) -> bool {
        self.is_pending_subscription
    }

    pub(super) fn stream(task: AbortHandle, operation: u32, pipe: Arc<Pipe>) -> Self {
        Self {
            task: Some(task),
            queued: None,
            stream: Some(Box::new(StreamState {
                operation,
                pipe,
                is_subscription: false,
                subscription: None,
                _in_flight: None,
            })),
            is_pending_subscription: false,
        }
    }

    pub(super) fn subscription(
        subscription: SubscriptionGuard,
        pipe: Arc<Pipe>,
        in_flight: Option<InFlight>,
    ) -> Self {
        Self {
            task: None,
            queued: None,
            stream: Some(Box::new(StreamState {
                operation: 0,
                pipe,
                is_subscription: true,
                subscription: Some(subscription),
                _in_flight: in_flight,
            })),
            is_pending_subscription: false,
        }
    }

    pub(super) fn pipe(&self) -> Option<&Arc<Pipe>> {
        self.stream.as_ref().map(|stream| &stream.pipe)
    }

    /// Prevents a call in the run queue from starting. Returns whether it was there and has not started. Only a shutdown
    /// needs it: if the client cancels, the task is aborted.
    pub(super) fn cancel(&self) -> bool {
        self.queued.as_ref().is_some_and(|queued| queued.cancel())
    }

    pub(super) fn operation(&self) -> u32 {
        self.stream.as_ref().map_or(0, |stream| stream.operation)
    }

    pub(super) fn is_subscription(&self) -> bool {
        let stream = self.stream.as_ref();
        stream.is_some_and(|stream| stream.is_subscription)
    }

    /// Removes the subscription from its topic. Returns the pipe with the messages that are still to be sent.
    pub(super) fn unsubscribe(&mut self) -> Option<&Arc<Pipe>> {
        let stream = self.stream.as_mut()?;
        stream.subscription.take()?;
        Some(&stream.pipe)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        if let Some(pipe) = self.pipe() {
            pipe.close();
        }
    }
}
