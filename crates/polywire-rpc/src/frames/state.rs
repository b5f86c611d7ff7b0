//! The state that the calls of a client share with the task of their connection.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::client::{Connection, Event, LostCall};
use polywire_frame::flow::{AdaptiveLimit, Sample};
use polywire_frame::{CallId, FaultCode, Reason, Time};
use tokio::sync::Notify;

use super::Clock;
use super::link::LinkOptions;
use super::locked::StateGuard;
use super::machine::Machine;
use super::payload;
use super::quota::QueueQuota;
use super::tickets::{End, Ticket, Tickets};
use super::waiters::Waiters;
use crate::call::FrameDeadline;
use crate::error::Cause;

/// A connection with its lock. `M` is its state machine: by default, that of a byte stream.
pub(super) struct Shared<M = Connection<Ticket>> {
    pub(super) clock: Clock,
    state: Mutex<State<M>>,
    /// Notified when the HELLO of the server is received, and when the connection takes no more calls.
    pub(super) changed: Notify,
}

pub(super) struct State<M = Connection<Ticket>> {
    pub(super) machine: M,
    pub(super) tickets: Tickets,
    pub(super) limit: AdaptiveLimit,
    /// The queue of calls that wait for capacity.
    pub(super) waiting: VecDeque<Ticket>,
    /// The number of abandoned calls in `waiting`. The first is never abandoned.
    pub(super) abandoned: usize,
    /// Limits the queues of all connections of the client.
    pub(super) quota: Arc<QueueQuota>,
    /// No queued call has an earlier deadline.
    pub(super) earliest: FrameDeadline,
    /// The numbers of the operations, by name.
    pub(super) operations: HashMap<Box<str>, u16>,
    /// The names of the operations, by number minus 1.
    pub(super) names: Vec<Box<str>>,
    /// The operation of the last call. 0 before the first call.
    pub(super) last_number: u16,
    /// The waker of the task of the connection, if it waits.
    pub(super) task: Option<Waker>,
    /// The wakers to call when the lock is released.
    pub(super) to_wake: Vec<Waker>,
    /// The number of open calls with streams, which do not count against `limit`. A cancelled call counts until the
    /// server has answered it.
    pub(super) streams: u32,
    /// The cancelled calls with streams that the server has not answered yet.
    pub(super) cancelled_streams: HashSet<CallId>,
    /// The tasks that wait until the output is written.
    pub(super) output_waiters: Waiters,
    /// The calls that wait for credit to send an item.
    pub(super) blocked_senders: Vec<Ticket>,
    pub(super) greeted: bool,
    /// Why the connection takes no more calls.
    pub(super) ended: Option<Cause>,
    /// The reason of a GOAWAY that is not an error. The server still answers the open calls.
    pub(super) go_away: Option<Reason>,
    /// Whether the client was dropped.
    pub(super) is_released: bool,
    pub(super) random_state: u64,
}

impl<M> fmt::Debug for Shared<M> {
    /// Without the payloads of calls, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl<M: Machine> Shared<M> {
    pub(super) fn new(machine: M, options: LinkOptions) -> Self {
        let LinkOptions {
            settings: _,
            #[cfg(feature = "udp")]
                datagram: _,
            compress: _,
            limit,
            quota,
            clock,
            seed,
        } = options;
        Self {
            clock,
            changed: Notify::new(),
            state: Mutex::new(State {
                machine,
                tickets: Tickets::default(),
                limit,
                waiting: VecDeque::new(),
                abandoned: 0,
                quota,
                earliest: FrameDeadline::NONE,
                operations: HashMap::new(),
                names: Vec::new(),
                last_number: 0,
                task: None,
                to_wake: Vec::new(),
                streams: 0,
                cancelled_streams: HashSet::new(),
                blocked_senders: Vec::new(),
                output_waiters: Waiters::default(),
                greeted: false,
                ended: None,
                go_away: None,
                is_released: false,
                random_state: seed,
            }),
        }
    }

    #[inline]
    pub(super) fn lock(&self) -> StateGuard<'_, M> {
        StateGuard::new(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the HELLO of the server. One task can wait at a time.
    ///
    /// # Errors
    ///
    /// The cause, if the connection ends before.
    pub(super) async fn greeted(&self) -> Result<(), Cause> {
        loop {
            {
                let state = self.lock();
                if let Some(cause) = &state.ended {
                    return Err(cause.clone());
                }
                if state.greeted {
                    return Ok(());
                }
            }
            self.changed.notified().await;
        }
    }

    /// Waits until the connection takes no more calls. One task can wait at a time.
    pub(super) async fn ended(&self) -> LinkEnd {
        loop {
            if let Some(link_end) = self.lock().link_end() {
                return link_end;
            }
            self.changed.notified().await;
        }
    }

    /// Called when the client is dropped. The connection ends when all calls are answered.
    pub(super) fn release(&self) {
        let mut state = self.lock();
        state.is_released = true;
        state.machine.go_away();
        state.wake_task();
    }
}

/// Why a connection takes no more calls.
#[derive(Clone, Debug)]
pub(super) struct LinkEnd {
    pub(super) cause: Cause,
    /// The reason of a GOAWAY that is not an error: the client can connect again.
    pub(super) go_away: Option<Reason>,
}

impl<M: Machine> State<M> {
    /// Why the connection takes no more calls. None if it does.
    pub(super) fn link_end(&self) -> Option<LinkEnd> {
        let cause = self.ended.clone()?;
        let go_away = self.go_away;
        Some(LinkEnd { cause, go_away })
    }

    /// Wakes the task of the connection.
    #[inline]
    pub(super) fn wake_task(&mut self) {
        self.to_wake.extend(self.task.take());
    }

    /// Wakes the calls that wait until the buffered bytes are written.
    pub(super) fn wake_output_waiters(&mut self) {
        self.output_waiters.drain_to(&mut self.to_wake);
    }

    /// The number of open calls and its limit.
    pub(super) fn load(&self) -> (usize, u32) {
        (self.machine.open() as usize, self.limit.current())
    }

    /// The number of open calls without streams.
    pub(super) fn in_flight(&self) -> u32 {
        self.machine.open().saturating_sub(self.streams)
    }

    pub(super) fn record_end(&mut self, now: Time, sample: Sample) {
        // A linear congruential generator is good enough: it only spreads the updates of the limit.
        self.random_state = self
            .random_state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let chance = (self.random_state >> 11) as f64 / (1_u64 << 53) as f64;
        self.limit.ended(now, sample, chance);
        self.begin_queued(now);
    }

    /// Ends a call. Returns the waker of its caller. `took` is the time that the server took for the call itself.
    pub(super) fn end(
        &mut self,
        now: Time,
        ticket: Ticket,
        end: End,
        payload: &[u8],
        took: Duration,
    ) -> Option<Waker> {
        let slot = &mut self.tickets.slots[ticket as usize];
        if let Some(items) = &mut slot.items {
            // The duration of a stream is no sample of how fast the server is.
            items.wake(&mut self.to_wake);
            match end {
                // The server has not answered it yet.
                End::Deadline => {
                    self.cancelled_streams.insert(items.id());
                }
                _ => self.streams -= 1,
            }
            let waker = self.tickets.end(ticket, end, payload);
            self.begin_queued(now);
            return waker;
        }
        let began = slot.began;
        let sample = match end {
            End::Fault {
                code: FaultCode::OVERLOADED,
                ..
            } => Sample::Refused,
            // Without the time of the call itself, which does not depend on the queue of the server.
            End::Reply | End::Large(_) => Sample::Answered(now.since(began).saturating_sub(took)),
            End::Deadline => Sample::Late,
            End::Fault { .. } | End::Lost { .. } => Sample::Nothing,
        };
        let waker = self.tickets.end(ticket, end, payload);
        self.record_end(now, sample);
        waker
    }

    /// Handles an event of the state machine. `whole` is the frame of the event, if it is large.
    pub(super) fn handle_event(
        &mut self,
        now: Time,
        event: &Event<'_, Ticket>,
        whole: Option<&Bytes>,
    ) -> Option<Waker> {
        match *event {
            Event::Reply {
                context,
                payload,
                took,
                ..
            } => {
                let took = Duration::from_micros(took.into());
                let (end, payload) = match whole.and_then(|whole| payload::part(whole, payload)) {
                    Some(large) => (End::Large(Box::new(large)), &[][..]),
                    None => (End::Reply, payload),
                };
                self.end(now, context, end, payload, took)
            }
            Event::Fault {
                context,
                code,
                retry_after,
                unstarted,
                payload,
                ..
            } => {
                let end = End::Fault {
                    code,
                    retry_after,
                    unstarted,
                };
                self.end(now, context, end, payload, Duration::ZERO)
            }
            Event::Hello(_) => {
                self.greeted = true;
                self.wake_output_waiters();
                self.begin_queued(now);
                None
            }
            Event::Limits => {
                self.begin_queued(now);
                None
            }
            Event::Freed(id) => {
                if self.cancelled_streams.remove(&id) {
                    self.streams -= 1;
                }
                None
            }
            Event::GoAway {
                reason, message, ..
            } => {
                self.handle_go_away(now, reason, message);
                None
            }
            _ => None,
        }
    }

    /// Handles a GOAWAY: the server takes no more calls.
    pub(super) fn handle_go_away(&mut self, now: Time, reason: Reason, message: &str) {
        let cause = match message {
            "" => reason.to_string(),
            message => message.to_owned(),
        };
        self.ended = Some(format!("the server ends the connection: {cause}").into());
        self.go_away = (!reason.is_error()).then_some(reason);
        self.begin_queued(now);
    }

    /// When [`Self::timeout`] must be called.
    pub(super) fn next_timeout(&self) -> Time {
        let machine = FrameDeadline::at(self.machine.next_timeout());
        machine.earlier(self.earliest).time()
    }

    /// Ends the calls whose deadline has passed.
    pub(super) fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine.timeout(now, |_, ticket| late.push(ticket));
        for ticket in late {
            let waker = self.end(now, ticket, End::Deadline, &[], Duration::ZERO);
            self.to_wake.extend(waker);
        }
        self.wake_expired(now);
    }

    /// Ends calls that were lost with a connection, so that their results are unknown.
    pub(super) fn lose_calls(&mut self, lost: Vec<LostCall<Ticket>>, cause: &Cause) {
        for lost in lost {
            let end = End::Lost {
                sent: lost.sent,
                cause: cause.clone(),
            };
            if let Some(items) = &mut self.tickets.slots[lost.context as usize].items {
                items.wake(&mut self.to_wake);
                self.streams -= 1;
            }
            let waker = self.tickets.end(lost.context, end, &[]);
            self.to_wake.extend(waker);
        }
    }

    /// Ends the connection and all of its calls.
    pub(super) fn close(&mut self, cause: impl Into<Cause>) {
        // The reason of a GOAWAY is more precise than that the connection has ended.
        let cause = self.ended.get_or_insert_with(|| cause.into()).clone();
        let lost = self.machine.lose();
        self.lose_calls(lost, &cause);
        // The server cannot answer these calls any more.
        self.cancelled_streams.clear();
        self.streams = 0;
        for ticket in &self.waiting {
            let waker = self.tickets.slots[*ticket as usize].waker.take();
            self.to_wake.extend(waker);
        }
        self.wake_output_waiters();
    }
}
