//! What a client's calls and the task of its connection share.

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
use super::locked::Locked;
use super::machine::Machine;
use super::payload;
use super::room::Room;
use super::tickets::{End, Ticket, Tickets};
use super::waiters::Waiters;
use crate::call::FrameDeadline;
use crate::error::Cause;

/// Held for moments, by calls and by the task of the connection: over a stream, unless `M` says
/// other.
pub(super) struct Shared<M = Connection<Ticket>> {
    pub(super) clock: Clock,
    state: Mutex<State<M>>,
    /// The server has said hello, or no call can be made any more.
    pub(super) changed: Notify,
}

pub(super) struct State<M = Connection<Ticket>> {
    pub(super) machine: M,
    pub(super) tickets: Tickets,
    pub(super) limit: AdaptiveLimit,
    /// Calls that wait for room, in their order.
    pub(super) waiting: VecDeque<Ticket>,
    /// How many of those have left. The first is never one of them.
    pub(super) left_waiting: usize,
    /// Where they wait, with those of other connections.
    pub(super) room: Arc<Room>,
    /// No call that waits for room has an earlier deadline.
    pub(super) earliest: FrameDeadline,
    /// The numbers of the operations that were called.
    pub(super) operations: HashMap<Box<str>, u16>,
    /// Their names by their numbers, of which the first is 1.
    pub(super) names: Vec<Box<str>>,
    /// That of the operation that was called last; 0 before the first.
    pub(super) last_number: u16,
    /// The task of the connection, if it sleeps.
    pub(super) task: Option<Waker>,
    /// Those who are woken once this is not locked any more.
    pub(super) woken: Vec<Waker>,
    /// How many of the open calls have streams, and are as long as they like: those that nobody waits for any more, too,
    /// until the server has answered them.
    pub(super) streams: u32,
    /// The latter.
    pub(super) ending: HashSet<CallId>,
    /// Those who wait until what is there has been written.
    pub(super) full: Waiters,
    /// Those whose items have no credit.
    pub(super) blocked: Vec<Ticket>,
    pub(super) greeted: bool,
    /// Why no call can be made any more.
    pub(super) ended: Option<Cause>,
    /// Why the server ends the connection, if it said so and answers the calls that are open.
    pub(super) goodbye: Option<Reason>,
    /// Nobody has the client any more.
    pub(super) left: bool,
    pub(super) chance: u64,
}

impl<M> fmt::Debug for Shared<M> {
    /// Without what calls say to each other, all of which stands in it.
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
            room,
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
                left_waiting: 0,
                room,
                earliest: FrameDeadline::NONE,
                operations: HashMap::new(),
                names: Vec::new(),
                last_number: 0,
                task: None,
                woken: Vec::new(),
                streams: 0,
                ending: HashSet::new(),
                blocked: Vec::new(),
                full: Waiters::default(),
                greeted: false,
                ended: None,
                goodbye: None,
                left: false,
                chance: seed,
            }),
        }
    }

    #[inline]
    pub(super) fn lock(&self) -> Locked<'_, M> {
        Locked::new(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the server has said hello. One task waits at a time.
    ///
    /// # Errors
    ///
    /// The connection has ended before: why.
    pub(super) async fn greeted(&self) -> Result<(), Cause> {
        loop {
            {
                let state = self.lock();
                if let Some(why) = &state.ended {
                    return Err(why.clone());
                }
                if state.greeted {
                    return Ok(());
                }
            }
            self.changed.notified().await;
        }
    }

    /// Waits until no call can be made any more. One task waits at a time.
    pub(super) async fn ended(&self) -> Farewell {
        loop {
            if let Some(farewell) = self.lock().farewell() {
                return farewell;
            }
            self.changed.notified().await;
        }
    }

    /// Nobody has the client any more: the connection ends when all is answered.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.left = true;
        state.machine.go_away();
        state.wake_task();
    }
}

/// Why no call can be made on a connection any more.
#[derive(Clone, Debug)]
pub(super) struct Farewell {
    pub(super) why: Cause,
    /// The reason, if the server ended the connection in order and can be connected to again.
    pub(super) goodbye: Option<Reason>,
}

impl<M: Machine> State<M> {
    /// Why no call can be made any more, if so.
    pub(super) fn farewell(&self) -> Option<Farewell> {
        let why = self.ended.clone()?;
        let goodbye = self.goodbye;
        Some(Farewell { why, goodbye })
    }

    /// Wakes the task of the connection.
    #[inline]
    pub(super) fn wake_task(&mut self) {
        self.woken.extend(self.task.take());
    }

    /// Wakes the calls that wait until the buffered bytes are written.
    pub(super) fn wake_full(&mut self) {
        self.full.leave(&mut self.woken);
    }

    /// Calls that are open, and how many may be.
    pub(super) fn figures(&self) -> (usize, u32) {
        (self.machine.open() as usize, self.limit.current())
    }

    /// Calls that are open, but for those with streams.
    pub(super) fn in_flight(&self) -> u32 {
        self.machine.open().saturating_sub(self.streams)
    }

    pub(super) fn ended_call(&mut self, now: Time, sample: Sample) {
        // Chance that nobody has to guess: it says only when a limit is looked at.
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let chance = (self.chance >> 11) as f64 / (1_u64 << 53) as f64;
        self.limit.ended(now, sample, chance);
        self.admit_waiting(now);
    }

    /// The end of a call, for whoever waits for it.
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
            // It was as long as it liked, which says nothing of the server.
            items.wake(&mut self.woken);
            match end {
                // The server has yet to answer it.
                End::Deadline => {
                    self.ending.insert(items.id());
                }
                _ => self.streams -= 1,
            }
            let waker = self.tickets.end(ticket, end, payload);
            self.admit_waiting(now);
            return waker;
        }
        let began = slot.began;
        let sample = match end {
            End::Fault {
                code: FaultCode::OVERLOADED,
                ..
            } => Sample::Refused,
            // What the server took for the call itself is no sign of a queue.
            End::Reply | End::Large(_) => Sample::Answered(now.since(began).saturating_sub(took)),
            End::Deadline => Sample::Late,
            End::Fault { .. } | End::Lost { .. } => Sample::Nothing,
        };
        let waker = self.tickets.end(ticket, end, payload);
        self.ended_call(now, sample);
        waker
    }

    /// What the server has said of calls, and of itself. `whole` is what the event is of, if that is a large frame.
    pub(super) fn happens(
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
                self.wake_full();
                self.admit_waiting(now);
                None
            }
            Event::Limits => {
                self.admit_waiting(now);
                None
            }
            Event::Freed(id) => {
                if self.ending.remove(&id) {
                    self.streams -= 1;
                }
                None
            }
            Event::GoAway {
                reason, message, ..
            } => {
                self.goes_away(now, reason, message);
                None
            }
            _ => None,
        }
    }

    /// The server takes no more calls.
    pub(super) fn goes_away(&mut self, now: Time, reason: Reason, words: &str) {
        let why = match words {
            "" => reason.to_string(),
            words => words.to_owned(),
        };
        self.ended = Some(format!("the server ends the connection: {why}").into());
        self.goodbye = (!reason.is_error()).then_some(reason);
        self.admit_waiting(now);
    }

    /// When [`Self::timeout`] is to be called.
    pub(super) fn next_timeout(&self) -> Time {
        self.machine.next_timeout().min(self.earliest.time())
    }

    /// Ends the calls whose time is over.
    pub(super) fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine.timeout(now, |_, ticket| late.push(ticket));
        for ticket in late {
            let waker = self.end(now, ticket, End::Deadline, &[], Duration::ZERO);
            self.woken.extend(waker);
        }
        self.wake_late(now);
    }

    /// Calls have ended, and nobody knows how.
    pub(super) fn lose(&mut self, lost: Vec<LostCall<Ticket>>, why: &Cause) {
        for lost in lost {
            let end = End::Lost {
                sent: lost.sent,
                why: why.clone(),
            };
            if let Some(items) = &mut self.tickets.slots[lost.context as usize].items {
                items.wake(&mut self.woken);
                self.streams -= 1;
            }
            let waker = self.tickets.end(lost.context, end, &[]);
            self.woken.extend(waker);
        }
    }

    /// The connection has ended: all calls end with it.
    pub(super) fn close(&mut self, why: impl Into<Cause>) {
        // What the server has said of it says more than that it has closed.
        let why = self.ended.get_or_insert_with(|| why.into()).clone();
        let lost = self.machine.lose();
        self.lose(lost, &why);
        // Nobody answers those any more.
        self.ending.clear();
        self.streams = 0;
        for ticket in &self.waiting {
            let waker = self.tickets.slots[*ticket as usize].waker.take();
            self.woken.extend(waker);
        }
        self.wake_full();
    }
}
