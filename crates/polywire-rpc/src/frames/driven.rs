//! A client's connection, as its task drives it.

use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use polywire_frame::client::{Event, Step};
use polywire_frame::{Broken, Output, Reason, Time};

use super::state::Shared;
use super::tickets::wake_with;
use super::{Clock, Side, Taken};

/// The task's end of it.
pub(super) struct Driven(pub(super) Arc<Shared>);

impl Side for Driven {
    fn prepare(&mut self, _: Clock, context: &mut Context<'_>) {
        let mut state = self.0.lock();
        wake_with(&mut state.task, context);
    }

    fn take(&mut self, now: Time, bytes: &[u8]) -> Result<Taken, Broken> {
        let changed = &self.0.changed;
        let mut state = self.0.lock();
        let state = &mut *state;
        let mut at = 0;
        // Of payloads that came compressed.
        let mut room = Vec::new();
        loop {
            let event = match state.machine.receive(&bytes[at..], &mut room)? {
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
                    let waker = state.happens(now, &event);
                    if matches!(event, Event::Hello | Event::GoAway { .. }) {
                        changed.notify_one();
                    }
                    if event == Event::Hello {
                        state.writable(None);
                    }
                    waker
                }
                None => None,
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn output_len(&self) -> usize {
        self.0.lock().machine.output().len()
    }

    fn exchange(&mut self, empty: Output) -> Output {
        let mut state = self.0.lock();
        state.full.drain(..).for_each(Waker::wake);
        state.machine.take_output(empty)
    }

    fn is_done(&self) -> bool {
        let state = self.0.lock();
        state.machine.is_ending() && state.machine.open() == 0
    }

    fn next_timeout(&self) -> Time {
        self.0.lock().next_timeout()
    }

    fn timeout(&mut self, now: Time) {
        self.0.lock().timeout(now);
    }

    fn greeted(&self) -> bool {
        self.0.lock().greeted
    }

    fn patience(&self) -> Duration {
        // Pings that come too often are a mistake.
        let least = Duration::from_millis(self.0.lock().machine.settings().ping().into());
        least.max(Duration::from_secs(30))
    }

    /// A client that stopped reading because it has much to write would stop a server that
    /// does the same. What it writes it has been asked for.
    fn most_waiting(&self) -> usize {
        usize::MAX
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, Broken> {
        self.0.lock().machine.end_of_input(rest)?;
        Ok(false)
    }

    fn waits_for_the_other(&self) -> bool {
        false
    }

    fn rest(&mut self) {
        let mut state = self.0.lock();
        state.machine.shrink();
        if state.tickets.shrink() {
            state.blocked.clear();
        }
    }

    fn ping(&mut self) {
        self.0.lock().machine.ping(0, 0);
    }

    fn give_up(&mut self, reason: Reason) {
        let words = reason.to_string();
        self.0.lock().close(&words);
        self.0.changed.notify_one();
    }
}
