//! The plan of a run: clients, load and duration.

use std::time::Duration;

use super::schedule::Schedule;

/// How calls are sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Load {
    /// Each client has this many open calls, and sends the next one as soon as one ends.
    Closed { concurrency: u32 },
    /// Each client sends this many calls per interval. Calls are skipped if a client has more than
    /// twice as many open calls.
    Paced {
        concurrency: u32,
        interval: Duration,
    },
    /// Calls are sent when they are due, independent of replies. Calls are skipped if a client has
    /// this many open calls.
    Open { schedule: Schedule, most_open: u32 },
}

impl Load {
    /// Returns the requested rate of the measured time, in calls per second. `None` for closed
    /// loops without interval.
    pub(super) fn asked(&self, plan: &Plan) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Paced {
                concurrency,
                interval,
            } => {
                let clients = f64::from(plan.threads * plan.clients);
                Some(clients * f64::from(*concurrency) / interval.as_secs_f64())
            }
            Self::Open { schedule, .. } => {
                Some(schedule.mean_rate(plan.warm_up, plan.warm_up + plan.duration))
            }
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) threads: u32,
    /// Per thread.
    pub(super) clients: u32,
    pub(super) load: Load,
    pub(super) warm_up: Duration,
    /// The measured time.
    pub(super) duration: Duration,
    /// The timeout of a call, which also limits how long the run waits at its end.
    pub(super) deadline: Duration,
}
