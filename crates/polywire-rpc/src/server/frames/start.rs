//! Starting the handler of a call: on the task of its connection, or in the run queue.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_protocol::Fault;
use tokio::time::Instant;

use super::handlers::{Handlers, Request, is_of_the_input};
use super::head::PendingIdentity;
use super::table::{Input, Table, encode};
use crate::call::admission::{Admitted, Rejection};
use crate::call::pipe::Pipe;
use crate::call::queue::QueuedCall;
use crate::call::{Deadline, Engine, Invocation, catch_panic};
use crate::frames::payload;
use crate::methods::MethodReply;
use crate::server::app::App;

/// A handler after its first poll.
pub(super) enum FirstPoll {
    Ready(Result<MethodReply, Fault>),
    Pending(Invocation),
}

/// Decodes the input of a call and polls its handler.
#[inline]
pub(super) fn start(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    operation: u32,
    context: Cow<'_, crate::Context>,
    input: Input<'_>,
) -> Result<FirstPoll, Fault> {
    catch_panic(|| {
        if let Some(result) = table.bytes(operation, &context, input.0) {
            return Ok(FirstPoll::Ready(result));
        }
        let mut run = table.run(engine, operation, context.into_owned(), input, None)?;
        // With a spent budget nothing would be ready.
        if tokio::task::coop::has_budget_remaining() {
            // The next poll brings the waker that counts.
            let mut context = Context::from_waker(Waker::noop());
            let poll = run.poll_work(&mut context, |reply| encode(engine, reply));
            if let Poll::Ready(result) = poll {
                return Ok(FirstPoll::Ready(result));
            }
        }
        Ok(FirstPoll::Pending(run))
    })
}

/// The rest of a handler, within the time that handlers have.
pub(super) async fn finish(
    app: Arc<App>,
    table: Arc<Table>,
    operation: u32,
    run: Invocation,
) -> Result<MethodReply, Fault> {
    let deadline = Deadline::after(Instant::now(), app.timeouts.handler);
    let target = Some(table.target(operation));
    let run = run.with_deadline(deadline);
    let engine = &app.engine;
    run.finish(engine, target, |reply| encode(engine, reply))
        .await
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
/// Its output is `Err` if the handler has not started, and else `Ok` with the result of the handler, which may be a fault.
/// The future holds `admitted` until the handler has ended.
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
        deadline: request.deadline.on_tokio(request.clock),
        payload: owned_payload(request),
    };
    let queued = handlers.queue.enter(handlers.table.cost(request.operation));
    let own = Arc::clone(&queued);
    let run = async move {
        let turn = own.turn().await.map_err(Rejection::fault)?;
        let app = Arc::clone(&owned.app);
        let (table, operation) = (Arc::clone(&owned.table), owned.operation);
        let started = owned.start()?;
        drop(turn);
        match started {
            Ok(FirstPoll::Ready(result)) => Ok(result),
            Ok(FirstPoll::Pending(run)) => {
                admitted.occupy(&app.flow.capacity);
                let result = finish(app, table, operation, run).await;
                drop(admitted);
                Ok(result)
            }
            Err(fault) => Ok(Err(fault)),
        }
    };
    (queued, run)
}

/// The payload of a call, for longer than the frame that it came in.
pub(super) fn owned_payload(request: &Request<'_>) -> Bytes {
    let part = request
        .whole
        .and_then(|whole| payload::part(whole, request.payload));
    part.unwrap_or_else(|| Bytes::copy_from_slice(request.payload))
}

/// Starts a call once its caller is authenticated, which must be before `limit`. `pipe` carries the items of a method with
/// streams.
pub(super) fn run_authenticated(
    handlers: &Handlers,
    (operation, mut context): (u32, crate::Context),
    payload: Bytes,
    pipe: Option<Arc<Pipe>>,
    (authentication, limit): (PendingIdentity, Deadline),
) -> Invocation {
    let engine = Arc::clone(&handlers.app.engine);
    let table = Arc::clone(&handlers.table);
    Invocation::of_method(Box::pin(async move {
        context.identity = Some(limit.limit(authentication).await?);
        let input = (&*payload, Some(&payload));
        let run = catch_panic(|| match table.bytes(operation, &context, input.0) {
            Some(result) => Ok(Err(result)),
            None => table.run(&engine, operation, context, input, pipe).map(Ok),
        });
        let run = run.map_err(|fault| match is_of_the_input(&fault) {
            true => fault.before_handler(),
            false => fault,
        });
        match run? {
            Ok(run) => {
                run.finish(&engine, None, |reply| encode(&engine, reply))
                    .await
            }
            Err(result) => result,
        }
    }))
}

impl OwnedRequest {
    /// Fails if the handler has not started.
    fn start(mut self) -> Result<Result<FirstPoll, Fault>, Fault> {
        let now = Instant::now();
        self.context.deadline = self.deadline.for_handler(self.app.timeouts.handler)?;
        self.app.flow.capacity.check().map_err(Rejection::fault)?;
        let input = (&*self.payload, Some(&self.payload));
        let context = Cow::Owned(self.context);
        let started = start(
            &self.app.engine,
            &self.table,
            self.operation,
            context,
            input,
        );
        match started {
            Err(fault) if is_of_the_input(&fault) => Err(fault),
            started => {
                self.table.cost(self.operation).record(now.elapsed());
                Ok(started)
            }
        }
    }
}
