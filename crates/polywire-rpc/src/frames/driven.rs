//! A client's connection, as its task drives it.

use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::client::{Event, Step};
use polywire_frame::{Broken, Output, Reason, Time};

use super::cause::Cause;
use super::state::Shared;
use super::tickets::wake_with;
use super::{Clock, Side, Taken};

/// The task's end of it.
pub(super) struct Driven {
    shared: Arc<Shared>,
    /// Bytes that are to be written because the server has asked for them, such as answers to pings.
    owed: usize,
    given_up: bool,
}

/// Bytes that a server may ask for without reading them: four thousand pings.
const MOST_OWED: usize = 64 << 10;

impl Driven {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            owed: 0,
            given_up: false,
        }
    }

    /// No call is answered any more, and none waits for that.
    fn end(&self, why: impl Into<Cause>) {
        self.shared.lock().close(why);
        self.shared.changed.notify_one();
    }
}

impl Side for Driven {
    fn prepare(&mut self, _: Clock, context: &mut Context<'_>) {
        let mut state = self.shared.lock();
        wake_with(&mut state.task, context);
    }

    fn take(&mut self, now: Time, bytes: &[u8], whole: Option<&Bytes>) -> Result<Taken, Broken> {
        let changed = &self.shared.changed;
        let mut state = self.shared.lock();
        let state = &mut *state;
        let mut at = 0;
        // Of payloads that came compressed.
        let mut room = Vec::new();
        loop {
            let before = state.machine.output().len();
            let step = match state.machine.receive(&bytes[at..], &mut room) {
                Ok(step) => step,
                Err(broken) => {
                    // Its words are still to be written, which nobody has to wait for.
                    state.close(Cause::of(broken.clone()));
                    changed.notify_one();
                    return Err(broken);
                }
            };
            let event = match step {
                Step::Wants(wants) => {
                    // Answers that nobody waited for have made room too.
                    state.admit_waiting(now);
                    return Ok(Taken { bytes: at, wants });
                }
                Step::Took(count, event) => {
                    at += count;
                    event
                }
            };
            let waker = match event {
                Some(Event::Item {
                    id,
                    missed,
                    cost,
                    payload,
                }) => {
                    state.arrived(id, missed, cost, payload);
                    None
                }
                Some(Event::Accepted(id)) => {
                    state.accepted(id);
                    None
                }
                Some(Event::Writable(id)) => {
                    state.writable(id);
                    None
                }
                Some(event) => {
                    let waker = state.happens(now, &event, whole);
                    if matches!(event, Event::Hello | Event::GoAway { .. }) {
                        changed.notify_one();
                    }
                    if event == Event::Hello {
                        state.writable(None);
                    }
                    waker
                }
                None => {
                    self.owed += state.machine.output().len() - before;
                    if self.owed > MOST_OWED {
                        self.given_up = true;
                        state.close("the server does not read what it asks for");
                        changed.notify_one();
                        return Ok(Taken {
                            bytes: at,
                            wants: 1,
                        });
                    }
                    None
                }
            };
            state.woken.extend(waker);
        }
    }

    fn output_len(&self) -> usize {
        self.shared.lock().machine.output().len()
    }

    fn exchange(&mut self, empty: Output) -> Output {
        self.owed = 0;
        let mut state = self.shared.lock();
        state.wake_full();
        state.machine.take_output(empty)
    }

    fn is_done(&self) -> bool {
        let state = self.shared.lock();
        state.machine.is_ending() && state.machine.open() == 0
    }

    fn next_timeout(&self) -> Time {
        self.shared.lock().next_timeout()
    }

    fn timeout(&mut self, now: Time) {
        self.shared.lock().timeout(now);
    }

    fn greeted(&self) -> bool {
        self.shared.lock().greeted
    }

    fn patience(&self) -> Duration {
        // Pings that come too often are a mistake.
        let least = Duration::from_millis(self.shared.lock().machine.settings().ping().into());
        least.max(Duration::from_secs(30))
    }

    /// A client that stopped reading because it has much to write would stop a server that
    /// does the same. What it writes it has been asked for.
    fn most_waiting(&self) -> usize {
        usize::MAX
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, Broken> {
        self.shared.lock().machine.end_of_input(rest)?;
        Ok(false)
    }

    fn input_ended(&mut self) {
        self.end("the server closed the connection");
    }

    fn has_given_up(&self) -> bool {
        self.given_up
    }

    fn waits_for_the_other(&self) -> bool {
        false
    }

    fn rest(&mut self) {
        let mut state = self.shared.lock();
        state.machine.shrink();
        state.ending.shrink_to_fit();
        if state.tickets.shrink() {
            state.blocked.clear();
        }
    }

    fn ping(&mut self) {
        self.shared.lock().machine.ping(0, 0);
    }

    fn give_up(&mut self, reason: Reason) {
        self.end(reason.to_string());
    }
}
