//! What the calls of a connection come to.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use polywire_frame::server::{Connection, Event, Step};
use polywire_frame::{Broken, CallId, Extension, Output, Reason, Settings, Time};
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use tokio::task::{AbortHandle, JoinSet};

use super::calls::Table;
use super::done::{Done, Ended};
use super::faults;
use super::pipe::Pipe;
use crate::frames::{Clock, Side, Taken};
use crate::methods::{MethodFuture, MethodReply};
use crate::server::answer::caught;
use crate::server::app::{App, Called};
use crate::server::peer::Peer;
use crate::topics::Subscribed;

/// The state machine of a connection, and the handlers at work for it.
pub(super) struct Work {
    pub(super) app: Arc<App>,
    pub(super) table: Arc<Table>,
    pub(super) machine: Connection<u32, Kept>,
    pub(super) done: Arc<Done>,
    /// Streams whose items have no credit.
    pub(super) blocked: Vec<Arc<Pipe>>,
    /// Streams whose items wait until what is there has been written.
    pub(super) stalled: Vec<Arc<Pipe>>,
    /// Some of them may have ended.
    pub(super) subscriptions: Vec<CallId>,
    /// Of calls that bring nothing of their own.
    pub(super) context: crate::Context,
    /// Calls that nobody waits for. They end with the connection.
    one_ways: JoinSet<()>,
    greeted: bool,
    /// The client makes no more calls.
    left: bool,
}

/// What is kept of a call while its handler is at work, or of a subscription.
pub(super) struct Kept {
    task: Option<AbortHandle>,
    /// Of a call with streams, or a subscription.
    items: Option<Box<Streamed>>,
}

struct Streamed {
    operation: u32,
    pipe: Arc<Pipe>,
    subscribed: Option<Subscribed>,
}

impl Kept {
    const fn call(task: AbortHandle) -> Self {
        Self {
            task: Some(task),
            items: None,
        }
    }

    pub(super) fn stream(task: AbortHandle, operation: u32, pipe: Arc<Pipe>) -> Self {
        Self {
            task: Some(task),
            items: Some(Box::new(Streamed {
                operation,
                pipe,
                subscribed: None,
            })),
        }
    }

    pub(super) fn subscription(subscribed: Subscribed, pipe: Arc<Pipe>) -> Self {
        Self {
            task: None,
            items: Some(Box::new(Streamed {
                operation: 0,
                pipe,
                subscribed: Some(subscribed),
            })),
        }
    }

    pub(super) fn pipe(&self) -> Option<&Arc<Pipe>> {
        self.items.as_ref().map(|items| &items.pipe)
    }

    pub(super) fn operation(&self) -> u32 {
        self.items.as_ref().map_or(0, |items| items.operation)
    }

    pub(super) fn is_subscription(&self) -> bool {
        let items = self.items.as_ref();
        items.is_some_and(|items| items.subscribed.is_some())
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

impl Work {
    /// Bytes that may wait to be written before no more is read, nor items fetched.
    pub(super) const MOST_WAITING: usize = 1 << 20;

    /// For a connection; nothing, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, peer: Peer) -> Option<Self> {
        let table = Arc::clone(app.frames.as_ref()?);
        let limit = u32::try_from(app.limits.bytes()).unwrap_or(u32::MAX);
        let settings = Settings::DEFAULT
            .with_frame(limit)
            .with_bytes(limit.saturating_mul(2));
        let (head, ()) = http::Request::new(()).into_parts();
        Some(Self {
            context: crate::Context {
                head: Arc::new(head),
                peer,
                protocol: ProtocolKind::RpcV2Cbor,
                mount: 0,
            },
            app,
            table,
            machine: Connection::new(settings),
            done: Arc::default(),
            blocked: Vec::new(),
            stalled: Vec::new(),
            subscriptions: Vec::new(),
            one_ways: JoinSet::new(),
            greeted: false,
            left: false,
        })
    }

    /// The server stops: what is open is answered.
    pub(super) fn stop(&mut self) {
        let within = self.app.timeouts.shutdown.as_millis();
        let within = u32::try_from(within).unwrap_or(u32::MAX);
        self.machine.go_away(Reason::STOP, within, "");
        self.end_subscriptions(Time::ZERO);
    }

    fn happens(&mut self, now: Time, event: Event<'_, u32, Kept>) {
        match event {
            Event::Call {
                id,
                operation,
                open,
                extension,
                payload,
                ..
            } if self.table.is_stream(operation) => {
                self.stream(now, id, operation, open, &extension, payload);
            }
            Event::Call {
                id,
                operation,
                open: false,
                extension,
                payload,
                ..
            } => self.call(now, id, operation, &extension, payload),
            Event::OneWay {
                operation,
                extension,
                payload,
                ..
            } => self.one_way(operation, &extension, payload),
            Event::Unknown { id, name } => {
                let fault = match name {
                    Some(name) => {
                        let shown: String = name.chars().take(64).collect();
                        let message = format!("no operation `{}`", shown.escape_debug());
                        Fault::new(FaultKind::UnknownOperation, message)
                    }
                    None => {
                        let message = "a number of an operation that was given no name";
                        Fault::new(FaultKind::UnknownOperation, message)
                    }
                };
                self.fault(now, id, &Called::Unknown, &fault, true);
            }
            // It takes no items, and those that come are passed over.
            Event::Call { id, operation, .. } => {
                let name = self.table.name(&self.app, operation);
                let message = format!("`{name}` takes no items");
                let fault = Fault::new(FaultKind::NotAcceptable, message);
                self.fault(now, id, &Called::Unknown, &fault, true);
            }
            Event::Publish {
                id,
                topic,
                extension,
                payload,
                ..
            } => self.publish(now, id, topic, &extension, payload),
            Event::Subscribe {
                id,
                topic,
                extension,
            } => self.subscribe(now, id, topic, &extension),
            Event::Unsubscribe(id) => self.unsubscribe(now, id),
            Event::Item { id, cost, payload } => self.item(id, cost, payload),
            Event::End(id) => self.end(id),
            Event::Writable(id) => self.writable(now, id),
            Event::Hello(_) => self.greeted = true,
            // Its task ends with it.
            Event::Cancelled(_, kept) => self.given_up(kept.as_ref()),
            Event::GoAway { .. } => self.left = true,
            _ => {}
        }
    }

    fn call(
        &mut self,
        now: Time,
        id: CallId,
        operation: u32,
        extension: &Extension<'_>,
        payload: &[u8],
    ) {
        let in_flight = match self.app.admit_call(&self.context.peer) {
            Ok(in_flight) => in_flight,
            Err(fault) => return self.fault(now, id, &Called::Unknown, &fault, true),
        };
        match self.begin(operation, extension, payload) {
            Ok(Begun::Ended(answer)) => self.answer(now, (id, operation, answer)),
            Ok(Begun::Working(future)) => {
                let done = Arc::clone(&self.done);
                let answer = self.finish(operation, future);
                let task = tokio::spawn(async move {
                    let answer = answer.await;
                    // Until the handler has ended, also one that was given up.
                    drop(in_flight);
                    done.push((id, operation, answer));
                });
                let kept = Kept::call(task.abort_handle());
                // It is open: it has just come.
                let _ = self.machine.attach(id, kept);
            }
            Err(fault) => {
                let unstarted = is_of_the_input(fault.kind());
                self.fault(now, id, &self.table.called(operation), &fault, unstarted);
            }
        }
    }

    /// A call that nobody waits for. There are no more of them at once than calls.
    fn one_way(&mut self, operation: u32, extension: &Extension<'_>, payload: &[u8]) {
        while self.one_ways.try_join_next().is_some() {}
        if self.one_ways.len() >= self.machine.settings().calls() as usize {
            tracing::debug!("a call without an answer was dropped: too many are at work");
            return;
        }
        let Ok(in_flight) = self.app.admit_call(&self.context.peer) else {
            return;
        };
        if let Ok(Begun::Working(future)) = self.begin(operation, extension, payload) {
            let answer = self.finish(operation, future);
            self.one_ways.spawn(async move {
                let _ = answer.await;
                drop(in_flight);
            });
        }
    }

    /// Begins a call, and looks at once whether it has ended: most have.
    fn begin(
        &self,
        operation: u32,
        extension: &Extension<'_>,
        payload: &[u8],
    ) -> Result<Begun, Fault> {
        let mut context = self.context.clone();
        if extension.metadata().next().is_some() {
            bring(&mut context, extension);
        }
        caught(|| {
            let mut future = self.table.begin(&self.app, operation, context, payload)?;
            // Whoever asks again brings the waker that counts.
            let mut nobody = Context::from_waker(Waker::noop());
            Ok(match future.as_mut().poll(&mut nobody) {
                Poll::Ready(answer) => Begun::Ended(answer),
                Poll::Pending => Begun::Working(future),
            })
        })
    }

    /// The rest of a call, up to the time that handlers have.
    fn finish(
        &self,
        operation: u32,
        mut future: MethodFuture,
    ) -> impl Future<Output = Result<MethodReply, Fault>> + Send + 'static {
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

    pub(super) fn answer(&mut self, now: Time, (id, operation, answer): Ended) {
        let fault = match answer {
            Ok(reply) => {
                let Some(mut frame) = self.machine.reply(now, id) else {
                    return;
                };
                match reply.len() < Output::LARGE {
                    true => frame.payload().extend_from_slice(reply.value()),
                    false => frame.share(reply.into_bytes()),
                }
                match frame.send() {
                    Ok(()) => return,
                    Err(too_large) => Fault::new(FaultKind::TooLarge, too_large.to_string()),
                }
            }
            Err(fault) => fault,
        };
        self.fault(now, id, &self.table.called(operation), &fault, false);
    }

    /// Answers with a fault; `unstarted`, if it is known that no handler has begun.
    #[cold]
    pub(super) fn fault(
        &mut self,
        now: Time,
        id: CallId,
        called: &Called,
        fault: &Fault,
        unstarted: bool,
    ) {
        let (answer, details) = faults::answer(&self.app, &self.table, called, fault, unstarted);
        self.machine.fault(now, id, answer, &details);
    }
}

impl Side for Work {
    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>) {
        let left = self.done.take(context);
        if left.answers.is_empty() && left.pipes.is_empty() && self.stalled.is_empty() {
            return;
        }
        let now = clock.now();
        for ended in left.answers {
            self.answer(now, ended);
        }
        self.resume(now);
        for pipe in left.pipes {
            self.pump(now, &pipe);
        }
    }

    fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    fn take(&mut self, now: Time, bytes: &[u8]) -> Result<Taken, Broken> {
        let mut at = 0;
        loop {
            let table = &self.table;
            let resolve = |name: &str| table.find(name);
            match self.machine.receive(now, &bytes[at..], resolve)? {
                Step::Wants(wants) => return Ok(Taken { bytes: at, wants }),
                Step::Took(count, event) => {
                    at += count;
                    if let Some(event) = event {
                        self.happens(now, event);
                    }
                    // What is answered has to go before more is begun.
                    if self.machine.output().len() > self.most_waiting() {
                        return Ok(Taken {
                            bytes: at,
                            wants: 0,
                        });
                    }
                }
            }
        }
    }

    fn most_waiting(&self) -> usize {
        Self::MOST_WAITING
    }

    fn outlives_input(&self) -> bool {
        self.left
    }

    fn waits_for_the_other(&self) -> bool {
        !self.left
    }

    fn rest(&mut self) {
        self.machine.shrink();
    }

    fn output_len(&self) -> usize {
        self.machine.output().len()
    }

    fn exchange(&mut self, empty: Output) -> Output {
        self.machine.take_output(empty)
    }

    fn is_done(&self) -> bool {
        self.machine.is_done()
    }

    fn next_timeout(&self) -> Time {
        self.machine.next_timeout()
    }

    fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine.timeout(now, |_, kept| late.push(kept));
        for kept in late {
            self.given_up(kept.as_ref());
        }
    }

    fn greeted(&self) -> bool {
        self.greeted
    }

    fn patience(&self) -> Duration {
        self.app.timeouts.head
    }

    fn ping(&mut self) {
        self.machine.ping(0, 0);
    }

    fn give_up(&mut self, reason: Reason) {
        self.machine
            .go_away(reason, 0, reason.name().unwrap_or_default());
    }
}

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

/// A call that has begun.
enum Begun {
    Ended(Result<MethodReply, Fault>),
    Working(MethodFuture),
}

/// Metadata is for handlers what headers are.
pub(super) fn bring(context: &mut crate::Context, extension: &Extension<'_>) {
    let headers = &mut Arc::make_mut(&mut context.head).headers;
    for (key, value) in extension.metadata() {
        let name = http::HeaderName::from_bytes(key.as_bytes());
        let value = http::HeaderValue::from_bytes(value);
        // What is no header is nobody's there.
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
}
