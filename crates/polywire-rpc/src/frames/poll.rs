//! Polling of calls by the tasks of their callers.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll};

use polywire_frame::client::RequestError;
use polywire_frame::flow::Sample;

use super::machine::{CallStart, Input, Machine};
use super::payload::Payload;
use super::request::{CallRequest, CallStage};
use super::state::Shared;
use super::tickets::{End, SlotState, wake_with};
use crate::error::CallError;

thread_local! {
    /// The buffer of this thread for payloads. A payload is encoded into it before the connection is
    /// locked, and decoded from it after the connection is unlocked.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A larger buffer is freed after use, in bytes.
const MAX_KEPT: usize = 64 << 10;

/// The buffer of this thread. Dropping this returns it.
struct Scratch(Vec<u8>);

impl Scratch {
    fn take() -> Self {
        Self(SCRATCH.take())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.clear();
        if self.0.capacity() <= MAX_KEPT {
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

/// One-way calls wait while more output than this is unsent, in bytes.
const MAX_UNSENT: usize = 256 << 10;

impl<M: Machine> Shared<M> {
    /// Begins a call, waits for capacity, or returns its result. `write` writes the input, and `read` reads the payload
    /// of the reply.
    pub(super) fn poll_call<R>(
        &self,
        stage: &mut CallStage,
        request: &CallRequest<'_>,
        write: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), CallError>,
        read: impl FnOnce(Payload<'_>) -> Result<R, CallError>,
        context: &Context<'_>,
    ) -> Poll<Result<R, CallError>> {
        // Declared before the lock, so that it is dropped after it.
        let mut scratch = Scratch::take();
        let ticket = match *stage {
            CallStage::New => None,
            CallStage::Waiting(ticket) => Some(ticket),
            CallStage::Done => return Poll::Pending,
        };
        // Read the clock only if a deadline is compared. Most calls have ended when they are polled again.
        let mut now = request.now;
        if ticket.is_none()
            && let Err(error) = write(&mut scratch)
        {
            *stage = CallStage::Done;
            return Poll::Ready(Err(error));
        }
        let mut state = self.lock();
        if let Some(ticket) = ticket {
            let slot = &mut state.tickets.slots[ticket as usize];
            match &mut slot.state {
                SlotState::Open(id) => {
                    let id = *id;
                    now = self.clock.now();
                    // The task of the connection does the same, but may have ended.
                    if request.deadline.is_over(now) {
                        state.machine.cancel(now, id);
                        state.tickets.remove(ticket);
                        state.record_end(now, Sample::Late);
                        *stage = CallStage::Done;
                        // A queued call may have started in its place.
                        state.wake_task();
                        return Poll::Ready(Err(CallError::deadline(None)));
                    }
                    wake_with(&mut slot.waker, context);
                    return Poll::Pending;
                }
                SlotState::Ended(end) => {
                    let end = std::mem::replace(end, End::Reply);
                    std::mem::swap(&mut *scratch, &mut slot.payload);
                    state.tickets.remove(ticket);
                    drop(state);
                    *stage = CallStage::Done;
                    let result = match end {
                        End::Reply => read(Payload::Borrowed(&scratch)),
                        End::Large(payload) => read(Payload::Shared(*payload)),
                        end => Err(CallError::from_end(end, &scratch)),
                    };
                    return Poll::Ready(result);
                }
                SlotState::Queued => {
                    now = self.clock.now();
                    if request.deadline.is_over(now) {
                        state.leave_queue(now, ticket);
                        *stage = CallStage::Done;
                        // A queued call may have started in its place.
                        state.wake_task();
                        return Poll::Ready(Err(CallError::deadline(None)));
                    }
                    // Register the waker before the check, so that no wake-up is missed.
                    wake_with(&mut slot.waker, context);
                    if !state.can_begin(ticket) {
                        return Poll::Pending;
                    }
                    // The input was written when the call was queued.
                    let slot = &mut state.tickets.slots[ticket as usize];
                    std::mem::swap(&mut *scratch, &mut slot.payload);
                }
                SlotState::Free(_) | SlotState::Abandoned => return Poll::Pending,
            }
        }
        let mut input = Input::Owned(&mut scratch);
        match state.begin(now, request, &mut input, context, ticket) {
            Ok(ticket) => *stage = CallStage::Waiting(ticket),
            Err(error) => {
                *stage = CallStage::Done;
                state.wake_task();
                return Poll::Ready(Err(error));
            }
        }
        state.wake_task();
        Poll::Pending
    }

    /// Cancels a call whose future was dropped.
    pub(super) fn abandon(&self, stage: &CallStage) {
        let CallStage::Waiting(ticket) = *stage else {
            return;
        };
        let mut state = self.lock();
        match state.tickets.slots[ticket as usize].state {
            SlotState::Open(id) => {
                let now = self.clock.now();
                state.machine.cancel(now, id);
                state.record_end(now, Sample::Nothing);
                state.tickets.remove(ticket);
            }
            SlotState::Queued => state.leave_queue(self.clock.now(), ticket),
            SlotState::Ended(_) => state.tickets.remove(ticket),
            SlotState::Free(_) | SlotState::Abandoned => {}
        }
        state.wake_task();
    }

    /// Makes a one-way call, as soon as the unsent output is below [`MAX_UNSENT`].
    pub(super) fn poll_notify(
        &self,
        request: &CallRequest<'_>,
        payload: &[u8],
        context: &Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        if let Some(cause) = &state.ended {
            let cause = cause.clone();
            return Poll::Ready(Err(CallError::lost(false, cause)));
        }
        if state.machine.unsent() > MAX_UNSENT {
            state.output_waiters.add(context.waker());
            return Poll::Pending;
        }
        let now = self.clock.now();
        if request.deadline.is_over(now) {
            // The call may have been woken late.
            return Poll::Ready(Err(CallError::deadline(None)));
        }
        let begin = CallStart {
            kind: request.kind,
            name: request.operation,
            number: state.number(request.operation),
            deadline: request.deadline,
            metadata: request.metadata,
            trace: request.trace,
        };
        let greeted = state.greeted;
        let sent = match state.machine.notify(now, &begin, payload) {
            // The limit of the server is unknown before its HELLO.
            Err(RequestError::TooLarge(_)) if !greeted => Err(RequestError::Full),
            sent => sent,
        };
        if sent == Err(RequestError::Full) {
            state.output_waiters.add(context.waker());
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
    use crate::frames::quota::{QueueLimits, QueueQuota};
    use crate::frames::request::RequestKind;

    fn shared(clock: Clock) -> Shared {
        Shared::new(
            Connection::new(Settings::DEFAULT),
            LinkOptions {
                settings: Settings::DEFAULT,
                #[cfg(feature = "udp")]
                datagram: 1_200,
                compress: None,
                limit: AdaptiveLimit::fixed(1),
                quota: Arc::new(QueueQuota::new(QueueLimits {
                    calls: 10,
                    bytes: 1_000,
                })),
                clock,
                seed: 7,
            },
        )
    }

    fn request(clock: Clock, deadline: FrameDeadline) -> CallRequest<'static> {
        CallRequest {
            kind: RequestKind::Call,
            operation: "Echo",
            now: clock.now(),
            deadline,
            stream_deadline: FrameDeadline::NONE,
            metadata: &[],
            trace: None,
        }
    }

    /// Each event of the caller's task polls a queued call. The poll must return the scratch buffer of the thread.
    #[tokio::test(start_paused = true)]
    async fn polling_a_queued_call_returns_the_buffer() {
        let clock = Clock::new();
        let shared = shared(clock);
        let request = request(clock, FrameDeadline::NONE);
        let poll = |stage: &mut CallStage| {
            let context = Context::from_waker(Waker::noop());
            let write = &mut |out: &mut Vec<u8>| {
                out.extend_from_slice(&[7; 100]);
                Ok(())
            };
            shared.poll_call(stage, &request, write, |_| Ok(()), &context)
        };
        let (mut open, mut queued) = (CallStage::New, CallStage::New);
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

    /// The driver task is woken, so that the cancellation and the queued call are written without another event.
    #[tokio::test(start_paused = true)]
    async fn a_caller_that_finds_its_deadline_passed_wakes_the_task() {
        let clock = Clock::new();
        let shared = shared(clock);
        let request = |deadline| request(clock, deadline);
        let poll = |stage: &mut CallStage, request: &CallRequest<'_>| {
            let context = Context::from_waker(Waker::noop());
            shared.poll_call(stage, request, &mut |_| Ok(()), |_| Ok(()), &context)
        };
        let (mut stage, mut waits) = (CallStage::New, CallStage::New);
        let late = request(FrameDeadline::after(clock.now(), Duration::from_secs(1)));
        assert!(poll(&mut stage, &late).is_pending());
        assert!(poll(&mut waits, &request(FrameDeadline::NONE)).is_pending());
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
