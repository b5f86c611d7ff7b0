//! Calls with streams, and calls to topics, of a connection on the server.

use std::sync::Arc;

use bytes::Bytes;
use polywire_frame::server::Fault as SentFault;
use polywire_frame::{CallId, Extension, FaultCode, Output, Time};
use polywire_protocol::{Fault, FaultKind};

use super::dispatcher::ended_by_server;
use super::handlers::{is_before_handler, is_of_the_input};
use super::head::CheckedHead;
use super::open_call::OpenCall;
use super::start::run_authenticated;
use super::state::ConnectionState;
use super::table::encode;
use crate::call::admission::{MemoryUse, Rejection};
use crate::call::catch_panic;
use crate::call::completion::{CallResult, Completion};
use crate::call::memory::{FREE, MemoryReservation};
use crate::call::pipe::{OutgoingItem, Pipe, SendStatus};
use crate::call::topic_call::TopicCall;
use crate::frames::Side;
use crate::methods::{MethodReply, ReplyFormat};
use crate::topics::Access;

impl ConnectionState {
    /// Starts a call of a method with streams. Its handler runs in a task.
    pub(super) fn stream(
        &mut self,
        now: Time,
        id: CallId,
        operation: u32,
        is_open: bool,
        extension: &Extension<'_>,
        payload: &[u8],
    ) {
        let handlers = &self.calls.handlers;
        let checked = handlers.accept(&self.calls.context, extension, operation, payload.len());
        let (CheckedHead { context, pending }, mut admitted) = match checked {
            Ok(checked) => checked,
            Err(fault) => return self.fault(now, id, None, &fault, true),
        };
        let context = context.unwrap_or_else(|| self.calls.context.clone());
        let memory = Arc::clone(&self.calls.handlers.memory);
        let pipe = self.new_pipe(
            id,
            is_open,
            Some(MemoryReservation::nothing(Arc::clone(&memory))),
        );
        let stream = Some(Arc::clone(&pipe));
        let (app, table) = (&self.calls.handlers.app, &self.calls.handlers.table);
        let run = catch_panic(|| match pending {
            None => table.run(&app.engine, operation, context, (payload, None), stream),
            Some(pending) => {
                let limit = context.deadline.for_handler(app.timeouts.handler)?;
                let payload = Bytes::copy_from_slice(payload);
                let (call, pending) = ((operation, context), (pending, limit));
                Ok(run_authenticated(
                    &self.calls.handlers,
                    call,
                    payload,
                    stream,
                    pending,
                ))
            }
        });
        let run = match run {
            Ok(run) => run,
            Err(fault) => {
                let unstarted = is_of_the_input(&fault);
                let target = table.target(operation).clone();
                return self.fault(now, id, Some(&target), &fault, unstarted);
            }
        };
        let handler_pipe = Arc::clone(&pipe);
        admitted.occupy(&app.flow.capacity);
        let engine = Arc::clone(&app.engine);
        let task = tokio::spawn(async move {
            // Only the deadline of the caller applies. The handler is dropped before the call ends.
            let encode = |reply| encode(&engine, reply);
            let result = run.finish(&engine, None, encode).await;
            drop(admitted);
            handler_pipe.set_outcome(CallResult::new(result, &memory));
        });
        let open_call = OpenCall::stream(task.abort_handle(), operation, pipe);
        // Cannot fail: the call has just been opened.
        let _ = self.machine.attach(id, open_call);
        self.calls.add(&mut self.machine, id);
    }

    fn new_pipe(&self, id: CallId, is_open: bool, memory: Option<MemoryReservation>) -> Arc<Pipe> {
        let max_item_bytes = self.machine.peer_settings().frame();
        let completions = Arc::clone(&self.calls.completions);
        Pipe::new(id, max_item_bytes, completions, is_open, memory)
    }

    /// Starts a call to a topic: publishes `message`, or subscribes if there is none. A subscription counts as a call while
    /// it is open.
    pub(super) fn topic(
        &mut self,
        now: Time,
        id: CallId,
        (topic, message): (&str, Option<&[u8]>),
        extension: &Extension<'_>,
    ) {
        let app = &self.calls.handlers.app;
        let checked = match app.topics {
            None => Err(no_topics()),
            Some(_) => self
                .calls
                .handlers
                .check_head(&self.calls.context, extension, topic),
        };
        let (CheckedHead { context, pending }, in_flight) = match checked {
            Ok(checked) => checked,
            Err(fault) => return self.fault(now, id, None, &fault, true),
        };
        let mut call = TopicCall {
            topic: topic.into(),
            message: message.map(Bytes::copy_from_slice),
            context: context.unwrap_or_else(|| self.calls.context.clone()),
            in_flight,
        };
        let Some(pending) = pending else {
            return self.start_topic_call(now, id, call);
        };
        let limit = match call.context.deadline.for_handler(app.timeouts.handler) {
            Ok(limit) => limit,
            Err(fault) => return self.fault(now, id, None, &fault, true),
        };
        let completions = Arc::clone(&self.calls.completions);
        let task = tokio::spawn(async move {
            match limit.limit(pending).await {
                Ok(identity) => {
                    call.context.identity = Some(identity);
                    completions.push_topic_call(id, call);
                }
                Err(fault) => completions.push(Completion {
                    call: id,
                    operation: 0,
                    outcome: CallResult {
                        result: Err(fault),
                        memory: None,
                    },
                    unstarted: true,
                }),
            }
        });
        // Cannot fail: the call has just been opened.
        let open_call = OpenCall::pending(task.abort_handle(), message.is_none());
        let _ = self.machine.attach(id, open_call);
        self.calls.add(&mut self.machine, id);
    }

    /// Publishes or subscribes for an authenticated caller.
    pub(super) fn start_topic_call(&mut self, now: Time, id: CallId, call: TopicCall) {
        let TopicCall {
            topic,
            message,
            context,
            in_flight,
        } = call;
        let Some(topics) = self.calls.handlers.app.topics.clone() else {
            return self.fault(now, id, None, &no_topics(), true);
        };
        let access = match &message {
            Some(_) => Access::Publish(&topic),
            None => Access::Subscribe(&topic),
        };
        if !topics.allows(&context, access) {
            return self.forbidden(now, id, &topic);
        }
        let Some(message) = message else {
            // The topics count the memory of its messages.
            let pipe = self.new_pipe(id, false, None);
            self.machine.accept(id);
            let subscription = topics.subscribe(&topic, Arc::clone(&pipe));
            let open_call = OpenCall::subscription(subscription, pipe, in_flight);
            // Fails, and drops it, if the call has ended meanwhile.
            let _ = self.machine.attach(id, open_call);
            return self.calls.add(&mut self.machine, id);
        };
        let subscribers = topics.publish_bytes(&topic, &message).to_le_bytes();
        drop(in_flight);
        self.complete(
            now,
            Completion {
                call: id,
                operation: 0,
                outcome: small_reply(subscribers.into()),
                unstarted: false,
            },
        );
    }

    fn forbidden(&mut self, now: Time, id: CallId, topic: &str) {
        tracing::debug!(topic, "a client may not use a topic");
        let fault = SentFault::unstarted(FaultCode::FORBIDDEN);
        self.machine.fault(now, id, fault, b"");
    }

    /// Unsubscribes. The call ends after the pending messages are sent.
    pub(super) fn unsubscribe(&mut self, now: Time, id: CallId) {
        let is_pending = |open_call: &mut OpenCall| open_call.is_pending_subscription();
        if self.machine.context(id).is_some_and(is_pending) {
            // The reply drops the task that authenticates the caller.
            let outcome = small_reply(Vec::new());
            return self.complete(
                now,
                Completion {
                    call: id,
                    operation: 0,
                    outcome,
                    unstarted: false,
                },
            );
        }
        // `UNSUBSCRIBE` for another kind of call is ignored.
        let pipe = self.machine.context(id).and_then(OpenCall::unsubscribe);
        if let Some(pipe) = pipe.cloned() {
            pipe.set_outcome(small_reply(Vec::new()));
            self.pump(now, &pipe);
        }
    }

    /// Prepares the calls for the close of the connection: ends subscriptions, and notifies the handlers of streams.
    pub(super) fn announce_close(&mut self, now: Time) {
        for id in self.calls.in_progress() {
            let Some(open_call) = self.machine.context(id) else {
                continue;
            };
            if open_call.is_subscription() || open_call.is_pending_subscription() {
                self.abort(now, id);
            } else if let Some(pipe) = open_call.pipe() {
                pipe.announce_close();
            }
        }
    }

    /// Ends all open calls, when the time for the shutdown of the connection is over.
    #[cold]
    pub(super) fn abort_all(&mut self, now: Time) {
        for id in self.calls.take_in_progress() {
            self.abort(now, id);
        }
    }

    /// Ends a call with a fault, which says whether its handler has started.
    fn abort(&mut self, now: Time, id: CallId) {
        let Some(open_call) = self.machine.context(id) else {
            return;
        };
        let fault = ended_by_server(Some(open_call));
        if let Some(pipe) = open_call.pipe().cloned() {
            self.close_pipe(&pipe);
        }
        self.machine.fault(now, id, fault, b"");
    }

    /// Handles a received item.
    pub(super) fn item(&mut self, now: Time, id: CallId, cost: u32, payload: &[u8]) {
        let pipe = self
            .machine
            .context(id)
            .and_then(|open_call| open_call.pipe());
        let Some(pipe) = pipe.cloned() else {
            // The call takes no items, and is about to be rejected for it.
            return self.consumed(id, cost);
        };
        pipe.push_incoming(cost, payload);
        self.items_unread += cost as usize;
        if self.reserve_unread() {
            return;
        }
        // Credit does not guarantee memory.
        self.close_pipe(&pipe);
        let fault = Rejection::NoMemory(MemoryUse::Items).fault();
        self.fault(now, id, None, &fault, false);
    }

    /// Adjusts the memory for unread items, of which the first [`FREE`] bytes do not count. Returns false if the memory is
    /// exhausted.
    fn reserve_unread(&mut self) -> bool {
        let bytes = self.items_unread.saturating_sub(FREE);
        self.items.resize(bytes)
    }

    /// Releases the memory and credit of items that a handler has read or that were dropped.
    fn release_items(&mut self, id: CallId, bytes: u32) {
        self.items_unread = self.items_unread.saturating_sub(bytes as usize);
        self.reserve_unread();
        self.consumed(id, bytes);
    }

    /// Handles the end of the client's stream.
    pub(super) fn end(&mut self, id: CallId) {
        if let Some(pipe) = self
            .machine
            .context(id)
            .and_then(|open_call| open_call.pipe())
        {
            pipe.end_incoming();
        }
    }

    /// Sends more items after new credit, for one call or for the connection.
    pub(super) fn writable(&mut self, now: Time, id: Option<CallId>) {
        match id {
            Some(id) => {
                let pipe = self
                    .machine
                    .context(id)
                    .and_then(|open_call| open_call.pipe());
                if let Some(pipe) = pipe.cloned() {
                    self.pump(now, &pipe);
                }
            }
            None => {
                for pipe in std::mem::take(&mut self.blocked) {
                    pipe.set_blocked(false);
                    self.pump(now, &pipe);
                }
            }
        }
    }

    /// Sends more items if the output buffer has space again.
    pub(super) fn resume(&mut self, now: Time) {
        if self.machine.output().len() > self.most_waiting() {
            return;
        }
        for pipe in std::mem::take(&mut self.stalled) {
            self.pump(now, &pipe);
        }
    }

    fn consumed(&mut self, id: CallId, bytes: u32) {
        if bytes > 0 {
            self.machine.consumed(id, bytes);
        }
    }

    /// Takes the items of a handler and sends them, as far as credit and the output buffer allow.
    pub(super) fn pump(&mut self, now: Time, pipe: &Arc<Pipe>) {
        let id = pipe.id;
        self.release_items(id, pipe.take_read_bytes());
        loop {
            if pipe.is_ended() {
                return;
            }
            if self.machine.output().len() > self.most_waiting() {
                self.stalled.push(Arc::clone(pipe));
                return;
            }
            let machine = &mut self.machine;
            let status = pipe.send_next(|item: &OutgoingItem| {
                let Some(mut frame) = machine.item(id, item.missed) else {
                    return SendStatus::NoCredit;
                };
                match item.payload.len() < Output::LARGE {
                    true => frame.payload().extend_from_slice(&item.payload),
                    false => frame.share(item.payload.clone()),
                }
                if let Err(too_large) = frame.send() {
                    // Cannot happen: `Pipe` has checked the size.
                    tracing::error!(%too_large, "an item was dropped");
                }
                SendStatus::Success
            });
            match status {
                Some(SendStatus::Success) => {}
                Some(SendStatus::NoCredit) => {
                    if !pipe.set_blocked(true) {
                        self.blocked.push(Arc::clone(pipe));
                    }
                    return;
                }
                None => break,
            }
        }
        if let Some(outcome) = pipe.take_outcome() {
            let operation = self
                .machine
                .context(id)
                .map_or(0, |open_call| open_call.operation());
            self.close_pipe(pipe);
            let unstarted = is_before_handler(&outcome.result);
            self.complete(
                now,
                Completion {
                    call: id,
                    operation,
                    outcome,
                    unstarted,
                },
            );
        }
    }

    /// Closes the pipe of a call that was cancelled, if it has one.
    pub(super) fn close_pipe_of(&mut self, open_call: Option<&OpenCall>) {
        if let Some(pipe) = open_call.and_then(OpenCall::pipe) {
            self.close_pipe(pipe);
        }
    }

    /// Closes a pipe, and releases its items.
    fn close_pipe(&mut self, pipe: &Arc<Pipe>) {
        self.release_items(pipe.id, pipe.close());
        if pipe.set_blocked(false) {
            self.blocked.retain(|blocked| !Arc::ptr_eq(blocked, pipe));
        }
    }
}

/// The reply to a call to a topic. Takes no memory that is counted.
const fn small_reply(bytes: Vec<u8>) -> CallResult {
    CallResult {
        result: Ok(MethodReply::new(ReplyFormat::Cbor, bytes)),
        memory: None,
    }
}

#[cold]
fn no_topics() -> Fault {
    Fault::new(FaultKind::NotAcceptable, "this server has no topics")
}
