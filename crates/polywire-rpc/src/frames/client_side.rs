//! The client side of a connection over a byte stream.

use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::client::{Event, Step};
use polywire_frame::{Output, ProtocolError, Reason, Time};

use super::side::Side;
use super::state::{Shared, State};
use super::tickets::wake_with;
use super::{Clock, ReadProgress};
use crate::error::Cause;

/// The client side of a connection. Its session runs in a task of its own.
pub(super) struct ClientSide {
    shared: Arc<Shared>,
    /// The length of unwritten output that the server has caused, such as answers to PINGs, in bytes.
    reply_len: usize,
    has_given_up: bool,
    snapshot: Snapshot,
}

/// A copy of what the session needs of the shared state, so that it does not lock it for each question. A call that
/// changes the state wakes the task, which updates this.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// The length of the output in bytes.
    output_len: usize,
    is_done: bool,
    next_timeout: Time,
    greeted: bool,
    /// The minimum time between two PINGs, in milliseconds.
    ping_interval: u32,
}

impl Snapshot {
    fn of(state: &State) -> Self {
        let machine = &state.machine;
        Self {
            output_len: machine.output().len(),
            is_done: machine.is_ending() && machine.open() == 0,
            next_timeout: state.next_timeout(),
            greeted: state.greeted,
            ping_interval: machine.peer_settings().ping(),
        }
    }
}

/// Close the connection if the server causes more output than this and does not read it: 4,096 PINGs, in bytes.
const MAX_REPLY_LEN: usize = 64 << 10;

impl ClientSide {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let snapshot = Snapshot::of(&shared.lock());
        Self {
            snapshot,
            shared,
            reply_len: 0,
            has_given_up: false,
        }
    }

    /// Ends all calls, because the connection has ended.
    fn end(&mut self, cause: impl Into<Cause>) {
        self.change(|state| state.close(cause));
        self.shared.changed.notify_one();
    }

    fn change<R>(&mut self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.shared.lock();
        let changed = change(&mut state);
        self.snapshot = Snapshot::of(&state);
        changed
    }
}

impl Side for ClientSide {
    fn prepare(&mut self, _: Clock, context: &mut Context<'_>) {
        self.change(|state| wake_with(&mut state.task, context));
    }

    fn take(
        &mut self,
        now: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<ReadProgress, ProtocolError> {
        let changed = &self.shared.changed;
        let mut state = self.shared.lock();
        let state = &mut *state;
        let mut at = 0;
        // The buffer for decompressed payloads.
        let mut decompressed = Vec::new();
        loop {
            let before = state.machine.output().len();
            let step = match state.machine.receive(&bytes[at..], &mut decompressed) {
                Ok(step) => step,
                Err(broken) => {
                    // Calls end now. They need not wait until the GOAWAY is written.
                    state.close(Cause::of(broken.clone()));
                    changed.notify_one();
                    self.snapshot = Snapshot::of(state);
                    return Err(broken);
                }
            };
            let event = match step {
                Step::NeedMore(wants) => {
                    // Replies to cancelled calls have freed capacity.
                    state.begin_queued(now);
                    self.snapshot = Snapshot::of(state);
                    return Ok(ReadProgress { bytes: at, wants });
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
                    state.push_item(id, missed, cost, payload);
                    None
                }
                Some(Event::Accepted(id)) => {
                    state.accept_subscription(id);
                    None
                }
                Some(Event::Writable(id)) => {
                    state.wake_writers(id);
                    None
                }
                Some(event) => {
                    let waker = state.handle_event(now, &event, whole);
                    if matches!(event, Event::Hello(_) | Event::GoAway { .. }) {
                        changed.notify_one();
                    }
                    if matches!(event, Event::Hello(_)) {
                        state.wake_writers(None);
                    }
                    waker
                }
                None => {
                    self.reply_len += state.machine.output().len() - before;
                    if self.reply_len > MAX_REPLY_LEN {
                        self.has_given_up = true;
                        state.close("the server does not read what it asks for");
                        changed.notify_one();
                        self.snapshot = Snapshot::of(state);
                        return Ok(ReadProgress {
                            bytes: at,
                            wants: 1,
                        });
                    }
                    None
                }
            };
            state.to_wake.extend(waker);
        }
    }

    fn output_len(&self) -> usize {
        self.snapshot.output_len
    }

    fn exchange(&mut self, empty: Output) -> Output {
        self.reply_len = 0;
        self.change(|state| {
            state.wake_output_waiters();
            state.machine.take_output(empty)
        })
    }

    fn is_done(&self) -> bool {
        self.snapshot.is_done
    }

    fn next_timeout(&self) -> Time {
        self.snapshot.next_timeout
    }

    fn timeout(&mut self, now: Time) {
        self.change(|state| state.timeout(now));
    }

    fn greeted(&self) -> bool {
        self.snapshot.greeted
    }

    fn patience(&self) -> Duration {
        // The server rejects PINGs that are more frequent.
        let least = Duration::from_millis(self.snapshot.ping_interval.into());
        least.max(Duration::from_secs(30))
    }

    /// No limit: if both sides stopped reading while they have output, neither could continue. The output caused by the
    /// server has a limit of its own.
    fn most_waiting(&self) -> usize {
        usize::MAX
    }

    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError> {
        let ended = self.change(|state| state.machine.end_of_input(rest));
        if let Err(broken) = &ended {
            // At once, so that calls that are not written yet end as unsent, and are not written before the GOAWAY.
            self.end(Cause::of(broken.clone()));
        }
        ended.map(|()| false)
    }

    fn input_ended(&mut self) {
        self.end("the server closed the connection");
    }

    fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    fn waits_for_the_other(&self) -> bool {
        false
    }

    fn rest(&mut self) {
        self.change(|state| {
            state.machine.shrink();
            state.cancelled_streams.shrink_to_fit();
            if state.tickets.shrink() {
                state.blocked_senders.clear();
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
