//! The start of calls on a connection.

use std::task::Context;

use polywire_frame::client::RequestError;
use polywire_frame::{CallId, Time};

use super::items::Items;
use super::machine::{CallStart, Input, Machine};
use super::request::{CallRequest, RequestKind};
use super::state::State;
use super::tickets::{SlotState, Ticket, wake_with};
use crate::error::{CallError, Cause};

impl<M: Machine> State<M> {
    /// Begins a new call, or a queued one with the ticket `waited`. A new call is queued if there is no capacity.
    pub(super) fn begin(
        &mut self,
        now: Time,
        request: &CallRequest<'_>,
        input: &mut Input<'_>,
        context: &Context<'_>,
        waited: Option<Ticket>,
    ) -> Result<Ticket, CallError> {
        let in_flight = self.in_flight();
        let begun = self.try_begin(now, request, input, waited);
        match begun {
            Ok(id) => {
                let ticket = match waited {
                    Some(ticket) => {
                        self.waiting.pop_front();
                        self.skip_abandoned();
                        let slot = &mut self.tickets.slots[ticket as usize];
                        slot.state = SlotState::Open(id);
                        slot.began = now;
                        wake_with(&mut slot.waker, context);
                        self.quota.release(slot.bytes);
                        ticket
                    }
                    // `try_begin` has given the machine the ticket that is inserted here.
                    None => self
                        .tickets
                        .insert(SlotState::Open(id), context.waker(), now),
                };
                if request.kind.has_items() {
                    let sends = request.kind == RequestKind::TwoWay;
                    self.streams += 1;
                    self.tickets.slots[ticket as usize].items =
                        Some(Box::new(Items::new(id, sends)));
                } else {
                    self.limit.started(in_flight);
                }
                if waited.is_some() {
                    self.begin_queued(now);
                }
                Ok(ticket)
            }
            Err(BeginError::Full) if waited.is_none() => {
                self.quota.acquire(input.len())?;
                let number = match request.kind {
                    RequestKind::Call if request.metadata.is_empty() && request.trace.is_none() => {
                        self.number(request.operation)
                    }
                    _ => 0,
                };
                let queued = self.tickets.insert(SlotState::Queued, context.waker(), now);
                let slot = &mut self.tickets.slots[queued as usize];
                slot.bytes = input.len();
                input.store(&mut slot.payload);
                slot.deadline = request.deadline;
                slot.number = number;
                self.earliest = self.earliest.earlier(request.deadline);
                self.waiting.push_back(queued);
                Ok(queued)
            }
            Err(error) => match (error, waited) {
                // It stays the first of the queue.
                (BeginError::Full, Some(ticket)) => {
                    let slot = &mut self.tickets.slots[ticket as usize];
                    input.store(&mut slot.payload);
                    Ok(ticket)
                }
                (error, Some(ticket)) => {
                    self.leave_queue(now, ticket);
                    Err(error.into())
                }
                (error, None) => Err(error.into()),
            },
        }
    }

    pub(super) fn try_begin(
        &mut self,
        now: Time,
        request: &CallRequest<'_>,
        input: &mut Input<'_>,
        waited: Option<Ticket>,
    ) -> Result<CallId, BeginError> {
        if let Some(cause) = &self.ended {
            let cause = cause.clone();
            return Err(BeginError::Ended(cause));
        }
        if waited.is_none() && !self.waiting.is_empty() || !self.limit.admits(self.in_flight()) {
            return Err(BeginError::Full);
        }
        let ticket = waited.unwrap_or_else(|| self.tickets.next());
        let name = request.operation;
        let number = match request.kind {
            RequestKind::Subscribe | RequestKind::Publish => 0,
            _ => self.number(name),
        };
        let begin = CallStart {
            kind: request.kind,
            name,
            number,
            deadline: match request.kind.has_items() {
                true => request.stream_deadline,
                false => request.deadline,
            },
            metadata: request.metadata,
            trace: request.trace,
        };
        self.machine
            .begin(now, &begin, input, ticket)
            .map_err(|refused| match refused {
                // The limit of the server is unknown before its HELLO.
                RequestError::TooLarge(_) if !self.greeted => BeginError::Full,
                RequestError::Full => BeginError::Full,
                refused => BeginError::Refused(refused),
            })
    }

    /// The number of an operation on this connection.
    pub(super) fn number(&mut self, name: &str) -> u16 {
        // Most calls are of the last operation, and comparing names is faster than hashing.
        let last = self
            .names
            .get(usize::from(self.last_number).wrapping_sub(1));
        if last.is_some_and(|last| **last == *name) {
            return self.last_number;
        }
        if let Some(number) = self.operations.get(name) {
            self.last_number = *number;
            return *number;
        }
        let number = u16::try_from(self.operations.len() + 1).unwrap_or_default();
        if number != 0 {
            self.operations.insert(name.into(), number);
            self.names.push(name.into());
        }
        number
    }
}

/// Why a call has not begun. `Full` is frequent, and means that the call waits for capacity.
pub(super) enum BeginError {
    Full,
    Ended(Cause),
    Refused(RequestError),
}

impl From<BeginError> for CallError {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::Full => Self::queue_full(),
            BeginError::Ended(cause) => Self::lost(false, cause),
            BeginError::Refused(refused) => refused.into(),
        }
    }
}

impl From<RequestError> for CallError {
    fn from(refused: RequestError) -> Self {
        match refused {
            RequestError::Full => Self::queue_full(),
            RequestError::Ending => Self::lost(false, "the connection is ending".into()),
            refused => Self::encode_text(refused.to_string()),
        }
    }
}
