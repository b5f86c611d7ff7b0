//! The calls of a connection, or of all clients of a UDP socket: from an event of the state machine to the handler.

use std::sync::Arc;

use bytes::Bytes;
use polywire_frame::server::Fault as SentFault;
use polywire_frame::{Event, FaultCode, Time};

use super::handlers::{CallStatus, Endpoint, Handlers, Request};
use super::head::context;
use super::open_call::OpenCall;
use super::time_slice::TimeSlice;
use crate::call::FrameDeadline;
use crate::call::admission::{Admission, Rejection};
use crate::call::completion::CompletionQueue;
use crate::call::memory::MemoryReservation;
use crate::frames::Clock;
use crate::peer::Peer;

/// What the state machine of a connection or socket reports.
pub(super) type ServerEvent<'a, C> = Event<'a, u32, OpenCall, C>;

/// The calls of a connection or socket. `C` identifies a call.
pub(super) struct CallDispatcher<C> {
    pub(super) handlers: Handlers,
    pub(super) completions: Arc<CompletionQueue<C>>,
    /// The context of calls without metadata.
    pub(super) context: crate::Context,
    pub(super) admission: Admission,
    pub(super) slice: TimeSlice,
    pub(super) clock: Clock,
    /// Calls whose handlers are in progress, and subscriptions. Some of them may have ended.
    in_progress: Vec<C>,
}

/// Up to this length of the list of calls in progress, ended ones are not removed.
const MIN_IN_PROGRESS: usize = 64;

impl<C: Copy + Send + 'static> CallDispatcher<C> {
    pub(super) fn new(handlers: Handlers, peer: Peer, clock: Clock) -> Self {
        Self {
            admission: handlers.app.flow.admission(&handlers.queue),
            handlers,
            completions: Arc::default(),
            context: context(peer),
            slice: TimeSlice::new(),
            clock,
            in_progress: Vec::new(),
        }
    }

    /// Whether the call of an event starts. Rejects it otherwise.
    #[inline]
    pub(super) fn admits<E: Endpoint<Call = C>>(
        &mut self,
        endpoint: &mut E,
        event: &ServerEvent<'_, C>,
    ) -> bool {
        let (id, deadline) = match event {
            Event::Call { id, deadline, .. } | Event::Publish { id, deadline, .. } => {
                (Some(*id), FrameDeadline::at(*deadline))
            }
            Event::Subscribe { id, .. } => (Some(*id), FrameDeadline::NONE),
            Event::OneWay { deadline, .. } => (None, FrameDeadline::at(*deadline)),
            _ => return true,
        };
        let most = self.handlers.app.flow.limits.calls;
        let admitted = match id {
            Some(id) if endpoint.open_of(id) > most => Err(self.admission.too_many_calls()),
            _ => {
                let cost = operation(event).map(|operation| self.handlers.table.cost(operation));
                let (now, delay) = (self.slice.now(), self.slice.queueing_delay());
                self.admission.admit(now, delay, deadline, cost)
            }
        };
        admitted
            .inspect_err(|rejection| self.reject(endpoint, id, *rejection))
            .is_ok()
    }

    #[cold]
    fn reject<E: Endpoint<Call = C>>(
        &mut self,
        endpoint: &mut E,
        id: Option<C>,
        rejection: Rejection,
    ) {
        // A one-way call has no fault either: it is dropped silently.
        if let Some(id) = id {
            let now = self.slice.now();
            self.handlers.reject(endpoint, now, id, rejection);
        }
    }

    /// Starts a call without streams, or answers one that cannot start. Ignores other events. `whole` is the frame
    /// buffer, if the payload is large. Returns the memory of a reply that was written at once.
    #[inline]
    pub(super) fn start<E: Endpoint<Call = C>>(
        &mut self,
        endpoint: &mut E,
        now: Time,
        event: &ServerEvent<'_, C>,
        whole: Option<&Bytes>,
    ) -> Option<MemoryReservation> {
        let (id, operation, deadline, extension, payload) = match event {
            Event::Call {
                id,
                operation,
                deadline,
                extension,
                payload,
                ..
            } => (Some(*id), *operation, *deadline, extension, *payload),
            Event::OneWay {
                operation,
                deadline,
                extension,
                payload,
            } => (None, *operation, *deadline, extension, *payload),
            Event::Unknown { id, name } => {
                self.handlers.unknown(endpoint, now, *id, *name);
                return None;
            }
            _ => return None,
        };
        let deadline = FrameDeadline::at(deadline);
        self.context.deadline = self.handlers.handler_deadline(self.clock, now, deadline);
        let request = Request {
            operation,
            context: &self.context,
            extension,
            payload,
            whole,
            deadline,
            clock: self.clock,
        };
        let Some(id) = id else {
            self.handlers.one_way(&request);
            return None;
        };
        let status = self
            .handlers
            .call(endpoint, &self.completions, now, id, &request);
        match status {
            CallStatus::Answered(held) => held,
            CallStatus::InProgress => {
                self.add(endpoint, id);
                None
            }
        }
    }

    /// Sets the deadline of a call whose handler may take as long as its caller waits.
    pub(super) fn set_deadline(&mut self, deadline: Time) {
        self.context.deadline = FrameDeadline::at(deadline).on_tokio(self.clock);
    }

    /// Adds a call in progress.
    pub(super) fn add<E: Endpoint<Call = C>>(&mut self, endpoint: &mut E, id: C) {
        // Removes those that have ended once the list is full: a list of twice the open calls stays within its capacity.
        if self.in_progress.len() == self.in_progress.capacity() {
            self.in_progress.retain(|id| endpoint.is_open(*id));
            self.in_progress
                .reserve(self.in_progress.len().max(MIN_IN_PROGRESS));
        }
        self.in_progress.push(id);
    }

    /// A copy of the list of calls in progress.
    pub(super) fn in_progress(&self) -> Vec<C> {
        self.in_progress.clone()
    }

    /// Takes the list of calls in progress, to end them.
    pub(super) fn take_in_progress(&mut self) -> Vec<C> {
        std::mem::take(&mut self.in_progress)
    }
}

/// The fault of a call that the server ends: it may have been executed, unless it is still in the run queue.
pub(super) fn ended_by_server(open_call: Option<&mut OpenCall>) -> SentFault {
    SentFault {
        unstarted: open_call.is_some_and(|open_call| open_call.cancel()),
        ..SentFault::new(FaultCode::UNAVAILABLE)
    }
}

/// The operation of a call, whose handler may start on the task of the connection.
#[inline]
pub(super) const fn operation<C: Copy>(event: &ServerEvent<'_, C>) -> Option<u32> {
    match event {
        Event::Call { operation, .. } | Event::OneWay { operation, .. } => Some(*operation),
        _ => None,
    }
}
