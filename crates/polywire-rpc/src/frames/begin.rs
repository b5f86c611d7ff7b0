//! How calls begin on a connection.

use std::task::Context;

use polywire_frame::client::RequestError;
use polywire_frame::{CallId, Time};

use super::items::Items;
use super::machine::{Begin, Input, Machine};
use super::request::{CallRequest, RequestKind};
use super::state::State;
use super::tickets::{Outcome, Ticket, wake_with};
use crate::error::{CallError, Cause};

impl<M: Machine> State<M> {
    /// Begins a call that has no ticket, or one that waited.
    pub(super) fn begin(
        &mut self,
        now: Time,
        asked: &CallRequest<'_>,
        input: &mut Input<'_>,
        context: &Context<'_>,
        waited: Option<Ticket>,
    ) -> Result<Ticket, CallError> {
        let in_flight = self.in_flight();
        let begun = self.try_begin(now, asked, input, waited);
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
                    let sends = asked.what == RequestKind::TwoWay;
                    self.streams += 1;
                    self.tickets.slots[ticket as usize].items =
                        Some(Box::new(Items::new(id, sends)));
                } else {
                    self.limit.started(in_flight);
                }
                if waited.is_some() {
                    self.admit_waiting(now);
                }
                Ok(ticket)
            }
            Err(BeginError::Full) if waited.is_none() => {
                self.room.enter(input.len())?;
                let number = match asked.what {
                    RequestKind::Call if asked.metadata.is_empty() && asked.trace.is_none() => {
                        self.number(asked.operation)
                    }
                    _ => 0,
                };
                let queued = self.tickets.insert(Outcome::Queued, context.waker(), now);
                let slot = &mut self.tickets.slots[queued as usize];
                slot.bytes = input.len();
                input.wait(&mut slot.payload);
                slot.deadline = asked.deadline;
                slot.number = number;
                self.earliest = self.earliest.earlier(asked.deadline);
                self.waiting.push_back(queued);
                Ok(queued)
            }
            Err(error) => match (error, waited) {
                // It is still the first that waits.
                (BeginError::Full, Some(ticket)) => {
                    let slot = &mut self.tickets.slots[ticket as usize];
                    input.wait(&mut slot.payload);
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
        asked: &CallRequest<'_>,
        input: &mut Input<'_>,
        waited: Option<Ticket>,
    ) -> Result<CallId, BeginError> {
        if let Some(why) = &self.ended {
            let why = why.clone();
            return Err(BeginError::Ended(why));
        }
        if waited.is_none() && !self.waiting.is_empty() || !self.limit.admits(self.in_flight()) {
            return Err(BeginError::Full);
        }
        let ticket = waited.unwrap_or_else(|| self.tickets.next());
        let name = asked.operation;
        let number = match asked.what {
            RequestKind::Subscribe | RequestKind::Publish => 0,
            _ => self.number(name),
        };
        let begin = Begin {
            what: asked.what,
            name,
            number,
            deadline: match asked.what.has_items() {
                true => asked.lasts,
                false => asked.deadline,
            },
            metadata: asked.metadata,
            trace: asked.trace,
        };
        self.machine
            .begin(now, &begin, input, ticket)
            .map_err(|refused| match refused {
                // The limit of the server is not known yet.
                RequestError::TooLarge(_) if !self.greeted => BeginError::Full,
                RequestError::Full => BeginError::Full,
                refused => BeginError::Refused(refused),
            })
    }

    /// The number of an operation on this connection.
    pub(super) fn number(&mut self, name: &str) -> u16 {
        // Most calls are of the operation that was called last: one look at its name instead of a hash.
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

/// A call that was not begun. `Full` is frequent: the call waits for room.
pub(super) enum BeginError {
    Full,
    Ended(Cause),
    Refused(RequestError),
}

impl From<BeginError> for CallError {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::Full => Self::queue_full(),
            BeginError::Ended(why) => Self::lost(false, why),
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
