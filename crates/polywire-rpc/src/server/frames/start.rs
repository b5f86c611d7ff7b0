//! Starting the handler of a call: on the task of its connection, or in the run queue.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_protocol::Fault;
use tokio::time::Instant;

use super::calls::Table;
use super::handlers::{Handlers, Request, is_of_the_input};
use super::head::PendingIdentity;
use crate::call::Deadline;
use crate::call::admission::{Admitted, Rejection};
use crate::call::queue::QueuedCall;
use crate::frames::payload;
use crate::methods::{MethodFuture, MethodReply};
use crate::server::answer::caught;
use crate::server::app::{App, Called};

/// A handler after its first poll.
pub(super) enum FirstPoll {
    Ready(Result<MethodReply, Fault>),
    Pending(MethodFuture),
}

impl FirstPoll {
    /// Polls a handler, unless the budget of the task is spent: then nothing would be ready.
    fn of(mut future: MethodFuture) -> Self {
        if !tokio::task::coop::has_budget_remaining() {
            return Self::Pending(future);
        }
        // The next poll brings the waker that counts.
        let mut context = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => Self::Ready(result),
            Poll::Pending => Self::Pending(future),
        }
    }
}

/// The payload of a call, and the buffer that it is a part of if it is large.
pub(super) type Input<'a> = (&'a [u8], Option<&'a Bytes>);

/// Decodes the input of a call and polls its handler.
#[inline]
pub(super) fn start(
    app: &Arc<App>,
    table: &Table,
    operation: u32,
    context: Cow<'_, crate::Context>,
    input: Input<'_>,
) -> Result<FirstPoll, Fault> {
    caught(|| match table.bytes(operation, &context, input.0) {
        Some(result) => Ok(FirstPoll::Ready(result)),
        None => {
            let future = table.begin(app, operation, context.into_owned(), input)?;
            Ok(FirstPoll::of(future))
        }
    })
}

/// The rest of a handler, within the time that handlers have.
pub(super) async fn finish(
    app: Arc<App>,
    called: Called,
    mut future: MethodFuture,
) -> Result<MethodReply, Fault> {
    let work = poll_fn(|context| {
        caught(|| Ok(future.as_mut().poll(context))).unwrap_or_else(|fault| Poll::Ready(Err(fault)))
    });
    match tokio::time::timeout(app.timeouts.handler, work).await {
        Ok(result) => result,
        Err(_) => Err(app.late(&called)),
    }
}

/// A call in the run queue, with all that it needs.
struct OwnedRequest {
    app: Arc<App>,
    table: Arc<Table>,
    operation: u32,
    context: crate::Context,
    /// Of the caller. The time of the handler counts from its start.
    deadline: Deadline,
    payload: Bytes,
}

/// Adds a call to the run queue. Returns its place there, and a future that runs it.
///
/// The future fails if the handler has not started. It holds `admitted` until the handler has ended.
pub(super) fn enqueue(
    handlers: &Handlers,
    request: &Request<'_>,
    mut admitted: Admitted,
) -> (
    Arc<QueuedCall>,
    impl Future<Output = Result<Result<MethodReply, Fault>, Fault>> + Send + use<>,
) {
    let owned = OwnedRequest {
        app: Arc::clone(&handlers.app),
        table: Arc::clone(&handlers.table),
        operation: request.operation,
        context: request.context.clone(),
        deadline: Deadline::at(request.clock.instant(request.deadline)),
        payload: owned_payload(request),
    };
    let queued = handlers.queue.enter(handlers.table.cost(request.operation));
    let own = Arc::clone(&queued);
    let run = async move {
        let turn = own.turn().await.map_err(Rejection::fault)?;
        let app = Arc::clone(&owned.app);
        let called = owned.table.called(owned.operation);
        let started = owned.start()?;
        drop(turn);
        match started {
            Ok(FirstPoll::Ready(result)) => Ok(result),
            Ok(FirstPoll::Pending(future)) => {
                admitted.occupy(&app.flow.capacity);
                let result = finish(app, called, future).await;
                drop(admitted);
                Ok(result)
            }
            Err(fault) => Ok(Err(fault)),
        }
    };
    (queued, run)
}

/// The payload of a call, for longer than the frame that it came in.
fn owned_payload(request: &Request<'_>) -> Bytes {
    let part = request
        .whole
        .and_then(|whole| payload::part(whole, request.payload));
    part.unwrap_or_else(|| Bytes::copy_from_slice(request.payload))
}

/// Starts a call once its caller is authenticated.
pub(super) fn start_authenticated(
    handlers: &Handlers,
    request: &Request<'_>,
    authentication: PendingIdentity,
) -> MethodFuture {
    let (app, table) = (Arc::clone(&handlers.app), Arc::clone(&handlers.table));
    let (operation, mut context) = (request.operation, request.context.clone());
    let payload = owned_payload(request);
    Box::pin(async move {
        context.identity = Some(context.deadline.limit(authentication).await?);
        let input = (&*payload, Some(&payload));
        let started = start(&app, &table, operation, Cow::Owned(context), input);
        let started = started.map_err(|fault| match is_of_the_input(&fault) {
            true => fault.before_handler(),
            false => fault,
        });
        match started? {
            FirstPoll::Ready(result) => result,
            FirstPoll::Pending(future) => future.await,
        }
    })
}

impl OwnedRequest {
    /// Fails if the handler has not started.
    fn start(mut self) -> Result<Result<FirstPoll, Fault>, Fault> {
        let now = Instant::now();
        if self.deadline.is_over(now) {
            return Err(Rejection::DeadlineExceeded.fault());
        }
        self.app.flow.capacity.check().map_err(Rejection::fault)?;
        let limit = Deadline::after(now, self.app.timeouts.handler);
        self.context.deadline = self.deadline.earlier(limit);
        let input = (&*self.payload, Some(&self.payload));
        let context = Cow::Owned(self.context);
        let started = start(&self.app, &self.table, self.operation, context, input);
        match started {
            Err(fault) if is_of_the_input(&fault) => Err(fault),
            started => {
                self.table.cost(self.operation).record(now.elapsed());
                Ok(started)
            }
        }
    }
}
