//! Handlers at work for whoever has called them, over a stream or over datagrams.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use polywire_frame::server::Fault as Answer;
use polywire_frame::{Extension, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::calls::Table;
use super::done::{Done, Ended};
use super::faults;
use super::one_ways::OneWays;
use crate::frames::Clock;
use crate::handler::Output;
use crate::methods::MethodReply;
use crate::server::answer::caught;
use crate::server::app::{App, Called};
use crate::server::gate::InFlight;
use crate::server::memory::{FREE, Held};
use crate::server::peer::Peer;

/// The state machine that calls come from, and answers go to.
pub(super) trait Answers {
    /// What a call is known by.
    type Call: Copy + Send + 'static;

    /// Answers a call, unless it has ended.
    ///
    /// # Errors
    ///
    /// The answer is larger than may be sent: why. The call is still open.
    fn reply(&mut self, now: Time, call: Self::Call, reply: MethodReply) -> Result<(), String>;

    /// Answers a call with a fault, unless it has ended.
    fn fault(&mut self, now: Time, call: Self::Call, fault: Answer, details: &[u8]);

    /// Keeps the task of the handler of an open call, to end it with the call.
    fn attach(&mut self, call: Self::Call, task: AbortHandle);
}

/// The handlers of a server, at work for one task.
pub(super) struct Handlers {
    pub(super) app: Arc<App>,
    pub(super) table: Arc<Table>,
    /// Calls that nobody waits for.
    one_ways: OneWays,
}

/// What is called.
pub(super) struct Request<'a> {
    pub(super) operation: u32,
    pub(super) context: &'a crate::Context,
    pub(super) extension: &'a Extension<'a>,
    pub(super) payload: &'a [u8],
}

impl Handlers {
    /// None, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>) -> Option<Self> {
        Some(Self {
            table: Arc::clone(app.frames.as_ref()?),
            app,
            one_ways: OneWays::default(),
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
    ) {
        let share = match self.take(&request.context.peer, request.payload.len()) {
            Ok(share) => share,
            Err(fault) => return self.fault(answers, now, call, &Called::Unknown, &fault, true),
        };
        let operation = request.operation;
        match self.begin(request, true) {
            Ok(Begun::Ended(answer)) => self.answer(answers, now, (call, operation, answer)),
            Ok(Begun::Working(future)) => {
                let done = Arc::clone(done);
                let answer = self.finish(operation, future);
                let at_work = self.app.flow.works();
                let task = tokio::spawn(async move {
                    let answer = answer.await;
                    // Until the handler has ended, also one that was given up.
                    drop((share, at_work));
                    done.push((call, operation, answer));
                });
                answers.attach(call, task.abort_handle());
            }
            Err(fault) => {
                let unstarted = is_of_the_input(fault.kind());
                let called = self.table.called(operation);
                self.fault(answers, now, call, &called, &fault, unstarted);
            }
        }
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
        let Ok(share) = self.take(&request.context.peer, request.payload.len()) else {
            return;
        };
        if let Ok(Begun::Working(future)) = self.begin(request, true) {
            let answer = self.finish(request.operation, future);
            let at_work = self.app.flow.works();
            self.one_ways.spawn(caller, async move {
                let _ = answer.await;
                drop((share, at_work));
            });
        }
    }

    /// Takes memory for an input, which is given back when this is dropped. Most need none.
    #[inline]
    fn hold(&self, bytes: usize) -> Result<Option<Held>, ()> {
        if bytes <= FREE {
            return Ok(None);
        }
        let mut held = Held::nothing(Arc::clone(&self.app.memory));
        held.grow(bytes).then_some(Some(held)).ok_or(())
    }

    /// Whether no call is at work that nobody waits for.
    pub(super) fn rests(&mut self) -> bool {
        self.one_ways.is_empty()
    }

    /// The calls that are at work and that nobody waits for, to be waited for by whoever stops.
    pub(super) fn take_one_ways(&mut self) -> OneWays {
        std::mem::take(&mut self.one_ways)
    }

    /// Begins a call, and, if that is wanted, looks at once whether it has ended: most have.
    pub(super) fn begin(&self, request: &Request<'_>, looks: bool) -> Result<Begun, Fault> {
        let Request {
            operation,
            extension,
            payload,
            ..
        } = *request;
        let mut own = None;
        if extension.trace.is_some() || extension.metadata().next().is_some() {
            bring_all(own.insert(request.context.clone()), extension);
        }
        caught(|| {
            let context = own.as_ref().unwrap_or(request.context);
            if let Some(answer) = self.table.bytes(operation, context, payload) {
                return Ok(Begun::Ended(answer));
            }
            let context = own.unwrap_or_else(|| request.context.clone());
            let future = self.table.begin(&self.app, operation, context, payload)?;
            Ok(Begun::of(future, looks))
        })
    }

    /// Begins a call of an operation whose input goes from hand to hand.
    pub(super) fn begin_by_hand(
        &self,
        operation: u32,
        context: crate::Context,
        input: Box<dyn Any + Send>,
        looks: bool,
    ) -> Result<Begun<Output>, Fault> {
        caught(|| {
            let future = self.app.hand(operation, context, input)?;
            Ok(Begun::of(future, looks))
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
        mut future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>,
    ) -> impl Future<Output = Result<T, Fault>> + Send + use<T> {
        let app = Arc::clone(&self.app);
        let called = self.table.called(operation);
        async move {
            let work = poll_fn(|context| {
                caught(|| Ok(future.as_mut().poll(context)))
                    .unwrap_or_else(|fault| Poll::Ready(Err(fault)))
            });
            match tokio::time::timeout(app.timeouts.handler, work).await {
                Ok(answer) => answer,
                Err(_) => Err(app.late(&called)),
            }
        }
    }

    /// Answers a call whose handler has ended.
    pub(super) fn answer<A: Answers>(
        &self,
        answers: &mut A,
        now: Time,
        (call, operation, answer): Ended<A::Call>,
    ) {
        let fault = match answer {
            Ok(reply) => match answers.reply(now, call, reply) {
                Ok(()) => return,
                Err(too_large) => Fault::new(FaultKind::TooLarge, too_large),
            },
            Err(fault) => fault,
        };
        let called = self.table.called(operation);
        self.fault(answers, now, call, &called, &fault, false);
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

    /// Takes a call's share of what the server has: a place among its calls, and memory.
    pub(super) fn take(&self, peer: &Peer, bytes: usize) -> Result<Share, Fault> {
        let in_flight = self.app.admit_call(peer)?;
        let held = self.hold(bytes).map_err(|()| no_memory())?;
        Ok((in_flight, held))
    }

    /// The same handlers, for a task of their own.
    pub(super) fn share(&self) -> Self {
        Self {
            app: Arc::clone(&self.app),
            table: Arc::clone(&self.table),
            one_ways: OneWays::default(),
        }
    }
}

/// What a call has of the server's as long as it is at work.
pub(super) type Share = (Option<InFlight>, Option<Held>);

/// Whether a fault of what was read before the handler: it never began.
pub(super) const fn is_of_the_input(kind: FaultKind) -> bool {
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

/// A call that has begun.
pub(super) enum Begun<T = MethodReply> {
    Ended(Result<T, Fault>),
    Working(Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>),
}

impl<T> Begun<T> {
    /// Looks at once, if that is wanted, whether a call has ended.
    fn of(mut future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>, looks: bool) -> Self {
        if !looks {
            return Self::Working(future);
        }
        // Whoever asks again brings the waker that counts.
        let mut nobody = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut nobody) {
            Poll::Ready(answer) => Self::Ended(answer),
            Poll::Pending => Self::Working(future),
        }
    }
}

/// What calls know of their circumstances that bring nothing of their own.
pub(super) fn context(peer: Peer) -> crate::Context {
    let (head, ()) = http::Request::new(()).into_parts();
    crate::Context {
        head: Arc::new(head),
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
    if let Some(trace) = extension.trace {
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
    let headers = &mut Arc::make_mut(&mut context.head).headers;
    for (key, value) in metadata {
        let name = http::HeaderName::from_bytes(key.as_bytes());
        let value = http::HeaderValue::from_bytes(value);
        // What is no header is nobody's there.
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
}
