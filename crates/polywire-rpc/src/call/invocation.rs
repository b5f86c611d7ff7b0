//! Running the handler of a call, on every wire.
//!
//! A wire creates an [`Invocation`], by [`Engine::run_operation`] or [`Invocation::of_method`], polls it, and encodes the
//! [`Reply`]. This module catches panics and ends handlers at their deadlines.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use polywire_protocol::{Fault, FaultKind, InputMemory, ReadPlan, Route, ServerProtocol};
use polywire_schema::{Body, Direction};
use tokio::time::Sleep;
use tower::ServiceExt;

use super::decoding::{COUNTED_FROM, InputReservation};
use super::memory::MemoryReservation;
use super::{Deadline, Engine, Target};
use crate::handler::HandlerFuture;
use crate::methods::{MethodFuture, MethodReply, ReplyFormat, write_output};
use crate::{Call, Output};

/// A handler in progress. Dropping it cancels the handler. The end of the client's stream drops it only if
/// [`ServerBuilder::half_close`](crate::ServerBuilder::half_close) is off.
pub(crate) struct Invocation {
    work: Work,
    deadline: Deadline,
    /// Ends at the deadline. It is created when the handler first waits for something: most do not.
    sleep: Option<Pin<Box<Sleep>>>,
}

enum Work {
    /// The index of the operation, and its handler behind the layers around calls.
    Operation(u32, HandlerFuture),
    Method(MethodFuture),
}

/// The result of a handler, before the wire encodes it.
pub(crate) enum Reply {
    /// The index of the operation, and its output.
    Output(u32, Output),
    Method(MethodReply),
}

/// A call of an operation whose handler has not started.
struct DecodedCall {
    call: Call,
    /// The memory of its input, if it takes much.
    held: Option<MemoryReservation>,
}

impl Engine {
    /// Decodes the input of an operation and starts its handler.
    ///
    /// On the pool for large inputs the handler starts at the first poll, on the task of the connection: handlers may
    /// rely on that, and the caller may have gone by now.
    pub(crate) fn run_operation(
        self: &Arc<Self>,
        protocol: &dyn ServerProtocol,
        route: &Route,
        context: crate::Context,
        body: &Body,
        is_on_pool: bool,
    ) -> Result<Invocation, Fault> {
        let call = self.decode(protocol, route, context, body)?;
        let future = match is_on_pool {
            false => self.start(call),
            true => {
                let engine = Arc::clone(self);
                Box::pin(async move { engine.start(call).await })
            }
        };
        Ok(Invocation::new(Work::Operation(route.operation, future)))
    }

    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        route: &Route,
        context: crate::Context,
        body: &Body,
    ) -> Result<DecodedCall, Fault> {
        let operation = self.service.operation(route.operation);
        let index = route.operation as usize;
        let Some(Some(handler)) = self.handlers.get(index) else {
            let message = format!("{} has no handler", operation.name());
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        };
        let is_counted = body.as_bytes().len() > COUNTED_FROM;
        let memory = is_counted.then(|| InputReservation::new(Arc::clone(&self.memory)));
        let plan = ReadPlan {
            head: &context.head,
            body,
            route,
            limits: &self.limits,
            memory: memory.as_ref().map(|memory| memory as &dyn InputMemory),
        };
        let validator = self.validator.as_ref();
        let input = handler.decode(protocol, operation, &plan, validator)?;
        let call = Call {
            service: self.service.clone(),
            operation: route.operation,
            context,
            input,
        };
        let held = memory.and_then(InputReservation::into_held);
        Ok(DecodedCall { call, held })
    }

    /// Passes a call to the layers around calls and to its handler.
    fn start(&self, decoded: DecodedCall) -> HandlerFuture {
        let DecodedCall { call, held } = decoded;
        let index = call.operation as usize;
        let output = match (self.layered.get(index), self.handlers.get(index)) {
            (Some(Some(layered)), _) => Box::pin(layered.clone().oneshot(call)),
            (_, Some(Some(handler))) => handler.call(call),
            // It was there when the call was decoded.
            _ => Box::pin(async { Err(Fault::internal("a handler that is gone")) }),
        };
        match held {
            None => output,
            Some(held) => Box::pin(async move {
                let _held = held;
                output.await
            }),
        }
    }
}

impl Invocation {
    const fn new(work: Work) -> Self {
        Self {
            work,
            deadline: Deadline::NONE,
            sleep: None,
        }
    }

    pub(crate) const fn of_method(future: MethodFuture) -> Self {
        Self::new(Work::Method(future))
    }

    /// Ends the handler at a deadline.
    pub(crate) const fn with_deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = deadline;
        self
    }

    /// Polls the handler, and passes its result to `encode`.
    ///
    /// # Errors
    ///
    /// The fault of the handler or of `encode`; an internal fault, if one of them panics; or that the time of the
    /// handler is over.
    pub(crate) fn poll<T>(
        &mut self,
        engine: &Engine,
        target: Option<&Target>,
        context: &mut Context<'_>,
        encode: impl FnOnce(Reply) -> Result<T, Fault>,
    ) -> Poll<Result<T, Fault>> {
        let poll = catch_panic(|| Ok(self.poll_work(context, encode)));
        if let Poll::Ready(result) = poll.unwrap_or_else(|fault| Poll::Ready(Err(fault))) {
            return Poll::Ready(result);
        }
        let Some(at) = self.deadline.instant() else {
            return Poll::Pending;
        };
        let sleep = || Box::pin(tokio::time::sleep_until(at));
        let sleep = self.sleep.get_or_insert_with(sleep);
        // Not limited by the budget of the task: a handler that uses up the budget at each poll would defer its deadline
        // for ever.
        let sleep = tokio::task::unconstrained(sleep.as_mut());
        ready!(pin!(sleep).poll(context));
        Poll::Ready(Err(late(engine, target)))
    }

    /// Like [`Self::poll`], without a deadline, where the caller catches panics.
    #[inline]
    pub(crate) fn poll_work<T>(
        &mut self,
        context: &mut Context<'_>,
        encode: impl FnOnce(Reply) -> Result<T, Fault>,
    ) -> Poll<Result<T, Fault>> {
        let reply = match &mut self.work {
            Work::Operation(index, handler) => {
                let output = ready!(handler.as_mut().poll(context));
                output.map(|output| Reply::Output(*index, output))
            }
            Work::Method(method) => {
                let reply = ready!(method.as_mut().poll(context));
                reply.map(Reply::Method)
            }
        };
        Poll::Ready(reply.and_then(encode))
    }

    /// Polls to the end.
    pub(crate) async fn finish<T>(
        mut self,
        engine: &Engine,
        target: Option<&Target>,
        mut encode: impl FnMut(Reply) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        poll_fn(|context| self.poll(engine, target, context, &mut encode)).await
    }
}

impl Reply {
    /// The response over HTTP.
    pub(crate) fn into_response(
        self,
        engine: &Arc<Engine>,
        protocol: usize,
        target: Option<&Target>,
    ) -> Result<Response<Bytes>, Fault> {
        match self {
            Self::Output(index, output) => {
                let operation = engine.service.operation(index);
                let writer = &*engine.protocols[protocol];
                let response = writer.encode_output(operation, output.message());
                let response = response.map_err(Fault::internal)?;
                match engine.streams_events(index, Direction::Response) {
                    false => Ok(response),
                    true => engine.begin_events(protocol, operation, output.message(), response),
                }
            }
            Self::Method(reply) => {
                if let Some(Target::Method(entry)) = target {
                    entry.record_size(reply.len());
                }
                Ok(reply.into_response())
            }
        }
    }

    /// The reply as that of a method. An output is appended to `space`.
    #[inline]
    pub(crate) fn into_method_reply(
        self,
        engine: &Engine,
        form: ReplyFormat,
        space: Vec<u8>,
    ) -> Result<MethodReply, Fault> {
        match self {
            Self::Output(index, output) => {
                let root = engine.service.operation(index).output().root();
                let bytes = write_output(form, space, root, output.message());
                Ok(MethodReply::new(form, bytes.map_err(Fault::internal)?))
            }
            Self::Method(reply) => Ok(reply),
        }
    }
}

/// The handler of a call has taken longer than it may.
#[cold]
fn late(engine: &Engine, target: Option<&Target>) -> Fault {
    let name = target.map_or("", |target| target.name(engine));
    Fault::new(FaultKind::DeadlineExceeded, format!("{name} took too long"))
}

/// What a function returns, or an internal fault if it panics: a bug in one handler costs one call, not the connection
/// and the other calls on it.
///
/// It surrounds handlers and layers around calls (here), layers around heads and HTTP requests (`server/`), authenticators,
/// functions for the keys of rates, guards of topics (a panic is a refusal) and handlers of WebSocket connections.
pub(crate) fn catch_panic<T>(function: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // What the panic left half done is dropped with the call. Handlers protect what they share among calls, as with
    // threads.
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("a panic: {}", text.unwrap_or("of an unknown kind"));
        Err(Fault::internal(reason))
    })
}
