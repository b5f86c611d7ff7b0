//! The handlers of a server, as connections and sockets call them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use polywire_frame::server::Fault as SentFault;
use polywire_frame::{Extension, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::faults;
use super::head::{CheckedHead, PendingIdentity};
use super::one_ways::OneWays;
use super::start::{FirstPoll, enqueue, finish, owned_payload, run_authenticated, start};
use super::table::Table;
use crate::call::admission::{Admitted, MemoryUse, Rejection};
use crate::call::completion::{CallResult, Completion, CompletionQueue, SMALL};
use crate::call::faults::log_internal;
use crate::call::memory::{Memory, MemoryReservation};
use crate::call::queue::{QueuedCall, RunQueue};
use crate::call::{Deadline, FrameDeadline, Invocation, Target};
use crate::frames::Clock;
use crate::methods::MethodReply;
use crate::server::app::App;

/// The state machine that calls come from.
pub(super) trait Endpoint {
    /// Identifies a call.
    type Call: Copy + Send + 'static;

    /// Sends a reply. Returns whether the call was still open.
    ///
    /// # Errors
    ///
    /// The reply is larger than the client takes: why. The call is still open.
    fn reply(&mut self, now: Time, call: Self::Call, reply: MethodReply) -> Result<bool, String>;

    /// Sends a fault, if the call is still open.
    fn fault(&mut self, now: Time, call: Self::Call, fault: SentFault, details: &[u8]);

    /// How many calls the client of this call has open.
    fn open_of(&mut self, call: Self::Call) -> u32;

    /// Whether a call is in progress.
    fn is_open(&mut self, call: Self::Call) -> bool;

    /// Keeps the task of an open call, to abort it with the call, and its place in the run queue.
    fn attach(&mut self, call: Self::Call, task: AbortHandle, queued: Option<Arc<QueuedCall>>);
}

/// The handlers of a server, as one connection or socket calls them.
pub(super) struct Handlers {
    pub(super) app: Arc<App>,
    pub(super) table: Arc<Table>,
    /// For replies until they are written, and for items.
    pub(super) memory: Arc<Memory>,
    one_ways: OneWays,
    pub(super) queue: Arc<RunQueue>,
    /// Number of calls, to choose those that are measured.
    calls: AtomicU32,
}

/// One of so many calls is measured, beside those of operations that may be long.
const SAMPLE: u32 = 16;

/// What is called.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) operation: u32,
    pub(super) context: &'a crate::Context,
    pub(super) extension: &'a Extension<'a>,
    pub(super) payload: &'a [u8],
    /// What the payload is a part of, if it is large.
    pub(super) whole: Option<&'a Bytes>,
    /// By `clock`.
    pub(super) deadline: FrameDeadline,
    pub(super) clock: Clock,
}

impl<'a> Request<'a> {
    /// The same with the context of this call, if it has one.
    fn with_context(&self, context: Option<&'a crate::Context>) -> Self {
        let context = context.unwrap_or(self.context);
        Self { context, ..*self }
    }
}

impl Handlers {
    /// Those of a connection, with its part of the memory. None, if the server does not offer frames.
    pub(super) fn of_connection(app: Arc<App>) -> Option<Self> {
        let memory = Arc::new(app.engine.memory.half());
        Self::new(app, memory)
    }

    /// Those of all clients of a socket.
    #[cfg(feature = "udp")]
    pub(super) fn of_socket(app: Arc<App>) -> Option<Self> {
        let memory = Arc::clone(&app.engine.memory);
        Self::new(app, memory)
    }

    fn new(app: Arc<App>, memory: Arc<Memory>) -> Option<Self> {
        Some(Self {
            table: Arc::clone(app.frames.as_ref()?),
            queue: app.flow.queue(),
            memory,
            app,
            one_ways: OneWays::default(),
            calls: AtomicU32::new(0),
        })
    }

    /// Runs a call. The result of a handler that waits for something goes to `completions`.
    pub(super) fn call<E: Endpoint>(
        &self,
        endpoint: &mut E,
        completions: &Arc<CompletionQueue<E::Call>>,
        now: Time,
        call: E::Call,
        request: &Request<'_>,
    ) -> CallStatus {
        let (CheckedHead { context, pending }, mut admitted) = match self.accept(
            request.context,
            request.extension,
            request.operation,
            request.payload.len(),
        ) {
            Ok(admitted) => admitted,
            Err(fault) => {
                self.fault(endpoint, now, call, None, &fault, true);
                return CallStatus::Answered(None);
            }
        };
        let request = &request.with_context(context.as_ref());
        let operation = request.operation;
        // A call with pending authentication has a task of its own anyway, and does not enter the run queue.
        if pending.is_none() && self.table.cost(operation).is_long() {
            let (task, queued) = match self.run_queued(completions, call, request, admitted) {
                Ok(running) => running,
                Err(rejection) => {
                    self.reject(endpoint, now, call, rejection);
                    return CallStatus::Answered(None);
                }
            };
            endpoint.attach(call, task, Some(queued));
            return CallStatus::InProgress;
        }
        match self.start_measured(request, pending) {
            Ok(FirstPoll::Ready(result)) => {
                let unstarted = is_before_handler(&result);
                let completion = Completion {
                    call,
                    operation,
                    outcome: CallResult::new(result, &self.memory),
                    unstarted,
                };
                CallStatus::Answered(self.complete(endpoint, now, completion))
            }
            Ok(FirstPoll::Pending(run)) => {
                let completions = Arc::clone(completions);
                let memory = Arc::clone(&self.memory);
                let result = self.finish(operation, run);
                admitted.occupy(&self.app.flow.capacity);
                let task = tokio::spawn(async move {
                    let result = result.await;
                    let unstarted = is_before_handler(&result);
                    let outcome = CallResult::new(result, &memory);
                    drop(admitted);
                    completions.push(Completion {
                        call,
                        operation,
                        outcome,
                        unstarted,
                    });
                });
                endpoint.attach(call, task.abort_handle(), None);
                CallStatus::InProgress
            }
            Err(fault) => {
                let unstarted = is_of_the_input(&fault);
                let target = Some(self.table.target(operation));
                self.fault(endpoint, now, call, target, &fault, unstarted);
                CallStatus::Answered(None)
            }
        }
    }

    /// Runs a call in the run queue.
    #[cold]
    fn run_queued<C: Copy + Send + 'static>(
        &self,
        completions: &Arc<CompletionQueue<C>>,
        call: C,
        request: &Request<'_>,
        admitted: Admitted,
    ) -> Result<(AbortHandle, Arc<QueuedCall>), Rejection> {
        let admitted = self.hold_queued(request, admitted)?;
        let completions = Arc::clone(completions);
        let operation = request.operation;
        let memory = Arc::clone(&self.memory);
        let (queued, run) = enqueue(self, request, admitted);
        let task = tokio::spawn(async move {
            let (result, unstarted) = match run.await {
                Ok(result) => {
                    let unstarted = is_before_handler(&result);
                    (result, unstarted)
                }
                Err(fault) => (Err(fault), true),
            };
            completions.push(Completion {
                call,
                operation,
                outcome: CallResult::new(result, &memory),
                unstarted,
            });
        });
        Ok((task.abort_handle(), queued))
    }

    /// Starts a call on this task. Measures it, if it is in the sample or its operation may be long.
    #[inline]
    fn start_measured(
        &self,
        request: &Request<'_>,
        pending: Option<PendingIdentity>,
    ) -> Result<FirstPoll, Fault> {
        if let Some(pending) = pending {
            let (context, payload) = (request.context.clone(), owned_payload(request));
            let pending = (pending, context.deadline);
            let call = (request.operation, context);
            let run = run_authenticated(self, call, payload, None, pending);
            return Ok(FirstPoll::Pending(run));
        }
        let cost = self.table.cost(request.operation);
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store(calls.wrapping_add(1), Ordering::Relaxed);
        if !calls.is_multiple_of(SAMPLE) && !cost.is_watched() {
            return self.start(request);
        }
        let since = Instant::now();
        let started = self.start(request);
        // A rejected input tells nothing about the handler.
        if !matches!(&started, Err(fault) if is_of_the_input(fault)) {
            cost.record(since.elapsed());
        }
        started
    }

    /// Rejects a call.
    #[cold]
    pub(super) fn reject<E: Endpoint>(
        &self,
        endpoint: &mut E,
        now: Time,
        call: E::Call,
        rejection: Rejection,
    ) {
        self.fault(endpoint, now, call, None, &rejection.fault(), true);
    }

    /// Answers a call of an unknown operation.
    #[cold]
    pub(super) fn unknown<E: Endpoint>(
        &self,
        endpoint: &mut E,
        now: Time,
        call: E::Call,
        name: Option<&str>,
    ) {
        let fault = match name {
            Some(name) => no_operation(name),
            None => {
                let message = "a number of an operation that was given no name";
                Fault::new(FaultKind::UnknownOperation, message)
            }
        };
        self.fault(endpoint, now, call, None, &fault, true);
    }

    /// Runs a call without a reply. A caller may have as many of them in progress as other calls.
    pub(super) fn one_way(&mut self, request: &Request<'_>) {
        let most = self.app.flow.limits.calls as usize;
        let caller = request.context.peer.address();
        if !self.one_ways.has_room(caller, most) {
            tracing::debug!("a call without a reply was dropped: too many are in progress");
            return;
        }
        let admitted = self.accept(
            request.context,
            request.extension,
            request.operation,
            request.payload.len(),
        );
        let Ok((CheckedHead { context, pending }, mut admitted)) = admitted else {
            return;
        };
        let request = &request.with_context(context.as_ref());
        if pending.is_none() && self.table.cost(request.operation).is_long() {
            let Ok(admitted) = self.hold_queued(request, admitted) else {
                return;
            };
            let (_, run) = enqueue(self, request, admitted);
            self.one_ways.spawn(caller, async move {
                match run.await {
                    Ok(result) => log_failure(&result),
                    Err(fault) => {
                        let fault = fault.message();
                        tracing::debug!(fault, "a call without a reply was dropped");
                    }
                }
            });
            return;
        }
        let run = match self.start_measured(request, pending) {
            Ok(FirstPoll::Pending(run)) => run,
            Ok(FirstPoll::Ready(result)) => return log_failure(&result),
            Err(fault) => return log_failure::<()>(&Err(fault)),
        };
        let result = self.finish(request.operation, run);
        admitted.occupy(&self.app.flow.capacity);
        self.one_ways.spawn(caller, async move {
            log_failure(&result.await);
            drop(admitted);
        });
    }

    /// Takes memory for the bytes of an input above `free`. It is given back when the result is dropped.
    #[inline]
    pub(super) fn hold(
        &self,
        bytes: usize,
        free: usize,
    ) -> Result<Option<MemoryReservation>, Rejection> {
        if bytes <= free {
            return Ok(None);
        }
        let mut held = MemoryReservation::nothing(Arc::clone(&self.app.engine.memory));
        match held.resize(bytes - free) {
            true => Ok(Some(held)),
            false => Err(Rejection::NoMemory(MemoryUse::Inputs)),
        }
    }

    /// Takes memory also for a small input, because many calls may be in the run queue.
    fn hold_queued(
        &self,
        request: &Request<'_>,
        mut admitted: Admitted,
    ) -> Result<Admitted, Rejection> {
        if !admitted.has_memory() {
            admitted.set_memory(self.hold(request.payload.len(), SMALL)?);
        }
        Ok(admitted)
    }

    /// Whether no call without a reply is in progress.
    pub(super) fn is_idle(&mut self) -> bool {
        self.one_ways.is_empty()
    }

    /// The calls without a reply that are in progress.
    pub(super) fn take_one_ways(&mut self) -> OneWays {
        std::mem::take(&mut self.one_ways)
    }

    /// Starts a call on this task: decodes its input and polls its handler, because most are ready at once.
    ///
    /// The first poll uses the budget of this task and a waker that does nothing. If the handler is not ready, its own
    /// task polls it again at once, so no wake-up is lost.
    #[inline]
    fn start(&self, request: &Request<'_>) -> Result<FirstPoll, Fault> {
        let Request {
            operation,
            context,
            payload,
            whole,
            ..
        } = *request;
        let context = Cow::Borrowed(context);
        start(
            &self.app.engine,
            &self.table,
            operation,
            context,
            (payload, whole),
        )
    }

    /// The deadline of a call that starts now, for its handler.
    pub(super) fn handler_deadline(
        &self,
        clock: Clock,
        now: Time,
        deadline: FrameDeadline,
    ) -> Deadline {
        let limit = FrameDeadline::after(now, self.app.timeouts.handler);
        deadline.earlier(limit).on_tokio(clock)
    }

    fn finish(
        &self,
        operation: u32,
        run: Invocation,
    ) -> impl Future<Output = Result<MethodReply, Fault>> + Send + use<> {
        let (app, table) = (Arc::clone(&self.app), Arc::clone(&self.table));
        finish(app, table, operation, run)
    }

    /// Answers a call whose handler has ended. Returns the memory of the reply, to be held until it is written.
    pub(super) fn complete<E: Endpoint>(
        &self,
        endpoint: &mut E,
        now: Time,
        completion: Completion<E::Call>,
    ) -> Option<MemoryReservation> {
        let Completion {
            call,
            operation,
            outcome,
            unstarted,
        } = completion;
        let fault = match outcome.result {
            Ok(reply) => match endpoint.reply(now, call, reply) {
                Ok(true) => return outcome.memory,
                // The call is not open any more.
                Ok(false) => return None,
                Err(too_large) => Fault::new(FaultKind::TooLarge, too_large),
            },
            Err(fault) => fault,
        };
        let target = Some(self.table.target(operation));
        self.fault(endpoint, now, call, target, &fault, unstarted);
        None
    }

    /// Answers with a fault. `unstarted` only if it is known that no handler has started.
    #[cold]
    pub(super) fn fault<E: Endpoint>(
        &self,
        endpoint: &mut E,
        now: Time,
        call: E::Call,
        target: Option<&Target>,
        fault: &Fault,
        unstarted: bool,
    ) {
        let (answer, details) =
            faults::encode(&self.app.engine, &self.table, target, fault, unstarted);
        endpoint.fault(now, call, answer, &details);
    }
}

/// Whether a call ended before its handler started, for example because a large input could not be decoded.
pub(super) fn is_before_handler<T>(result: &Result<T, Fault>) -> bool {
    matches!(result, Err(fault) if fault.is_before_handler())
}

/// Whether a call did not start because of its input.
pub(super) fn is_of_the_input(fault: &Fault) -> bool {
    fault.is_before_handler() || is_input_kind(fault.kind())
}

const fn is_input_kind(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::Invalid
            | FaultKind::Malformed
            | FaultKind::TooLarge
            | FaultKind::UnknownOperation
    )
}

/// Logs the fault of a call without a reply, of which its caller does not learn.
fn log_failure<T>(result: &Result<T, Fault>) {
    let Err(fault) = result else { return };
    log_internal(fault, "");
    let fault = fault.message();
    tracing::debug!(fault, "a call without a reply failed");
}

#[cold]
fn no_operation(name: &str) -> Fault {
    let shown: String = name.chars().take(64).collect();
    let message = format!("no operation `{}`", shown.escape_debug());
    Fault::new(FaultKind::UnknownOperation, message)
}

/// The state of a call after it was started.
pub(super) enum CallStatus {
    /// It was answered. Holds the memory of the reply, until that is written.
    Answered(Option<MemoryReservation>),
    InProgress,
}
