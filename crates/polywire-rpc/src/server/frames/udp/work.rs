//! What the datagrams of a socket come to.

use std::collections::hash_map::RandomState;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::{FaultCode, Reason, Settings, Time};
use polywire_frame_udp::server::{Call, Event, Fault as Answer, Limits, Server};

use tokio::task::AbortHandle;

use super::super::calls;
use super::super::completion::CompletionQueue;
use super::super::handlers::{CallStatus, Endpoint, Handlers, Request};
use super::super::head::context;
use super::super::stats::Sum;
use super::super::time_slice::TimeSlice;
use crate::call::admission::Admission;
use crate::call::queue::QueuedCall;
use crate::frames::{Alarm, Clock, Received, Sender, Sending, Socket, poll_others};
use crate::methods::MethodReply;
use crate::server::app::App;
use crate::server::peer::Peer;

/// Reads after which other tasks of the thread have their turn, if the time slice has not ended before.
const MOST_READS: usize = 16;

/// Bytes that are sent before more is read.
const ENOUGH: usize = 256 << 10;

/// How long clients are answered that have not heard that the server stops, although nothing is open:
/// their answers may have been lost.
const LINGER: Duration = Duration::from_secs(1);

/// Calls at work of which none is looked for that has ended.
const LEAST: usize = 64;

type Machine = Server<u32, OpenCall, RandomState, Sender>;

/// An open call. Dropping it aborts the handler.
#[derive(Debug)]
struct OpenCall {
    task: AbortHandle,
    /// Its place in the run queue, if it has one.
    queued: Option<Arc<QueuedCall>>,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A socket, its state machine, and the handlers at work for it.
pub(super) struct Work {
    socket: Socket,
    machine: Machine,
    handlers: Handlers,
    completions: Arc<CompletionQueue<Call>>,
    /// Of calls that bring nothing of their own.
    context: crate::Context,
    admission: Admission,
    sending: Sending<Sender>,
    slice: TimeSlice,
    /// What has been added to the counts of the server: calls that are open, and clients that are known.
    counted: (u64, u64),
    clock: Clock,
    alarm: Alarm,
    /// Calls whose handlers are at work. Some of them may have ended.
    open: Vec<Call>,
    /// When the server stops although calls are open, and when if none is.
    stops: Option<(Time, Time)>,
}

impl Work {
    /// None, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, socket: Socket, limits: Limits) -> Option<Self> {
        let most = &app.flow.limits;
        let mut settings = Settings::DEFAULT.with_calls(most.calls);
        if let Some(bytes) = most.bytes {
            settings = settings.with_bytes(bytes);
        }
        let mut machine = Server::with_limits(settings, limits, RandomState::new());
        // They may be fewer than a setting may say.
        machine.limit_calls(most.calls);
        let flow = Arc::clone(&app.flow);
        let handlers = Handlers::of_socket(app)?;
        Some(Self {
            socket,
            admission: flow.admission(&handlers.queue),
            machine,
            handlers,
            completions: Arc::default(),
            context: context(Peer::default()),
            sending: Sending::default(),
            slice: TimeSlice::new(),
            counted: (0, 0),
            clock: Clock::new(),
            alarm: Alarm::new(),
            open: Vec::new(),
            stops: None,
        })
    }

    /// The server stops: what is open is answered.
    pub(super) fn stop(&mut self) {
        let within = self.handlers.app.timeouts.shutdown;
        // As long as those of connections have.
        let within = within - (within / 10).min(LINGER);
        let now = self.clock.now();
        self.stops = Some((now.after(within), now.after(LINGER.min(within))));
        let millis = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        self.machine.go_away(Reason::STOP, millis);
    }

    /// Reads, answers and waits, until the server has stopped.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.slice.begin();
        for _ in 0..MOST_READS {
            self.settle(context);
            // Who sends more than can be answered is not read.
            let blocked = !self.sending.is_empty() && self.machine.output().bytes() > ENOUGH;
            let received = match blocked {
                true => Poll::Pending,
                false => self.poll_receive(context),
            };
            if received.is_ready() && self.slice.is_over() {
                break;
            }
            // What has come together is answered together.
            if received == Poll::Ready(Received::More) && self.machine.output().bytes() < ENOUGH {
                continue;
            }
            let sent = self.poll_send(context);
            if sent.is_ready() && self.is_done() {
                self.end_all(context);
                return Poll::Ready(());
            }
            if received.is_pending() && !(blocked && sent.is_ready()) {
                ready!(self.poll_time(context));
            }
        }
        // Other tasks have their turn, and so have those that wait for this one.
        let _ = self.poll_send(context);
        self.timeout();
        poll_others(context)
    }

    /// Adds what was counted to the counts of the server.
    fn settle_counts(&mut self) {
        let sums = &self.handlers.app.flow.sums;
        let tally = self.machine.counts();
        if !tally.is_empty() {
            sums.add_all(tally);
            tally.clear();
        }
        sums.add(Sum::Accepted, self.machine.take_joined());
        let open = self.machine.open() as u64;
        let clients = self.machine.peers() as u64;
        sums.change(Sum::Open, self.counted.0, open);
        sums.change(Sum::Connections, self.counted.1, clients);
        self.counted = (open, clients);
    }

    /// The rest of stopping, once [`Self::poll`] is ready: what nobody waits for is not cut off before its time.
    pub(super) async fn end(mut self) {
        let one_ways = self.handlers.take_one_ways();
        let latest = self
            .stops
            .and_then(|(latest, _)| self.clock.instant(latest));
        drop(self);
        match latest {
            // The shutdown does not wait longer than this.
            Some(latest) => {
                let _ = tokio::time::timeout_at(latest, one_ways.ended()).await;
            }
            None => one_ways.ended().await,
        }
    }

    /// Answers the calls whose handlers have ended since.
    fn settle(&mut self, context: &Context<'_>) {
        let pending = self.completions.take(context);
        if !pending.completions.is_empty() {
            let now = self.clock.now();
            for completion in pending.completions {
                // From now on the machine bounds the memory of the reply.
                drop(self.handlers.complete(&mut self.machine, now, completion));
            }
        }
        self.settle_counts();
    }

    fn is_done(&mut self) -> bool {
        let Some((latest, quiet)) = self.stops else {
            return false;
        };
        let now = self.clock.now();
        let quiet = self.machine.open() == 0 && (now >= quiet || !self.machine.has_clients());
        quiet || now >= latest
    }

    /// There is no more time: what is open is answered, once, and nobody knows what of it has been carried out.
    fn end_all(&mut self, context: &mut Context<'_>) {
        let now = self.clock.now();
        for call in std::mem::take(&mut self.open) {
            let open_call = self.machine.context(call);
            let queued = open_call.and_then(|open_call| open_call.queued.as_ref());
            let fault = Answer {
                unstarted: queued.is_some_and(|queued| queued.cancel()),
                ..Answer::new(FaultCode::UNAVAILABLE)
            };
            self.machine.fault(now, call, fault, b"");
        }
        let _ = self.poll_send(context);
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        let Self {
            socket,
            machine,
            handlers,
            completions,
            context: circumstances,
            admission,
            clock,
            open,
            slice,
            ..
        } = self;
        let now = clock.now();
        admission.refresh();
        let (mut bytes, mut calls) = (0, false);
        let received = socket.poll_receive(context, &mut |from, datagram| {
            if bytes == 0 {
                slice.process(now, *clock);
            }
            bytes += datagram.len();
            let peer = Peer::from(from.address);
            if handlers.app.connect(&peer).is_err() {
                // Who may not connect is not even told so.
                return;
            }
            let table = &handlers.table;
            let event = machine.receive(now, from, datagram, |name| table.find(name));
            let Some(event) = event else { return };
            circumstances.peer = peer;
            slice.begin_call(*clock);
            calls = true;
            let turn = slice.now();
            let begins = match &event {
                Event::Call {
                    id: call,
                    deadline,
                    operation,
                    ..
                } => Some((Some(*call), *deadline, *operation)),
                Event::OneWay {
                    deadline,
                    operation,
                    ..
                } => Some((None, *deadline, *operation)),
                _ => None,
            };
            let most = handlers.app.flow.limits.calls;
            if let Some((call, deadline, operation)) = begins
                && let cost = Some(table.cost(operation))
                && let Err(rejection) = match call {
                    Some(call) if machine.open_of(call) > most => Err(admission.too_many_calls()),
                    _ => admission.admit(turn, slice.queueing_delay(), deadline, cost),
                }
            {
                if let Some(call) = call {
                    handlers.reject(machine, turn, call, rejection);
                }
                return;
            }
            if let Some((_, deadline, _)) = begins {
                circumstances.deadline = handlers.until(*clock, now, deadline);
            }
            if let Some(call) = happens(
                machine,
                handlers,
                completions,
                circumstances,
                (*clock, now),
                event,
            ) {
                open.push(call);
            }
            slice.end_call(
                begins.is_none_or(|(_, _, operation)| handlers.table.cost(operation).is_watched()),
            );
        });
        slice.check_end();
        slice.finish();
        if calls {
            admission.measure();
        }
        handlers.app.flow.sums.add(Sum::BytesIn, bytes as u64);
        // Those that have ended are forgotten when they are as many as those that have not.
        if open.len() > 2 * machine.open().max(LEAST) {
            // An answer that is begun and dropped is none.
            open.retain(|call| machine.reply(now, *call).is_some());
        }
        match ready!(received) {
            Ok(received) => Poll::Ready(received),
            Err(error) => {
                // Of a datagram that was sent before: as if it were lost.
                tracing::debug!(%error, "a datagram was not taken");
                Poll::Ready(Received::More)
            }
        }
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut failed = |error| tracing::debug!(%error, "a datagram was not sent");
        loop {
            if self.sending.is_empty() {
                let output = self.machine.output_mut();
                if output.is_empty() {
                    return Poll::Ready(());
                }
                let sums = &self.handlers.app.flow.sums;
                sums.add(Sum::BytesOut, output.bytes() as u64);
                self.sending
                    .exchange(|used| std::mem::replace(output, used));
            }
            ready!(
                self.sending
                    .poll(&self.socket, context, |to| to, &mut failed)
            );
        }
    }

    fn timeout(&mut self) {
        let now = self.clock.now();
        self.machine.timeout(now, |_, open_call| drop(open_call));
    }

    /// Waits for the next that is due. Ready, if something has been done.
    fn poll_time(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut next = self.machine.next_timeout();
        if let Some((latest, quiet)) = self.stops {
            let open = self.machine.open() > 0;
            next = next.min(if open { latest } else { quiet });
        }
        if next <= self.clock.now() {
            self.timeout();
            return Poll::Ready(());
        }
        self.alarm.poll(self.clock, next, context)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.settle_counts();
        // Calls that are open end with the socket, unanswered.
        let sums = &self.handlers.app.flow.sums;
        sums.change(Sum::Open, self.counted.0, 0);
        sums.change(Sum::Connections, self.counted.1, 0);
    }
}

/// Does what was asked for. The call, if its handler is at work.
fn happens(
    machine: &mut Machine,
    handlers: &mut Handlers,
    completions: &Arc<CompletionQueue<Call>>,
    context: &crate::Context,
    (clock, now): (Clock, Time),
    event: Event<'_, u32, OpenCall>,
) -> Option<Call> {
    match event {
        Event::Call {
            id: call,
            operation,
            deadline,
            extension,
            payload,
            ..
        } => {
            let request = Request {
                operation,
                context,
                extension: &extension,
                payload,
                whole: None,
                deadline,
                clock,
            };
            let status = handlers.call(machine, completions, now, call, &request);
            if let CallStatus::InProgress = status {
                return Some(call);
            }
        }
        Event::OneWay {
            operation,
            deadline,
            extension,
            payload,
            ..
        } => {
            let request = Request {
                operation,
                context,
                extension: &extension,
                payload,
                whole: None,
                deadline,
                clock,
            };
            handlers.one_way(&request);
        }
        Event::Unknown { id: call, name } => handlers.unknown(machine, now, call, name),
        // Its task ends with it.
        Event::Cancelled(_, open_call) => drop(open_call),
        _ => {}
    }
    None
}

impl Endpoint for Machine {
    type Call = Call;

    fn reply(&mut self, now: Time, call: Call, reply: MethodReply) -> Result<bool, String> {
        let Some(mut answer) = Self::reply(self, now, call) else {
            return Ok(false);
        };
        answer.payload().extend_from_slice(reply.value());
        calls::written(reply);
        let sent = answer.send().map_err(|too_long| too_long.to_string());
        sent.map(|_| true)
    }

    fn fault(&mut self, now: Time, call: Call, fault: Answer, details: &[u8]) {
        Self::fault(self, now, call, fault, details);
    }

    fn attach(&mut self, call: Call, task: AbortHandle, queued: Option<Arc<QueuedCall>>) {
        // It is open: it has just come.
        let _ = Self::attach(self, call, OpenCall { task, queued });
    }
}
