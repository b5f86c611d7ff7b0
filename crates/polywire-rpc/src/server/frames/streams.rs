//! Calls with streams, and topics, on the server's side of a connection.

use std::sync::Arc;

use polywire_frame::server::Fault as Answer;
use polywire_frame::{CallId, Extension, FaultCode, Output, Time};
use polywire_protocol::{Fault, FaultKind};

use super::handlers::{bring_all, is_of_the_input};
use super::pipe::{Leaving, Pipe, Sent};
use super::work::{Kept, Work};
use crate::methods::{Form, MethodReply};
use crate::server::answer::caught;
use crate::server::app::Called;
use crate::topics::Access;

impl Work {
    /// A call of a method with streams. Its handler always has a task of its own.
    pub(super) fn stream(
        &mut self,
        now: Time,
        id: CallId,
        operation: u32,
        open: bool,
        extension: &Extension<'_>,
        payload: &[u8],
    ) {
        let in_flight = match self.handlers.app.admit_call(&self.context.peer) {
            Ok(in_flight) => in_flight,
            Err(fault) => return self.fault(now, id, &Called::Unknown, &fault, true),
        };
        let mut context = self.context.clone();
        bring_all(&mut context, extension);
        let pipe = self.pipe(id, open);
        let begun = caught(|| {
            let pipe = Arc::clone(&pipe);
            self.handlers
                .table
                .begin_stream(&self.handlers.app, operation, context, payload, pipe)
        });
        let future = match begun {
            Ok(future) => future,
            Err(fault) => {
                let unstarted = is_of_the_input(fault.kind());
                let called = self.handlers.table.called(operation);
                return self.fault(now, id, &called, &fault, unstarted);
            }
        };
        let ended = Arc::clone(&pipe);
        let task = tokio::spawn(async move {
            let mut future = future;
            let answer = std::future::poll_fn(|context| {
                caught(|| Ok(future.as_mut().poll(context)))
                    .unwrap_or_else(|fault| std::task::Poll::Ready(Err(fault)))
            });
            let answer = answer.await;
            // What the handler holds has gone before its call has.
            drop(future);
            drop(in_flight);
            ended.answer(answer);
        });
        let kept = Kept::stream(task.abort_handle(), operation, pipe);
        // It is open: it has just come.
        let _ = self.machine.attach(id, kept);
    }

    fn pipe(&self, id: CallId, open: bool) -> Arc<Pipe> {
        let most = self.machine.client_settings().frame();
        Pipe::new(id, most, Arc::clone(&self.done), open)
    }

    /// Begins a subscription.
    pub(super) fn subscribe(
        &mut self,
        now: Time,
        id: CallId,
        topic: &str,
        extension: &Extension<'_>,
    ) {
        let Some(topics) = self.handlers.app.topics.clone() else {
            return self.fault(now, id, &Called::Unknown, &no_topics(), true);
        };
        let mut context = self.context.clone();
        bring_all(&mut context, extension);
        if !topics.allows(&context, Access::Subscribe(topic)) {
            return self.forbidden(now, id, topic);
        }
        let pipe = self.pipe(id, false);
        self.machine.accept(id);
        let subscribed = topics.subscribe(topic, Arc::clone(&pipe));
        // It is open: it has just come.
        let _ = self
            .machine
            .attach(id, Kept::subscription(subscribed, pipe));
        // Those that have ended are forgotten when they are as many as those that have not.
        if self.subscriptions.len() == self.subscriptions.capacity() {
            let machine = &mut self.machine;
            self.subscriptions
                .retain(|id| machine.context(*id).is_some());
        }
        self.subscriptions.push(id);
    }

    /// A message of a client.
    pub(super) fn publish(
        &mut self,
        now: Time,
        id: CallId,
        topic: &str,
        extension: &Extension<'_>,
        payload: &[u8],
    ) {
        let Some(topics) = self.handlers.app.topics.clone() else {
            return self.fault(now, id, &Called::Unknown, &no_topics(), true);
        };
        let in_flight = match self.handlers.app.admit_call(&self.context.peer) {
            Ok(in_flight) => in_flight,
            Err(fault) => return self.fault(now, id, &Called::Unknown, &fault, true),
        };
        let mut context = self.context.clone();
        bring_all(&mut context, extension);
        if !topics.allows(&context, Access::Publish(topic)) {
            return self.forbidden(now, id, topic);
        }
        let message = bytes::Bytes::copy_from_slice(payload);
        let handed = topics.publish_bytes(topic, &message).to_le_bytes();
        drop(in_flight);
        self.answer(
            now,
            (id, 0, Ok(MethodReply::new(Form::Cbor, handed.into()))),
        );
    }

    fn forbidden(&mut self, now: Time, id: CallId, topic: &str) {
        tracing::debug!(topic, "a client was kept from a topic");
        let fault = Answer::unstarted(FaultCode::FORBIDDEN);
        self.machine.fault(now, id, fault, b"");
    }

    /// The subscription is not wanted any more.
    pub(super) fn unsubscribe(&mut self, now: Time, id: CallId) {
        // `UNSUBSCRIBE` of a call is passed over.
        let Some(kept) = self.machine.context(id) else {
            return;
        };
        if kept.is_subscription() {
            self.answer(now, (id, 0, Ok(MethodReply::new(Form::Cbor, Vec::new()))));
        }
    }

    /// Ends all subscriptions, since the server stops.
    pub(super) fn end_subscriptions(&mut self, now: Time) {
        for id in std::mem::take(&mut self.subscriptions) {
            if self.machine.context(id).is_some() {
                let fault = Answer::new(FaultCode::UNAVAILABLE);
                self.machine.fault(now, id, fault, b"");
            }
        }
    }

    /// An item of a client.
    pub(super) fn item(&mut self, id: CallId, cost: u32, payload: &[u8]) {
        match self.machine.context(id).and_then(|kept| kept.pipe()) {
            Some(pipe) => pipe.arrived(cost, payload),
            // Of a call that took no items, and is about to be answered so.
            None => self.consumed(id, cost),
        }
    }

    /// The client sends no more items.
    pub(super) fn end(&mut self, id: CallId) {
        if let Some(pipe) = self.machine.context(id).and_then(|kept| kept.pipe()) {
            pipe.finished();
        }
    }

    /// There is credit again, of one stream or of all together.
    pub(super) fn writable(&mut self, now: Time, id: Option<CallId>) {
        match id {
            Some(id) => {
                let pipe = self.machine.context(id).and_then(|kept| kept.pipe());
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

    /// What waited because there was much to write.
    pub(super) fn resume(&mut self, now: Time) {
        if self.machine.output().len() > Self::MOST_WAITING {
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

    /// Fetches what a handler has left: as much as there is room for.
    pub(super) fn pump(&mut self, now: Time, pipe: &Arc<Pipe>) {
        let id = pipe.id;
        self.consumed(id, pipe.fetched());
        loop {
            if pipe.is_over() {
                return;
            }
            if self.machine.output().len() > Self::MOST_WAITING {
                self.stalled.push(Arc::clone(pipe));
                return;
            }
            let machine = &mut self.machine;
            let sent = pipe.leave_next(|item: &Leaving| {
                let Some(mut frame) = machine.item(id, item.missed) else {
                    return Sent::NoCredit;
                };
                match item.payload.len() < Output::LARGE {
                    true => frame.payload().extend_from_slice(&item.payload),
                    false => frame.share(item.payload.clone()),
                }
                if let Err(too_large) = frame.send() {
                    // It was asked before, of the same settings.
                    tracing::error!(%too_large, "an item was left out");
                }
                Sent::Gone
            });
            match sent {
                Some(Sent::Gone) => {}
                Some(Sent::NoCredit) => {
                    if !pipe.set_blocked(true) {
                        self.blocked.push(Arc::clone(pipe));
                    }
                    return;
                }
                None => break,
            }
        }
        if let Some(answer) = pipe.take_answer() {
            let operation = self.machine.context(id).map_or(0, |kept| kept.operation());
            self.close(pipe);
            self.answer(now, (id, operation, answer));
        }
    }

    /// A call that was ended from outside: what nobody will read makes room.
    pub(super) fn given_up(&mut self, kept: Option<&Kept>) {
        if let Some(pipe) = kept.and_then(Kept::pipe) {
            self.close(pipe);
        }
    }

    /// Nothing comes or goes by it any more.
    fn close(&mut self, pipe: &Arc<Pipe>) {
        self.consumed(pipe.id, pipe.close());
        if pipe.set_blocked(false) {
            self.blocked.retain(|blocked| !Arc::ptr_eq(blocked, pipe));
        }
    }
}

#[cold]
fn no_topics() -> Fault {
    Fault::new(FaultKind::NotAcceptable, "this server has no topics")
}
