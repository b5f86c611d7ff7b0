//! What a client's calls and the task of its connection share.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use polywire_frame::client::{Connection, Operation, Refused, Request};
use polywire_frame::flow::{AdaptiveLimit, Sample};
use polywire_frame::{CallId, FaultCode, Settings, Time};

use super::Clock;
use super::error::CallError;
use super::items::Items;
use super::tickets::{End, Outcome, Ticket, Tickets, wake_with};

/// Held for moments, by calls and by the task of the connection.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) machine: Connection<Ticket>,
    pub(super) tickets: Tickets,
    pub(super) limit: AdaptiveLimit,
    /// Calls that wait for room, in their order.
    pub(super) waiting: VecDeque<Ticket>,
    pub(super) most_waiting: usize,
    /// None of those that wait has a deadline before this.
    pub(super) earliest: Time,
    /// The numbers of the operations that were called.
    pub(super) operations: HashMap<Box<str>, u16>,
    /// The task of the connection, if it sleeps.
    pub(super) task: Option<Waker>,
    /// How many of the open calls have streams, and are as long as they like.
    pub(super) streams: u32,
    /// Those who wait until what is there has been written.
    pub(super) full: Vec<Waker>,
    /// Those whose items have no credit.
    pub(super) blocked: Vec<Ticket>,
    pub(super) greeted: bool,
    /// Why no call can be made any more.
    pub(super) ended: Option<Arc<str>>,
    /// Nobody has the client any more.
    pub(super) left: bool,
    pub(super) chance: u64,
}

/// What a call asks for.
pub(super) struct Asked<'a> {
    pub(super) what: What,
    /// The operation's name, or the topic.
    pub(super) operation: &'a str,
    pub(super) within: Duration,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
}

/// What kind of call it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum What {
    Call,
    /// A call whose items are wanted.
    Stream,
    /// A call to which items will be sent, and whose items are wanted.
    TwoWay,
    Subscribe,
    Publish,
}

impl What {
    /// Whether it is open for as long as it likes, with items.
    const fn has_items(self) -> bool {
        matches!(self, Self::Stream | Self::TwoWay | Self::Subscribe)
    }
}

thread_local! {
    /// Where payloads are, before they are written and after they were read, so that nobody
    /// waits for that.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Room that a thread keeps for the next payload.
const MOST_KEPT: usize = 64 << 10;

fn keep(mut scratch: Vec<u8>) {
    scratch.clear();
    if scratch.capacity() <= MOST_KEPT {
        SCRATCH.set(scratch);
    }
}

/// How far a call is. Not to be copied: whoever has it gives the call up.
#[derive(Debug)]
pub(super) enum Stage {
    New,
    /// It has a ticket, for room or for an answer.
    Waits(Ticket),
    Done,
}

impl Shared {
    pub(super) fn new(settings: Settings, limit: AdaptiveLimit, most_waiting: usize) -> Self {
        let clock = Clock::new();
        Self {
            clock,
            state: Mutex::new(State {
                machine: Connection::new(settings),
                tickets: Tickets::default(),
                limit,
                waiting: VecDeque::new(),
                most_waiting,
                earliest: Time::NEVER,
                operations: HashMap::new(),
                task: None,
                streams: 0,
                blocked: Vec::new(),
                full: Vec::new(),
                greeted: false,
                ended: None,
                left: false,
                chance: 0x9e37_79b9_7f4a_7c15,
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call, or waits for room, or looks for its end. `write` writes its input; `read` is
    /// given the payload of the reply.
    pub(super) fn poll_call<R>(
        &self,
        stage: &mut Stage,
        asked: &Asked<'_>,
        deadline: &mut Time,
        write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), CallError>,
        read: impl FnOnce(&[u8]) -> Result<R, CallError>,
        context: &Context<'_>,
    ) -> Poll<Result<R, CallError>> {
        let mut scratch = SCRATCH.take();
        let ticket = match *stage {
            Stage::New => None,
            Stage::Waits(ticket) => Some(ticket),
            Stage::Done => return Poll::Pending,
        };
        let now = self.clock.now();
        if ticket.is_none() {
            *deadline = now.after(asked.within);
            if let Err(error) = write(&mut scratch) {
                *stage = Stage::Done;
                return Poll::Ready(Err(error));
            }
        }
        let mut state = self.lock();
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match &slot.outcome {
                // The task of the connection sees to it, as long as there is one.
                Outcome::Open(id) if now >= *deadline => {
                    let id = *id;
                    state.machine.cancel(id);
                    state.tickets.remove(ticket);
                    state.ended_call(now, Sample::Late);
                    *stage = Stage::Done;
                    return Poll::Ready(Err(CallError::Deadline));
                }
                Outcome::Open(_) => {
                    wake_with(&mut slot.waker, context);
                    drop(state);
                    keep(scratch);
                    return Poll::Pending;
                }
                Outcome::Ended(end) => {
                    let end = end.clone();
                    std::mem::swap(&mut scratch, &mut slot.payload);
                    state.tickets.remove(ticket);
                    drop(state);
                    *stage = Stage::Done;
                    let result = match end {
                        End::Reply => read(&scratch),
                        end => Err(CallError::from_end(end, &scratch)),
                    };
                    keep(scratch);
                    return Poll::Ready(result);
                }
                Outcome::Queued if now >= *deadline => {
                    state.leave_queue(ticket);
                    *stage = Stage::Done;
                    return Poll::Ready(Err(CallError::Deadline));
                }
                Outcome::Queued => {
                    // Before it is known whether it must.
                    wake_with(&mut slot.waker, context);
                    if !state.has_room(ticket) {
                        return Poll::Pending;
                    }
                    if let Err(error) = write(&mut scratch) {
                        state.leave_queue(ticket);
                        *stage = Stage::Done;
                        return Poll::Ready(Err(error));
                    }
                }
                Outcome::Free(_) => return Poll::Pending,
            }
        }
        match state.begin(now, asked, *deadline, &scratch, context, ticket) {
            Ok(ticket) => *stage = Stage::Waits(ticket),
            Err(error) => {
                *stage = Stage::Done;
                return Poll::Ready(Err(error));
            }
        }
        let task = state.task.take();
        drop(state);
        keep(scratch);
        if let Some(task) = task {
            task.wake();
        }
        Poll::Pending
    }

    /// Nobody waits for a call any more.
    pub(super) fn give_up(&self, stage: &Stage) {
        let Stage::Waits(ticket) = *stage else {
            return;
        };
        let mut state = self.lock();
        match state.tickets.slots[ticket as usize].outcome {
            Outcome::Open(id) => {
                state.machine.cancel(id);
                state.ended_call(self.clock.now(), Sample::Nothing);
                state.tickets.remove(ticket);
            }
            Outcome::Queued => state.leave_queue(ticket),
            Outcome::Ended(_) => state.tickets.remove(ticket),
            Outcome::Free(_) => {}
        }
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Nobody has the client any more: the connection ends when all is answered.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.left = true;
        state.machine.go_away();
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl State {
    /// Calls that are open or wait.
    pub(super) fn pending(&self) -> usize {
        self.machine.open() as usize + self.waiting.len()
    }

    /// Calls that are open, but for those with streams.
    fn in_flight(&self) -> u32 {
        self.machine.open().saturating_sub(self.streams)
    }

    /// Whether a call that waits may begin: it is the first, and there is room.
    pub(super) fn has_room(&self, ticket: Ticket) -> bool {
        self.ended.is_some()
            || self.waiting.front() == Some(&ticket)
                && self.limit.admits(self.in_flight())
                && self.machine.room() > 0
    }

    /// Begins a call that has no ticket, or one that waited.
    pub(super) fn begin(
        &mut self,
        now: Time,
        asked: &Asked<'_>,
        deadline: Time,
        payload: &[u8],
        context: &Context<'_>,
        waited: Option<Ticket>,
    ) -> Result<Ticket, CallError> {
        let in_flight = self.in_flight();
        let begun = self.try_begin(now, asked, deadline, payload, waited);
        match begun {
            Ok(id) => {
                let ticket = match waited {
                    Some(ticket) => {
                        self.waiting.pop_front();
                        let slot = &mut self.tickets.slots[ticket as usize];
                        slot.outcome = Outcome::Open(id);
                        slot.began = now;
                        wake_with(&mut slot.waker, context);
                        ticket
                    }
                    // The ticket that the machine was told is the next.
                    None => self.tickets.insert(Outcome::Open(id), context.waker(), now),
                };
                if asked.what.has_items() {
                    self.streams += 1;
                    self.tickets.slots[ticket as usize].items = Some(Box::new(Items::new(id)));
                } else {
                    self.limit.started(in_flight);
                }
                if waited.is_some() {
                    self.wake_next();
                }
                Ok(ticket)
            }
            Err(CallError::Full) if waited.is_none() => {
                if self.waiting.len() >= self.most_waiting {
                    return Err(CallError::Full);
                }
                let queued = self.tickets.insert(Outcome::Queued, context.waker(), now);
                self.tickets.slots[queued as usize].deadline = deadline;
                self.earliest = self.earliest.min(deadline);
                self.waiting.push_back(queued);
                Ok(queued)
            }
            Err(error) => match (error, waited) {
                // It is still the first that waits.
                (CallError::Full, Some(ticket)) => Ok(ticket),
                (error, Some(ticket)) => {
                    self.leave_queue(ticket);
                    Err(error)
                }
                (error, None) => Err(error),
            },
        }
    }

    pub(super) fn try_begin(
        &mut self,
        now: Time,
        asked: &Asked<'_>,
        deadline: Time,
        payload: &[u8],
        waited: Option<Ticket>,
    ) -> Result<CallId, CallError> {
        if let Some(why) = &self.ended {
            let why = Arc::clone(why);
            return Err(CallError::Disconnected { sent: false, why });
        }
        if waited.is_none() && !self.waiting.is_empty() || !self.limit.admits(self.in_flight()) {
            return Err(CallError::Full);
        }
        let ticket = waited.unwrap_or_else(|| self.tickets.next());
        let name = asked.operation;
        let mut call = match asked.what {
            What::Subscribe => return Ok(self.machine.subscribe(name, ticket)?),
            What::Publish => self.machine.publish(now, name, deadline)?,
            _ => {
                let number = self.number(name);
                let request =
                    Request::new(Operation { number, name }).with_metadata(asked.metadata);
                let request = match asked.what {
                    What::Stream => request,
                    What::TwoWay => request.with_items(),
                    _ => request.with_deadline(deadline),
                };
                self.machine.call(now, &request)?
            }
        };
        call.payload().extend_from_slice(payload);
        call.send(ticket).map_err(|refused| match refused {
            // It is not known yet what the server takes.
            Refused::TooLarge(_) if !self.greeted => CallError::Full,
            refused => refused.into(),
        })
    }

    /// The number of an operation on this connection.
    pub(super) fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.operations.get(name) {
            return *number;
        }
        let number = u16::try_from(self.operations.len() + 1).unwrap_or_default();
        if number != 0 {
            self.operations.insert(name.into(), number);
        }
        number
    }

    pub(super) fn leave_queue(&mut self, ticket: Ticket) {
        self.waiting.retain(|waiting| *waiting != ticket);
        self.tickets.remove(ticket);
        self.wake_next();
    }

    /// Wakes those that have waited for room until their time was over: they leave by themselves.
    pub(super) fn wake_late(&mut self, now: Time) {
        if now < self.earliest {
            return;
        }
        self.earliest = Time::NEVER;
        for ticket in &self.waiting {
            let slot = &mut self.tickets.slots[*ticket as usize];
            if slot.deadline > now {
                self.earliest = self.earliest.min(slot.deadline);
            } else if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// Wakes the first that waits, if it may begin.
    pub(super) fn wake_next(&mut self) {
        if let Some(first) = self.waiting.front().copied()
            && self.has_room(first)
            && let Some(waker) = self.tickets.slots[first as usize].waker.take()
        {
            waker.wake();
        }
    }

    pub(super) fn ended_call(&mut self, now: Time, sample: Sample) {
        // Chance that nobody has to guess: it says only when a limit is looked at.
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let chance = (self.chance >> 11) as f64 / (1_u64 << 53) as f64;
        self.limit.ended(now, sample, chance);
        self.wake_next();
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
            items.wake();
            self.streams -= 1;
            let waker = self.tickets.end(ticket, end, payload);
            self.wake_next();
            return waker;
        }
        let began = slot.began;
        let sample = match end {
            End::Fault {
                code: FaultCode::OVERLOADED,
                ..
            } => Sample::Refused,
            // What the server took for the call itself is no sign of a queue.
            End::Reply => Sample::Answered(now.since(began).saturating_sub(took)),
            End::Deadline => Sample::Late,
            End::Fault { .. } | End::Lost { .. } => Sample::Nothing,
        };
        let waker = self.tickets.end(ticket, end, payload);
        self.ended_call(now, sample);
        waker
    }

    /// The connection has ended: all calls end with it.
    pub(super) fn close(&mut self, why: &str) {
        // What the server has said of it says more than that it has closed.
        let why = Arc::clone(self.ended.get_or_insert_with(|| why.into()));
        let lost: Vec<_> = self.machine.close(None).collect();
        for lost in lost {
            let end = End::Lost {
                sent: lost.sent,
                why: Arc::clone(&why),
            };
            if let Some(items) = &mut self.tickets.slots[lost.context as usize].items {
                items.wake();
                self.streams -= 1;
            }
            if let Some(waker) = self.tickets.end(lost.context, end, &[]) {
                waker.wake();
            }
        }
        for ticket in &self.waiting {
            if let Some(waker) = self.tickets.slots[*ticket as usize].waker.take() {
                waker.wake();
            }
        }
        self.full.drain(..).for_each(Waker::wake);
    }
}

impl From<Refused> for CallError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full => Self::Full,
            Refused::Ending => Self::Disconnected {
                sent: false,
                why: "the connection is ending".into(),
            },
            refused => Self::Invalid(refused.to_string()),
        }
    }
}
