//! The state behind the decisions of calls: balancing, retry budget, throttling and rate, under one lock.

use std::sync::Arc;
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{Balancer, RetryBudget, Sample, Throttle};

use super::attempts::Attempt;
use super::rate::{Rate, Reservation};
use super::stats::{CallOutcome, Counts};
use crate::error::CallError;
use crate::error::Cause;
use crate::frames::link::Link;
use crate::frames::state::LinkEnd;
use crate::random::Random;

#[derive(Debug)]
pub(super) struct Flow {
    lanes: Vec<Lane>,
    /// None with a single lane.
    balancer: Option<Balancer>,
    budget: RetryBudget,
    throttle: Option<Throttle>,
    rate: Option<Rate>,
    pub(super) counts: Counts,
    pending: usize,
    most_pending: usize,
    pub(super) random: Random,
}

/// The parameters of [`Flow`].
pub(super) struct FlowOptions {
    pub(super) lanes: usize,
    pub(super) budget: RetryBudget,
    pub(super) throttle: Option<Throttle>,
    pub(super) rate: Option<Rate>,
    pub(super) most_pending: usize,
    pub(super) random: Random,
}

/// A connection to an endpoint, which may be absent for now.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) link: Option<Arc<Link>>,
    /// Why the last connection has ended or failed.
    pub(super) cause: Option<Cause>,
    /// Whether the last connection has ended without an error, and the next one is being made.
    pub(super) renews: bool,
}

/// The result of an attempt, as far as its connection is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AttemptResult {
    /// The call was cancelled or not sent.
    Abandoned,
    /// The deadline has passed, or the connection has ended.
    Failed,
    /// An internal fault of the server, which says nothing about its speed and load.
    Fault,
    /// The server has rejected the call.
    Rejected,
    Succeeded,
}

impl Flow {
    pub(super) fn new(options: FlowOptions) -> Self {
        let FlowOptions {
            lanes,
            budget,
            throttle,
            rate,
            most_pending,
            random,
        } = options;
        let balancer = (lanes > 1).then(|| {
            let mut balancer = Balancer::new(lanes);
            for lane in 0..lanes {
                balancer.set_usable(lane, Time::ZERO, false);
            }
            balancer
        });
        let lane = || Lane {
            link: None,
            cause: None,
            renews: false,
        };
        Self {
            lanes: std::iter::repeat_with(lane).take(lanes).collect(),
            balancer,
            budget,
            throttle,
            rate,
            counts: Counts::default(),
            pending: 0,
            most_pending,
            random,
        }
    }

    /// Counts a new call. False if too many are pending. [`Self::end`] must be called in both cases.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) -> bool {
        self.pending += 1;
        if self.pending > self.most_pending {
            return false;
        }
        self.budget.called(now);
        true
    }

    /// Counts a call as pending whose outcome is counted already.
    pub(super) const fn resume(&mut self) {
        self.pending += 1;
    }

    /// Counts the end of a call.
    #[inline]
    pub(super) const fn end(&mut self, outcome: Option<CallOutcome>) {
        self.pending -= 1;
        if let Some(outcome) = outcome {
            self.counts.ended(outcome);
        }
    }

    /// Records that the server has rejected a call after it was opened.
    pub(super) fn record_rejection(&mut self, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.refused(now);
        }
    }

    /// Whether throttling admits a call.
    #[inline]
    pub(super) fn throttle_admits(&mut self, now: Time) -> bool {
        let Some(throttle) = &mut self.throttle else {
            return true;
        };
        let admitted = throttle.admit(now, self.random.fraction());
        self.counts.throttled += u64::from(!admitted);
        admitted
    }

    /// Picks a connection for an attempt.
    #[inline]
    pub(super) fn pick(&mut self, now: Time) -> Option<(usize, Arc<Link>)> {
        let lane = match &self.balancer {
            None => 0,
            Some(balancer) => balancer.pick(now, self.random.fraction(), self.random.fraction())?,
        };
        let link = Arc::clone(self.lanes[lane].link.as_ref()?);
        if let Some(balancer) = &mut self.balancer {
            balancer.started(lane);
        }
        self.counts.tries += 1;
        Some((lane, link))
    }

    /// Records the result of an attempt. `now` is called only if the time matters.
    #[inline]
    pub(super) fn record_attempt(
        &mut self,
        attempt: &Attempt,
        result: AttemptResult,
        now: impl FnOnce() -> Time,
    ) {
        if let Some(throttle) = &mut self.throttle {
            match result {
                AttemptResult::Rejected => throttle.refused(attempt.began),
                AttemptResult::Fault | AttemptResult::Succeeded => throttle.accepted(attempt.began),
                // It is unknown whether the server has accepted the call.
                AttemptResult::Abandoned | AttemptResult::Failed => {}
            }
        }
        if self.balancer.is_some() || self.uses_results() {
            self.record_result(attempt, result, now());
        }
    }

    /// Whether the rate depends on the results of calls.
    #[inline]
    fn uses_results(&self) -> bool {
        self.rate.as_ref().is_some_and(Rate::is_adaptive)
    }

    fn record_result(&mut self, attempt: &Attempt, result: AttemptResult, now: Time) {
        let took = now.since(attempt.began);
        // A failure on a replaced connection says nothing about the current server.
        let lane = self.lanes[attempt.lane].link.as_ref();
        let replaced = lane.is_some_and(|link| !Arc::ptr_eq(link, &attempt.link));
        let sample = match result {
            AttemptResult::Failed | AttemptResult::Rejected if replaced => Sample::Nothing,
            AttemptResult::Abandoned | AttemptResult::Fault => Sample::Nothing,
            AttemptResult::Failed => Sample::Late,
            AttemptResult::Rejected => Sample::Refused,
            AttemptResult::Succeeded => Sample::Answered(took),
        };
        if let Some(balancer) = &mut self.balancer {
            balancer.ended(attempt.lane, now, sample);
        }
        if let Some(rate) = &mut self.rate {
            rate.record(now, sample);
        }
    }

    /// Reserves the time at which a call may begin.
    pub(super) fn reserve(&mut self, now: Time, left: Duration) -> Result<Reservation, CallError> {
        let rate = self.rate.as_mut();
        rate.map_or(Ok(Reservation::After(Duration::ZERO)), |rate| {
            rate.reserve(now, left)
        })
    }

    /// Takes a retry from the budget. False if it is empty.
    pub(super) fn withdraw(&mut self, now: Time) -> bool {
        let may = self.budget.withdraw(now);
        self.counts.over_budget += u64::from(!may);
        may
    }

    /// Records a new connection.
    pub(super) fn connected(&mut self, lane: usize, now: Time, link: Arc<Link>) {
        let own = &mut self.lanes[lane];
        if own.cause.is_some() {
            self.counts.reconnects += u64::from(own.link.is_none());
        }
        own.link = Some(link);
        own.renews = false;
        if let Some(balancer) = &mut self.balancer {
            balancer.set_usable(lane, now, true);
        }
    }

    /// Records the end of a connection.
    pub(super) fn lost(&mut self, lane: usize, now: Time, link: &Arc<Link>, link_end: &LinkEnd) {
        let own = &mut self.lanes[lane];
        // There may be a newer connection.
        if own.link.as_ref().is_some_and(|own| Arc::ptr_eq(own, link)) {
            own.link = None;
            self.failed(lane, now, &link_end.cause);
            self.lanes[lane].renews = link_end.go_away.is_some();
        }
    }

    /// Records that a lane has no connection.
    pub(super) fn failed(&mut self, lane: usize, now: Time, cause: &Cause) {
        self.lanes[lane].cause = Some(cause.clone());
        self.lanes[lane].renews = false;
        if let Some(balancer) = &mut self.balancer {
            balancer.set_usable(lane, now, false);
        }
    }

    /// Takes all connections, because the client was dropped.
    pub(super) fn take_links(&mut self) -> Vec<Arc<Link>> {
        let lanes = self.lanes.iter_mut();
        lanes.filter_map(|lane| lane.link.take()).collect()
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    pub(super) const fn pending(&self) -> usize {
        self.pending
    }
}
