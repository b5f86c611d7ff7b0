//! The attempts of one call: pacing, the connection, and retries.

use std::sync::Arc;
use std::time::Duration;

use polywire_frame::{FaultCode, Time};

use super::flow::{Ended, Flow};
use super::rate::{AHEAD, Turn};
use super::retry::{Again, CallOptions};
use super::state::ClientState;
use super::stats::Outcome;
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::frames::Clock;
use crate::frames::link::{Link, Write};
use crate::frames::request::CallRequest;
use crate::frames::state::Farewell;

/// The attempts of one call. Dropping this before the call has ended cancels it.
pub(super) struct Attempts<'a> {
    pub(super) state: &'a ClientState,
    outcome: Outcome,
    /// The retries so far.
    pub(super) tries: u32,
    /// Whether an attempt was lost to a server that was closing the connection.
    crossed: bool,
    /// Whether the server may have executed an attempt.
    pub(super) may_have_begun: bool,
    /// Whether the outcome is already counted, because a stream was opened and is opened again.
    counted: bool,
    /// Whether the call has waited for the rate limit.
    had_turn: bool,
    pub(super) current: Option<Current>,
}

/// The connection of the current attempt.
pub(super) struct Current {
    pub(super) lane: usize,
    pub(super) link: Arc<Link>,
    pub(super) began: Time,
    pub(super) ended: Ended,
}

impl<'a> Attempts<'a> {
    #[inline]
    pub(super) const fn new(state: &'a ClientState) -> Self {
        Self {
            state,
            outcome: Outcome::Cancelled,
            tries: 0,
            crossed: false,
            may_have_begun: false,
            counted: false,
            had_turn: false,
            current: None,
        }
    }

    /// The attempts of a stream that was opened after `tries` retries, and is opened again.
    pub(super) fn resumed(state: &'a ClientState, tries: u32, may_have_begun: bool) -> Self {
        state.flow().resume();
        let mut attempts = Self::new(state);
        attempts.tries = tries;
        attempts.may_have_begun = may_have_begun;
        attempts.counted = true;
        attempts
    }

    /// The call begins, on a connection if there is one.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) -> Result<(), CallError> {
        let mut flow = self.state.flow();
        let error = if !flow.begin(now) {
            CallError::queue_full()
        } else if !flow.admit(now) {
            CallError::throttled()
        } else {
            // Where there is a rate its turn is yet to come.
            if !self.state.plan.paced
                && let Some((lane, link)) = flow.pick(now)
            {
                self.current = Some(Current {
                    lane,
                    link,
                    began: now,
                    ended: Ended::Abandoned,
                });
            }
            return Ok(());
        };
        drop(flow);
        Err(self.fails(error))
    }

    /// A call whose time is over is no call: nobody waits for it, and no server is to hear of it.
    #[inline]
    pub(super) fn in_time(&mut self, request: &CallRequest<'_>) -> Result<(), CallError> {
        match request.deadline.is_over(request.now) {
            true => Err(self.fails(CallError::deadline(None))),
            false => Ok(()),
        }
    }

    /// The call has ended well, or is somebody else's to end.
    #[inline]
    pub(super) fn ends(&mut self, outcome: Outcome) {
        self.outcome = outcome;
        if let Some(current) = &mut self.current
            && outcome == Outcome::Reply
        {
            current.ended = Ended::Well;
        }
    }

    /// The call has failed for good.
    pub(super) fn fails(&mut self, error: CallError) -> CallError {
        self.outcome = Outcome::of(&error);
        match self.may_have_begun {
            true => error.after_attempts(),
            false => error,
        }
    }

    /// The try has ended.
    fn tried(&mut self, ended: Ended) {
        if let Some(current) = self.current.take() {
            current.settle(&mut self.state.flow(), ended, self.state.clock);
        }
    }

    /// Waits for a connection.
    pub(super) async fn connect(
        &mut self,
        request: &mut CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let connected = async {
            if self.state.plan.paced && !self.had_turn {
                self.turn(request, write).await?;
            }
            self.wait(request, write).await
        };
        let connected = connected.await;
        connected.map_err(|error| self.fails(error))
    }

    /// Waits for the call's turn.
    async fn turn(
        &mut self,
        request: &CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        self.had_turn = true;
        let now = state.clock.now();
        // Nobody overtakes those who ask in their order.
        let first = match state.turns.try_lock() {
            Ok(_first) => state.flow().book(now, request.deadline.left(now))?,
            Err(_) => Turn::Unknown,
        };
        if first == Turn::After(Duration::ZERO) {
            return Ok(());
        }
        let mut input = Vec::new();
        write(&mut input)?;
        let _waiting = state.room.enter_for_a_while(input.len())?;
        let wait = match first {
            Turn::After(wait) => wait,
            Turn::Unknown => {
                let booked = self.book_in_order(request.deadline);
                request.deadline.limit(state.clock, booked).await?
            }
        };
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Asks again and again, as the first of those who do.
    async fn book_in_order(&self, deadline: FrameDeadline) -> Result<Duration, CallError> {
        let state = self.state;
        let _first = state.turns.lock().await;
        loop {
            let now = state.clock.now();
            if let Turn::After(wait) = state.flow().book(now, deadline.left(now))? {
                return Ok(wait);
            }
            tokio::time::sleep(AHEAD).await;
        }
    }

    async fn wait(
        &mut self,
        request: &mut CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        let mut waiting = None;
        loop {
            let mut arrived = std::pin::pin!(state.arrived.notified());
            // Before it is looked for, so that none is missed.
            arrived.as_mut().enable();
            request.now = state.clock.now();
            if request.deadline.is_over(request.now) {
                return Err(CallError::deadline(None));
            }
            let picked = {
                let mut flow = state.flow();
                let picked = flow.pick(request.now);
                let renews = || flow.lanes().iter().any(|lane| lane.renews);
                if picked.is_none() && !state.plan.waits && !renews() {
                    let why = flow.lanes().iter().find_map(|lane| lane.why.clone());
                    let why = why.unwrap_or_else(|| "there is no connection yet".into());
                    return Err(CallError::lost(false, why));
                }
                picked
            };
            if let Some((lane, link)) = picked {
                self.current = Some(Current {
                    lane,
                    link,
                    began: request.now,
                    ended: Ended::Abandoned,
                });
                return Ok(());
            }
            if waiting.is_none() {
                let mut input = Vec::new();
                write(&mut input)?;
                waiting = Some(state.room.enter_for_a_while(input.len())?);
            }
            // The next iteration checks the deadline.
            let _ = request.deadline.timeout(state.clock, arrived).await;
        }
    }

    /// Waits until the call may be tried again. An error is the end of it.
    pub(super) async fn again(
        &mut self,
        request: &mut CallRequest<'_>,
        error: CallError,
        options: &CallOptions<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        self.may_have_begun |= !error.is_unstarted();
        let farewell = self.current.as_ref();
        let farewell = farewell.and_then(|current| current.link.farewell());
        let mut again = Again::of(&error, options);
        if farewell.is_some() && is_crossing(&error) && !self.crossed {
            // It was on its way when the server said goodbye: no more than if it had not been sent. Once,
            // since there are servers that do nothing else.
            self.crossed = true;
            again = Again::Elsewhere;
        }
        let wait = match again {
            Again::Elsewhere => {
                // One that has not been told goodbye yet is none the less at its end.
                let farewell = farewell.or_else(|| {
                    Some(Farewell {
                        why: error.cause()?.clone(),
                        goodbye: None,
                    })
                });
                if let (Some(current), Some(farewell)) = (&self.current, &farewell) {
                    let now = state.clock.now();
                    // Those who keep it may not have seen it yet.
                    state
                        .flow()
                        .lost(current.lane, now, &current.link, farewell);
                }
                self.tried(Ended::Abandoned);
                return Ok(());
            }
            Again::After(wait) if self.tries < state.plan.retries => {
                self.tries += 1;
                let chance = state.flow().random.fraction();
                state.plan.backoff.wait_after(self.tries, chance, wait)
            }
            _ => {
                self.ended_by(&error);
                return Err(self.fails(error));
            }
        };
        self.ended_by(&error);
        self.tried_already();
        let now = state.clock.now();
        // A try that could begin only when nobody waits any more is none.
        if !request.deadline.allows(now, wait) || !state.flow().withdraw(now) {
            return Err(self.fails(error));
        }
        tokio::time::sleep(wait).await;
        let now = state.clock.now();
        let mut flow = state.flow();
        if !flow.admit(now) {
            drop(flow);
            return Err(self.fails(error));
        }
        flow.counts.retries += 1;
        drop(flow);
        request.now = now;
        self.had_turn = false;
        Ok(())
    }

    /// Notes how a try ended.
    fn ended_by(&mut self, error: &CallError) {
        if let Some(current) = &mut self.current {
            current.ended_by(error);
        }
    }

    fn tried_already(&mut self) {
        if let Some(current) = &self.current {
            self.tried(current.ended);
        }
    }
}

impl Current {
    /// Notes how it ended.
    pub(super) fn ended_by(&mut self, error: &CallError) {
        self.ended = match Outcome::of(error) {
            Outcome::Fault if is_internal(error) => Ended::Fault,
            Outcome::Fault | Outcome::Opened | Outcome::Reply | Outcome::Sent => Ended::Well,
            Outcome::Overloaded => match error.frame_code() {
                Some(FaultCode::OVERLOADED) => Ended::Refused,
                // It is about to stop, which says nothing about others.
                Some(_) => Ended::Badly,
                None => Ended::Abandoned,
            },
            Outcome::Cancelled => Ended::Abandoned,
            Outcome::Deadline | Outcome::Disconnected => Ended::Badly,
        };
    }

    #[inline]
    pub(super) fn settle(&self, flow: &mut Flow, ended: Ended, clock: Clock) {
        flow.tried(self, ended, || clock.now());
    }
}

/// Whether the server failed to execute the call. Unknown codes count as `internal`.
fn is_internal(error: &CallError) -> bool {
    let is_internal = |code: FaultCode| code == FaultCode::INTERNAL || code.name().is_none();
    error.frame_code().is_some_and(is_internal)
}

/// Whether the server takes no more calls, and has not begun this one.
fn is_crossing(error: &CallError) -> bool {
    error.is_unstarted() && error.frame_code() == Some(FaultCode::UNAVAILABLE)
}

impl Drop for Attempts<'_> {
    fn drop(&mut self) {
        // The connection itself is let go of when nothing is locked any more.
        let mut flow = self.state.flow();
        if let Some(current) = &self.current {
            current.settle(&mut flow, current.ended, self.state.clock);
        }
        flow.end((!self.counted).then_some(self.outcome));
    }
}
