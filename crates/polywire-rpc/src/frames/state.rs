//! What a client's calls and the task of its connection share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use polywire_frame::client::{Connection, Operation, Refused, Request};
use polywire_frame::flow::{AdaptiveLimit, Sample};
use polywire_frame::{CallId, FaultCode, Settings, Time};

use super::Clock;
use super::error::CallError;
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
    /// Where payloads are written before they are copied to the others.
    pub(super) scratch: Vec<u8>,
    pub(super) greeted: bool,
    /// Why no call can be made any more.
    pub(super) ended: Option<Arc<str>>,
    /// Nobody has the client any more.
    pub(super) left: bool,
    pub(super) chance: u64,
}

/// What a call asks for.
pub(super) struct Asked<'a> {
    pub(super) operation: &'a str,
    pub(super) within: Duration,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
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
                scratch: Vec::new(),
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
        let mut state = self.lock();
        let ticket = match *stage {
            Stage::New => None,
            Stage::Waits(ticket) => Some(ticket),
            Stage::Done => return Poll::Pending,
        };
        let now = self.clock.now();
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
                    return Poll::Pending;
                }
                Outcome::Ended(end) => {
                    let result = match end.clone() {
                        End::Reply => read(&slot.payload),
                        end => Err(CallError::from_end(end, &slot.payload)),
                    };
                    state.tickets.remove(ticket);
                    *stage = Stage::Done;
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
                }
                Outcome::Free(_) => return Poll::Pending,
            }
        } else {
            *deadline = now.after(asked.within);
        }
        match state.begin(now, asked, *deadline, write, context, ticket) {
            Ok(ticket) => *stage = Stage::Waits(ticket),
            Err(error) => {
                *stage = Stage::Done;
                return Poll::Ready(Err(error));
            }
        }
        let task = state.task.take();
        drop(state);
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

    /// Whether a call that waits may begin: it is the first, and there is room.
    pub(super) fn has_room(&self, ticket: Ticket) -> bool {
        self.ended.is_some()
            || self.waiting.front() == Some(&ticket)
                && self.limit.admits(self.machine.open())
                && self.machine.room() > 0
    }

    /// Begins a call that has no ticket, or one that waited.
    pub(super) fn begin(
        &mut self,
        now: Time,
        asked: &Asked<'_>,
        deadline: Time,
        write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), CallError>,
        context: &Context<'_>,
        waited: Option<Ticket>,
    ) -> Result<Ticket, CallError> {
        let begun = self.try_begin(now, asked, deadline, write, waited);
        match begun {
            Ok((id, in_flight)) => {
                self.limit.started(in_flight);
                if let Some(ticket) = waited {
                    self.waiting.pop_front();
                    let slot = &mut self.tickets.slots[ticket as usize];
                    slot.outcome = Outcome::Open(id);
                    slot.began = now;
                    wake_with(&mut slot.waker, context);
                    self.wake_next();
                    return Ok(ticket);
                }
                // The ticket that the machine was told is the next.
                Ok(self.tickets.insert(Outcome::Open(id), context.waker(), now))
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
        write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), CallError>,
        waited: Option<Ticket>,
    ) -> Result<(CallId, u32), CallError> {
        if let Some(why) = &self.ended {
            let why = Arc::clone(why);
            return Err(CallError::Disconnected { sent: false, why });
        }
        let in_flight = self.machine.open();
        if waited.is_none() && !self.waiting.is_empty() || !self.limit.admits(in_flight) {
            return Err(CallError::Full);
        }
        let number = match self.operations.get(asked.operation) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(self.operations.len() + 1).unwrap_or_default();
                if number != 0 {
                    self.operations.insert(asked.operation.into(), number);
                }
                number
            }
        };
        let request = Request::new(Operation {
            number,
            name: asked.operation,
        })
        .with_deadline(deadline)
        .with_metadata(asked.metadata);
        self.scratch.clear();
        write(&mut self.scratch)?;
        let ticket = waited.unwrap_or_else(|| self.tickets.next());
        let greeted = self.greeted;
        let mut call = self.machine.call(now, &request).map_err(CallError::from)?;
        call.payload().extend_from_slice(&self.scratch);
        let id = call.send(ticket).map_err(|refused| match refused {
            // It is not known yet what the server takes.
            Refused::TooLarge(_) if !greeted => CallError::Full,
            refused => refused.into(),
        })?;
        Ok((id, in_flight))
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
        let began = self.tickets.slots[ticket as usize].began;
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
            if let Some(waker) = self.tickets.end(lost.context, end, &[]) {
                waker.wake();
            }
        }
        for ticket in &self.waiting {
            if let Some(waker) = self.tickets.slots[*ticket as usize].waker.take() {
                waker.wake();
            }
        }
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
