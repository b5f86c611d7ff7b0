//! Calls as their callers poll them.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll};

use polywire_frame::client::RequestError;
use polywire_frame::flow::Sample;

use super::machine::{Begin, Input, Machine};
use super::payload::Payload;
use super::request::{CallRequest, Stage};
use super::state::Shared;
use super::tickets::{End, Outcome, wake_with};
use crate::error::CallError;

thread_local! {
    /// The buffer of this thread for payloads. A payload is encoded into it before the connection is
    /// locked, and decoded from it after the connection is unlocked.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A thread keeps a buffer of at most so many bytes for the next payload.
const MOST_KEPT: usize = 64 << 10;

/// The buffer of the thread, taken. Dropping it gives it back, so that each way out of a poll does.
struct Scratch(Vec<u8>);

impl Scratch {
    fn take() -> Self {
        Self(SCRATCH.take())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.clear();
        if self.0.capacity() <= MOST_KEPT {
            SCRATCH.set(std::mem::take(&mut self.0));
        }
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

/// Bytes that wait to be written before nobody adds to them who can wait.
const ENOUGH: usize = 256 << 10;

impl<M: Machine> Shared<M> {
    /// Begins a call, or waits for room, or looks for its end. `write` writes its input; `read` is
    /// given the payload of the reply.
    pub(super) fn poll_call<R>(
        &self,
        stage: &mut Stage,
        asked: &CallRequest<'_>,
        write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), CallError>,
        read: impl FnOnce(Payload<'_>) -> Result<R, CallError>,
        context: &Context<'_>,
    ) -> Poll<Result<R, CallError>> {
        // Dropped after the lock, which is taken later.
        let mut scratch = Scratch::take();
        let ticket = match *stage {
            Stage::New => None,
            Stage::Waits(ticket) => Some(ticket),
            Stage::Done => return Poll::Pending,
        };
        // Most calls are looked at again when they have ended, and then nobody asks what time it is.
        let mut now = asked.now;
        if ticket.is_none()
            && let Err(error) = write(&mut scratch)
        {
            *stage = Stage::Done;
            return Poll::Ready(Err(error));
        }
        let mut state = self.lock();
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match &mut slot.outcome {
                Outcome::Open(id) => {
                    let id = *id;
                    now = self.clock.now();
                    // The task of the connection sees to it, as long as there is one.
                    if asked.deadline.is_over(now) {
                        state.machine.cancel(now, id);
                        state.tickets.remove(ticket);
                        state.ended_call(now, Sample::Late);
                        *stage = Stage::Done;
                        // Another may have begun in its place.
                        state.wake_task();
                        return Poll::Ready(Err(CallError::deadline(None)));
                    }
                    wake_with(&mut slot.waker, context);
                    return Poll::Pending;
                }
                Outcome::Ended(end) => {
                    let end = std::mem::replace(end, End::Reply);
                    std::mem::swap(&mut *scratch, &mut slot.payload);
                    state.tickets.remove(ticket);
                    drop(state);
                    *stage = Stage::Done;
                    let result = match end {
                        End::Reply => read(Payload::Lent(&scratch)),
                        End::Large(payload) => read(Payload::Shared(*payload)),
                        end => Err(CallError::from_end(end, &scratch)),
                    };
                    return Poll::Ready(result);
                }
                Outcome::Queued => {
                    now = self.clock.now();
                    if asked.deadline.is_over(now) {
                        state.leave_queue(now, ticket);
                        *stage = Stage::Done;
                        // Another may have begun in its place.
                        state.wake_task();
                        return Poll::Ready(Err(CallError::deadline(None)));
                    }
                    // Before it is known whether it must.
                    wake_with(&mut slot.waker, context);
                    if !state.has_room(ticket) {
                        return Poll::Pending;
                    }
                    // It was written when it began to wait.
                    let slot = &mut state.tickets.slots[ticket as usize];
                    std::mem::swap(&mut *scratch, &mut slot.payload);
                }
                Outcome::Free(_) | Outcome::Left => return Poll::Pending,
            }
        }
        let mut input = Input::Own(&mut scratch);
        match state.begin(now, asked, &mut input, context, ticket) {
            Ok(ticket) => *stage = Stage::Waits(ticket),
            Err(error) => {
                *stage = Stage::Done;
                state.wake_task();
                return Poll::Ready(Err(error));
            }
        }
        state.wake_task();
        Poll::Pending
    }

    /// Nobody waits for a call any more.
    pub(super) fn give_up(&self, stage: &Stage) {
        let Stage::Waits(ticket) = *stage else {
            return;
        };
        let mut state = self.lock();
        match state.tickets.slots[ticket as usize].outcome {
            Outcome::Open(id) => {
                let now = self.clock.now();
                state.machine.cancel(now, id);
                state.ended_call(now, Sample::Nothing);
                state.tickets.remove(ticket);
            }
            Outcome::Queued => state.leave_queue(self.clock.now(), ticket),
            Outcome::Ended(_) => state.tickets.remove(ticket),
            Outcome::Free(_) | Outcome::Left => {}
        }
        state.wake_task();
    }

    /// Makes a call that nobody answers, once what was sent before has gone.
    pub(super) fn poll_notify(
        &self,
        asked: &CallRequest<'_>,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            let why = why.clone();
            return Poll::Ready(Err(CallError::lost(false, why)));
        }
        if state.machine.unsent() > ENOUGH {
            state.full.add(context.waker());
            return Poll::Pending;
        }
        let now = self.clock.now();
        if asked.deadline.is_over(now) {
            // It has waited, and whoever wakes it may be late.
            return Poll::Ready(Err(CallError::deadline(None)));
        }
        let begin = Begin {
            what: asked.what,
            name: asked.operation,
            number: state.number(asked.operation),
            deadline: asked.deadline,
            metadata: asked.metadata,
            trace: asked.trace,
        };
        let greeted = state.greeted;
        let sent = match state.machine.notify(now, &begin, payload) {
            // It is not known yet what the server takes.
            Err(RequestError::TooLarge(_)) if !greeted => Err(RequestError::Full),
            sent => sent,
        };
        if sent == Err(RequestError::Full) {
            state.full.add(context.waker());
        }
        state.wake_task();
        match sent {
            Err(RequestError::Full) => Poll::Pending,
            sent => Poll::Ready(sent.map_err(CallError::from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use polywire_frame::Settings;
    use polywire_frame::client::Connection;
    use polywire_frame::flow::AdaptiveLimit;

    use super::*;
    use crate::call::FrameDeadline;
    use crate::frames::Clock;
    use crate::frames::link::LinkOptions;
    use crate::frames::request::RequestKind;
    use crate::frames::room::{Bounds, Room};

    fn shared(clock: Clock) -> Shared {
        Shared::new(
            Connection::new(Settings::DEFAULT),
            LinkOptions {
                settings: Settings::DEFAULT,
                #[cfg(feature = "udp")]
                datagram: 1_200,
                compress: None,
                limit: AdaptiveLimit::fixed(1),
                room: Arc::new(Room::new(Bounds {
                    calls: 10,
                    bytes: 1_000,
                })),
                clock,
                seed: 7,
            },
        )
    }

    fn asked(clock: Clock, deadline: FrameDeadline) -> CallRequest<'static> {
        CallRequest {
            what: RequestKind::Call,
            operation: "Echo",
            now: clock.now(),
            deadline,
            lasts: FrameDeadline::NONE,
            metadata: &[],
            trace: None,
        }
    }

    /// A call that waits for room is polled by each event of the task that it is part of.
    #[tokio::test(start_paused = true)]
    async fn a_queued_call_that_is_polled_gives_the_buffer_back() {
        let clock = Clock::new();
        let shared = shared(clock);
        let asked = asked(clock, FrameDeadline::NONE);
        let poll = |stage: &mut Stage| {
            let context = Context::from_waker(Waker::noop());
            let write = &mut |out: &mut Vec<u8>| {
                out.extend_from_slice(&[7; 100]);
                Ok(())
            };
            shared.poll_call(stage, &asked, write, |_| Ok(()), &context)
        };
        let (mut open, mut queued) = (Stage::New, Stage::New);
        assert!(poll(&mut open).is_pending());
        assert!(poll(&mut queued).is_pending());
        SCRATCH.set(Vec::with_capacity(1_000));
        assert!(poll(&mut queued).is_pending());
        assert!(poll(&mut open).is_pending());
        assert_eq!(SCRATCH.take().capacity(), 1_000);
    }

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What it leaves to be written is written without anything else: that it is given up, and the call that waited.
    #[tokio::test(start_paused = true)]
    async fn who_finds_its_own_call_late_wakes_the_task() {
        let clock = Clock::new();
        let shared = shared(clock);
        let asked = |deadline| asked(clock, deadline);
        let poll = |stage: &mut Stage, asked: &CallRequest<'_>| {
            let context = Context::from_waker(Waker::noop());
            shared.poll_call(stage, asked, &mut |_| Ok(()), |_| Ok(()), &context)
        };
        let (mut stage, mut waits) = (Stage::New, Stage::New);
        let late = asked(FrameDeadline::after(clock.now(), Duration::from_secs(1)));
        assert!(poll(&mut stage, &late).is_pending());
        assert!(poll(&mut waits, &asked(FrameDeadline::NONE)).is_pending());
        let woken = Arc::new(Woken::default());
        let before = {
            let mut state = shared.lock();
            state.task = Some(Arc::clone(&woken).into());
            state.machine.output().len()
        };
        tokio::time::advance(Duration::from_secs(2)).await;
        let ended = poll(&mut stage, &late);
        let Poll::Ready(Err(error)) = ended else {
            panic!("the call is still pending");
        };
        assert!(error.is_deadline());
        assert!(shared.lock().machine.output().len() > before);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }
}
