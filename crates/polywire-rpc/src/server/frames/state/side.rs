//! The server side of a connection, as its driver calls it.

use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::server::Step;
use polywire_frame::{Output, ProtocolError, Reason, Time};

use super::{ConnectionState, LEAST_WAITING, MOST_WAITING};
use crate::frames::{Clock, ReadProgress, Side};
use crate::server::frames::dispatcher::operation;
use crate::server::frames::stats::Sum;

impl Side for ConnectionState {
    fn begin_turn(&mut self) {
        self.calls.slice.begin();
    }

    fn is_held_up(&mut self) {
        self.calls.slice.block();
    }

    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>) {
        let pending = self.calls.completions.take(context);
        if pending.is_empty() && self.stalled.is_empty() {
            self.settle_counts();
            return;
        }
        let now = clock.now();
        self.lifetime.touch(now);
        for completion in pending.completions {
            self.complete(now, completion);
        }
        for (id, call) in pending.topic_calls {
            // Unless it has ended meanwhile.
            if self.machine.context(id).is_some() {
                self.start_topic_call(now, id, call);
            }
        }
        self.resume(now);
        for pipe in pending.pipes {
            self.pump(now, &pipe);
        }
        self.settle_counts();
    }

    fn yields(&self) -> bool {
        self.calls.slice.is_over()
    }

    fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    fn take(
        &mut self,
        came: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<ReadProgress, ProtocolError> {
        let mut at = 0;
        self.calls.admission.refresh();
        self.calls.slice.process(came, self.calls.clock);
        // Of payloads that came compressed.
        let mut room = Vec::new();
        loop {
            let table = &self.calls.handlers.table;
            let resolve = |name: &str| table.find(name);
            match self
                .machine
                .receive(came, &bytes[at..], &mut room, resolve)?
            {
                Step::NeedMore(wants) => {
                    self.came += at as u64;
                    self.calls.slice.finish();
                    self.lifetime.touch(self.calls.slice.now());
                    return Ok(ReadProgress { bytes: at, wants });
                }
                Step::Consumed(count, event) => {
                    at += count;
                    if let Some(event) = event {
                        self.calls.slice.begin_call(self.calls.clock);
                        let operation = operation(&event);
                        if self.calls.admits(&mut self.machine, &event) {
                            self.happens(came, event, whole);
                        }
                        self.calls.slice.end_call(operation.is_none_or(|operation| {
                            self.calls.handlers.table.cost(operation).is_watched()
                        }));
                    }
                    let is_over = self.calls.slice.check_end();
                    // What is answered has to go before more is begun, and other connections have
                    // their turn.
                    if is_over || self.machine.output().len() > self.most_waiting() {
                        self.came += at as u64;
                        self.calls.slice.pause(at < bytes.len());
                        return Ok(ReadProgress {
                            bytes: at,
                            wants: 0,
                        });
                    }
                }
            }
        }
    }

    fn most_waiting(&self) -> usize {
        match self.tight {
            true => LEAST_WAITING,
            false => MOST_WAITING,
        }
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError> {
        if rest == 0 && !self.client_is_leaving && !self.calls.handlers.app.half_close {
            return Ok(false);
        }
        let now = self.calls.clock.now();
        let mut ended = Vec::new();
        self.machine
            .end_of_input(now, rest, |_, open_call| ended.push(open_call))?;
        for open_call in ended {
            self.close_pipe_of(open_call.as_ref());
        }
        self.client_is_leaving = true;
        Ok(true)
    }

    fn waits_for_the_other(&self) -> bool {
        !self.client_is_leaving
    }

    fn rest(&mut self) {
        self.machine.shrink();
    }

    fn output_len(&self) -> usize {
        self.machine.output().len()
    }

    fn exchange(&mut self, empty: Output) -> Output {
        let output = self.machine.take_output(empty);
        self.flow.sums.add(Sum::BytesOut, output.len() as u64);
        // What was there before has been written.
        self.writing.resize(0);
        std::mem::swap(&mut self.writing, &mut self.leaving);
        output
    }

    fn wrote(&mut self) {
        self.writing.resize(0);
    }

    fn is_done(&self) -> bool {
        self.machine.is_done()
    }

    fn is_over(&self) -> bool {
        self.lifetime.is_over()
    }

    fn next_timeout(&self) -> Time {
        let next = self.lifetime.next_timeout(self.machine.open() == 0);
        next.min(self.machine.next_timeout())
    }

    fn timeout(&mut self, now: Time) {
        let mut late = Vec::new();
        self.machine
            .timeout(now, |_, open_call| late.push(open_call));
        for open_call in late {
            self.close_pipe_of(open_call.as_ref());
        }
        let is_idle = self.machine.open() == 0 && self.calls.handlers.is_idle();
        if let Some(reason) = self.lifetime.timeout(now, is_idle) {
            self.leave(now, reason, self.calls.handlers.app.timeouts.shutdown);
        }
        if self.lifetime.is_over() {
            self.abort_all(now);
        }
    }

    fn greeted(&self) -> bool {
        self.greeted
    }

    fn patience(&self) -> Duration {
        self.calls.handlers.app.timeouts.head
    }

    fn ping(&mut self) {
        self.machine.ping(0, 0);
    }

    fn give_up(&mut self, reason: Reason) {
        self.machine
            .go_away(reason, 0, reason.name().unwrap_or_default());
    }
}
