//! The attempts of one call: pacing, the connection, and retries.

use std::sync::Arc;
use std::time::Duration;

use polywire_frame::{FaultCode, Time};

use super::flow::{AttemptResult, Flow};
use super::rate::{AHEAD, Reservation};
use super::retry::{CallOptions, RetryDecision};
use super::state::ClientState;
use super::stats::CallOutcome;
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::frames::Clock;
use crate::frames::link::{Link, Write};
use crate::frames::request::CallRequest;
use crate::frames::state::LinkEnd;

/// The attempts of one call. Dropping this before the call has ended cancels it.
pub(super) struct Attempts<'a> {
    pub(super) state: &'a ClientState,
    outcome: CallOutcome,
    /// The number of retries so far.
    pub(super) retries: u32,
    /// Whether an attempt was lost to a server that was closing the connection.
    crossed_go_away: bool,
    /// Whether the server may have executed an attempt.
    pub(super) may_have_started: bool,
    /// Whether the outcome is already counted, because a stream was opened and is opened again.
    counted: bool,
    /// Whether the call has waited for the rate limit.
    has_waited_for_rate: bool,
    pub(super) attempt: Option<Attempt>,
}

/// The connection of the current attempt.
pub(super) struct Attempt {
    pub(super) lane: usize,
    pub(super) link: Arc<Link>,
    pub(super) began: Time,
    pub(super) result: AttemptResult,
}

impl<'a> Attempts<'a> {
    #[inline]
    pub(super) const fn new(state: &'a ClientState) -> Self {
        Self {
            state,
            outcome: CallOutcome::Cancelled,
            retries: 0,
            crossed_go_away: false,
            may_have_started: false,
            counted: false,
            has_waited_for_rate: false,
            attempt: None,
        }
    }

    /// The attempts of a stream that was opened after `retries` retries, and is opened again.
    pub(super) fn resumed(state: &'a ClientState, retries: u32, may_have_started: bool) -> Self {
        state.flow().resume();
        let mut attempts = Self::new(state);
        attempts.retries = retries;
        attempts.may_have_started = may_have_started;
        attempts.counted = true;
        attempts
    }

    /// Begins the call, and picks a connection if there is one.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) -> Result<(), CallError> {
        let mut flow = self.state.flow();
        let error = if !flow.begin(now) {
            CallError::queue_full()
        } else if !flow.throttle_admits(now) {
            CallError::throttled()
        } else {
            // With a rate limit the call must wait first.
            if !self.state.config.paced
                && let Some((lane, link)) = flow.pick(now)
            {
                self.attempt = Some(Attempt {
                    lane,
                    link,
                    began: now,
                    result: AttemptResult::Abandoned,
                });
            }
            return Ok(());
        };
        drop(flow);
        Err(self.fail(error))
    }

    /// Fails the call if its deadline has passed.
    #[inline]
    pub(super) fn check_deadline(&mut self, request: &CallRequest<'_>) -> Result<(), CallError> {
        match request.deadline.is_over(request.now) {
            true => Err(self.fail(CallError::deadline(None))),
            false => Ok(()),
        }
    }

    /// Records the outcome of a call that was answered, opened or sent.
    #[inline]
    pub(super) fn finish(&mut self, outcome: CallOutcome) {
        self.outcome = outcome;
        if let Some(attempt) = &mut self.attempt
            && outcome == CallOutcome::Reply
        {
            attempt.result = AttemptResult::Succeeded;
        }
    }

    /// Records the final error of the call.
    pub(super) fn fail(&mut self, error: CallError) -> CallError {
        self.outcome = CallOutcome::of(&error);
        match self.may_have_started {
            true => error.after_attempts(),
            false => error,
        }
    }

    /// Records the result of the current attempt, and drops its connection.
    fn settle(&mut self, result: AttemptResult) {
        if let Some(attempt) = self.attempt.take() {
            attempt.settle(&mut self.state.flow(), result, self.state.clock);
        }
    }

    /// Waits for the rate limit and for a connection.
    pub(super) async fn connect(
        &mut self,
        request: &mut CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let connected = async {
            if self.state.config.paced && !self.has_waited_for_rate {
                self.wait_for_rate(request, write).await?;
            }
            self.wait_for_connection(request, write).await
        };
        let connected = connected.await;
        connected.map_err(|error| self.fail(error))
    }

    /// Waits for the time that the rate limit assigns to the call.
    async fn wait_for_rate(
        &mut self,
        request: &CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        self.has_waited_for_rate = true;
        let now = state.clock.now();
        // If other calls wait for an adaptive rate, this one waits behind them.
        let first = match state.next_in_line.try_lock() {
            Ok(_first) => state.flow().reserve(now, request.deadline.left(now))?,
            Err(_) => Reservation::Unknown,
        };
        if first == Reservation::After(Duration::ZERO) {
            return Ok(());
        }
        let mut input = Vec::new();
        write(&mut input)?;
        let _waiting = state.quota.acquire_guard(input.len())?;
        let wait = match first {
            Reservation::After(wait) => wait,
            Reservation::Unknown => {
                let reserved = self.reserve_in_order(request.deadline);
                request.deadline.limit(state.clock, reserved).await?
            }
        };
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Reserves a time of an adaptive rate, in the order of the calls.
    async fn reserve_in_order(&self, deadline: FrameDeadline) -> Result<Duration, CallError> {
        let state = self.state;
        let _first = state.next_in_line.lock().await;
        loop {
            let now = state.clock.now();
            if let Reservation::After(wait) = state.flow().reserve(now, deadline.left(now))? {
                return Ok(wait);
            }
            tokio::time::sleep(AHEAD).await;
        }
    }

    async fn wait_for_connection(
        &mut self,
        request: &mut CallRequest<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        let mut waiting = None;
        loop {
            let mut arrived = std::pin::pin!(state.new_connection.notified());
            // Registered before the check, so that no notification is missed.
            arrived.as_mut().enable();
            request.now = state.clock.now();
            if request.deadline.is_over(request.now) {
                return Err(CallError::deadline(None));
            }
            let picked = {
                let mut flow = state.flow();
                let picked = flow.pick(request.now);
                let renews = || flow.lanes().iter().any(|lane| lane.renews);
                if picked.is_none() && !state.config.waits && !renews() {
                    let cause = flow.lanes().iter().find_map(|lane| lane.cause.clone());
                    let cause = cause.unwrap_or_else(|| "there is no connection yet".into());
                    return Err(CallError::lost(false, cause));
                }
                picked
            };
            if let Some((lane, link)) = picked {
                self.attempt = Some(Attempt {
                    lane,
                    link,
                    began: request.now,
                    result: AttemptResult::Abandoned,
                });
                return Ok(());
            }
            if waiting.is_none() {
                let mut input = Vec::new();
                write(&mut input)?;
                waiting = Some(state.quota.acquire_guard(input.len())?);
            }
            // The next iteration checks the deadline.
            let _ = request.deadline.timeout(state.clock, arrived).await;
        }
    }

    /// Waits until the call may be retried. An error ends the call.
    pub(super) async fn retry(
        &mut self,
        request: &mut CallRequest<'_>,
        error: CallError,
        options: &CallOptions<'_>,
    ) -> Result<(), CallError> {
        let state = self.state;
        self.may_have_started |= !error.is_unstarted();
        let link_end = self.attempt.as_ref();
        let link_end = link_end.and_then(|attempt| attempt.link.link_end());
        let mut decision = RetryDecision::of(&error, options);
        if link_end.is_some() && is_crossing(&error) && !self.crossed_go_away {
            // The call and the GOAWAY of the server have crossed, so that the call counts as not sent. Only once, because a
            // server may do this every time.
            self.crossed_go_away = true;
            decision = RetryDecision::OtherConnection;
        }
        let wait = match decision {
            RetryDecision::OtherConnection => {
                // The connection has failed, even if its task has not recorded the end yet.
                let link_end = link_end.or_else(|| {
                    Some(LinkEnd {
                        cause: error.cause()?.clone(),
                        go_away: None,
                    })
                });
                if let (Some(attempt), Some(link_end)) = (&self.attempt, &link_end) {
                    let now = state.clock.now();
                    // The task that maintains the connection may not have seen the end yet.
                    state
                        .flow()
                        .lost(attempt.lane, now, &attempt.link, link_end);
                }
                self.settle(AttemptResult::Abandoned);
                return Ok(());
            }
            RetryDecision::After(wait) if self.retries < state.config.retries => {
                self.retries += 1;
                let chance = state.flow().random.fraction();
                state.config.backoff.wait_after(self.retries, chance, wait)
            }
            _ => {
                self.record_error(&error);
                return Err(self.fail(error));
            }
        };
        self.record_error(&error);
        self.settle_attempt();
        let now = state.clock.now();
        // A retry that would begin after the deadline is useless.
        if !request.deadline.allows(now, wait) || !state.flow().withdraw(now) {
            return Err(self.fail(error));
        }
        tokio::time::sleep(wait).await;
        let now = state.clock.now();
        let mut flow = state.flow();
        if !flow.throttle_admits(now) {
            drop(flow);
            return Err(self.fail(error));
        }
        flow.counts.retries += 1;
        drop(flow);
        request.now = now;
        self.has_waited_for_rate = false;
        Ok(())
    }

    /// Records the error of the current attempt.
    fn record_error(&mut self, error: &CallError) {
        if let Some(attempt) = &mut self.attempt {
            attempt.record_error(error);
        }
    }

    /// Records the result of the current attempt as it is.
    fn settle_attempt(&mut self) {
        if let Some(attempt) = &self.attempt {
            self.settle(attempt.result);
        }
    }
}

impl Attempt {
    /// Derives the result from an error.
    pub(super) fn record_error(&mut self, error: &CallError) {
        self.result = match CallOutcome::of(error) {
            CallOutcome::Fault if is_internal(error) => AttemptResult::Fault,
            CallOutcome::Fault | CallOutcome::Opened | CallOutcome::Reply | CallOutcome::Sent => {
                AttemptResult::Succeeded
            }
            CallOutcome::Overloaded => match error.frame_code() {
                Some(FaultCode::OVERLOADED) => AttemptResult::Rejected,
                // The server is about to stop, which says nothing about its load.
                Some(_) => AttemptResult::Failed,
                None => AttemptResult::Abandoned,
            },
            CallOutcome::Cancelled => AttemptResult::Abandoned,
            CallOutcome::Deadline | CallOutcome::Disconnected => AttemptResult::Failed,
        };
    }

    #[inline]
    pub(super) fn settle(&self, flow: &mut Flow, result: AttemptResult, clock: Clock) {
        flow.record_attempt(self, result, || clock.now());
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
        // The link is dropped with `self`, after the lock is released.
        let mut flow = self.state.flow();
        if let Some(attempt) = &self.attempt {
            attempt.settle(&mut flow, attempt.result, self.state.clock);
        }
        flow.end((!self.counted).then_some(self.outcome));
    }
}
