//! What a client's calls and the task of its connection share.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use polywire_frame::client::{Connection, Event, Lost, Refused};
use polywire_frame::flow::{AdaptiveLimit, Sample};
use polywire_frame::{CallId, FaultCode, Reason, Time};
use tokio::sync::Notify;

use super::Clock;
use super::error::CallError;
use super::items::Items;
use super::link::LinkOptions;
use super::machine::{Begin, Machine};
use super::room::Room;
use super::tickets::{End, Outcome, Ticket, Tickets, wake_with};

/// Held for moments, by calls and by the task of the connection: over a stream, unless `M` says
/// other.
#[derive(Debug)]
pub(super) struct Shared<M = Connection<Ticket>> {
    pub(super) clock: Clock,
    state: Mutex<State<M>>,
    /// The server has said hello, or no call can be made any more.
    pub(super) changed: Notify,
}

#[derive(Debug)]
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
    /// None of those that wait has a deadline before this.
    pub(super) earliest: Time,
    /// The numbers of the operations that were called.
    pub(super) operations: HashMap<Box<str>, u16>,
    /// Their names by their numbers, of which the first is 1.
    names: Vec<Box<str>>,
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
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) what: What,
    /// The operation's name, or the topic.
    pub(super) operation: &'a str,
    /// The time, at which it is asked at once.
    pub(super) now: Time,
    pub(super) deadline: Time,
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

/// Bytes that wait to be written before nobody adds to them who can wait.
const ENOUGH: usize = 256 << 10;

/// How far a call is. Not to be copied: whoever has it gives the call up.
#[derive(Debug)]
pub(super) enum Stage {
    New,
    /// It has a ticket, for room or for an answer.
    Waits(Ticket),
    Done,
}

impl<M: Machine> Shared<M> {
    pub(super) fn new(machine: M, options: LinkOptions) -> Self {
        let LinkOptions {
            settings: _,
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
                earliest: Time::NEVER,
                operations: HashMap::new(),
                names: Vec::new(),
                task: None,
                streams: 0,
                blocked: Vec::new(),
                full: Vec::new(),
                greeted: false,
                ended: None,
                left: false,
                chance: seed,
            }),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call, or waits for room, or looks for its end. `write` writes its input; `read` is
    /// given the payload of the reply.
    pub(super) fn poll_call<R>(
        &self,
        stage: &mut Stage,
        asked: &Asked<'_>,
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
        let now = match ticket {
            Some(_) => self.clock.now(),
            None => asked.now,
        };
        if ticket.is_none()
            && let Err(error) = write(&mut scratch)
        {
            *stage = Stage::Done;
            return Poll::Ready(Err(error));
        }
        let mut state = self.lock();
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match &slot.outcome {
                // The task of the connection sees to it, as long as there is one.
                Outcome::Open(id) if now >= asked.deadline => {
                    let id = *id;
                    state.machine.cancel(now, id);
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
                Outcome::Queued if now >= asked.deadline => {
                    state.leave_queue(now, ticket);
                    *stage = Stage::Done;
                    return Poll::Ready(Err(CallError::Deadline));
                }
                Outcome::Queued => {
                    // Before it is known whether it must.
                    wake_with(&mut slot.waker, context);
                    if !state.has_room(ticket) {
                        return Poll::Pending;
                    }
                    // It was written when it began to wait.
                    let slot = &mut state.tickets.slots[ticket as usize];
                    std::mem::swap(&mut scratch, &mut slot.payload);
                }
                Outcome::Free(_) | Outcome::Left => return Poll::Pending,
            }
        }
        match state.begin(now, asked, &scratch, context, ticket) {
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
                let now = self.clock.now();
                state.machine.cancel(now, id);
                state.ended_call(now, Sample::Nothing);
                state.tickets.remove(ticket);
            }
            Outcome::Queued => state.leave_queue(self.clock.now(), ticket),
            Outcome::Ended(_) => state.tickets.remove(ticket),
            Outcome::Free(_) | Outcome::Left => {}
        }
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Makes a call that nobody answers, once what was sent before has gone.
    pub(super) fn poll_notify(
        &self,
        asked: &Asked<'_>,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            let why = Arc::clone(why);
            return Poll::Ready(Err(CallError::Disconnected { sent: false, why }));
        }
        if state.machine.unsent() > ENOUGH {
            state.full.push(context.waker().clone());
            return Poll::Pending;
        }
        let now = self.clock.now();
        let begin = Begin {
            what: asked.what,
            name: asked.operation,
            number: state.number(asked.operation),
            deadline: asked.deadline,
            metadata: asked.metadata,
            payload,
        };
        let greeted = state.greeted;
        let sent = match state.machine.notify(now, &begin) {
            // It is not known yet what the server takes.
            Err(Refused::TooLarge(_)) if !greeted => Err(Refused::Full),
            sent => sent,
        };
        if sent == Err(Refused::Full) {
            state.full.push(context.waker().clone());
        }
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
        match sent {
            Err(Refused::Full) => Poll::Pending,
            sent => Poll::Ready(sent.map_err(CallError::from)),
        }
    }

    /// Waits until the server has said hello. One task waits at a time.
    ///
    /// # Errors
    ///
    /// The connection has ended before: why.
    pub(super) async fn greeted(&self) -> Result<(), Arc<str>> {
        loop {
            {
                let state = self.lock();
                if let Some(why) = &state.ended {
                    return Err(Arc::clone(why));
                }
                if state.greeted {
                    return Ok(());
                }
            }
            self.changed.notified().await;
        }
    }

    /// Waits until no call can be made any more. One task waits at a time.
    pub(super) async fn ended(&self) -> Arc<str> {
        loop {
            if let Some(why) = &self.lock().ended {
                return Arc::clone(why);
            }
            self.changed.notified().await;
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

impl<M: Machine> State<M> {
    /// Calls that are open, and how many may be.
    pub(super) fn figures(&self) -> (usize, u32) {
        (self.machine.open() as usize, self.limit.current())
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
        payload: &[u8],
        context: &Context<'_>,
        waited: Option<Ticket>,
    ) -> Result<Ticket, CallError> {
        let in_flight = self.in_flight();
        let begun = self.try_begin(now, asked, payload, waited);
        match begun {
            Ok(id) => {
                let ticket = match waited {
                    Some(ticket) => {
                        self.waiting.pop_front();
                        self.pass_over_left();
                        let slot = &mut self.tickets.slots[ticket as usize];
                        slot.outcome = Outcome::Open(id);
                        slot.began = now;
                        wake_with(&mut slot.waker, context);
                        self.room.leave(slot.bytes);
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
                    self.admit_waiting(now);
                }
                Ok(ticket)
            }
            Err(CallError::Full) if waited.is_none() => {
                self.room.enter(payload.len())?;
                let number = match asked.what {
                    What::Call if asked.metadata.is_empty() => self.number(asked.operation),
                    _ => 0,
                };
                let queued = self.tickets.insert(Outcome::Queued, context.waker(), now);
                let slot = &mut self.tickets.slots[queued as usize];
                slot.payload.clear();
                slot.payload.extend_from_slice(payload);
                slot.bytes = payload.len();
                slot.deadline = asked.deadline;
                slot.number = number;
                self.earliest = self.earliest.min(asked.deadline);
                self.waiting.push_back(queued);
                Ok(queued)
            }
            Err(error) => match (error, waited) {
                // It is still the first that waits.
                (CallError::Full, Some(ticket)) => {
                    let slot = &mut self.tickets.slots[ticket as usize];
                    slot.payload.clear();
                    slot.payload.extend_from_slice(payload);
                    Ok(ticket)
                }
                (error, Some(ticket)) => {
                    self.leave_queue(now, ticket);
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
        let number = match asked.what {
            What::Subscribe | What::Publish => 0,
            _ => self.number(name),
        };
        let begin = Begin {
            what: asked.what,
            name,
            number,
            deadline: asked.deadline,
            metadata: asked.metadata,
            payload,
        };
        self.machine
            .begin(now, &begin, ticket)
            .map_err(|refused| match refused {
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
            self.names.push(name.into());
        }
        number
    }

    pub(super) fn leave_queue(&mut self, now: Time, ticket: Ticket) {
        let slot = &mut self.tickets.slots[ticket as usize];
        self.room.leave(slot.bytes);
        slot.outcome = Outcome::Left;
        slot.payload = Vec::new();
        slot.waker = None;
        self.left_waiting += 1;
        self.pass_over_left();
        // To look for each that leaves would take long where all do.
        if self.left_waiting > self.waiting.len() / 2 {
            let tickets = &mut self.tickets;
            self.waiting.retain(|ticket| {
                let left = tickets.has_left(*ticket);
                if left {
                    tickets.remove(*ticket);
                }
                !left
            });
            self.left_waiting = 0;
        }
        self.admit_waiting(now);
    }

    /// Has the first that waits be one that has not left.
    fn pass_over_left(&mut self) {
        while let Some(first) = self.waiting.front().copied()
            && self.tickets.has_left(first)
        {
            self.waiting.pop_front();
            self.tickets.remove(first);
            self.left_waiting -= 1;
        }
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

    /// Begins calls that wait, in their order, as many as there is room for; their callers sleep on.
    /// One that is late, or is more than an operation and its input, is woken, and begins by itself.
    pub(super) fn admit_waiting(&mut self, now: Time) {
        while let Some(first) = self.waiting.front().copied()
            && self.has_room(first)
        {
            if self.ended.is_some() || !self.begin_first(now, first) {
                let slot = &mut self.tickets.slots[first as usize];
                slot.waker.take().into_iter().for_each(Waker::wake);
                return;
            }
        }
    }

    /// Begins the first call that waits. False, if that is its caller's to do.
    fn begin_first(&mut self, now: Time, first: Ticket) -> bool {
        let in_flight = self.in_flight();
        let slot = &mut self.tickets.slots[first as usize];
        let number = slot.number;
        if number == 0 || now >= slot.deadline {
            return false;
        }
        let begin = Begin {
            what: What::Call,
            name: &self.names[usize::from(number) - 1],
            number,
            deadline: slot.deadline,
            metadata: &[],
            payload: &slot.payload,
        };
        let Ok(id) = self.machine.begin(now, &begin, first) else {
            return false;
        };
        slot.outcome = Outcome::Open(id);
        slot.began = now;
        self.room.leave(slot.bytes);
        self.limit.started(in_flight);
        self.waiting.pop_front();
        self.pass_over_left();
        true
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
            items.wake();
            self.streams -= 1;
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
            End::Reply => Sample::Answered(now.since(began).saturating_sub(took)),
            End::Deadline => Sample::Late,
            End::Fault { .. } | End::Lost { .. } => Sample::Nothing,
        };
        let waker = self.tickets.end(ticket, end, payload);
        self.ended_call(now, sample);
        waker
    }

    /// What the server has said of calls, and of itself.
    pub(super) fn happens(&mut self, now: Time, event: &Event<'_, Ticket>) -> Option<Waker> {
        match *event {
            Event::Reply {
                context,
                payload,
                took,
                ..
            } => {
                let took = Duration::from_micros(took.into());
                self.end(now, context, End::Reply, payload, took)
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
            Event::Hello => {
                self.greeted = true;
                self.full.drain(..).for_each(Waker::wake);
                self.admit_waiting(now);
                None
            }
            Event::Limits => {
                self.admit_waiting(now);
                None
            }
            Event::GoAway { reason, words, .. } => {
                self.goes_away(now, reason, words);
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
        self.admit_waiting(now);
    }

    /// When [`Self::timeout`] is to be called.
    pub(super) fn next_timeout(&self) -> Time {
        self.machine.next_timeout().min(self.earliest)
    }

    /// Ends the calls whose time is over.
    pub(super) fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine.timeout(now, |_, ticket| late.push(ticket));
        for ticket in late {
            if let Some(waker) = self.end(now, ticket, End::Deadline, &[], Duration::ZERO) {
                waker.wake();
            }
        }
        self.wake_late(now);
    }

    /// Calls have ended, and nobody knows how.
    pub(super) fn lose(&mut self, lost: Vec<Lost<Ticket>>, why: &Arc<str>) {
        for lost in lost {
            let end = End::Lost {
                sent: lost.sent,
                why: Arc::clone(why),
            };
            if let Some(items) = &mut self.tickets.slots[lost.context as usize].items {
                items.wake();
                self.streams -= 1;
            }
            if let Some(waker) = self.tickets.end(lost.context, end, &[]) {
                waker.wake();
            }
        }
    }

    /// The connection has ended: all calls end with it.
    pub(super) fn close(&mut self, why: &str) {
        // What the server has said of it says more than that it has closed.
        let why = Arc::clone(self.ended.get_or_insert_with(|| why.into()));
        let lost = self.machine.lose();
        self.lose(lost, &why);
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
