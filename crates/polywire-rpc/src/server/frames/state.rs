//! The state of a connection: its state machine, and its calls in progress.

mod side;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::flow::Allowance;
use polywire_frame::server::{Connection, Fault as SentFault};
use polywire_frame::{CallId, Event, Features, Output, Reason, Settings, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;

use super::dispatcher::{CallDispatcher, ServerEvent};
use super::flow::Flow;
use super::handlers::{Endpoint, Handlers};
use super::lifetime::Lifetime;
use super::open_call::OpenCall;
use super::stats::Sum;
use super::table;
use crate::call::completion::Completion;
use crate::call::memory::MemoryReservation;
use crate::call::pipe::Pipe;
use crate::call::queue::QueuedCall;
use crate::call::{Deadline, Target};
use crate::frames::Clock;
use crate::methods::MethodReply;
use crate::peer::Peer;
use crate::server::app::App;

/// The state of a connection.
pub(super) struct ConnectionState {
    pub(super) calls: CallDispatcher<CallId>,
    pub(super) machine: Connection<u32, OpenCall>,
    /// Streams whose items have no credit.
    pub(super) blocked: Vec<Arc<Pipe>>,
    /// Streams whose items wait until the output has been written.
    pub(super) stalled: Vec<Arc<Pipe>>,
    /// The memory of replies in the output of the state machine.
    leaving: MemoryReservation,
    /// The memory of replies that are being written.
    writing: MemoryReservation,
    /// Bytes of items that no handler has read.
    pub(super) items_unread: usize,
    /// Their memory.
    pub(super) items: MemoryReservation,
    lifetime: Lifetime,
    flow: Arc<Flow>,
    /// The limit of open calls that the client was last told. It shrinks while calls are rejected by `HandlerLimit` or
    /// `ClientCallLimit`.
    allowance: Allowance,
    /// Open calls that were added to the statistics of the server.
    counted_open: u32,
    /// The client was told to have fewer bytes in open calls, because memory is short.
    tight: bool,
    /// Received bytes that were not added to the statistics yet.
    came: u64,
    greeted: bool,
    /// The client has sent GOAWAY, or has shut down its write side: it makes no more calls.
    client_is_leaving: bool,
}

/// The limit of open calls that clients are told never falls below this, unless `FrameLimits::calls` is lower. With a lower
/// one, calls would expire in the queue of the client, where the server cannot reject them.
const LEAST_CALLS: u32 = 64;

/// Bytes in open calls while the memory for them is short.
const LEAST_BYTES: u32 = 64 << 10;

/// Nothing is read and no item is sent while this many bytes wait to be written; the second while memory is short.
const MOST_WAITING: usize = 1 << 20;
const LEAST_WAITING: usize = 64 << 10;

impl ConnectionState {
    /// The state of a new connection. None if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, peer: Peer, clock: Clock) -> Option<Self> {
        let limit = u32::try_from(app.engine.limits.bytes()).unwrap_or(u32::MAX);
        let flow = Arc::clone(&app.flow);
        let limits = &flow.limits;
        let ping = u32::try_from(limits.ping.as_millis()).unwrap_or(u32::MAX);
        let mut settings = Settings::DEFAULT
            .with_frame(limit)
            .with_bytes(limits.bytes.unwrap_or_else(|| limit.saturating_mul(2)))
            .with_calls(limits.calls)
            .with_ping(ping);
        let handlers = Handlers::of_connection(app)?;
        let nothing = || MemoryReservation::nothing(Arc::clone(&handlers.memory));
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
            leaving: nothing(),
            writing: nothing(),
            items_unread: 0,
            items: nothing(),
            calls: CallDispatcher::new(handlers, peer, clock),
            machine,
            lifetime: Lifetime::new(limits, clock.now()),
            allowance: Allowance::new(LEAST_CALLS..=limits.calls, limits.interval),
            flow,
            counted_open: 0,
            tight: false,
            came: 0,
            blocked: Vec::new(),
            stalled: Vec::new(),
            greeted: false,
            client_is_leaving: false,
        })
    }

    /// The server stops. Open calls may finish within the time for that; then the rest ends with the fault `unavailable`.
    pub(super) fn stop(&mut self) {
        let within = self.calls.handlers.app.timeouts.shutdown;
        // The shutdown ends at this limit, so calls must have been answered a little before.
        let within = within - (within / 10).min(Duration::from_secs(1));
        self.leave(self.calls.clock.now(), Reason::STOP, within);
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
            self.calls.admission.measure();
            let pressure = self.calls.admission.take_pressure();
            if let Some(calls) = self
                .allowance
                .update(self.calls.slice.now(), pressure, calls)
            {
                self.machine.limit_calls(calls);
            }
        }
        sums.add(Sum::BytesIn, std::mem::take(&mut self.came));
        let memory = &self.calls.handlers.app.engine.memory;
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

    /// Ends the connection. Open calls may finish within that time; then the rest ends with the fault `unavailable`.
    fn leave(&mut self, now: Time, reason: Reason, within: Duration) {
        let millis = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        self.machine
            .go_away(reason, millis, reason.name().unwrap_or_default());
        self.announce_close(now);
        self.lifetime.close_at(now.after(within));
    }

    fn happens(&mut self, now: Time, event: ServerEvent<'_, CallId>, whole: Option<&Bytes>) {
        match event {
            Event::Call {
                id,
                operation,
                open,
                deadline,
                extension,
                payload,
            } if self.calls.handlers.table.is_stream(operation) => {
                // Streams may be as long as their callers like.
                self.calls.set_deadline(deadline);
                self.stream(now, id, operation, open, &extension, payload);
            }
            // The method has no streams. Items of the call are ignored.
            Event::Call {
                id,
                operation,
                open: true,
                ..
            } => {
                let name = self
                    .calls
                    .handlers
                    .table
                    .name(&self.calls.handlers.app.engine, operation);
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
                self.calls.set_deadline(deadline);
                self.topic(now, id, (topic, Some(payload)), &extension);
            }
            Event::Subscribe {
                id,
                topic,
                extension,
            } => {
                self.calls.context.deadline = Deadline::NONE;
                self.topic(now, id, (topic, None), &extension);
            }
            Event::Unsubscribe(id) => self.unsubscribe(now, id),
            Event::Item {
                id, cost, payload, ..
            } => self.item(now, id, cost, payload),
            Event::End(id) => self.end(id),
            Event::Writable(id) => self.writable(now, id),
            Event::Hello(_) => self.greeted = true,
            Event::Cancelled(_, open_call) => {
                self.close_pipe_of(open_call.as_ref());
                // Aborts the task of the handler.
                drop(open_call);
            }
            Event::GoAway { .. } => self.client_is_leaving = true,
            event => {
                let machine = &mut self.machine;
                if let Some(held) = self.calls.start(machine, now, &event, whole) {
                    self.leaving.absorb(held);
                }
            }
        }
    }

    pub(super) fn complete(&mut self, now: Time, completion: Completion) {
        let memory = self
            .calls
            .handlers
            .complete(&mut self.machine, now, completion);
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
        self.calls
            .handlers
            .fault(&mut self.machine, now, id, target, fault, unstarted);
    }
}

impl Drop for ConnectionState {
    fn drop(&mut self) {
        // Open calls end without a reply.
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
            table::recycle(reply);
        } else {
            frame.share(reply.into_bytes());
        }
        let sent = frame.send().map_err(|too_large| too_large.to_string());
        sent.map(|()| true)
    }

    fn fault(&mut self, now: Time, call: CallId, fault: SentFault, details: &[u8]) {
        Self::fault(self, now, call, fault, details);
    }

    fn open_of(&mut self, _: CallId) -> u32 {
        Self::open(self)
    }

    fn is_open(&mut self, call: CallId) -> bool {
        self.context(call).is_some()
    }

    fn attach(&mut self, call: CallId, task: AbortHandle, queued: Option<Arc<QueuedCall>>) {
        // It is open: it has just come.
        let _ = Self::attach(self, call, OpenCall::call(task, queued));
    }
}
