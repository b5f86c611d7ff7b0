//! A client's connection, as its task drives it.

use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::client::{Event, Step};
use polywire_frame::{Output, ProtocolError, Reason, Time};

use super::state::{Shared, State};
use super::tickets::wake_with;
use super::{Clock, Side, Taken};
use crate::error::Cause;

/// The task's end of it.
pub(super) struct Driven {
    shared: Arc<Shared>,
    /// Bytes that are to be written because the server has asked for them, such as answers to pings.
    owed: usize,
    given_up: bool,
    seen: Seen,
}

/// What the task knows of what it shares with calls, so that it need not be locked for each question. A call that
/// has changed it since has woken the task.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Bytes that are to be written.
    output: usize,
    is_done: bool,
    next_timeout: Time,
    greeted: bool,
    /// The least time between two pings, in milliseconds.
    ping: u32,
}

impl Seen {
    fn of(state: &State) -> Self {
        let machine = &state.machine;
        Self {
            output: machine.output().len(),
            is_done: machine.is_ending() && machine.open() == 0,
            next_timeout: state.next_timeout(),
            greeted: state.greeted,
            ping: machine.peer_settings().ping(),
        }
    }
}

/// Bytes that a server may ask for without reading them: four thousand pings.
const MOST_OWED: usize = 64 << 10;

impl Driven {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let seen = Seen::of(&shared.lock());
        Self {
            seen,
            shared,
            owed: 0,
            given_up: false,
        }
    }

    /// No call is answered any more, and none waits for that.
    fn end(&mut self, why: impl Into<Cause>) {
        self.change(|state| state.close(why));
        self.shared.changed.notify_one();
    }

    fn change<R>(&mut self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.shared.lock();
        let changed = change(&mut state);
        self.seen = Seen::of(&state);
        changed
    }
}

impl Side for Driven {
    fn prepare(&mut self, _: Clock, context: &mut Context<'_>) {
        self.change(|state| wake_with(&mut state.task, context));
    }

    fn take(
        &mut self,
        now: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<Taken, ProtocolError> {
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
                    self.seen = Seen::of(state);
                    return Err(broken);
                }
            };
            let event = match step {
                Step::NeedMore(wants) => {
                    // Answers that nobody waited for have made room too.
                    state.admit_waiting(now);
                    self.seen = Seen::of(state);
                    return Ok(Taken { bytes: at, wants });
                }
                Step::Consumed(count, event) => {
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
                    if matches!(event, Event::Hello(_) | Event::GoAway { .. }) {
                        changed.notify_one();
                    }
                    if matches!(event, Event::Hello(_)) {
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
                        self.seen = Seen::of(state);
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
        self.seen.output
    }

    fn exchange(&mut self, empty: Output) -> Output {
        self.owed = 0;
        self.change(|state| {
            state.wake_full();
            state.machine.take_output(empty)
        })
    }

    fn is_done(&self) -> bool {
        self.seen.is_done
    }

    fn next_timeout(&self) -> Time {
        self.seen.next_timeout
    }

    fn timeout(&mut self, now: Time) {
        self.change(|state| state.timeout(now));
    }

    fn greeted(&self) -> bool {
        self.seen.greeted
    }

    fn patience(&self) -> Duration {
        // Pings that come too often are a mistake.
        let least = Duration::from_millis(self.seen.ping.into());
        least.max(Duration::from_secs(30))
    }

    /// A client that stopped reading because it has much to write would stop a server that
    /// does the same. What it writes it has been asked for.
    fn most_waiting(&self) -> usize {
        usize::MAX
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError> {
        let ended = self.change(|state| state.machine.end_of_input(rest));
        if let Err(broken) = &ended {
            // At once: calls that have not left are told so, and do not leave with the goodbye.
            self.end(Cause::of(broken.clone()));
        }
        ended.map(|()| false)
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
        self.change(|state| {
            state.machine.shrink();
            state.ending.shrink_to_fit();
            if state.tickets.shrink() {
                state.blocked.clear();
            }
        });
    }

    fn ping(&mut self) {
        self.change(|state| state.machine.ping(0, 0));
    }

    fn give_up(&mut self, reason: Reason) {
        self.end(reason.to_string());
    }
}
