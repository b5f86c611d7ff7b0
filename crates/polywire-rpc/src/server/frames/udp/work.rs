//! The driver of a UDP socket: its state machine, and its calls.

use std::collections::hash_map::RandomState;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::{Reason, Settings, Time};
use polywire_frame_udp::server::{Call, Fault as SentFault, Limits, Server};

use tokio::task::AbortHandle;

use super::super::dispatcher::{CallDispatcher, ended_by_server, operation};
use super::super::handlers::{Endpoint, Handlers};
use super::super::open_call::OpenCall;
use super::super::stats::Sum;
use super::super::table;
use crate::call::queue::QueuedCall;
use crate::frames::{Alarm, Clock, ReadStatus, SendQueue, Sender, Socket, poll_others};
use crate::methods::MethodReply;
use crate::peer::Peer;
use crate::server::app::App;

/// The task yields after this many reads, if its time slice has not ended before.
const MOST_READS: usize = 16;

/// While more bytes wait to be sent, nothing is read.
const ENOUGH: usize = 256 << 10;

/// A stopping server without open calls answers repeated calls for this long, because replies may have been lost.
const LINGER: Duration = Duration::from_secs(1);

type Machine = Server<u32, OpenCall, RandomState, Sender>;

/// A socket, its state machine, and its calls.
pub(super) struct Work {
    socket: Socket,
    machine: Machine,
    calls: CallDispatcher<Call>,
    send_queue: SendQueue<Sender>,
    /// Open calls and known clients that were added to the statistics of the server.
    counted: (u64, u64),
    alarm: Alarm,
    /// When the server stops with open calls, and when without.
    stops: Option<(Time, Time)>,
}

impl Work {
    /// None if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, socket: Socket, limits: Limits) -> Option<Self> {
        let most = &app.flow.limits;
        let mut settings = Settings::DEFAULT.with_calls(most.calls);
        if let Some(bytes) = most.bytes {
            settings = settings.with_bytes(bytes);
        }
        let mut machine = Server::with_limits(settings, limits, RandomState::new());
        // May be lower than the minimum of the setting.
        machine.limit_calls(most.calls);
        let handlers = Handlers::of_socket(app)?;
        Some(Self {
            socket,
            machine,
            calls: CallDispatcher::new(handlers, Peer::default(), Clock::new()),
            send_queue: SendQueue::default(),
            counted: (0, 0),
            alarm: Alarm::new(),
            stops: None,
        })
    }

    /// The server stops. Open calls may finish within the time for that.
    pub(super) fn stop(&mut self) {
        let within = self.calls.handlers.app.timeouts.shutdown;
        // The same time as for connections.
        let within = within - (within / 10).min(LINGER);
        let now = self.calls.clock.now();
        self.stops = Some((now.after(within), now.after(LINGER.min(within))));
        let millis = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        self.machine.go_away(Reason::STOP, millis);
    }

    /// Reads, runs calls and sends, until the server has stopped.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.calls.slice.begin();
        for _ in 0..MOST_READS {
            self.settle(context);
            // Clients that send faster than they are answered have to wait.
            let blocked = !self.send_queue.is_empty() && self.machine.output().bytes() > ENOUGH;
            let received = match blocked {
                true => Poll::Pending,
                false => self.poll_receive(context),
            };
            if received.is_ready() && self.calls.slice.is_over() {
                break;
            }
            // Reply to all datagrams that were received together.
            if received == Poll::Ready(ReadStatus::More) && self.machine.output().bytes() < ENOUGH {
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
        // Yield, with everything sent that the other tasks may wait for.
        let _ = self.poll_send(context);
        self.timeout();
        poll_others(context)
    }

    /// Updates the statistics of the server.
    fn settle_counts(&mut self) {
        let sums = &self.calls.handlers.app.flow.sums;
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

    /// Waits for calls without a reply, once [`Self::poll`] is ready.
    pub(super) async fn end(mut self) {
        let one_ways = self.calls.handlers.take_one_ways();
        let latest = self
            .stops
            .and_then(|(latest, _)| self.calls.clock.instant(latest));
        drop(self);
        match latest {
            // The limit of the shutdown.
            Some(latest) => {
                let _ = tokio::time::timeout_at(latest, one_ways.ended()).await;
            }
            None => one_ways.ended().await,
        }
    }

    /// Sends the results of handlers that have ended.
    fn settle(&mut self, context: &Context<'_>) {
        let pending = self.calls.completions.take(context);
        if !pending.completions.is_empty() {
            let now = self.calls.clock.now();
            for completion in pending.completions {
                // The state machine bounds the memory of the reply from now on.
                drop(
                    self.calls
                        .handlers
                        .complete(&mut self.machine, now, completion),
                );
            }
        }
        self.settle_counts();
    }

    fn is_done(&mut self) -> bool {
        let Some((latest, quiet)) = self.stops else {
            return false;
        };
        let now = self.calls.clock.now();
        let quiet = self.machine.open() == 0 && (now >= quiet || !self.machine.has_clients());
        quiet || now >= latest
    }

    /// Ends all open calls with a fault: they may have been executed.
    fn end_all(&mut self, context: &mut Context<'_>) {
        let now = self.calls.clock.now();
        for call in self.calls.take_in_progress() {
            let fault = ended_by_server(self.machine.context(call));
            self.machine.fault(now, call, fault, b"");
        }
        let _ = self.poll_send(context);
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<ReadStatus> {
        let Self {
            socket,
            machine,
            calls,
            ..
        } = self;
        let now = calls.clock.now();
        calls.admission.refresh();
        let (mut bytes, mut has_calls) = (0, false);
        let received = socket.poll_receive(context, &mut |from, datagram| {
            if bytes == 0 {
                calls.slice.process(now, calls.clock);
            }
            bytes += datagram.len();
            let peer = Peer::from(from.address);
            if calls.handlers.app.connect(&peer).is_err() {
                // A client that may not connect gets no answer.
                return;
            }
            let table = &calls.handlers.table;
            let event = machine.receive(now, from, datagram, |name| table.find(name));
            let Some(event) = event else { return };
            calls.context.peer = peer;
            calls.slice.begin_call(calls.clock);
            has_calls = true;
            let operation = operation(&event);
            if calls.admits(machine, &event) {
                // The machine bounds the memory of replies. `Event::Cancelled` has the open call, whose drop aborts the handler.
                drop(calls.start(machine, now, &event, None));
            }
            calls.slice.end_call(
                operation.is_none_or(|operation| calls.handlers.table.cost(operation).is_watched()),
            );
        });
        calls.slice.check_end();
        calls.slice.finish();
        if has_calls {
            calls.admission.measure();
        }
        let sums = &calls.handlers.app.flow.sums;
        sums.add(Sum::BytesIn, bytes as u64);
        match ready!(received) {
            Ok(received) => Poll::Ready(received),
            Err(error) => {
                // The error of a datagram that was sent before. It counts as lost.
                tracing::debug!(%error, "a datagram was not taken");
                Poll::Ready(ReadStatus::More)
            }
        }
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut failed = |error| tracing::debug!(%error, "a datagram was not sent");
        loop {
            if self.send_queue.is_empty() {
                let output = self.machine.output_mut();
                if output.is_empty() {
                    return Poll::Ready(());
                }
                let sums = &self.calls.handlers.app.flow.sums;
                sums.add(Sum::BytesOut, output.bytes() as u64);
                self.send_queue
                    .exchange(|used| std::mem::replace(output, used));
            }
            ready!(
                self.send_queue
                    .poll(&self.socket, context, |to| to, &mut failed)
            );
        }
    }

    fn timeout(&mut self) {
        let now = self.calls.clock.now();
        self.machine.timeout(now, |_, open_call| drop(open_call));
    }

    /// Waits for the next timeout. Ready if one was handled.
    fn poll_time(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut next = self.machine.next_timeout();
        if let Some((latest, quiet)) = self.stops {
            let open = self.machine.open() > 0;
            next = next.min(if open { latest } else { quiet });
        }
        if next <= self.calls.clock.now() {
            self.timeout();
            return Poll::Ready(());
        }
        self.alarm.poll(self.calls.clock, next, context)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.settle_counts();
        // Open calls end without a reply.
        let sums = &self.calls.handlers.app.flow.sums;
        sums.change(Sum::Open, self.counted.0, 0);
        sums.change(Sum::Connections, self.counted.1, 0);
    }
}

impl Endpoint for Machine {
    type Call = Call;

    fn reply(&mut self, now: Time, call: Call, reply: MethodReply) -> Result<bool, String> {
        let Some(mut answer) = Self::reply(self, now, call) else {
            return Ok(false);
        };
        answer.payload().extend_from_slice(reply.value());
        table::recycle(reply);
        let sent = answer.send().map_err(|too_long| too_long.to_string());
        sent.map(|_| true)
    }

    fn fault(&mut self, now: Time, call: Call, fault: SentFault, details: &[u8]) {
        Self::fault(self, now, call, fault, details);
    }

    fn open_of(&mut self, call: Call) -> u32 {
        Self::open_of(self, call)
    }

    fn is_open(&mut self, call: Call) -> bool {
        self.context(call).is_some()
    }

    fn attach(&mut self, call: Call, task: AbortHandle, queued: Option<Arc<QueuedCall>>) {
        // It is open, because it was just received.
        let _ = Self::attach(self, call, OpenCall::call(task, queued));
    }
}
