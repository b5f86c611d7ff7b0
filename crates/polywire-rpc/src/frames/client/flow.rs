//! What a client's calls decide together, under one lock that is held for moments.

use std::sync::Arc;
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{Balancer, RetryBudget, Sample, Throttle};

use super::attempts::Current;
use super::rate::{Rate, Turn};
use super::stats::{Counts, Outcome};
use crate::error::CallError;
use crate::error::Cause;
use crate::frames::link::Link;
use crate::frames::state::Farewell;
use crate::random::Random;

#[derive(Debug)]
pub(super) struct Flow {
    lanes: Vec<Lane>,
    /// Where there is more than one.
    balancer: Option<Balancer>,
    budget: RetryBudget,
    throttle: Option<Throttle>,
    rate: Option<Rate>,
    pub(super) counts: Counts,
    pending: usize,
    most_pending: usize,
    pub(super) random: Random,
}

/// What it is made of.
pub(super) struct Means {
    pub(super) lanes: usize,
    pub(super) budget: RetryBudget,
    pub(super) throttle: Option<Throttle>,
    pub(super) rate: Option<Rate>,
    pub(super) most_pending: usize,
    pub(super) random: Random,
}

/// A connection to an endpoint, or the place where one will be.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) link: Option<Arc<Link>>,
    /// Why there is none, once that is known.
    pub(super) why: Option<Cause>,
    /// Whether the last one has ended in order, and the next is being made.
    pub(super) renews: bool,
}

/// How one try of a call has ended, as far as its connection is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ended {
    /// Nobody waits for it any more, or it was never sent.
    Abandoned,
    /// Not in its time, or the connection has ended.
    Badly,
    /// Something went wrong in the server, which says nothing of how fast it is or how much it has to do.
    Fault,
    /// The server has turned it away.
    Refused,
    Well,
}

impl Flow {
    pub(super) fn new(means: Means) -> Self {
        let Means {
            lanes,
            budget,
            throttle,
            rate,
            most_pending,
            random,
        } = means;
        let balancer = (lanes > 1).then(|| {
            let mut balancer = Balancer::new(lanes);
            for lane in 0..lanes {
                balancer.set_usable(lane, Time::ZERO, false);
            }
            balancer
        });
        let lane = || Lane {
            link: None,
            why: None,
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

    /// A call begins: whether there is a place for it. Its end is to be told in any case.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) -> bool {
        self.pending += 1;
        if self.pending > self.most_pending {
            return false;
        }
        self.budget.called(now);
        true
    }

    /// A call goes on whose end was told already.
    pub(super) const fn resume(&mut self) {
        self.pending += 1;
    }

    /// A call that began has ended.
    #[inline]
    pub(super) const fn end(&mut self, outcome: Option<Outcome>) {
        self.pending -= 1;
        if let Some(outcome) = outcome {
            self.counts.ended(outcome);
        }
    }

    /// A call was turned away after it had been opened.
    pub(super) fn shed(&mut self, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.refused(now);
        }
    }

    /// Whether a call may be sent, as far as the server's refusals are concerned.
    #[inline]
    pub(super) fn admit(&mut self, now: Time) -> bool {
        let Some(throttle) = &mut self.throttle else {
            return true;
        };
        let admitted = throttle.admit(now, self.random.fraction());
        self.counts.throttled += u64::from(!admitted);
        admitted
    }

    /// Picks a connection for one try of a call, if there is any.
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

    /// A try has ended. `now` is request for only where it matters.
    #[inline]
    pub(super) fn tried(&mut self, tried: &Current, ended: Ended, now: impl FnOnce() -> Time) {
        if let Some(throttle) = &mut self.throttle {
            match ended {
                Ended::Refused => throttle.refused(tried.began),
                Ended::Fault | Ended::Well => throttle.accepted(tried.began),
                // Nobody knows what the server made of it.
                Ended::Abandoned | Ended::Badly => {}
            }
        }
        if self.balancer.is_some() || self.learns() {
            self.learn(tried, ended, now());
        }
    }

    /// Whether something beside the balancer wants to know how long calls take.
    #[inline]
    fn learns(&self) -> bool {
        self.rate.as_ref().is_some_and(Rate::is_adaptive)
    }

    fn learn(&mut self, tried: &Current, ended: Ended, now: Time) {
        let took = now.since(tried.began);
        // What became of a connection that has been replaced says nothing of the server that is there now.
        let lane = self.lanes[tried.lane].link.as_ref();
        let replaced = lane.is_some_and(|link| !Arc::ptr_eq(link, &tried.link));
        let sample = match ended {
            Ended::Badly | Ended::Refused if replaced => Sample::Nothing,
            Ended::Abandoned | Ended::Fault => Sample::Nothing,
            Ended::Badly => Sample::Late,
            Ended::Refused => Sample::Refused,
            Ended::Well => Sample::Answered(took),
        };
        if let Some(balancer) = &mut self.balancer {
            balancer.ended(tried.lane, now, sample);
        }
        if let Some(rate) = &mut self.rate {
            rate.record(now, sample);
        }
    }

    /// When a call has its turn.
    pub(super) fn book(&mut self, now: Time, left: Duration) -> Result<Turn, CallError> {
        let rate = self.rate.as_mut();
        rate.map_or(Ok(Turn::After(Duration::ZERO)), |rate| {
            rate.reserve(now, left)
        })
    }

    /// Whether a call may be tried once more, counted if so.
    pub(super) fn withdraw(&mut self, now: Time) -> bool {
        let may = self.budget.withdraw(now);
        self.counts.over_budget += u64::from(!may);
        may
    }

    /// There is a connection.
    pub(super) fn connected(&mut self, lane: usize, now: Time, link: Arc<Link>) {
        let own = &mut self.lanes[lane];
        if own.why.is_some() {
            self.counts.reconnects += u64::from(own.link.is_none());
        }
        own.link = Some(link);
        own.renews = false;
        if let Some(balancer) = &mut self.balancer {
            balancer.set_usable(lane, now, true);
        }
    }

    /// A connection has ended.
    pub(super) fn lost(&mut self, lane: usize, now: Time, link: &Arc<Link>, farewell: &Farewell) {
        let own = &mut self.lanes[lane];
        // There may be a newer one.
        if own.link.as_ref().is_some_and(|own| Arc::ptr_eq(own, link)) {
            own.link = None;
            self.failed(lane, now, &farewell.why);
            self.lanes[lane].renews = farewell.goodbye.is_some();
        }
    }

    /// A connection could not be made, or is gone.
    pub(super) fn failed(&mut self, lane: usize, now: Time, why: &Cause) {
        self.lanes[lane].why = Some(why.clone());
        self.lanes[lane].renews = false;
        if let Some(balancer) = &mut self.balancer {
            balancer.set_usable(lane, now, false);
        }
    }

    /// Nobody has the client any more.
    pub(super) fn leave(&mut self) -> Vec<Arc<Link>> {
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
