//! Handlers at work for whoever has called them, over a stream or over datagrams.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::server::Fault as Answer;
use polywire_frame::{Extension, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::begun::{Begun, begin_own, finish, later};
use super::calls::Table;
use super::done::{Answered, Done, Ended, SMALL};
use super::faults;
use super::one_ways::OneWays;
use super::turns::{Turns, Waiting};
use crate::context::Head;
use crate::frames::Clock;
use crate::methods::MethodReply;
use crate::server::answer::caught;
use crate::server::app::{App, Called};
use crate::server::gate::InFlight;
use crate::server::memory::{FREE, Held, Memory};
use crate::server::peer::Peer;

/// The state machine that calls come from, and answers go to.
pub(super) trait Answers {
    /// What a call is known by.
    type Call: Copy + Send + 'static;

    /// Answers a call, unless it has ended: whether it was answered.
    ///
    /// # Errors
    ///
    /// The answer is larger than may be sent: why. The call is still open.
    fn reply(&mut self, now: Time, call: Self::Call, reply: MethodReply) -> Result<bool, String>;

    /// Answers a call with a fault, unless it has ended.
    fn fault(&mut self, now: Time, call: Self::Call, fault: Answer, details: &[u8]);

    /// Keeps the task of the handler of an open call, to end it with the call; and that it waits for its turn, if so.
    fn attach(&mut self, call: Self::Call, task: AbortHandle, waiting: Option<Arc<Waiting>>);
}

/// The handlers of a server, at work for one task.
pub(super) struct Handlers {
    pub(super) app: Arc<App>,
    pub(super) table: Arc<Table>,
    /// For answers until they have left, and for items.
    pub(super) memory: Arc<Memory>,
    /// Calls that nobody waits for.
    one_ways: OneWays,
    /// Where those wait that keep a processor busy.
    pub(super) turns: Arc<Turns>,
    /// How many calls begin until one is measured; below zero, how many are one by one.
    unmeasured: AtomicI32,
}

/// One call of so many is measured.
const SAMPLE: i32 = 64;

/// So many are, where some are suspected to be long.
const SUSPECTS: i32 = 8;

/// What is called.
pub(super) struct Request<'a> {
    pub(super) operation: u32,
    pub(super) context: &'a crate::Context,
    pub(super) extension: &'a Extension<'a>,
    pub(super) payload: &'a [u8],
    /// What the payload is a part of, if it is large.
    pub(super) whole: Option<&'a Bytes>,
    /// How long its caller waits, by that clock.
    pub(super) deadline: Time,
    pub(super) clock: Clock,
}

impl Handlers {
    /// Those of a connection, with its part of the memory. None, if the server does not offer frames.
    pub(super) fn of_connection(app: Arc<App>) -> Option<Self> {
        let memory = Arc::new(app.memory.half());
        Self::new(app, memory)
    }

    /// Those of all clients of a socket.
    #[cfg(feature = "udp")]
    pub(super) fn of_socket(app: Arc<App>) -> Option<Self> {
        let memory = Arc::clone(&app.memory);
        Self::new(app, memory)
    }

    fn new(app: Arc<App>, memory: Arc<Memory>) -> Option<Self> {
        // Not the same for each connection: what is called first may be another operation than what is called after.
        let unmeasured = (app.flow.sums.accepted() % SAMPLE as u64) as i32;
        Some(Self {
            table: Arc::clone(app.frames.as_ref()?),
            turns: app.flow.turns(),
            memory,
            app,
            one_ways: OneWays::default(),
            unmeasured: AtomicI32::new(unmeasured),
        })
    }

    /// Carries out a call. An answer that takes its time is left in `done`.
    pub(super) fn call<A: Answers>(
        &self,
        answers: &mut A,
        done: &Arc<Done<A::Call>>,
        now: Time,
        call: A::Call,
        request: &Request<'_>,
    ) -> Became {
        let admitted = match self.admit_request(request) {
            Ok(admitted) => admitted,
            Err(fault) => {
                self.fault(answers, now, call, &Called::Unknown, &fault, true);
                return Became::Answered(None);
            }
        };
        let operation = request.operation;
        if self.table.cost(operation).is_long() {
            let Ok(admitted) = self.hold_waiting(request, admitted) else {
                self.fault(answers, now, call, &Called::Unknown, &no_memory(), true);
                return Became::Answered(None);
            };
            let (task, waiting) = self.in_turn(done, call, request, admitted);
            answers.attach(call, task, Some(waiting));
            return Became::AtWork;
        }
        match self.begin_measured(request) {
            Ok(Begun::Ended(result)) => {
                let answer = Answered::new(result, &self.memory);
                let ended = Ended {
                    call,
                    operation,
                    answer,
                    unstarted: false,
                };
                Became::Answered(self.answer(answers, now, ended))
            }
            Ok(Begun::Working(future)) => {
                let done = Arc::clone(done);
                let memory = Arc::clone(&self.memory);
                let result = self.finish(operation, future);
                let at_work = self.app.flow.works();
                let task = tokio::spawn(async move {
                    let result = result.await;
                    let unstarted = is_before_handler(&result);
                    let answer = Answered::new(result, &memory);
                    // Until the handler has ended, also one that was given up.
                    drop((admitted, at_work));
                    done.push(Ended {
                        call,
                        operation,
                        answer,
                        unstarted,
                    });
                });
                answers.attach(call, task.abort_handle(), None);
                Became::AtWork
            }
            Err(fault) => {
                let unstarted = is_of_the_input(&fault);
                let called = self.table.called(operation);
                self.fault(answers, now, call, &called, &fault, unstarted);
                Became::Answered(None)
            }
        }
    }

    /// Carries out a call that keeps a processor busy, when its turn comes: meanwhile its connection is read, and who
    /// would wait too long is told at once.
    #[cold]
    fn in_turn<C: Copy + Send + 'static>(
        &self,
        done: &Arc<Done<C>>,
        call: C,
        request: &Request<'_>,
        admitted: Admitted,
    ) -> (AbortHandle, Arc<Waiting>) {
        let done = Arc::clone(done);
        let operation = request.operation;
        let memory = Arc::clone(&self.memory);
        let (waiting, result) = later(self, request);
        let task = tokio::spawn(async move {
            let (result, unstarted) = match result.await {
                Ok(result) => {
                    let unstarted = is_before_handler(&result);
                    (result, unstarted)
                }
                Err(fault) => (Err(fault), true),
            };
            let answer = Answered::new(result, &memory);
            drop(admitted);
            done.push(Ended {
                call,
                operation,
                answer,
                unstarted,
            });
        });
        (task.abort_handle(), waiting)
    }

    /// Some of the calls before took longer than such calls should: the next ones are measured.
    #[cold]
    pub(super) fn suspect(&self) {
        self.unmeasured.store(-SUSPECTS, Ordering::Relaxed);
    }

    /// Begins a call where it was read, and now and then, or where it may be too long for that, measures it.
    #[inline]
    fn begin_measured(&self, request: &Request<'_>) -> Result<Begun, Fault> {
        let cost = self.table.cost(request.operation);
        // One task at a time counts, so that no number is lost that matters.
        let unmeasured = self.unmeasured.load(Ordering::Relaxed);
        let next = match unmeasured {
            0 => SAMPLE - 1,
            left => left - left.signum(),
        };
        self.unmeasured.store(next, Ordering::Relaxed);
        if unmeasured > 0 && !cost.is_watched() {
            return self.begin(request, true);
        }
        let since = Instant::now();
        let begun = self.begin(request, true);
        // What was refused says nothing of how long its handler would have taken.
        if !matches!(&begun, Err(fault) if is_of_the_input(fault)) {
            cost.took(since.elapsed());
        }
        begun
    }

    fn admit_request(&self, request: &Request<'_>) -> Result<Admitted, Fault> {
        let metadata = request.extension.metadata();
        self.admit(request.context, metadata, request.payload.len())
    }

    /// Takes what a call needs as long as its handler is at work.
    pub(super) fn admit<'a>(
        &self,
        context: &crate::Context,
        metadata: impl Iterator<Item = (&'a str, &'a [u8])>,
        bytes: usize,
    ) -> Result<Admitted, Fault> {
        let in_flight = if self.app.counts_callers() {
            let mut context = context.clone();
            bring(&mut context, metadata);
            self.app.admit_call(&context.peer, context.headers())?
        } else {
            self.app.admit_call(&context.peer, context.headers())?
        };
        let held = self.hold(bytes, FREE).map_err(|()| no_memory())?;
        Ok((in_flight, held))
    }

    /// Answers a call of an operation that there is not.
    #[cold]
    pub(super) fn unknown<A: Answers>(
        &self,
        answers: &mut A,
        now: Time,
        call: A::Call,
        name: Option<&str>,
    ) {
        let fault = match name {
            Some(name) => no_operation(name),
            None => {
                let message = "a number of an operation that was given no name";
                Fault::new(FaultKind::UnknownOperation, message)
            }
        };
        self.fault(answers, now, call, &Called::Unknown, &fault, true);
    }

    /// Carries out a call that nobody waits for. There are no more of one caller at once than calls.
    pub(super) fn one_way(&mut self, request: &Request<'_>) {
        let most = self.app.flow.limits.calls as usize;
        let caller = request.context.peer.address();
        if !self.one_ways.has_room(caller, most) {
            tracing::debug!("a call without an answer was dropped: too many are at work");
            return;
        }
        let Ok(admitted) = self.admit_request(request) else {
            return;
        };
        if self.table.cost(request.operation).is_long() {
            let Ok(admitted) = self.hold_waiting(request, admitted) else {
                return;
            };
            // Nobody takes it back.
            let (_, answer) = later(self, request);
            self.one_ways.spawn(caller, async move {
                if let Err(fault) = answer.await {
                    let fault = fault.message();
                    tracing::debug!(fault, "a call without an answer was dropped");
                }
                drop(admitted);
            });
            return;
        }
        if let Ok(Begun::Working(future)) = self.begin_measured(request) {
            let answer = self.finish(request.operation, future);
            let at_work = self.app.flow.works();
            self.one_ways.spawn(caller, async move {
                let _ = answer.await;
                drop((admitted, at_work));
            });
        }
    }

    /// Takes memory for an input, which is given back when this is dropped. Most need none.
    #[inline]
    fn hold(&self, bytes: usize, free: usize) -> Result<Option<Held>, ()> {
        if bytes <= free {
            return Ok(None);
        }
        let mut held = Held::nothing(Arc::clone(&self.app.memory));
        held.grow(bytes).then_some(Some(held)).ok_or(())
    }

    /// The same of an input that waits for a turn: there may be many.
    fn hold_waiting(&self, request: &Request<'_>, admitted: Admitted) -> Result<Admitted, ()> {
        match admitted {
            (in_flight, None) => Ok((in_flight, self.hold(request.payload.len(), SMALL)?)),
            held => Ok(held),
        }
    }

    /// Whether no call is at work that nobody waits for.
    pub(super) fn rests(&mut self) -> bool {
        self.one_ways.is_empty()
    }

    /// The calls that are at work and that nobody waits for, to be waited for by whoever stops.
    pub(super) fn take_one_ways(&mut self) -> OneWays {
        std::mem::take(&mut self.one_ways)
    }

    /// Begins a call, and if that is wanted, looks at once whether it has ended: most have.
    ///
    /// That look is the connection's own, on its task and by its budget, with a waker that wakes nobody. What it leaves
    /// undone gets a task, which looks again before anything else: whatever has happened in between is seen then, and a
    /// future owes its wake to the waker that came last. Handlers of one turn share the budget of the connection; when it
    /// is spent they are not looked at, as they would find that nothing is ready.
    #[inline]
    pub(super) fn begin(&self, request: &Request<'_>, looks: bool) -> Result<Begun, Fault> {
        let Request {
            operation,
            context,
            extension,
            payload,
            whole,
            ..
        } = *request;
        if extension.trace().is_some() || extension.metadata().next().is_some() {
            let mut own = context.clone();
            bring_all(&mut own, extension);
            let payload = (payload, whole);
            return begin_own(&self.app, &self.table, operation, own, payload, looks);
        }
        caught(|| match self.table.bytes(operation, context, payload) {
            Some(answer) => Ok(Begun::Ended(answer)),
            None => {
                let (context, input) = (context.clone(), (payload, whole));
                let future = self.table.begin(&self.app, operation, context, input)?;
                Ok(Begun::of(future, looks))
            }
        })
    }

    /// When nobody waits any more for a call that begins now: its caller, or the server.
    pub(super) fn until(&self, clock: Clock, now: Time, deadline: Time) -> Option<Instant> {
        clock.instant(deadline.min(now.after(self.app.timeouts.handler)))
    }

    /// The rest of a call, up to the time that handlers have.
    pub(super) fn finish<T: 'static>(
        &self,
        operation: u32,
        future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>,
    ) -> impl Future<Output = Result<T, Fault>> + Send + use<T> {
        let app = Arc::clone(&self.app);
        finish(app, self.table.called(operation), future)
    }

    /// Answers a call whose handler has ended. What the answer takes until it has been written.
    pub(super) fn answer<A: Answers>(
        &self,
        answers: &mut A,
        now: Time,
        ended: Ended<A::Call>,
    ) -> Option<Held> {
        let fault = match ended.answer.result {
            Ok(reply) => match answers.reply(now, ended.call, reply) {
                Ok(true) => return ended.answer.held,
                // Nobody waits for it any more, and what it took is free.
                Ok(false) => return None,
                Err(too_large) => Fault::new(FaultKind::TooLarge, too_large),
            },
            Err(fault) => fault,
        };
        let called = self.table.called(ended.operation);
        self.fault(answers, now, ended.call, &called, &fault, ended.unstarted);
        None
    }

    /// Answers with a fault; `unstarted`, if it is known that no handler has begun.
    #[cold]
    pub(super) fn fault<A: Answers>(
        &self,
        answers: &mut A,
        now: Time,
        call: A::Call,
        called: &Called,
        fault: &Fault,
        unstarted: bool,
    ) {
        let (answer, details) = self.told(called, fault, unstarted);
        answers.fault(now, call, answer, &details);
    }

    /// What a caller is told of a fault.
    #[cold]
    pub(super) fn told(
        &self,
        called: &Called,
        fault: &Fault,
        unstarted: bool,
    ) -> (Answer, Vec<u8>) {
        faults::answer(&self.app, &self.table, called, fault, unstarted)
    }
}

/// Whether a call ended before its handler was called, as it did if a large input could not be decoded.
pub(super) fn is_before_handler<T>(result: &Result<T, Fault>) -> bool {
    matches!(result, Err(fault) if fault.is_before_handler())
}

/// Whether a call that could not begin did not begin because of its input.
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

#[cold]
pub(super) fn no_operation(name: &str) -> Fault {
    let shown: String = name.chars().take(64).collect();
    let message = format!("no operation `{}`", shown.escape_debug());
    Fault::new(FaultKind::UnknownOperation, message)
}

#[cold]
fn no_memory() -> Fault {
    let message = "inputs take as much memory as they may, try again later";
    Fault::new(FaultKind::Overloaded, message).with_retry_after(Duration::from_millis(200))
}

/// What a call takes while its handler is at work.
pub(super) type Admitted = (Option<InFlight>, Option<Held>);

/// What has become of a call that came.
pub(super) enum Became {
    /// It was answered, and this is held until the answer has been written.
    Answered(Option<Held>),
    /// Its handler is at work.
    AtWork,
}

/// What calls know of their circumstances that bring nothing of their own.
pub(super) fn context(peer: Peer) -> crate::Context {
    crate::Context {
        head: Head::default(),
        peer,
        protocol: polywire_protocol::ProtocolKind::Frame,
        mount: 0,
        deadline: None,
    }
}

/// Metadata is for handlers what headers are, and so is what a call is part of.
pub(super) fn bring_all(context: &mut crate::Context, extension: &Extension<'_>) {
    if extension.metadata().next().is_some() {
        bring(context, extension.metadata());
    }
    if let Some(trace) = extension.trace() {
        bring(
            context,
            std::iter::once(("traceparent", trace.to_string().as_bytes())),
        );
    }
}

/// Metadata is for handlers what headers are.
pub(super) fn bring<'a>(
    context: &mut crate::Context,
    metadata: impl Iterator<Item = (&'a str, &'a [u8])>,
) {
    let headers = &mut context.head.make_mut().headers;
    for (key, value) in metadata {
        let name = http::HeaderName::from_bytes(key.as_bytes());
        let value = http::HeaderValue::from_bytes(value);
        // What is no header is nobody's there.
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
}
