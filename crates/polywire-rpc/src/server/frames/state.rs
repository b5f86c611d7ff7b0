//! The state of a connection: its state machine, and its calls in progress.

mod side;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::flow::Allowance;
use polywire_frame::server::{Connection, Event, Fault as Answer};
use polywire_frame::{CallId, Extension, Features, Output, Reason, Settings, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;

use super::calls;
use super::completion::{Completion, CompletionQueue};
use super::flow::Flow;
use super::handlers::{CallStatus, Endpoint, Handlers, Request};
use super::head::context;
use super::lifetime::Lifetime;
use super::open_call::OpenCall;
use super::pipe::Pipe;
use super::stats::Sum;
use super::time_slice::TimeSlice;
use crate::call::admission::{Admission, Rejection};
use crate::call::queue::QueuedCall;
use crate::call::{Deadline, Target};
use crate::frames::Clock;
use crate::methods::MethodReply;
use crate::server::app::App;
use crate::server::memory::Held;
use crate::server::peer::Peer;

/// The state of a connection.
pub(super) struct ConnectionState {
    pub(super) handlers: Handlers,
    pub(super) machine: Connection<u32, OpenCall>,
    pub(super) completions: Arc<CompletionQueue>,
    /// Streams whose items have no credit.
    pub(super) blocked: Vec<Arc<Pipe>>,
    /// Streams whose items wait until what is there has been written.
    pub(super) stalled: Vec<Arc<Pipe>>,
    /// What the answers take that are in the output of the machine, and those that are being written.
    leaving: Held,
    writing: Held,
    /// Bytes of items that have come and that no handler has read, and what they take.
    pub(super) items_unread: usize,
    pub(super) items: Held,
    /// Calls whose handlers are at work, and subscriptions. Some of them may have ended.
    pub(super) open: Vec<CallId>,
    /// Of calls that bring nothing of their own.
    pub(super) context: crate::Context,
    lifetime: Lifetime,
    flow: Arc<Flow>,
    admission: Admission,
    /// Calls that the client may have open. The test `a_client_is_told_to_send_less_while_there_are_too_many_calls_and_more_again_afterwards`
    /// needs it.
    allowance: Allowance,
    clock: Clock,
    slice: TimeSlice,
    /// What has been added to the sums of the server: calls that are open.
    counted_open: u32,
    /// The client was told to have fewer bytes in open calls, since memory is short.
    tight: bool,
    /// What has not: bytes that came.
    came: u64,
    greeted: bool,
    /// The client makes no more calls.
    left: bool,
}

/// What a client may always have open, unless it never may. With fewer, calls would grow old in its queue,
/// where nobody turns them away.
const LEAST_CALLS: u32 = 64;

/// Bytes in open calls while the memory for them is short.
const LEAST_BYTES: u32 = 64 << 10;

/// Bytes that may wait to be written before no more is read, nor items fetched; and while memory is short.
const MOST_WAITING: usize = 1 << 20;
const LEAST_WAITING: usize = 64 << 10;

impl ConnectionState {
    /// For a connection; nothing, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, peer: Peer, clock: Clock) -> Option<Self> {
        let limit = u32::try_from(app.limits.bytes()).unwrap_or(u32::MAX);
        let flow = Arc::clone(&app.flow);
        let limits = &flow.limits;
        let ping = u32::try_from(limits.ping.as_millis()).unwrap_or(u32::MAX);
        let mut settings = Settings::DEFAULT
            .with_frame(limit)
            .with_bytes(limits.bytes.unwrap_or_else(|| limit.saturating_mul(2)))
            .with_calls(limits.calls)
            .with_ping(ping);
        let handlers = Handlers::of_connection(app)?;
        let admission = flow.admission(&handlers.queue);
        let nothing = || Held::nothing(Arc::clone(&handlers.memory));
        if limits.compress.is_some() {
            settings = settings.with_features(settings.features().union(Features::DEFLATE));
        }
        let mut machine = Connection::new(settings);
        if let Some(least) = limits.compress {
            machine = machine.with_compression(least);
        }
        if limits.calls < settings.calls() {
            // Fewer than a setting may say.
            machine.limit_calls(limits.calls);
        }
        flow.sums.add(Sum::Accepted, 1);
        flow.sums.add(Sum::Connections, 1);
        Some(Self {
            context: context(peer),
            leaving: nothing(),
            writing: nothing(),
            items_unread: 0,
            items: nothing(),
            handlers,
            machine,
            lifetime: Lifetime::new(limits, clock.now()),
            admission,
            allowance: Allowance::new(LEAST_CALLS..=limits.calls, limits.interval),
            flow,
            clock,
            slice: TimeSlice::new(),
            counted_open: 0,
            tight: false,
            came: 0,
            completions: Arc::default(),
            blocked: Vec::new(),
            stalled: Vec::new(),
            open: Vec::new(),
            greeted: false,
            left: false,
        })
    }

    /// The server stops: what is open is answered.
    pub(super) fn stop(&mut self) {
        let within = self.handlers.app.timeouts.shutdown;
        // The shutdown ends at this limit, so calls must have been answered a little before.
        let within = within - (within / 10).min(Duration::from_secs(1));
        self.leave(self.clock.now(), Reason::STOP, within);
    }

    /// A call is open when what it came with has been looked at.
    pub(super) fn remember(&mut self, id: CallId) {
        // Those that have ended are forgotten when they are as many as those that have not.
        if self.open.len() == self.open.capacity() {
            let machine = &mut self.machine;
            self.open.retain(|id| machine.context(*id).is_some());
            self.open.reserve(self.open.len().max(LEAST_CALLS as usize));
        }
        self.open.push(id);
    }

    /// Whether a call starts. Rejects it otherwise.
    #[inline]
    fn admits(&mut self, event: &Event<'_, u32, OpenCall>) -> bool {
        let (id, deadline) = match event {
            Event::Call { id, deadline, .. } | Event::Publish { id, deadline, .. } => {
                (Some(*id), *deadline)
            }
            Event::Subscribe { id, .. } => (Some(*id), Time::NEVER),
            Event::OneWay { deadline, .. } => (None, *deadline),
            _ => return true,
        };
        let cost = operation(event).map(|operation| self.handlers.table.cost(operation));
        let admitted = match self.machine.open() > self.flow.limits.calls {
            true => Err(self.admission.too_many_calls()),
            false => {
                let (now, delay) = (self.slice.now(), self.slice.queueing_delay());
                self.admission.admit(now, delay, deadline, cost)
            }
        };
        admitted
            .inspect_err(|rejection| self.reject(id, *rejection))
            .is_ok()
    }

    #[cold]
    fn reject(&mut self, id: Option<CallId>, rejection: Rejection) {
        // A call without a reply has no fault either.
        if let Some(id) = id {
            let now = self.slice.now();
            self.handlers.reject(&mut self.machine, now, id, rejection);
        }
    }

    /// Adds what was counted to the sums of the server, and tells the client how many calls and bytes
    /// it may have open if that changes.
    fn settle_counts(&mut self) {
        let sums = &self.flow.sums;
        let open = self.machine.open();
        let tally = self.machine.counts();
        if !tally.is_empty() {
            // Those that were answered at once were open together, too.
            let calls = self.counted_open.saturating_add(tally.calls);
            sums.add_all(tally);
            tally.clear();
            self.admission.measure();
            let pressure = self.admission.take_pressure();
            if let Some(calls) = self.allowance.update(self.slice.now(), pressure, calls) {
                self.machine.limit_calls(calls);
            }
        }
        sums.add(Sum::BytesIn, std::mem::take(&mut self.came));
        let memory = &self.handlers.app.memory;
        if !self.tight && memory.has_less_than(1) {
            self.tight = true;
            self.machine.limit_bytes(LEAST_BYTES);
        } else if self.tight && !memory.has_less_than(2) {
            self.tight = false;
            self.machine.limit_bytes(u32::MAX);
        }
        sums.change(Sum::Open, self.counted_open.into(), open.into());
        self.counted_open = open;
    }

    /// The connection is to end: what is open is answered within that time.
    fn leave(&mut self, now: Time, reason: Reason, within: Duration) {
        let millis = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        self.machine
            .go_away(reason, millis, reason.name().unwrap_or_default());
        self.tell_of_the_end(now);
        self.lifetime.close_at(now.after(within));
    }

    fn happens(&mut self, now: Time, event: Event<'_, u32, OpenCall>, whole: Option<&Bytes>) {
        match event {
            Event::Call {
                id,
                operation,
                open,
                deadline,
                extension,
                payload,
            } if self.handlers.table.is_stream(operation) => {
                // Streams may be as long as their callers like.
                self.context.deadline = Deadline::at(self.clock.instant(deadline));
                self.stream(now, id, operation, open, &extension, payload);
            }
            Event::Call {
                id,
                operation,
                open: false,
                deadline,
                extension,
                payload,
            } => {
                self.context.deadline = self.handlers.until(self.clock, now, deadline);
                let times = (now, deadline);
                self.call(times, id, operation, &extension, (payload, whole));
            }
            Event::OneWay {
                operation,
                deadline,
                extension,
                payload,
            } => {
                self.context.deadline = self.handlers.until(self.clock, now, deadline);
                self.one_way(deadline, operation, &extension, payload);
            }
            Event::Unknown { id, name } => {
                self.handlers.unknown(&mut self.machine, now, id, name);
            }
            // It takes no items, and those that come are passed over.
            Event::Call { id, operation, .. } => {
                let name = self.handlers.table.name(&self.handlers.app, operation);
                let message = format!("`{name}` takes no items");
                let fault = Fault::new(FaultKind::NotAcceptable, message);
                self.fault(now, id, None, &fault, true);
            }
            Event::Publish {
                id,
                topic,
                deadline,
                extension,
                payload,
            } => {
                self.context.deadline = Deadline::at(self.clock.instant(deadline));
                self.topic(now, id, (topic, Some(payload)), &extension);
            }
            Event::Subscribe {
                id,
                topic,
                extension,
            } => {
                self.context.deadline = Deadline::NONE;
                self.topic(now, id, (topic, None), &extension);
            }
            Event::Unsubscribe(id) => self.unsubscribe(now, id),
            Event::Item {
                id, cost, payload, ..
            } => self.item(now, id, cost, payload),
            Event::End(id) => self.end(id),
            Event::Writable(id) => self.writable(now, id),
            Event::Hello(_) => self.greeted = true,
            // Its task ends with it.
            Event::Cancelled(_, open_call) => self.given_up(open_call.as_ref()),
            Event::GoAway { .. } => self.left = true,
            _ => {}
        }
    }

    fn call(
        &mut self,
        (now, deadline): (Time, Time),
        id: CallId,
        operation: u32,
        extension: &Extension<'_>,
        (payload, whole): (&[u8], Option<&Bytes>),
    ) {
        let request = Request {
            operation,
            context: &self.context,
            extension,
            payload,
            whole,
            deadline,
            clock: self.clock,
        };
        let status = self
            .handlers
            .call(&mut self.machine, &self.completions, now, id, &request);
        match status {
            CallStatus::Answered(Some(held)) => self.leaving.absorb(held),
            CallStatus::Answered(None) => {}
            CallStatus::InProgress => self.remember(id),
        }
    }

    /// A call that nobody waits for.
    fn one_way(
        &mut self,
        deadline: Time,
        operation: u32,
        extension: &Extension<'_>,
        payload: &[u8],
    ) {
        let request = Request {
            operation,
            context: &self.context,
            extension,
            payload,
            whole: None,
            deadline,
            clock: self.clock,
        };
        self.handlers.one_way(&request);
    }

    pub(super) fn complete(&mut self, now: Time, completion: Completion) {
        let memory = self.handlers.complete(&mut self.machine, now, completion);
        if let Some(memory) = memory {
            self.leaving.absorb(memory);
        }
    }

    /// Answers with a fault; `unstarted`, if it is known that no handler has begun.
    #[cold]
    pub(super) fn fault(
        &mut self,
        now: Time,
        id: CallId,
        target: Option<&Target>,
        fault: &Fault,
        unstarted: bool,
    ) {
        self.handlers
            .fault(&mut self.machine, now, id, target, fault, unstarted);
    }
}

/// The operation of a call, whose handler may start on the task of the connection.
#[inline]
const fn operation(event: &Event<'_, u32, OpenCall>) -> Option<u32> {
    match event {
        Event::Call { operation, .. } | Event::OneWay { operation, .. } => Some(*operation),
        _ => None,
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        // Calls that are open end with it, unanswered.
        let sums = &self.flow.sums;
        sums.add_all(self.machine.counts());
        sums.add(Sum::BytesIn, self.came);
        sums.take(Sum::Open, self.counted_open.into());
        sums.take(Sum::Connections, 1);
    }
}

impl Endpoint for Connection<u32, OpenCall> {
    type Call = CallId;

    fn reply(&mut self, now: Time, call: CallId, reply: MethodReply) -> Result<bool, String> {
        let Some(mut frame) = Self::reply(self, now, call) else {
            return Ok(false);
        };
        if reply.len() < Output::LARGE {
            frame.payload().extend_from_slice(reply.value());
            calls::written(reply);
        } else {
            frame.share(reply.into_bytes());
        }
        let sent = frame.send().map_err(|too_large| too_large.to_string());
        sent.map(|()| true)
    }

    fn fault(&mut self, now: Time, call: CallId, fault: Answer, details: &[u8]) {
        Self::fault(self, now, call, fault, details);
    }

    fn attach(&mut self, call: CallId, task: AbortHandle, queued: Option<Arc<QueuedCall>>) {
        // It is open: it has just come.
        let _ = Self::attach(self, call, OpenCall::call(task, queued));
    }
}
