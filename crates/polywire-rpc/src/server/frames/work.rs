//! What the calls of a connection come to.

use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::flow::Allowance;
use polywire_frame::server::{Connection, Event, Fault as Answer, Step};
use polywire_frame::{CallId, Extension, Features, Output, ProtocolError, Reason, Settings, Time};
use polywire_protocol::{Fault, FaultKind};
use tokio::task::AbortHandle;

use super::admit::{Gatekeeper, Refused};
use super::calls;
use super::done::{Done, Ended};
use super::flow::Flow;
use super::handlers::{Answers, Became, Handlers, Request, context};
use super::kept::Kept;
use super::life::Life;
use super::pipe::Pipe;
use super::slice::Slice;
use super::stats::Sum;
use super::turns::Waiting;
use crate::frames::{Clock, Side, Taken};
use crate::methods::MethodReply;
use crate::server::app::{App, Called};
use crate::server::memory::Held;
use crate::server::peer::Peer;

/// The state machine of a connection, and the handlers at work for it.
pub(super) struct Work {
    pub(super) handlers: Handlers,
    pub(super) machine: Connection<u32, Kept>,
    pub(super) done: Arc<Done>,
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
    pub(super) life: Life,
    flow: Arc<Flow>,
    gate: Gatekeeper,
    allowance: Allowance,
    clock: Clock,
    slice: Slice,
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

impl Work {
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
        let gate = Gatekeeper::new(Arc::clone(&flow), Arc::clone(&handlers.turns));
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
            life: Life::new(limits, clock.now()),
            gate,
            allowance: Allowance::new(LEAST_CALLS..=limits.calls, limits.interval),
            flow,
            clock,
            slice: Slice::new(),
            counted_open: 0,
            tight: false,
            came: 0,
            done: Arc::default(),
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
        // Whoever stops the server waits for no longer than that, and by then all are to have been answered.
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

    /// Whether a call begins, or does what it asks for: it may have waited too long, or there
    /// may be too much to do.
    #[inline]
    fn admits(&mut self, event: &Event<'_, u32, Kept>) -> bool {
        let (id, deadline) = match event {
            Event::Call { id, deadline, .. } | Event::Publish { id, deadline, .. } => {
                (Some(*id), *deadline)
            }
            Event::Subscribe { id, .. } => (Some(*id), Time::NEVER),
            Event::OneWay { deadline, .. } => (None, *deadline),
            _ => return true,
        };
        let cost = operation(event).map(|operation| self.handlers.table.cost(operation));
        let begun = match self.machine.open() > self.flow.limits.calls {
            true => Err(self.gate.too_many()),
            false => {
                let (read, unread) = self.slice.waited();
                self.gate
                    .begin(self.slice.now(), read, unread, deadline, cost)
            }
        };
        match begun {
            Ok(()) => true,
            Err(refused) => {
                self.turn_away(id, refused);
                false
            }
        }
    }

    #[cold]
    fn turn_away(&mut self, id: Option<CallId>, refused: Refused) {
        // Nobody is told of a call that nobody waits for.
        if let Some(id) = id {
            let (answer, details) = self.gate.answer(refused);
            self.machine.fault(self.slice.now(), id, answer, &details);
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
            self.gate.look();
            let pressure = self.gate.was_pressed();
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
        self.life.leaves(now.after(within));
    }

    fn happens(&mut self, now: Time, event: Event<'_, u32, Kept>, whole: Option<&Bytes>) {
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
                self.context.deadline = self.clock.instant(deadline);
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
                self.fault(now, id, &Called::Unknown, &fault, true);
            }
            Event::Publish {
                id,
                topic,
                deadline,
                extension,
                payload,
            } => {
                self.context.deadline = self.clock.instant(deadline);
                self.publish(now, id, topic, &extension, payload);
            }
            Event::Subscribe {
                id,
                topic,
                extension,
            } => {
                self.context.deadline = None;
                self.subscribe(now, id, topic, &extension);
            }
            Event::Unsubscribe(id) => self.unsubscribe(now, id),
            Event::Item {
                id, cost, payload, ..
            } => self.item(now, id, cost, payload),
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
        let became = self
            .handlers
            .call(&mut self.machine, &self.done, now, id, &request);
        match became {
            Became::Answered(Some(held)) => self.leaving.absorb(held),
            Became::Answered(None) => {}
            Became::AtWork => self.remember(id),
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

    pub(super) fn answer(&mut self, now: Time, ended: Ended) {
        let held = self.handlers.answer(&mut self.machine, now, ended);
        if let Some(held) = held {
            self.leaving.absorb(held);
        }
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
        self.handlers
            .fault(&mut self.machine, now, id, called, fault, unstarted);
    }
}

/// What is carried out where it is read, unless it is known to be long.
#[inline]
const fn operation(event: &Event<'_, u32, Kept>) -> Option<u32> {
    match event {
        Event::Call { operation, .. } | Event::OneWay { operation, .. } => Some(*operation),
        _ => None,
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Calls that are open end with it, unanswered.
        let sums = &self.flow.sums;
        sums.add_all(self.machine.counts());
        sums.add(Sum::BytesIn, self.came);
        sums.take(Sum::Open, self.counted_open.into());
        sums.take(Sum::Connections, 1);
    }
}

impl Answers for Connection<u32, Kept> {
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

    fn attach(&mut self, call: CallId, task: AbortHandle, waiting: Option<Arc<Waiting>>) {
        // It is open: it has just come.
        let _ = Self::attach(self, call, Kept::call(task, waiting));
    }
}

impl Side for Work {
    fn begin_turn(&mut self) {
        self.slice.begin();
    }

    fn is_held_up(&mut self) {
        self.slice.is_held_up();
    }

    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>) {
        let left = self.done.take(context);
        if left.answers.is_empty() && left.pipes.is_empty() && self.stalled.is_empty() {
            self.settle_counts();
            return;
        }
        let now = clock.now();
        self.life.moves(now);
        for ended in left.answers {
            self.answer(now, ended);
        }
        self.resume(now);
        for pipe in left.pipes {
            self.pump(now, &pipe);
        }
        self.settle_counts();
    }

    fn yields(&self) -> bool {
        self.slice.is_over()
    }

    fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    fn take(
        &mut self,
        came: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<Taken, ProtocolError> {
        let mut at = 0;
        self.gate.turn();
        self.slice.take(came, self.gate.pause(), self.clock);
        // Of payloads that came compressed.
        let mut room = Vec::new();
        loop {
            let table = &self.handlers.table;
            let resolve = |name: &str| table.find(name);
            match self
                .machine
                .receive(came, &bytes[at..], &mut room, resolve)?
            {
                Step::NeedMore(wants) => {
                    self.came += at as u64;
                    self.slice.is_dry();
                    self.life.moves(self.slice.now());
                    return Ok(Taken { bytes: at, wants });
                }
                Step::Consumed(count, event) => {
                    at += count;
                    if let Some(event) = event {
                        if self.slice.next(self.clock) {
                            self.handlers.suspect();
                        }
                        let operation = operation(&event);
                        if self.admits(&event) {
                            self.happens(came, event, whole);
                        }
                        // As it is known now.
                        self.slice.had(operation.is_none_or(|operation| {
                            self.handlers.table.cost(operation).is_watched()
                        }));
                    }
                    let is_over = self.slice.ends();
                    // What is answered has to go before more is begun, and other connections have
                    // their turn.
                    if is_over || self.machine.output().len() > self.most_waiting() {
                        self.came += at as u64;
                        self.slice.stop(at < bytes.len());
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
        match self.tight {
            true => LEAST_WAITING,
            false => MOST_WAITING,
        }
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError> {
        if rest == 0 && !self.left && !self.handlers.app.half_close {
            return Ok(false);
        }
        let now = self.clock.now();
        let mut ended = Vec::new();
        self.machine
            .end_of_input(now, rest, |_, kept| ended.push(kept))?;
        for kept in ended {
            self.given_up(kept.as_ref());
        }
        self.left = true;
        Ok(true)
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
        let output = self.machine.take_output(empty);
        self.flow.sums.add(Sum::BytesOut, output.len() as u64);
        // What was there before has been written.
        self.writing.resize(0);
        std::mem::swap(&mut self.writing, &mut self.leaving);
        output
    }

    fn wrote(&mut self) {
        self.writing.resize(0);
    }

    fn is_done(&self) -> bool {
        self.machine.is_done()
    }

    fn is_over(&self) -> bool {
        self.life.is_over()
    }

    fn next_timeout(&self) -> Time {
        let next = self.life.next_timeout(self.machine.open() == 0);
        next.min(self.machine.next_timeout())
    }

    fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine.timeout(now, |_, kept| late.push(kept));
        for kept in late {
            self.given_up(kept.as_ref());
        }
        let rests = self.machine.open() == 0 && self.handlers.rests();
        if let Some(reason) = self.life.timeout(now, rests) {
            self.leave(now, reason, self.handlers.app.timeouts.shutdown);
        }
        if self.life.is_over() {
            self.end_all(now);
        }
    }

    fn greeted(&self) -> bool {
        self.greeted
    }

    fn patience(&self) -> Duration {
        self.handlers.app.timeouts.head
    }

    fn ping(&mut self) {
        self.machine.ping(0, 0);
    }

    fn give_up(&mut self, reason: Reason) {
        self.machine
            .go_away(reason, 0, reason.name().unwrap_or_default());
    }
}
